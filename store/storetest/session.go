package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func sessionTests() map[string]func(*env) {
	return map[string]func(*env){
		"RoundTrip": sessionRoundTrip,
		"Put":       sessionPut,
		"List":      sessionList,
		"Delete":    sessionDelete,
		"KeyAnew":   sessionKeyAnew,
	}
}

func sessionRoundTrip(e *env) {
	s := &store.Session{
		Session: yiku.Session{
			ID: "会话 1", UserID: "ignored", ProjectID: "项目", AgentID: "agent", ForkedFrom: "other",
			Metadata:  yiku.Metadata{"k": "v", "n": 2.5, "list": []any{"一", true, nil}, "empty": map[string]any{}},
			CreatedAt: At(0).Add(1234567), LastMessageAt: At(1), EndedAt: At(2), EndReason: yiku.EndUserLeft, MessageCount: 7,
		},
		RecentFrom: 5, Cursor: 6, EndedUpTo: 7,
	}
	e.update(func(tx store.Tx) error { return tx.PutSession(s) })
	if s.Key == 0 || s.Version != 1 || s.MessageCount != 0 || s.UserID != e.owner.User() || !s.CreatedAt.Equal(At(0).Add(1234000)) {
		e.t.Errorf("PutSession sets key %d, version %d, count %d, created %v", s.Key, s.Version, s.MessageCount, s.CreatedAt)
	}
	e.view(func(r store.Reader) error {
		got, err := r.Session(e.owner, "会话 1")
		e.same("by id", *s, got)
		got, err2 := r.SessionByKey(e.owner, s.Key)
		e.same("by key", *s, got)
		return errors.Join(err, err2)
	})
}

func sessionPut(e *env) {
	s := e.session("s", 0)
	e.messages(s, "a", "b")
	stale := *s
	stale.MessageCount, stale.Version, stale.AgentID = 99, 40, "new"
	e.update(func(tx store.Tx) error { return tx.PutSession(&stale) })
	e.same("count and version are the store's", []int64{2, 2}, []int64{int64(stale.MessageCount), stale.Version})
	e.view(func(r store.Reader) error {
		got, err := r.Session(e.owner, "s")
		e.same("session", stale, got)
		return err
	})
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.PutSession(&store.Session{Session: yiku.Session{ID: "s", CreatedAt: At(0)}})
	})
	e.want("the same id again", err, yiku.ErrConflict)
	err = e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.PutSession(&store.Session{Session: yiku.Session{ID: "x", CreatedAt: At(0)}, Key: s.Key + 1000})
	})
	e.want("an unknown key", err, yiku.ErrNotFound)
}

