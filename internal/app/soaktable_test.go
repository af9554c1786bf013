package app

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
)

// person is one user of one tenant, with the newest ids of what is theirs.
type person struct {
	tenant, user int
	mu           sync.Mutex
	ids          map[string][]belonging // guarded by mu; by kind
}

// belonging is an id with the project whose canary its content carries.
type belonging struct {
	id      string
	project int
}

const keptIDs = 16 // of each kind and person

func (p *person) keep(kind, id string, project int) {
	if id == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := append(p.ids[kind], belonging{id, project})
	p.ids[kind] = list[max(0, len(list)-keptIDs):]
}

// one gives one of the ids, in half of the cases the newest.
func (p *person) one(rng *rand.Rand, kind string) (belonging, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.ids[kind]
	switch {
	case len(list) == 0:
		return belonging{"none", 0}, false
	case rng.IntN(2) == 0:
		return list[len(list)-1], true
	}
	return list[rng.IntN(len(list))], true
}

// act is one operation of a person in a project, on its way to a door.
type act struct {
	*soak
	*rand.Rand
	who      *person
	project  int  // its canary; 0: of the user everywhere
	operator bool // needs an operator's credential
	shared   bool // writes what the tenant shares
	scoped   bool // its answer is of the project and the user alone
	foreign  bool // names an id that is another's
	asked    bool // asks for another's canary
	n        int  // unique in the run
}

// word is the canary of what is written.
func (a *act) word() string {
	if a.shared {
		return canaryOf(a.who.tenant, sharedUser, 0)
	}
	return canaryOf(a.who.tenant, a.who.user, a.project)
}

// text says something with the canary and with words that everyone uses, so
// that searches meet.
func (a *act) text() string {
	topics := []string{"green tea 绿茶", "the report 报告", "Friday 周五", "PostgreSQL 数据库", "Hangzhou 杭州"}
	return fmt.Sprintf("记住 remember %s %s %d", a.word(), topics[a.IntN(len(topics))], a.n)
}

func (a *act) user() string { return fmt.Sprintf("u%02d", a.who.user) }

// The names below are the same for all users of all tenants on purpose.

func (a *act) projectID() string {
	if a.project == 0 {
		return ""
	}
	return fmt.Sprint("p", a.project)
}

func (a *act) session() string { return fmt.Sprintf("s%d-%d", a.project, a.IntN(2)) }

func (a *act) task() string { return fmt.Sprintf("t%d-%d", a.project, a.IntN(2)) }

func (a *act) key() yiku.Idempotent {
	if a.IntN(4) > 0 {
		return yiku.Idempotent{}
	}
	return yiku.Idempotent{IdempotencyKey: fmt.Sprint("k", a.IntN(50))}
}

// id gives an id of the person's own, or in a quarter of the cases another's.
// With an own one the act takes place in its project.
func (a *act) id(kind string) string {
	if other := a.people[a.IntN(len(a.people))]; other != a.who && a.IntN(4) == 0 {
		if b, ok := other.one(a.Rand, kind); ok {
			a.foreign = true
			return b.id
		}
	}
	b, _ := a.who.one(a.Rand, kind)
	a.project = b.project
	return b.id
}

// query asks for one's own canary, for another's, or for what many have said.
func (a *act) query() string {
	switch a.IntN(3) {
	case 0:
		return canaryOf(a.who.tenant, a.who.user, a.project)
	case 1:
		other := a.people[a.IntN(len(a.people))]
		a.asked = true
		return "记住 remember " + canaryOf(other.tenant, other.user, a.IntN(3))
	}
	return "绿茶 tea report 周五"
}

func (a *act) metadata() yiku.Metadata { return yiku.Metadata{"note": a.word(), a.word(): 1.0} }

func (a *act) messages() []yiku.Message {
	ref := ""
	if a.IntN(4) == 0 {
		ref = fmt.Sprint("m", a.IntN(20))
	}
	return []yiku.Message{{ID: ref, Role: yiku.RoleUser, Name: a.word(), Content: yiku.Text(a.text()), Metadata: a.metadata()}}
}

// soakEntry is how an operation takes part in the soak: how often, and the
// pointer to its request.
type soakEntry struct {
	weight  int
	request func(*act) any
}

