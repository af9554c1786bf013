package yiku

import "time"

// Session is one conversation of a user with an agent.
type Session struct {
	ID            string    `json:"session_id"`
	UserID        string    `json:"user_id"`
	ProjectID     string    `json:"project_id,omitempty"`
	AgentID       string    `json:"agent_id,omitempty"`
	Metadata      Metadata  `json:"metadata,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	LastMessageAt time.Time `json:"last_message_at,omitzero"`
	MessageCount  int       `json:"message_count"`
	EndedAt       time.Time `json:"ended_at,omitzero"`
	EndReason     EndReason `json:"end_reason,omitempty"`
	ForkedFrom    string    `json:"forked_from,omitempty" doc:"The session that this one was forked from."`
	Tasks         []Task    `json:"tasks,omitempty" doc:"The tasks that its messages belong to."`
	Version       int64     `json:"version"`
}

// ETag returns the session's version as an entity tag.
func (s Session) ETag() string { return etag(s.Version) }

// Task is a piece of work; one session may hold several.
type Task struct {
	ID          string      `json:"task_id"`
	ProjectID   string      `json:"project_id,omitempty"`
	SessionID   string      `json:"session_id,omitempty" doc:"The session that touched it last."`
	StartedAt   time.Time   `json:"started_at"`
	CompletedAt time.Time   `json:"completed_at,omitzero"`
	Outcome     TaskOutcome `json:"outcome,omitempty"`
}

// EndReason says why a session ended.
type EndReason string

// The reasons.
const (
	EndUserLeft      EndReason = "user_left"
	EndTaskCompleted EndReason = "task_completed"
	EndOther         EndReason = "other"
)

// TaskOutcome says how a task ended.
type TaskOutcome string

// The outcomes.
const (
	TaskSuccess TaskOutcome = "success"
	TaskFailure TaskOutcome = "failure"
)

// CreateSessionRequest opens a session. The same id again, with the same
// fields, gives the session as it is; with others it is a conflict.
type CreateSessionRequest struct {
	Idempotent
	UserID    string   `json:"user_id" maxLength:"256"`
	SessionID string   `json:"session_id,omitempty" maxLength:"256"`
	ProjectID string   `json:"project_id,omitempty" maxLength:"256"`
	AgentID   string   `json:"agent_id,omitempty" maxLength:"256"`
	Metadata  Metadata `json:"metadata,omitempty"`
}

// ListSessionsRequest lists a user's sessions, newest activity first.
type ListSessionsRequest struct {
	Paging
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	ProjectID string `json:"project_id,omitempty" in:"query" maxLength:"256"`
	AgentID   string `json:"agent_id,omitempty" in:"query" maxLength:"256"`
}

// GetSessionRequest reads one session.
type GetSessionRequest struct {
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
}

// DeleteSessionRequest deletes a session with its messages, working memory and
// what else belongs to it alone. Memories learnt from it stay.
type DeleteSessionRequest struct {
	Conditional
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
}

// Empty is the answer of an operation that has nothing to say: 204.
type Empty struct{}

// AppendMessagesRequest appends messages to a session, all or none, in the
// order given; it creates the session where it is new. A message whose id and
// content are already there is not written again; the same id with other
// content is ErrConflict.
type AppendMessagesRequest struct {
	Idempotent
	SessionID string    `json:"session_id" in:"path" maxLength:"256"`
	UserID    string    `json:"user_id" maxLength:"256"`
	ProjectID string    `json:"project_id,omitempty" maxLength:"256"`
	TaskID    string    `json:"task_id,omitempty" maxLength:"256"`
	AgentID   string    `json:"agent_id,omitempty" maxLength:"256"`
	Messages  []Message `json:"messages" minItems:"1" maxItems:"1000"`
}

// AppendMessagesResponse names the messages in the order of the request. The
// answer is given only after they are durable.
type AppendMessagesResponse struct {
	Messages []MessageRef `json:"messages"`
	Applied  []Operation  `json:"applied,omitempty" doc:"What could not wait for the extraction: what was asked to be remembered or forgotten, prohibitions, corrections."`
	Commands []Operation  `json:"memory_commands,omitempty" doc:"What the commands in the agent's replies did, or would have done in log mode."`
}

// MessageRef names a stored message.
type MessageRef struct {
	ID        string `json:"id"`
	Seq       int64  `json:"seq"`
	Forgotten bool   `json:"forgotten,omitempty" doc:"It was forgotten before and is not taken in again; seq is 0."`
}

// ListMessagesRequest lists a session's messages, oldest first.
type ListMessagesRequest struct {
	Paging
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	From      string `json:"from,omitempty" in:"query" maxLength:"256" doc:"The id of the first message; from the start where absent."`
	To        string `json:"to,omitempty" in:"query" maxLength:"256" doc:"The id of the last message; up to the end where absent."`
}

// EndSessionRequest ends a session. Appending to an ended session opens it again.
type EndSessionRequest struct {
	Idempotent
	SessionID string    `json:"session_id" in:"path" maxLength:"256"`
	UserID    string    `json:"user_id" maxLength:"256"`
	Reason    EndReason `json:"reason" enum:"user_left,task_completed,other"`
	Wait      bool      `json:"wait,omitempty" doc:"Wait for the extraction that the end starts, for a while: what takes longer goes on as the job."`
}

// JobResponse names the job that was queued, durably. Where it was waited for,
// and came to its end in time, it is the report of what came of it.
type JobResponse struct {
	JobID string `json:"job_id,omitempty"`
	*ExtractionReport
}

// Settled reports whether the answer is the report.
func (r JobResponse) Settled() bool { return r.ExtractionReport != nil }

// ForkSessionRequest copies a session's messages into a new session.
type ForkSessionRequest struct {
	Idempotent
	SessionID    string `json:"session_id" in:"path" maxLength:"256"`
	UserID       string `json:"user_id" maxLength:"256"`
	NewSessionID string `json:"new_session_id,omitempty" maxLength:"256"`
	UpTo         string `json:"up_to,omitempty" maxLength:"256" doc:"The id of the last message to copy; all where absent. At most 5,000 are copied."`
}

// ExportSessionRequest asks for a session as one document.
type ExportSessionRequest struct {
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
}

// SessionExport is a session as one JSON document, read again by
// ImportSession on this or another server.
type SessionExport struct {
	Format   string    `json:"format" doc:"yiku.session.v1"`
	Session  Session   `json:"session"`
	Messages []Message `json:"messages"`
}

// SessionExportFormat is the value of [SessionExport.Format].
const SessionExportFormat = "yiku.session.v1"

// ImportSessionRequest makes a new session from an export, or from messages in
// OpenAI, Anthropic or plain role/content form.
type ImportSessionRequest struct {
	Idempotent
	UserID    string      `json:"user_id" maxLength:"256"`
	SessionID string      `json:"session_id,omitempty" maxLength:"256" doc:"The new session's id; the document's own where absent, or a new one."`
	ProjectID string      `json:"project_id,omitempty" maxLength:"256"`
	AgentID   string      `json:"agent_id,omitempty" maxLength:"256"`
	Format    MessageForm `json:"format,omitempty" enum:"yiku,openai,anthropic,plain" doc:"Recognised from the document where absent."`
	Document  RawJSON     `json:"document" doc:"An export, an object with messages, or an array of messages: at most 5,000."`
}

// MessageForm is a public form of a conversation.
type MessageForm string

// The forms. FormYiku is [SessionExport].
const (
	FormYiku      MessageForm = "yiku"
	FormOpenAI    MessageForm = "openai"
	FormAnthropic MessageForm = "anthropic"
	FormPlain     MessageForm = "plain"
)

// CompleteTaskRequest ends a task: what is worth keeping of its working memory
// is kept, the rest cleared. Its result, or else what the assistant said last of
// it, becomes the task's memory of type task_result; one of an earlier
// completion becomes history.
type CompleteTaskRequest struct {
	Idempotent
	TaskID    string      `json:"task_id" in:"path" maxLength:"256"`
	UserID    string      `json:"user_id" maxLength:"256"`
	ProjectID string      `json:"project_id,omitempty" maxLength:"256"`
	SessionID string      `json:"session_id,omitempty" maxLength:"256"`
	Outcome   TaskOutcome `json:"outcome" enum:"success,failure"`
	Result    string      `json:"result,omitempty" maxLength:"20000" doc:"What came of it, in a few sentences."`
	Keep      []string    `json:"keep,omitempty" maxItems:"64" doc:"The data slots and preferences of its working memory that become memories of the project, or of the user where it is in none."`
	Wait      bool        `json:"wait,omitempty"`
}

// CompleteTaskResponse names the task and what was kept of it.
type CompleteTaskResponse struct {
	Task              Task     `json:"task"`
	MemoryID          string   `json:"memory_id,omitempty" doc:"The task_result memory."`
	SkillID           string   `json:"skill_id,omitempty" doc:"The skill that was learnt from its steps, where it succeeded by an ordered list of them."`
	Kept              []string `json:"kept,omitempty" doc:"The memories that were made of its working memory: what was named in keep, and its temporary preferences, as the task's own."`
	JobID             string   `json:"job_id,omitempty"`
	*ExtractionReport          // with wait: what was read of the task's session, where it came to its end in time
}
