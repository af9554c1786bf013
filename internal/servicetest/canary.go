package servicetest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

const canary = "CANARY7f3a"

// noValueInErrors: R31 and I4, no error holds a value of its request, nor
// anything that is stored.
func noValueInErrors(s *suite) {
	watch := func(name string, err error) {
		s.Helper()
		if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), canary) {
			s.Errorf("%s: the error holds a value: %.300v", name, err)
		}
	}
	for _, op := range wire.Operations() {
		for _, text := range []string{canary, canary + "\x00", canary + "\n", strings.Repeat(canary, 3000)} {
			req := reflect.New(op.Request)
			fill(req.Elem(), text, 0)
			_, err := op.Call(s.ctx, s, req.Interface())
			watch(op.ID, err)
		}
	}
	s.append(canary, canary, yiku.Message{ID: canary, Role: yiku.RoleUser, Content: yiku.Text(canary)})
	s.save(yiku.SaveMemoryRequest{UserID: canary, Content: canary, Subject: canary, Attribute: canary, Value: canary, Metadata: yiku.Metadata{canary: canary}})
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: canary, SessionID: canary,
		Blocks: map[string]yiku.Block{canary: {Value: canary, ReadOnly: true}}}))
	for name, err := range s.lateFaults() {
		if err == nil {
			s.Errorf("%s succeeded", name)
		}
		watch(name, err)
	}
}

// lateFaults are calls that are right in form and wrong in what is stored.
func (s *suite) lateFaults() map[string]error {
	faults := map[string]error{}
	_, faults["append"] = s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: canary, SessionID: canary,
		Messages: []yiku.Message{{ID: canary, Role: yiku.RoleUser, Content: yiku.Text("other " + canary)}}})
	_, faults["append twice"] = s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: canary, SessionID: canary,
		Messages: []yiku.Message{{ID: canary + "2", Role: yiku.RoleUser, Content: yiku.Text(canary)}, {ID: canary + "2", Role: yiku.RoleUser, Content: yiku.Text("x")}}})
	_, faults["append to another project"] = s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: canary, SessionID: canary, ProjectID: canary + "2", Messages: []yiku.Message{user("x")}})
	_, faults["create"] = s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: canary, SessionID: canary, AgentID: canary + "2"})
	_, faults["fork"] = s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: canary, SessionID: canary, NewSessionID: canary})
	_, faults["fork up to"] = s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: canary, SessionID: canary, UpTo: canary + "9"})
	for i, doc := range []string{`"` + canary + `"`, `[{"role":"` + canary + `"}]`, `{"` + canary + `":1}`, `[{"role":"user","content":{"` + canary + `":1}}]`,
		`{"format":"` + canary + `","messages":[]}`, `[{"role":"tool","content":"` + canary + `"}]`} {
		_, faults[fmt.Sprint("import ", i)] = s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: canary, Document: yiku.RawJSON(doc)})
	}
	for i, block := range []any{map[string]any{"value": canary}, nil} {
		_, faults[fmt.Sprint("read-only block ", i)] = s.PatchWorking(s.ctx, yiku.PatchWorkingRequest{UserID: canary, SessionID: canary, Blocks: yiku.Some(map[string]any{canary: block})})
	}
	for i, block := range []any{map[string]any{"value": strings.Repeat(canary, 1000)}, map[string]any{canary: canary}, canary, map[string]any{"limit": canary}, map[string]any{"value": 5.0}} {
		_, faults[fmt.Sprint("block ", i)] = s.PatchWorking(s.ctx, yiku.PatchWorkingRequest{UserID: canary, SessionID: canary, Blocks: yiku.Some(map[string]any{"my " + canary: block})})
	}
	_, faults["put"] = s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: canary, SessionID: canary, Todos: []any{[]any{canary}}})
	_, faults["derived"] = s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: canary, Content: "x y", DerivedFrom: []string{canary}})
	_, faults["filter"] = s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: canary, Query: canary, Filter: &yiku.Filter{Field: canary, Op: yiku.OpEq, Value: canary}})
	_, faults["filter op"] = s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: canary, Query: canary, Filter: &yiku.Filter{Field: "importance", Op: yiku.OpEq, Value: canary}})
	_, faults["cursor"] = s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: canary, Paging: yiku.Paging{Cursor: canary}})
	_, faults["match"] = s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{Conditional: yiku.Conditional{IfMatch: `"` + canary + `"`}, UserID: canary, SessionID: canary})
	_, faults["context"] = s.GetContext(s.ctx, yiku.GetContextRequest{UserID: canary, SessionID: canary, System: strings.Repeat(canary, 100), WindowTokens: 20})
	_, faults["context model"] = s.GetContext(s.ctx, yiku.GetContextRequest{UserID: canary, Query: canary, Model: canary, WindowTokens: 1})
	return faults
}

// fill puts a text into every string below v, and something into what is no
// string.
func fill(v reflect.Value, text string, depth int) {
	if depth > 8 || !v.CanSet() || v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	if _, ok := wire.OptOf(v.Type()); ok {
		v.Field(0).SetBool(true)
		fill(v.Field(2), text, depth+1)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"` + text + `"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, text, depth+1)
		v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), e)
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	}
}
