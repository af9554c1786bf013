// Package wire says how the operations of yiku.Service travel over HTTP: the
// operation table, where each field of a request stands, the problem document
// with its codes and statuses, entity tags, and the trace of a request.
//
// It is written once and read by the server, the client, the OpenAPI document
// and the command line. It imports the root package and the standard library
// only, so that the client stays small.
package wire

import (
	"context"
	"net/http"
	"reflect"

	"github.com/yiku-ai/yiku"
)

// Operation is one entry of the table.
type Operation struct {
	ID       string       // snake_case; the operationId and the name of the MCP tool
	Method   string       // the HTTP method
	Path     string       // with {name} for each path parameter
	Summary  string       // one line for documents and help texts
	Status   int          // the status of success
	Access   yiku.Access  // the role that a credential needs
	Scope    Scope        // whose data it is about
	Tag      string       // the group it is shown in
	Request  reflect.Type // a flat struct
	Response reflect.Type

	// Call runs the operation; req is a pointer to a value of Request, and the
	// answer is a value of Response.
	Call func(ctx context.Context, s yiku.Service, req any) (any, error)
}

// Scope says whose data an operation is about, and so what a credential that
// speaks for one user may do with it.
type Scope string

// The scopes.
const (
	ScopeUser   Scope = "user"   // of the user that the request names: a bound credential may name its own
	ScopeTenant Scope = "tenant" // of the whole tenant: a bound credential may not
)

// Permits reports why a caller may not run the operation at all, as
// ErrForbidden: its role, or that it speaks for one user only. Which user a
// request names is the engine's to check.
func (o Operation) Permits(who yiku.Principal) error {
	switch {
	case !who.Access.Allows(o.Access):
		return yiku.Errorf(yiku.ErrForbidden, "this needs the role %s", o.Access)
	case who.User != "" && o.Scope != ScopeUser:
		return yiku.Errorf(yiku.ErrForbidden, "a credential of one user may not do this")
	}
	return nil
}

// StatusOf is the status of a success: that of the table, or 200 where the work
// that was promised with another one has been waited for.
func (o Operation) StatusOf(res any) int {
	if s, ok := res.(settler); ok && s.Settled() {
		return http.StatusOK
	}
	return o.Status
}

// Settles reports whether the operation can be answered with 200 beside its status.
func (o Operation) Settles() bool { return o.Response.Implements(reflect.TypeFor[settler]()) }

// settler is an answer that tells whether the work has come to its end.
type settler interface{ Settled() bool }

// define completes an entry with the types and the method of the service.
func define[Req, Res any](o Operation, call func(yiku.Service, context.Context, Req) (Res, error)) Operation {
	o.Request, o.Response = reflect.TypeFor[Req](), reflect.TypeFor[Res]()
	o.Call = func(ctx context.Context, s yiku.Service, req any) (any, error) {
		return call(s, ctx, *req.(*Req))
	}
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	return o
}

// Operations returns the table, in the order in which documents show it.
func Operations() []Operation {
	var all []Operation
	all = append(all, sessionOperations()...)
	all = append(all, workingOperations()...)
	all = append(all, contextOperations()...)
	all = append(all, memoryOperations()...)
	all = append(all, skillOperations()...)
	all = append(all, graphOperations()...)
	all = append(all, extractionOperations()...)
	all = append(all, forgetOperations()...)
	all = append(all, usageOperations()...)
	return append(all, keyOperations()...)
}

