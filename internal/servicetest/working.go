package servicetest

import (
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
)

func workingGroups() []group {
	return []group{
		{"B4_PutAndRead", putWorking},
		{"B4_MergePatch", patchWorking},
		{"B4_Versions", workingVersions},
		{"B4_Limits", workingLimits},
		{"B5_CarriedOver", carriedOver},
	}
}

func (s *suite) working(session, task string) yiku.WorkingMemory {
	s.Helper()
	return must[yiku.WorkingMemory](s)(s.GetWorking(s.ctx, yiku.GetWorkingRequest{UserID: "u", SessionID: session, TaskID: task}))
}

// putWorking: B4, what is put is read; put replaces all; delete clears.
func putWorking(s *suite) {
	if w := s.working("s", ""); w.Version != 0 || w.TaskState == nil || w.Todos == nil || w.Blocks == nil {
		s.Errorf("before anything: %+v", w)
	}
	put := must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s",
		TaskState: map[string]any{"step": "部署"}, DataSlots: map[string]any{"port": 5433.0, "host": "db-7"},
		Preferences: map[string]any{"tone": "brief"}, Todos: []any{"测试", map[string]any{"text": "ship", "done": false}},
		Blocks: map[string]yiku.Block{"人设": {Value: "温和", Limit: 100}}}))
	if put.Version == 0 || put.UpdatedAt.IsZero() || put.Blocks["人设"].Value != "温和" || put.DataSlots["port"] != 5433.0 || len(put.Todos) != 2 {
		s.Errorf("put %+v", put)
	}
	same(s, "read", put, s.working("s", ""))
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", DataSlots: map[string]any{"due": "Friday"}}))
	if w := s.working("s", ""); len(w.TaskState)+len(w.Todos)+len(w.Blocks) != 0 || w.DataSlots["due"] != "Friday" || len(w.DataSlots) != 1 {
		s.Errorf("put again %+v", w)
	}
	must[yiku.Empty](s)(s.DeleteWorking(s.ctx, yiku.DeleteWorkingRequest{UserID: "u", SessionID: "s"}))
	if w := s.working("s", ""); len(w.DataSlots) != 0 {
		s.Errorf("after delete %+v", w)
	}
	if w := s.working("other", ""); len(w.DataSlots) != 0 {
		s.Errorf("another session's %+v", w)
	}
}

// patchWorking: B4, a merge patch keeps what it does not name, overwrites a
// slot, and takes away what it gives as null.
func patchWorking(s *suite) {
	patch := func(req yiku.PatchWorkingRequest) yiku.WorkingMemory {
		req.UserID, req.SessionID = "u", "s"
		return must[yiku.WorkingMemory](s)(s.PatchWorking(s.ctx, req))
	}
	patch(yiku.PatchWorkingRequest{
		DataSlots: yiku.Some(map[string]any{"due": "Friday", "城市": "杭州", "who": map[string]any{"name": "Li", "age": 3.0}}),
		TaskState: yiku.Some(map[string]any{"step": 1.0}), Todos: yiku.Some([]any{"a", "b"}),
		Blocks: yiku.Some(map[string]any{"persona": map[string]any{"value": "kind"}, "rules": map[string]any{"value": "never lie"}}),
	})
	w := patch(yiku.PatchWorkingRequest{
		DataSlots: yiku.Some(map[string]any{"due": "next week", "城市": nil, "who": map[string]any{"age": nil}}),
		Todos:     yiku.Some([]any{"c"}),
		Blocks:    yiku.Some(map[string]any{"persona": map[string]any{"limit": 50.0}, "rules": nil}),
	})
	same(s, "slots", map[string]any{"due": "next week", "who": map[string]any{"name": "Li"}}, w.DataSlots)
	same(s, "state", map[string]any{"step": 1.0}, w.TaskState)
	same(s, "todos", []any{"c"}, w.Todos)
	if len(w.Blocks) != 1 || w.Blocks["persona"].Value != "kind" || w.Blocks["persona"].Limit != 50 {
		s.Errorf("blocks %+v", w.Blocks)
	}
	w = patch(yiku.PatchWorkingRequest{DataSlots: yiku.Null[map[string]any]()})
	if len(w.DataSlots) != 0 || len(w.TaskState) != 1 {
		s.Errorf("after null %+v", w)
	}
	same(s, "read", w, s.working("s", ""))
}