// soakTable has an entry for every operation; one without fails TestR23.
func soakTable() map[string]soakEntry {
	table := sessionSoak()
	for _, more := range []map[string]soakEntry{memorySoak(), skillSoak(), extractionSoak(), forgetSoak(), keySoak()} {
		for id, e := range more {
			table[id] = e
		}
	}
	return table
}

func sessionSoak() map[string]soakEntry {
	return map[string]soakEntry{
		"create_session": {2, func(a *act) any {
			return &yiku.CreateSessionRequest{Idempotent: a.key(), UserID: a.user(), SessionID: a.session(), ProjectID: a.projectID(), Metadata: a.metadata()}
		}},
		"list_sessions":  {3, func(a *act) any { return &yiku.ListSessionsRequest{UserID: a.user()} }},
		"get_session":    {3, func(a *act) any { return &yiku.GetSessionRequest{UserID: a.user(), SessionID: a.session()} }},
		"delete_session": {1, func(a *act) any { return &yiku.DeleteSessionRequest{UserID: a.user(), SessionID: a.session()} }},
		"append_messages": {12, func(a *act) any {
			return &yiku.AppendMessagesRequest{Idempotent: a.key(), UserID: a.user(), SessionID: a.session(), ProjectID: a.projectID(), TaskID: a.task(), Messages: a.messages()}
		}},
		"list_messages": {6, func(a *act) any { return &yiku.ListMessagesRequest{UserID: a.user(), SessionID: a.session()} }},
		"end_session": {1, func(a *act) any {
			return &yiku.EndSessionRequest{Idempotent: a.key(), UserID: a.user(), SessionID: a.session(), Reason: yiku.EndOther}
		}},
		"fork_session": {1, func(a *act) any {
			return &yiku.ForkSessionRequest{UserID: a.user(), SessionID: a.session(), NewSessionID: fmt.Sprintf("f%d-%d", a.project, a.IntN(9))}
		}},
		"run_tool": {4, func(a *act) any {
			return &yiku.RunToolRequest{UserID: a.user(), SessionID: a.session(), Name: "conversation_search", Arguments: yiku.RawJSON(`{"query":"tea"}`)}
		}},
		"list_pages":     {2, func(a *act) any { return &yiku.ListPagesRequest{UserID: a.user(), SessionID: a.session()} }},
		"get_summary":    {4, func(a *act) any { return &yiku.GetSummaryRequest{UserID: a.user(), SessionID: a.session()} }},
		"export_session": {2, func(a *act) any { return &yiku.ExportSessionRequest{UserID: a.user(), SessionID: a.session()} }},
		"import_session": {1, func(a *act) any {
			return &yiku.ImportSessionRequest{UserID: a.user(), SessionID: fmt.Sprintf("i%d-%d", a.project, a.IntN(9)), ProjectID: a.projectID(),
				Document: yiku.RawJSON(fmt.Sprintf(`[{"role":"user","content":%q}]`, a.text()))}
		}},
		"get_working": {3, func(a *act) any {
			return &yiku.GetWorkingRequest{UserID: a.user(), SessionID: a.session(), TaskID: a.task()}
		}},
		"put_working": {2, func(a *act) any {
			return &yiku.PutWorkingRequest{UserID: a.user(), SessionID: a.session(), TaskID: a.task(), TaskState: a.metadata(), DataSlots: map[string]any{"slot": a.word()},
				Todos: []any{a.text()}, Blocks: map[string]yiku.Block{"block": {Value: a.text()}}}
		}},
		"patch_working": {3, func(a *act) any {
			return &yiku.PatchWorkingRequest{UserID: a.user(), SessionID: a.session(), TaskID: a.task(), DataSlots: yiku.Some(map[string]any{"slot": a.word()})}
		}},
		"delete_working": {1, func(a *act) any {
			return &yiku.DeleteWorkingRequest{UserID: a.user(), SessionID: a.session(), TaskID: a.task()}
		}},
		"complete_task": {1, func(a *act) any {
			return &yiku.CompleteTaskRequest{UserID: a.user(), TaskID: a.task(), ProjectID: a.projectID(), SessionID: a.session(), Outcome: yiku.TaskSuccess, Result: a.text()}
		}},
		"get_context": {8, func(a *act) any {
			a.scoped = true
			return &yiku.GetContextRequest{UserID: a.user(), ProjectID: a.projectID(), SessionID: a.session(), Query: a.query(), System: "You help.",
				Options: yiku.ContextOptions{Explain: a.IntN(2) == 0}}
		}},
		"get_snapshot":    {3, func(a *act) any { return &yiku.GetSnapshotRequest{UserID: a.user(), ID: a.id("snapshot")} }},
		"replay_snapshot": {2, func(a *act) any { return &yiku.ReplaySnapshotRequest{UserID: a.user(), ID: a.id("snapshot")} }},
	}
}