func sessionOperations() []Operation {
	const tag, read, write = "sessions", yiku.AccessRead, yiku.AccessWrite
	return []Operation{
		define(Operation{ID: "create_session", Method: "POST", Path: "/v1/sessions", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Open a session."}, yiku.Service.CreateSession),
		define(Operation{ID: "list_sessions", Method: "GET", Path: "/v1/sessions", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List a user's sessions, newest activity first."}, yiku.Service.ListSessions),
		define(Operation{ID: "get_session", Method: "GET", Path: "/v1/sessions/{session_id}", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read one session."}, yiku.Service.GetSession),
		define(Operation{ID: "delete_session", Method: "DELETE", Path: "/v1/sessions/{session_id}", Status: 204, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Delete a session with its messages."}, yiku.Service.DeleteSession),
		define(Operation{ID: "append_messages", Method: "POST", Path: "/v1/sessions/{session_id}/messages", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Append messages, all or none; a new session is opened."}, yiku.Service.AppendMessages),
		define(Operation{ID: "list_messages", Method: "GET", Path: "/v1/sessions/{session_id}/messages", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List a session's messages, oldest first."}, yiku.Service.ListMessages),
		define(Operation{ID: "end_session", Method: "POST", Path: "/v1/sessions/{session_id}/end", Status: 202, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "End a session; what it holds is read in the background, or at once with wait."}, yiku.Service.EndSession),
		define(Operation{ID: "fork_session", Method: "POST", Path: "/v1/sessions/{session_id}/fork", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Copy a session's messages into a new session."}, yiku.Service.ForkSession),
		define(Operation{ID: "export_session", Method: "GET", Path: "/v1/sessions/{session_id}/export", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Give a session as one document."}, yiku.Service.ExportSession),
		define(Operation{ID: "import_session", Method: "POST", Path: "/v1/sessions/import", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Make a session from an export or from messages in a public form."}, yiku.Service.ImportSession),
		define(Operation{ID: "get_summary", Method: "GET", Path: "/v1/sessions/{session_id}/summary", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read what a session's older messages said, in short."}, yiku.Service.GetSummary),
	}
}

func workingOperations() []Operation {
	const tag, read, write = "working memory", yiku.AccessRead, yiku.AccessWrite
	return []Operation{
		define(Operation{ID: "get_working", Method: "GET", Path: "/v1/sessions/{session_id}/working", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read the working memory that a session sees."}, yiku.Service.GetWorking),
		define(Operation{ID: "put_working", Method: "PUT", Path: "/v1/sessions/{session_id}/working", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Replace the working memory."}, yiku.Service.PutWorking),
		define(Operation{ID: "patch_working", Method: "PATCH", Path: "/v1/sessions/{session_id}/working", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Merge into the working memory."}, yiku.Service.PatchWorking),
		define(Operation{ID: "delete_working", Method: "DELETE", Path: "/v1/sessions/{session_id}/working", Status: 204, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Clear the working memory."}, yiku.Service.DeleteWorking),
		define(Operation{ID: "get_tools", Method: "GET", Path: "/v1/tools", Access: read, Scope: ScopeTenant, Tag: tag,
			Summary: "Give the memory tools that a model may call, ready to be sent to it."}, yiku.Service.GetTools),
		define(Operation{ID: "run_tool", Method: "POST", Path: "/v1/sessions/{session_id}/tools", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Do what a model has asked of a memory tool."}, yiku.Service.RunTool),
		define(Operation{ID: "list_pages", Method: "GET", Path: "/v1/sessions/{session_id}/pages", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List what came into a session's context and what left it, newest first."}, yiku.Service.ListPages),
		define(Operation{ID: "complete_task", Method: "POST", Path: "/v1/tasks/{task_id}/complete", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "End a task and keep its result."}, yiku.Service.CompleteTask),
	}
}

func contextOperations() []Operation {
	const tag, read = "context", yiku.AccessRead
	return []Operation{
		define(Operation{ID: "get_context", Method: "POST", Path: "/v1/context", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Give everything that the next request to a model needs."}, yiku.Service.GetContext),
		define(Operation{ID: "get_snapshot", Method: "GET", Path: "/v1/snapshots/{id}", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read a stored context."}, yiku.Service.GetSnapshot),
		define(Operation{ID: "replay_snapshot", Method: "POST", Path: "/v1/snapshots/{id}/replay", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Make a stored context anew from today's memory, and say what differs."}, yiku.Service.ReplaySnapshot),
	}
}

func memoryOperations() []Operation {
	const tag, read, write = "memories", yiku.AccessRead, yiku.AccessWrite
	return []Operation{
		define(Operation{ID: "save_memory", Method: "POST", Path: "/v1/memories", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Save one memory by hand."}, yiku.Service.SaveMemory),
		define(Operation{ID: "search_memory", Method: "POST", Path: "/v1/memories/search", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Find memories, and messages where asked, by words."}, yiku.Service.SearchMemory),
		define(Operation{ID: "list_memories", Method: "GET", Path: "/v1/memories", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List a user's memories, newest first."}, yiku.Service.ListMemories),
		define(Operation{ID: "get_memory", Method: "GET", Path: "/v1/memories/{id}", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read one memory."}, yiku.Service.GetMemory),
		define(Operation{ID: "patch_memory", Method: "PATCH", Path: "/v1/memories/{id}", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Change one memory; what it was is kept as a version."}, yiku.Service.PatchMemory),
		define(Operation{ID: "delete_memory", Method: "DELETE", Path: "/v1/memories/{id}", Status: 204, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Delete one memory for good."}, yiku.Service.DeleteMemory),
		define(Operation{ID: "memory_history", Method: "GET", Path: "/v1/memories/{id}/history", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List what a memory was."}, yiku.Service.MemoryHistory),
		define(Operation{ID: "memory_sources", Method: "GET", Path: "/v1/memories/{id}/sources", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Give the messages and memories that one came from."}, yiku.Service.MemorySources),
		define(Operation{ID: "restore_memory", Method: "POST", Path: "/v1/memories/{id}/restore", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Make an archived, stale or superseded memory active again."}, yiku.Service.RestoreMemory),
		define(Operation{ID: "confirm_memory", Method: "POST", Path: "/v1/memories/{id}/confirm", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Say that a memory is still true."}, yiku.Service.ConfirmMemory),
		define(Operation{ID: "demote_memory", Method: "POST", Path: "/v1/memories/{id}/demote", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Take the promotion of a memory to a wider level back."}, yiku.Service.DemoteMemory),
	}
}

func skillOperations() []Operation {
	const tag, read, write = "skills", yiku.AccessRead, yiku.AccessWrite
	return []Operation{
		define(Operation{ID: "save_skill", Method: "POST", Path: "/v1/skills", Status: 201, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Save a skill by its name; other steps become its new version."}, yiku.Service.SaveSkill),
		define(Operation{ID: "list_skills", Method: "GET", Path: "/v1/skills", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List a user's skills, newest first."}, yiku.Service.ListSkills),
		define(Operation{ID: "skill_outcome", Method: "POST", Path: "/v1/skills/{id}/outcome", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Say that a skill was followed, and whether it worked."}, yiku.Service.SkillOutcome),
	}
}

func graphOperations() []Operation {
	const tag, read = "knowledge", yiku.AccessRead
	return []Operation{
		define(Operation{ID: "list_entities", Method: "GET", Path: "/v1/entities", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List the people, places and things that a user's memories speak of, newest first."}, yiku.Service.ListEntities),
		define(Operation{ID: "list_relations", Method: "GET", Path: "/v1/relations", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List what is said of them, newest first."}, yiku.Service.ListRelations),
		define(Operation{ID: "query_graph", Method: "POST", Path: "/v1/graph/query", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Find what lies around one of them, over several relations, with the memories that prove it."}, yiku.Service.QueryGraph),
	}
}

func extractionOperations() []Operation {
	const tag, read, write, admin = "extraction", yiku.AccessRead, yiku.AccessWrite, yiku.AccessAdmin
	return []Operation{
		define(Operation{ID: "extract", Method: "POST", Path: "/v1/extract", Status: 202, Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Read messages that belong to no session of the caller's."}, yiku.Service.Extract),
		define(Operation{ID: "extract_session", Method: "POST", Path: "/v1/sessions/{session_id}/extract", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Read what a session holds beyond what was read, or try it."}, yiku.Service.ExtractSession),
		define(Operation{ID: "list_extractions", Method: "GET", Path: "/v1/extractions", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List what was read of a user's sessions, newest first."}, yiku.Service.ListExtractions),
		define(Operation{ID: "list_review", Method: "GET", Path: "/v1/review", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List the memories that wait for a person's decision."}, yiku.Service.ListReview),
		define(Operation{ID: "review", Method: "POST", Path: "/v1/review/{id}", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Approve, edit or reject a memory that waits."}, yiku.Service.Review),
		define(Operation{ID: "instructions", Method: "GET", Path: "/v1/instructions", Access: read, Scope: ScopeTenant, Tag: tag,
			Summary: "Give the text that lets an agent's model write memory commands."}, yiku.Service.Instructions),
		define(Operation{ID: "list_jobs", Method: "GET", Path: "/v1/jobs", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "List the tenant's jobs, oldest first."}, yiku.Service.ListJobs),
		define(Operation{ID: "replay_job", Method: "POST", Path: "/v1/jobs/{id}/replay", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Let a parked job run again; one that waits or runs stays as it is."}, yiku.Service.ReplayJob),
	}
}

func forgetOperations() []Operation {
	const tag, read, write = "forgetting", yiku.AccessRead, yiku.AccessWrite
	return []Operation{
		define(Operation{ID: "forget", Method: "POST", Path: "/v1/forget", Access: write, Scope: ScopeUser, Tag: tag,
			Summary: "Forget what a selector names, everywhere."}, yiku.Service.Forget),
		define(Operation{ID: "get_receipt", Method: "GET", Path: "/v1/receipts/{id}", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Read the receipt of a forget."}, yiku.Service.GetReceipt),
		define(Operation{ID: "verify_receipt", Method: "POST", Path: "/v1/receipts/{id}/verify", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "Scan again for what a receipt says is gone."}, yiku.Service.VerifyReceipt),
		define(Operation{ID: "forget_log", Method: "GET", Path: "/v1/forget-log", Access: read, Scope: ScopeUser, Tag: tag,
			Summary: "List a user's receipts, newest first."}, yiku.Service.ForgetLog),
		define(Operation{ID: "verify_audit", Method: "GET", Path: "/v1/audit/verify", Access: yiku.AccessAdmin, Scope: ScopeTenant, Tag: tag,
			Summary: "Check the whole audit log."}, yiku.Service.VerifyAudit),
		define(Operation{ID: "verify_index", Method: "POST", Path: "/v1/index/verify", Access: yiku.AccessAdmin, Scope: ScopeTenant, Tag: tag,
			Summary: "Compare what the index holds with the store, and rebuild what differs if wanted."}, yiku.Service.VerifyIndex),
	}
}

func usageOperations() []Operation {
	const tag, admin = "usage", yiku.AccessAdmin
	return []Operation{
		define(Operation{ID: "get_stats", Method: "GET", Path: "/v1/stats", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Tell what model calls took and what contexts saved."}, yiku.Service.GetStats),
		define(Operation{ID: "get_settings", Method: "GET", Path: "/v1/settings", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Read what the tenant has set for itself."}, yiku.Service.GetSettings),
		define(Operation{ID: "patch_settings", Method: "PATCH", Path: "/v1/settings", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Change what the tenant has set for itself."}, yiku.Service.PatchSettings),
	}
}

func keyOperations() []Operation {
	const tag, admin = "keys", yiku.AccessAdmin
	return []Operation{
		define(Operation{ID: "create_key", Method: "POST", Path: "/v1/keys", Status: 201, Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Make a key; its secret is shown once."}, yiku.Service.CreateKey),
		define(Operation{ID: "list_keys", Method: "GET", Path: "/v1/keys", Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "List the tenant's keys, oldest first, without secrets."}, yiku.Service.ListKeys),
		define(Operation{ID: "revoke_key", Method: "DELETE", Path: "/v1/keys/{id}", Status: 204, Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Revoke a key with the tokens made with it."}, yiku.Service.RevokeKey),
		define(Operation{ID: "create_token", Method: "POST", Path: "/v1/tokens", Status: 201, Access: admin, Scope: ScopeTenant, Tag: tag,
			Summary: "Make a short-lived token for one user."}, yiku.Service.CreateToken),
	}
}