// workingVersions: B4, every change raises the version; a change under another
// version than the present is refused and changes nothing.
func workingVersions(s *suite) {
	put := func(match, slot string) (yiku.WorkingMemory, error) {
		return s.PutWorking(s.ctx, yiku.PutWorkingRequest{Conditional: yiku.Conditional{IfMatch: match},
			UserID: "u", SessionID: "s", DataSlots: map[string]any{"x": slot}})
	}
	one := must[yiku.WorkingMemory](s)(put("", "1"))
	two := must[yiku.WorkingMemory](s)(put(one.ETag(), "2"))
	if two.Version <= one.Version {
		s.Errorf("version %d, then %d", one.Version, two.Version)
	}
	fails[yiku.WorkingMemory](s, yiku.ErrPreconditionFailed)(put(one.ETag(), "3"))
	fails[yiku.WorkingMemory](s, yiku.ErrPreconditionFailed)(put("W/"+two.ETag(), "3"))
	fails[yiku.WorkingMemory](s, yiku.ErrPreconditionFailed)(s.PatchWorking(s.ctx, yiku.PatchWorkingRequest{
		Conditional: yiku.Conditional{IfMatch: one.ETag()}, UserID: "u", SessionID: "s", DataSlots: yiku.Some(map[string]any{"x": "3"})}))
	fails[yiku.Empty](s, yiku.ErrPreconditionFailed)(s.DeleteWorking(s.ctx, yiku.DeleteWorkingRequest{
		Conditional: yiku.Conditional{IfMatch: one.ETag()}, UserID: "u", SessionID: "s"}))
	names[yiku.WorkingMemory](s, "if_match")(put("2", "3"))
	if w := s.working("s", ""); w.DataSlots["x"] != "2" || w.Version != two.Version {
		s.Errorf("after refused changes %+v", w)
	}
	must[yiku.WorkingMemory](s)(put("*", "4"))
}

// workingLimits: B4, the newest ten to-dos are kept, a block has a limit, and
// a read-only block is changed by put alone.
func workingLimits(s *suite) {
	var todos []any
	for i := range 15 {
		todos = append(todos, "todo "+strconv.Itoa(i))
	}
	w := must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", Todos: todos,
		Blocks: map[string]yiku.Block{"rules": {Value: "守规矩", ReadOnly: true}}}))
	same(s, "todos", todos[5:], w.Todos)
	block := func(name string, b map[string]any) (yiku.WorkingMemory, error) {
		return s.PatchWorking(s.ctx, yiku.PatchWorkingRequest{UserID: "u", SessionID: "s", Blocks: yiku.Some(map[string]any{name: b})})
	}
	fails[yiku.WorkingMemory](s, yiku.ErrForbidden)(block("rules", map[string]any{"value": "no rules"}))
	fails[yiku.WorkingMemory](s, yiku.ErrForbidden)(block("rules", nil))
	fails[yiku.WorkingMemory](s, yiku.ErrInvalid)(block("long", map[string]any{"value": strings.Repeat("字", yiku.DefaultBlockLimit+1)}))
	must[yiku.WorkingMemory](s)(block("long", map[string]any{"value": strings.Repeat("字", yiku.DefaultBlockLimit)}))
	fails[yiku.WorkingMemory](s, yiku.ErrInvalid)(block("odd", map[string]any{"size": 5.0}))
	fails[yiku.WorkingMemory](s, yiku.ErrInvalid)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", Todos: []any{5.0}}))
	if w := s.working("s", ""); w.Blocks["rules"].Value != "守规矩" || !w.Blocks["rules"].ReadOnly || len(w.Blocks) != 2 {
		s.Errorf("blocks %+v", w.Blocks)
	}
}

// carriedOver: B5, an open task's working memory is seen in the owner's next
// session of the project, and is cleared when the task is completed.
func carriedOver(s *suite) {
	create := func(id, project string) {
		must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "u", SessionID: id, ProjectID: project}))
	}
	create("today", "p")
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "today", TaskID: "t",
		TaskState: map[string]any{"progress": "一半"}, Todos: []any{"剩下的一半"}}))
	create("tomorrow", "p")
	create("elsewhere", "q")
	w := s.working("tomorrow", "")
	if w.TaskState["progress"] != "一半" || len(w.Todos) != 1 || w.TaskID != "t" || w.CarriedFrom != "today" {
		s.Errorf("tomorrow %+v", w)
	}
	same(s, "by its task", w.TaskState, s.working("tomorrow", "t").TaskState)
	if w := s.working("elsewhere", ""); len(w.TaskState) != 0 {
		s.Errorf("another project's session sees %+v", w)
	}
	must[yiku.CompleteTaskResponse](s)(s.CompleteTask(s.ctx, yiku.CompleteTaskRequest{UserID: "u", ProjectID: "p", TaskID: "t", Outcome: yiku.TaskSuccess, Result: "做完了"}))
	if w := s.working("tomorrow", ""); len(w.TaskState)+len(w.Todos) != 0 {
		s.Errorf("after completion %+v", w)
	}
}