func memorySoak() map[string]soakEntry {
	return map[string]soakEntry{
		"save_memory": {12, saveInSoak},
		"search_memory": {8, func(a *act) any {
			a.scoped = true
			return &yiku.SearchMemoryRequest{UserID: a.user(), ProjectID: a.projectID(), Query: a.query(), MinRelevance: new(0.0),
				IncludeMessages: a.IntN(2) == 0, Explain: a.IntN(2) == 0}
		}},
		"list_memories": {6, func(a *act) any {
			a.shared = a.IntN(8) == 0
			req := &yiku.ListMemoriesRequest{UserID: a.user()}
			if a.shared {
				req.Level = yiku.LevelShared
			}
			return req
		}},
		"get_memory": {8, func(a *act) any { return &yiku.MemoryRequest{UserID: a.user(), ID: a.id("memory")} }},
		"patch_memory": {4, func(a *act) any {
			id := a.id("memory")
			return &yiku.PatchMemoryRequest{UserID: a.user(), ID: id, Content: yiku.Some(a.text()), Metadata: yiku.Some(a.metadata())}
		}},
		"delete_memory":  {2, func(a *act) any { return &yiku.DeleteMemoryRequest{UserID: a.user(), ID: a.id("memory")} }},
		"memory_history": {3, func(a *act) any { return &yiku.MemoryHistoryRequest{UserID: a.user(), ID: a.id("memory")} }},
		"memory_sources": {2, func(a *act) any { return &yiku.MemorySourcesRequest{UserID: a.user(), ID: a.id("memory")} }},
		"restore_memory": {2, func(a *act) any {
			return &yiku.RestoreMemoryRequest{Idempotent: a.key(), UserID: a.user(), ID: a.id("memory")}
		}},
		"confirm_memory": {2, func(a *act) any {
			return &yiku.ConfirmMemoryRequest{Idempotent: a.key(), UserID: a.user(), ID: a.id("memory")}
		}},
	}
}

// saveInSoak saves at every level; a few memories are the tenant's, written by
// its operator.
func saveInSoak(a *act) any {
	if a.IntN(40) == 0 {
		a.shared, a.operator, a.project = true, true, 0
		return &yiku.SaveMemoryRequest{UserID: a.user(), Content: a.text(), Level: yiku.LevelShared, Metadata: a.metadata()}
	}
	req := &yiku.SaveMemoryRequest{Idempotent: a.key(), UserID: a.user()}
	if a.IntN(6) == 0 {
		req.DerivedFrom = []string{a.id("memory")}
	}
	switch a.IntN(3) {
	case 0:
		a.project = 0
	case 1:
		if a.project > 0 {
			req.TaskID = a.task()
		}
	}
	req.ProjectID, req.Content, req.Metadata, req.Topics = a.projectID(), a.text(), a.metadata(), []string{a.word()}
	req.Type = []yiku.Type{yiku.TypeFact, yiku.TypeConstraint, yiku.TypePreference, yiku.TypeProfile, yiku.TypeProject, yiku.TypeEvent, yiku.TypeSkill}[a.IntN(7)]
	if a.IntN(3) == 0 { // a guess, which may have to wait for a person
		req.Confidence = new(0.2)
	}
	if a.IntN(2) == 0 {
		req.Subject, req.Attribute, req.Value = a.word(), []string{"residence", "likes", a.word()}[a.IntN(3)], fmt.Sprint(a.word(), a.IntN(9))
	}
	if a.project == 0 && req.TaskID == "" && a.IntN(2) == 0 { // often about the same thing, so that guesses meet what is known
		req.Subject, req.Attribute, req.Value = "我", "residence", fmt.Sprint(a.word(), a.IntN(9))
	}
	return req
}