func sessionList(e *env) {
	// Created in one order, active in another; two at the same time.
	active := map[string]int{"a": 5, "b": 1, "c": 9, "d": 5, "e": 0}
	var two int64 // the number up to which there were two
	e.update(func(tx store.Tx) error {
		for i, id := range []string{"a", "b", "c", "d", "e"} {
			s := &store.Session{Session: yiku.Session{ID: id, CreatedAt: At(-i), ProjectID: map[bool]string{true: "p"}[i%2 == 0]}}
			if active[id] > 0 {
				s.LastMessageAt = At(active[id])
			}
			if i > 1 {
				s.AgentID = "x"
			}
			if err := tx.PutSession(s); err != nil {
				return err
			}
			if i == 1 {
				state, err := tx.Owner(e.owner)
				if two = state.Seq; err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, c := range []struct {
		name  string
		query store.SessionQuery
		want  []string
	}{
		{"all", store.SessionQuery{}, []string{"c", "d", "a", "b", "e"}},
		{"project", store.SessionQuery{ProjectID: "p"}, []string{"c", "a", "e"}},
		{"project and agent", store.SessionQuery{ProjectID: "p", AgentID: "x"}, []string{"c", "e"}},
		{"none", store.SessionQuery{ProjectID: "q"}, nil},
		{"changed up to", store.SessionQuery{ChangedUpTo: two}, []string{"a", "b"}},
		{"changed after", store.SessionQuery{ChangedAfter: two}, []string{"c", "d", "e"}},
		{"changed between", store.SessionQuery{ChangedAfter: two - 1, ChangedUpTo: two + 1}, []string{"c", "b"}},
	} {
		var got []string
		q := c.query
		for {
			var page []store.Session
			q.Limit = 2
			e.view(func(r store.Reader) (err error) {
				page, err = r.Sessions(e.owner, q)
				n, err2 := r.CountSessions(e.owner, q)
				e.same(c.name+": count", len(c.want), n)
				return errors.Join(err, err2)
			})
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				got = append(got, s.ID)
			}
			q.After = page[len(page)-1].Place()
		}
		e.same(c.name, c.want, got)
	}
}

func sessionDelete(e *env) {
	s, other := e.session("s", 0), e.session("other", 1)
	messages := e.messages(s, "a", "b")
	e.messages(other, "a")
	mem := fact("m")
	var job, kept string
	e.update(func(tx store.Tx) error {
		own, task := &store.Working{SessionID: "s"}, &store.Working{SessionID: "s"}
		task.TaskID = "t"
		if err := tx.AddMemory(mem); err != nil {
			return err
		}
		var err1, err2 error
		job, err1 = tx.Enqueue(&store.Job{Kind: "k", Unique: "u", SessionKey: s.Key})
		kept, err2 = tx.Enqueue(&store.Job{Kind: "k", Unique: "v", SessionKey: other.Key})
		return errors.Join(err1, err2, tx.PutWorking(own), tx.PutWorking(task),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "in it", SessionID: "s", CreatedAt: At(0)}}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "cites it", CreatedAt: At(0)}, Cites: []store.Item{messageItem(messages[0])}}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "another", SessionID: "other", CreatedAt: At(0)}}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0)}, []store.Item{messageItem(messages[1])}),
			tx.AddLineage(memoryItem(mem), []store.Item{messageItem(messages[0])}))
	})
	before := e.state()
	e.update(func(tx store.Tx) error { return tx.DeleteSession(s.Key) })
	e.update(func(tx store.Tx) error {
		again, err1 := tx.Enqueue(&store.Job{Kind: "k", Unique: "u"})
		same, err2 := tx.Enqueue(&store.Job{Kind: "k", Unique: "v"})
		if again == job || same != kept {
			e.t.Error("waiting jobs of the session stayed, or those of another went")
		}
		e.want("DeleteSession again", tx.DeleteSession(s.Key), yiku.ErrNotFound)
		return errors.Join(err1, err2)
	})
	e.view(func(r store.Reader) error {
		_, err1 := r.Session(e.owner, "s")
		_, err2 := r.MessageByID(e.owner, s.Key, "a")
		_, err3 := r.Working(e.owner, "", "", "s")
		_, err4 := r.Snapshot(e.owner, "in it", At(0))
		_, err5 := r.Snapshot(e.owner, "cites it", At(0))
		for _, err := range []error{err1, err2, err3, err4, err5} {
			e.want("read of what went", err, yiku.ErrNotFound)
		}
		_, err1 = r.Working(e.owner, "", "t", "")
		_, err2 = r.Snapshot(e.owner, "another", At(0))
		rec, err3 := r.Idempotency(e.owner, "o", "k")
		e.same("record is forgotten", true, rec.Forgotten)
		sources, err4 := r.Sources(e.owner, memoryItem(mem))
		e.same("lineage", []store.Item(nil), sources)
		n, err5 := r.CountMessages(e.owner, other.Key)
		e.same("messages of the other", 1, n)
		changes, err6 := r.Changes(e.owner, before.Seq, 0)
		var gone []store.Item
		for _, c := range changes {
			if c.Deleted {
				gone = append(gone, c.Item)
			}
		}
		e.same("tombstones", []store.Item{messageItem(messages[0]), messageItem(messages[1]), sessionItem(s)}, gone)
		return errors.Join(err1, err2, err3, err4, err5, err6)
	})
}

func sessionKeyAnew(e *env) {
	s := e.session("s", 0)
	e.update(func(tx store.Tx) error { return tx.DeleteSession(s.Key) })
	again := e.session("s", 1)
	if again.Key <= s.Key || again.Version != 1 || again.MessageCount != 0 {
		e.t.Errorf("the new session has key %d after %d, version %d, count %d", again.Key, s.Key, again.Version, again.MessageCount)
	}
}

func messageTests() map[string]func(*env) {
	return map[string]func(*env){
		"RoundTrip": messageRoundTrip,
		"List":      messageList,
		"Conflict":  messageConflict,
		"Delete":    messageDelete,
	}
}

func messageRoundTrip(e *env) {
	s := e.session("s", 0)
	var parts yiku.Content
	if err := parts.UnmarshalJSON([]byte(`[{"type":"text","text":"看"},{"type":"image_url","image_url":{"url":"u"}}]`)); err != nil {
		e.t.Fatal(err)
	}
	list := []*store.Message{
		{Message: yiku.Message{
			ID: "消息", Role: yiku.RoleAssistant, Content: parts, Name: "小助手", CreatedAt: At(3), Pinned: true, TaskID: "t",
			ToolCalls: []yiku.ToolCall{{ID: "c", Type: "function", Function: yiku.ToolFunction{Name: "f", Arguments: `{"x":1}`}}},
			Metadata:  yiku.Metadata{"n": 1.0}, Origin: yiku.OriginAgent,
		}, RecordedAt: At(4)},
		{Message: yiku.Message{ID: "2", Role: yiku.RoleTool, Content: yiku.Text("结果\x01 "), ToolCallID: "c", Origin: yiku.OriginTool}, RecordedAt: At(4)},
	}
	e.update(func(tx store.Tx) error { return tx.AddMessages(s.Key, list) })
	if list[0].Key == 0 || list[1].Key <= list[0].Key || list[1].Seq != list[0].Seq+1 || list[0].SessionKey != s.Key || list[0].SessionID != "s" {
		e.t.Error("AddMessages does not set key, seq and session in order")
	}
	e.view(func(r store.Reader) error {
		got, err := r.Messages(e.owner, store.MessageQuery{SessionKey: s.Key})
		e.same("messages", values(list), got)
		one, err2 := r.MessageByID(e.owner, s.Key, "消息")
		e.same("by id", *list[0], one)
		byKey, err3 := r.MessagesByKey(e.owner, []int64{list[1].Key, list[1].Key + 77, list[0].Key, list[1].Key})
		e.same("by key", values(list), byKey)
		_, err4 := r.MessageByID(e.owner, s.Key, "none")
		e.want("an unknown id", err4, yiku.ErrNotFound)
		return errors.Join(err, err2, err3)
	})
}