func skillSoak() map[string]soakEntry {
	return map[string]soakEntry{
		"save_skill": {3, func(a *act) any {
			a.project = 0
			return &yiku.SaveSkillRequest{Idempotent: a.key(), UserID: a.user(), Name: a.word(), Situation: a.text(), Steps: []string{a.text(), a.word()}, Metadata: a.metadata()}
		}},
		"demote_memory": {1, demoteInSoak},
		"list_skills":   {2, func(a *act) any { return &yiku.ListSkillsRequest{UserID: a.user()} }},
		"skill_outcome": {2, func(a *act) any {
			return &yiku.SkillOutcomeRequest{UserID: a.user(), ID: a.id("memory"), Success: new(a.IntN(2) == 0)}
		}},
	}
}

// demoteInSoak states a preference in three tasks of a project, and demotes
// what was promoted by it.
func demoteInSoak(a *act) any {
	if a.project == 0 {
		a.project = 1
	}
	text := a.text()
	app, ctx := a.as(fmt.Sprintf("t%02d", a.who.tenant)), a.t.Context()
	for i := range 3 {
		// What fails was forgotten meanwhile; then there is nothing to demote.
		_, _ = app.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: a.user(), ProjectID: a.projectID(), TaskID: fmt.Sprint(a.n, "-", i), Content: text, Type: yiku.TypePreference})
	}
	page, err := app.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: a.user(), ProjectID: a.projectID(), Type: yiku.TypePreference, Level: yiku.LevelProject})
	if err == nil {
		for _, m := range page.Items {
			if len(m.DerivedFrom) >= 3 && m.Content == text {
				a.who.keep("promoted", m.ID, a.project)
			}
		}
	}
	return &yiku.DemoteMemoryRequest{Idempotent: a.key(), UserID: a.user(), ID: a.id("promoted")}
}

func extractionSoak() map[string]soakEntry {
	return map[string]soakEntry{
		"extract": {1, func(a *act) any {
			return &yiku.ExtractRequest{UserID: a.user(), ProjectID: a.projectID(), Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text(a.text())}}, DryRun: a.IntN(2) == 0, Wait: a.IntN(2) == 0}
		}},
		"extract_session": {1, func(a *act) any {
			return &yiku.ExtractSessionRequest{UserID: a.user(), SessionID: a.session(), DryRun: a.IntN(2) == 0}
		}},
		"list_extractions": {2, func(a *act) any { return &yiku.ListExtractionsRequest{UserID: a.user()} }},
		"list_review":      {2, func(a *act) any { return &yiku.ListReviewRequest{UserID: a.user()} }},
		"review": {2, func(a *act) any {
			from := a.IntN(len(a.people))
			for i := range a.people { // few have something that waits
				person := a.people[(from+i)%len(a.people)]
				if _, waits := person.one(a.Rand, "waiting"); waits {
					a.who = person
					break
				}
			}
			id := a.id("waiting")
			req := &yiku.ReviewRequest{UserID: a.user(), ID: id, Decision: []yiku.ReviewDecision{yiku.ReviewApprove, yiku.ReviewReject}[a.IntN(2)]}
			if req.Decision == yiku.ReviewApprove && a.IntN(2) == 0 {
				req.Content = a.text()
			}
			return req
		}},
	}
}

func forgetSoak() map[string]soakEntry {
	return map[string]soakEntry{
		"forget": {1, func(a *act) any {
			req := &yiku.ForgetRequest{Idempotent: a.key(), UserID: a.user(), DryRun: a.IntN(4) == 0}
			switch a.IntN(8) {
			case 0:
				req.Selector.All = true
			case 1:
				req.Selector.Keyword = "绿茶"
			case 2:
				req.Selector.Source = &yiku.SourceSelector{SessionID: a.session()}
			case 3:
				req.Selector.From, req.Selector.To = time.Now().Add(-time.Second), time.Now()
			default:
				req.Selector.IDs = []string{a.id("memory")}
			}
			req.Reason = a.text()
			return req
		}},
		"list_entities":  {1, func(a *act) any { return &yiku.ListEntitiesRequest{UserID: a.user()} }},
		"list_relations": {1, func(a *act) any { return &yiku.ListRelationsRequest{UserID: a.user()} }},
		"query_graph":    {1, func(a *act) any { return &yiku.QueryGraphRequest{UserID: a.user(), Hops: 4} }},
		"get_receipt":    {2, func(a *act) any { return &yiku.ReceiptRequest{UserID: a.user(), ID: a.id("receipt")} }},
		"verify_receipt": {1, func(a *act) any { return &yiku.VerifyReceiptRequest{UserID: a.user(), ID: a.id("receipt")} }},
		"forget_log":     {2, func(a *act) any { return &yiku.ForgetLogRequest{UserID: a.user()} }},
	}
}

// keySoak is what is for operators. The names of keys carry the tenant's canary.
func keySoak() map[string]soakEntry {
	operator := func(weight int, request func(*act) any) soakEntry {
		return soakEntry{weight, func(a *act) any {
			a.operator, a.shared = true, true
			return request(a)
		}}
	}
	return map[string]soakEntry{
		"verify_audit": operator(0, func(*act) any { return &yiku.VerifyAuditRequest{} }),
		"verify_index": operator(1, func(a *act) any { return &yiku.VerifyIndexRequest{UserID: a.user(), Rebuild: true} }),
		"get_tools":    operator(1, func(*act) any { return &yiku.ToolsRequest{Lang: "zh"} }),
		"instructions": operator(1, func(*act) any { return &yiku.InstructionsRequest{Lang: "zh"} }),
		"list_jobs":    operator(1, func(*act) any { return &yiku.ListJobsRequest{} }),
		"replay_job":   operator(1, func(a *act) any { return &yiku.ReplayJobRequest{ID: a.id("job")} }),
		"create_key": operator(1, func(a *act) any {
			return &yiku.CreateKeyRequest{Access: yiku.AccessRead, UserID: a.user(), Name: a.word()}
		}),
		"get_settings": operator(1, func(*act) any { return &yiku.GetSettingsRequest{} }),
		"patch_settings": operator(1, func(a *act) any {
			return &yiku.PatchSettingsRequest{Budgets: yiku.Some(yiku.Budgets{DayCalls: yiku.Some(a.IntN(1000))})}
		}),
		"get_stats":    operator(1, func(a *act) any { return &yiku.GetStatsRequest{UserID: a.user()} }),
		"list_keys":    operator(1, func(*act) any { return &yiku.ListKeysRequest{} }),
		"revoke_key":   operator(1, func(a *act) any { return &yiku.RevokeKeyRequest{ID: a.id("key")} }),
		"create_token": operator(1, func(a *act) any { return &yiku.CreateTokenRequest{UserID: a.user()} }),
	}
}

// learn keeps the ids of an answer for later acts.
func (a *act) learn(answer any) {
	switch res := answer.(type) {
	case yiku.SaveMemoryResponse:
		if !a.shared && res.Outcome == yiku.OutcomeCreated {
			a.who.keep("memory", res.ID, a.project)
		}
		if !a.shared && res.Outcome == yiku.OutcomeQuarantined {
			a.who.keep("waiting", res.ID, a.project)
		}
	case yiku.JobResponse:
		a.who.keep("job", res.JobID, 0)
	case yiku.CompleteTaskResponse:
		a.who.keep("memory", res.MemoryID, a.project)
	case yiku.GetContextResponse:
		if !a.asked { // the snapshot tells the query again
			a.who.keep("snapshot", res.SnapshotID, a.project)
		}
	case yiku.ForgetResponse:
		a.who.keep("receipt", res.ReceiptID, a.project)
	case yiku.CreateKeyResponse:
		a.who.keep("key", res.Key.ID, 0)
	}
}

// lots is the table as a list in which each operation stands as often as it weighs.
func lots(table map[string]soakEntry) []string {
	var list []string
	for id, e := range table {
		list = append(list, slices.Repeat([]string{id}, e.weight)...)
	}
	slices.Sort(list)
	return list
}