func messageList(e *env) {
	s, other := e.session("s", 0), e.session("other", 0)
	var list []*store.Message
	for i := range 10 {
		m := message(number(i), i)
		m.Pinned = i == 3
		if i == 0 || i == 7 {
			m.Role = yiku.RoleSystem
		}
		list = append(list, m)
		e.update(func(tx store.Tx) error {
			return errors.Join(tx.AddMessages(s.Key, []*store.Message{m}), tx.AddMessages(other.Key, []*store.Message{message(number(i), i)}))
		})
	}
	for _, c := range []struct {
		name  string
		query store.MessageQuery
		want  string
	}{
		{"all", store.MessageQuery{}, "0123456789"},
		{"first three", store.MessageQuery{Limit: 3}, "012"},
		{"after", store.MessageQuery{After: list[2].Key, Limit: 3}, "345"},
		{"up to", store.MessageQuery{UpTo: list[4].Key}, "01234"},
		{"between", store.MessageQuery{After: list[2].Key, UpTo: list[4].Key}, "34"},
		{"last three", store.MessageQuery{Last: true, Limit: 3}, "789"},
		{"last of a part", store.MessageQuery{Last: true, UpTo: list[5].Key, Limit: 2}, "45"},
		{"kept", store.MessageQuery{Kept: true}, "037"},
		{"kept, after, last", store.MessageQuery{Kept: true, Last: true, After: list[0].Key, UpTo: list[6].Key, Limit: 5}, "3"},
	} {
		c.query.SessionKey = s.Key
		e.view(func(r store.Reader) error {
			got, err := r.Messages(e.owner, c.query)
			text := ""
			for _, m := range got {
				text += m.ID[2:]
			}
			e.same(c.name, c.want, text)
			return err
		})
	}
}

func messageConflict(e *env) {
	s, other := e.session("s", 0), e.session("other", 0)
	e.messages(s, "a")
	e.messages(other, "a")
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.AddMessages(s.Key, []*store.Message{message("b", 0), message("a", 0)})
	})
	e.want("a known id", err, yiku.ErrConflict)
	err = e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.AddMessages(s.Key, []*store.Message{message("c", 0), message("c", 0)})
	})
	e.want("an id twice", err, yiku.ErrConflict)
	err = e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.AddMessages(s.Key+100, []*store.Message{message("d", 0)})
	})
	e.want("an unknown session", err, yiku.ErrNotFound)
	e.view(func(r store.Reader) error {
		n, err := r.CountMessages(e.owner, s.Key)
		e.same("messages", 1, n)
		return err
	})
}

func messageDelete(e *env) {
	s := e.session("s", 0)
	list := e.messages(s, "a", "b", "c")
	mem := e.memories("m")[0]
	e.update(func(tx store.Tx) error {
		return errors.Join(
			tx.AddLineage(memoryItem(mem), []store.Item{messageItem(list[0]), messageItem(list[1])}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0)}, []store.Item{messageItem(list[0])}))
	})
	before := e.state()
	e.update(func(tx store.Tx) error {
		return tx.DeleteMessages([]int64{list[0].Key, list[0].Key + 500, list[0].Key})
	})
	e.view(func(r store.Reader) error {
		got, err := r.Messages(e.owner, store.MessageQuery{SessionKey: s.Key})
		e.same("left", values(list[1:]), got)
		session, err2 := r.Session(e.owner, "s")
		e.same("count", 2, session.MessageCount)
		sources, err3 := r.Sources(e.owner, memoryItem(mem))
		e.same("lineage", []store.Item{messageItem(list[1])}, sources)
		rec, err4 := r.Idempotency(e.owner, "o", "k")
		e.same("record is forgotten", true, rec.Forgotten)
		changes, err5 := r.Changes(e.owner, before.Seq, 0)
		e.same("tombstone", []store.Change{{Item: messageItem(list[0]), Seq: before.Seq + 1, Deleted: true}}, changes)
		return errors.Join(err, err2, err3, err4, err5)
	})
	e.messages(s, "a") // its id is free again
}
