package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
	"pgregory.net/rapid"
)

func pick[T any](rt *rapid.T, name string, list []T) T { return rapid.SampledFrom(list).Draw(rt, name) }

func chance(rt *rapid.T, name string, oneIn int) bool {
	return rapid.IntRange(1, oneIn).Draw(rt, name) == 1
}

// anyKey is the key of a row, or now and then one that names nothing.
func anyKey[V any](rt *rapid.T, rows map[int64]V, o *ownerModel) (key int64, ok bool) {
	keys := keysOf(rows)
	if len(keys) == 0 || chance(rt, "unknown key", 12) {
		return 1<<50 + o.state.Seq, false
	}
	return pick(rt, "key", keys), true
}

func (m *machine) writes() map[string]func(*rapid.T, *ownerModel) {
	return map[string]func(*rapid.T, *ownerModel){
		"add memory": m.addMemory, "add another memory": m.addMemory, "add one more memory": m.addMemory,
		"update memory": m.updateMemory, "delete memory": m.deleteMemory, "touch": m.touch,
		"put session": m.putSession, "delete session": m.deleteSession,
		"add messages": m.addMessages, "add more messages": m.addMessages, "delete messages": m.deleteMessages,
		"put task": m.putTask, "put working": m.putWorking, "delete working": m.deleteWorking,
		"add lineage": m.addLineage, "put snapshot": m.putSnapshot, "drop showing": m.dropShowing, "put idempotency": m.putIdempotency,
		"drop expired": m.dropExpired, "enqueue": m.enqueue, "suppress": m.suppress, "raise epoch": m.raiseEpoch,
	}
}

func (m *machine) drawMemory(rt *rapid.T, row *store.Memory) {
	row.Content = pick(rt, "content", contents())
	row.ContentNorm = row.Content
	row.Type = pick(rt, "type", types())
	row.Kind = row.Type.Kind()
	row.Level, row.Status = pick(rt, "level", levels()), pick(rt, "status", statuses())
	row.ProjectID, row.AgentID = pick(rt, "project", projects()), pick(rt, "agent", agents())
	if row.Level == yiku.LevelTask {
		row.TaskID = pick(rt, "task", taskIDs())
	}
	row.Subject, row.Attribute = pick(rt, "subject", subjects()), pick(rt, "attribute", attributes())
	row.SubjectNorm, row.AttributeNorm = row.Subject, row.Attribute
	row.Single = chance(rt, "single", 3)
	row.Topics = rapid.SliceOfNDistinct(rapid.SampledFrom(topics()), 0, 2, rapid.ID).Draw(rt, "topics")
	row.Pinned = chance(rt, "pinned", 3)
	row.Importance = pick(rt, "importance", []float64{0.1, 0.5, 0.9})
	if chance(rt, "metadata", 3) {
		row.Metadata = yiku.Metadata{"颜色": pick(rt, "colour", []string{"红", "blue"})}
	}
	if chance(rt, "ends", 6) {
		row.ValidTo = At(rapid.IntRange(0, 9).Draw(rt, "valid to"))
	}
	row.UpdatedAt = At(rapid.IntRange(0, 99).Draw(rt, "updated"))
}

func (m *machine) addMemory(rt *rapid.T, o *ownerModel) {
	m.ids++
	row := &store.Memory{}
	row.ID = fmt.Sprint("m", m.ids)
	if known := rowsOf(o.memories); len(known) > 0 && chance(rt, "known id", 20) {
		row.ID = pick(rt, "id", known).ID
	}
	m.drawMemory(rt, row)
	row.CreatedAt = At(rapid.IntRange(0, 99).Draw(rt, "created"))
	var want error
	if o.memoryConflict(*row) {
		want = yiku.ErrConflict
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.AddMemory(row) }, func() {
		seq := o.changed(memoryItem(row), false)
		m.same("what the store set", []any{seq, int64(1), "created", o.owner.User()}, []any{row.Seq, row.Version, row.Reason, row.UserID})
		o.memories[row.Key] = *row
	})
}

func (m *machine) updateMemory(rt *rapid.T, o *ownerModel) {
	key, ok := anyKey(rt, o.memories, o)
	old := o.memories[key]
	next := old
	next.Key = key
	if chance(rt, "all", 2) {
		m.drawMemory(rt, &next)
	} else {
		next.Status, next.UpdatedAt = pick(rt, "status", statuses()), At(rapid.IntRange(0, 99).Draw(rt, "updated"))
	}
	written := next
	norm := func(given *string, same bool, before string) string {
		if chance(rt, "no norm", 2) {
			*given = ""
		}
		if *given == "" && same {
			return before
		}
		return *given
	}
	next.ContentNorm = norm(&written.ContentNorm, next.Content == old.Content, old.ContentNorm)
	next.SubjectNorm = norm(&written.SubjectNorm, next.Subject == old.Subject, old.SubjectNorm)
	next.AttributeNorm = norm(&written.AttributeNorm, next.Attribute == old.Attribute, old.AttributeNorm)
	var want error
	switch {
	case !ok:
		want = yiku.ErrNotFound
	case o.memoryConflict(next):
		want = yiku.ErrConflict
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.UpdateMemory(&written, "patched") }, func() {
		next.Seq, next.Version, next.Reason = o.changed(memoryItem(&next), false), old.Version+1, "patched"
		next.Hash = written.Hash
		o.versions[key] = append(o.versions[key], store.Version{Memory: old.Memory, ReplacedAt: next.UpdatedAt, Reason: old.Reason})
		o.memories[key] = next
		m.same("updated memory", next, written)
	})
}

func (m *machine) deleteMemory(rt *rapid.T, o *ownerModel) {
	if !chance(rt, "really", 3) {
		return // so that there is something to list
	}
	if chance(rt, "purge", 3) {
		m.purge(rt, o)
		return
	}
	key, ok := anyKey(rt, o.memories, o)
	var want error
	if !ok {
		want = yiku.ErrNotFound
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.DeleteMemory(key) }, func() {
		o.dropMemory(key)
	})
}

func (m *machine) touch(rt *rapid.T, o *ownerModel) {
	key, ok := anyKey(rt, o.memories, o)
	at := At(rapid.IntRange(0, 99).Draw(rt, "at"))
	m.write(rt, o, nil, func(tx store.Tx) error { return tx.Touch([]int64{key}, at) }, func() {
		if row := o.memories[key]; ok {
			row.AccessCount++
			if at.After(row.LastAccess) {
				row.LastAccess = at
			}
			o.memories[key] = row
		}
	})
}

func (m *machine) putSession(rt *rapid.T, o *ownerModel) {
	row := &store.Session{}
	row.ID = pick(rt, "id", sessionIDs())
	have, known := o.sessionByID(row.ID)
	var want error
	switch {
	case known && chance(rt, "again", 5):
		want = yiku.ErrConflict
	case known:
		*row = have
	}
	row.ProjectID, row.AgentID = pick(rt, "project", projects()), pick(rt, "agent", agents())
	row.LastMessageAt = At(rapid.IntRange(1, 9).Draw(rt, "last"))
	if chance(rt, "no message", 4) {
		row.LastMessageAt = row.EndedAt
	}
	row.CreatedAt = At(rapid.IntRange(0, 9).Draw(rt, "created"))
	row.Cursor, row.RecentFrom = rapid.Int64Range(0, 5).Draw(rt, "cursor"), rapid.Int64Range(0, 5).Draw(rt, "recent")
	m.write(rt, o, want, func(tx store.Tx) error { return tx.PutSession(row) }, func() {
		o.changed(sessionItem(row), false)
		m.same("version and count", []int64{have.Version + 1, int64(have.MessageCount)}, []int64{row.Version, int64(row.MessageCount)})
		o.sessions[row.Key] = *row
	})
}

func (m *machine) deleteSession(rt *rapid.T, o *ownerModel) {
	if !chance(rt, "really", 4) {
		return
	}
	if chance(rt, "purge", 2) {
		m.purgeSession(rt, o)
		return
	}
	key, ok := anyKey(rt, o.sessions, o)
	var want error
	if !ok {
		want = yiku.ErrNotFound
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.DeleteSession(key) }, func() { o.dropSession(key) })
}

func (m *machine) addMessages(rt *rapid.T, o *ownerModel) {
	session, ok := anyKey(rt, o.sessions, o)
	var want error
	if !ok {
		want = yiku.ErrNotFound
	}
	var list []*store.Message
	seen := map[string]bool{}
	for _, x := range o.messagesOf(session) {
		seen[x.ID] = true
	}
	for range rapid.IntRange(1, 3).Draw(rt, "count") {
		m.ids++
		row := message(fmt.Sprint("消息", m.ids), rapid.IntRange(0, 99).Draw(rt, "at"))
		if chance(rt, "small id", 8) {
			row.ID = pick(rt, "id", []string{"a", "b"})
		}
		row.Role = pick(rt, "role", []yiku.Role{yiku.RoleUser, yiku.RoleAssistant, yiku.RoleSystem})
		row.Pinned, row.TaskID = chance(rt, "pinned", 6), pick(rt, "task", taskIDs())
		if seen[row.ID] && ok {
			want = yiku.ErrConflict
		}
		seen[row.ID] = true
		list = append(list, row)
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.AddMessages(session, list) }, func() {
		s := o.sessions[session]
		s.MessageCount += len(list)
		o.sessions[session] = s
		for _, row := range list {
			m.same("seq", o.changed(messageItem(row), false), row.Seq)
			o.messages[row.Key] = *row
		}
	})
}

func (m *machine) deleteMessages(rt *rapid.T, o *ownerModel) {
	one, ok := anyKey(rt, o.messages, o)
	keys := []int64{one}
	if chance(rt, "twice", 3) {
		keys = append(keys, one)
	}
	m.write(rt, o, nil, func(tx store.Tx) error { return tx.DeleteMessages(keys) }, func() {
		if ok {
			o.dropMessage(one)
		}
	})
}

func (m *machine) putTask(rt *rapid.T, o *ownerModel) {
	project, id := pick(rt, "project", projects()), pick(rt, "task", taskIDs()[1:])
	row := o.tasks[[2]string{project, id}]
	row.ProjectID, row.ID, row.StartedAt = project, id, At(rapid.IntRange(0, 99).Draw(rt, "started"))
	var want error
	if row.Key != 0 && chance(rt, "again", 5) {
		row.Key, want = 0, yiku.ErrConflict
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.PutTask(&row) }, func() {
		o.state.Seq++
		o.tasks[[2]string{project, id}] = row
	})
}

func (m *machine) putWorking(rt *rapid.T, o *ownerModel) {
	row := store.Working{Project: pick(rt, "project", projects()), SessionID: pick(rt, "session", sessionIDs()), Open: chance(rt, "open", 2)}
	row.TaskID, row.Version = pick(rt, "task", taskIDs()), rapid.Int64Range(0, 3).Draw(rt, "version")
	row.Todos = []any{float64(rapid.IntRange(0, 9).Draw(rt, "todo"))}
	place := workingPlace(row.Project, row.TaskID, row.SessionID)
	want := row.Version + 1
	if have := o.working[place]; have != nil {
		want = max(want, have.Version+1)
	}
	m.write(rt, o, nil, func(tx store.Tx) error { return tx.PutWorking(&row) }, func() {
		m.same("version", want, row.Version)
		o.written++
		o.working[place] = &workingRow{Working: row, present: true, written: o.written}
	})
}

func (m *machine) deleteWorking(rt *rapid.T, o *ownerModel) {
	project, task, session := pick(rt, "project", projects()), pick(rt, "task", taskIDs()), pick(rt, "session", sessionIDs())
	m.write(rt, o, nil, func(tx store.Tx) error { return tx.DeleteWorking(project, task, session) }, func() {
		if row := o.working[workingPlace(project, task, session)]; row != nil {
			row.present = false
		}
	})
}

func (m *machine) addLineage(rt *rapid.T, o *ownerModel) {
	items := o.items()
	if len(items) < 2 {
		return
	}
	item, source := pick(rt, "item", items), pick(rt, "source", items)
	var want error
	if chance(rt, "unknown", 10) {
		source.Key += 1 << 30
		want = yiku.ErrNotFound
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.AddLineage(item, []store.Item{source}) }, func() {
		if e := (edge{item, source}); !slices.Contains(o.edges, e) {
			o.edges = append(o.edges, e)
		}
	})
}

func (m *machine) putSnapshot(rt *rapid.T, o *ownerModel) {
	row := store.Snapshot{ExpiresAt: At(rapid.IntRange(0, 99).Draw(rt, "expires"))}
	row.ID, row.SessionID, row.CreatedAt = number(rapid.IntRange(0, recordCount-1).Draw(rt, "id")), pick(rt, "session", sessionIDs()), At(0)
	if items := o.items(); len(items) > 0 {
		row.Cites = []store.Item{pick(rt, "cites", items)}
	}
	if chance(rt, "shows working memory", 2) {
		row.Working = &store.WorkingPlace{Project: pick(rt, "project", projects()), Task: "t"}
	}
	var want error
	if _, known := o.snapshots[row.ID]; known {
		want = yiku.ErrConflict
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.PutSnapshot(&row) }, func() { o.snapshots[row.ID] = row })
}

func (m *machine) dropShowing(rt *rapid.T, o *ownerModel) {
	place := store.WorkingPlace{Project: pick(rt, "project", projects()), Task: "t"}
	m.write(rt, o, nil, func(tx store.Tx) error { return tx.DropShowing(place) }, func() {
		maps.DeleteFunc(o.snapshots, func(_ string, s store.Snapshot) bool { return s.Working != nil && *s.Working == place })
	})
}

func (m *machine) putIdempotency(rt *rapid.T, o *ownerModel) {
	at := rapid.IntRange(0, 50).Draw(rt, "at")
	row := record{Idempotency: store.Idempotency{
		Operation: "save", Key: number(rapid.IntRange(0, recordCount-1).Draw(rt, "key")), Request: []byte{1}, Result: []byte("[]"),
		At: At(at), ExpiresAt: At(at + 40),
	}}
	if items := o.items(); len(items) > 0 {
		row.makes = []store.Item{pick(rt, "makes", items)}
	}
	var want error
	if have, known := o.records[row.Key]; known && have.ExpiresAt.After(row.At) {
		want = yiku.ErrConflict
	}
	m.write(rt, o, want, func(tx store.Tx) error { return tx.PutIdempotency(&row.Idempotency, row.makes) }, func() { o.records[row.Key] = row })
}

func (m *machine) dropExpired(rt *rapid.T, o *ownerModel) {
	now := At(rapid.IntRange(0, 60).Draw(rt, "now"))
	want := 0
	for _, s := range o.snapshots {
		if !s.ExpiresAt.After(now) {
			want++
		}
	}
	for _, r := range o.records {
		if !r.ExpiresAt.After(now) {
			want++
		}
	}
	var n int
	m.write(rt, o, nil, func(tx store.Tx) (err error) {
		n, err = tx.DropExpired(now, 0)
		return err
	}, func() {
		m.same("dropped", want, n)
		for k, s := range o.snapshots {
			if !s.ExpiresAt.After(now) {
				delete(o.snapshots, k)
			}
		}
		for k, r := range o.records {
			if !r.ExpiresAt.After(now) {
				delete(o.records, k)
			}
		}
	})
}

func (m *machine) enqueue(rt *rapid.T, o *ownerModel) {
	unique := pick(rt, "unique", []string{"", "u", "键"})
	var session int64
	if keys := keysOf(o.sessions); len(keys) > 0 && chance(rt, "of a session", 2) {
		session = pick(rt, "session", keys)
	}
	var id string
	m.write(rt, o, nil, func(tx store.Tx) (err error) {
		id, err = tx.Enqueue(&store.Job{Kind: "k", Unique: unique, SessionKey: session})
		return err
	}, func() {
		if have, known := o.jobs[unique]; known {
			m.same("job", have.id, id)
		} else if unique != "" {
			o.jobs[unique] = job{id, session}
		}
	})
}

func (m *machine) suppress(rt *rapid.T, o *ownerModel) {
	all := []string{"a", "乙", "c"}
	mark := pick(rt, "mark", all)
	m.write(rt, o, nil, func(tx store.Tx) error {
		stand, err := tx.Suppressed(all)
		m.same("suppressed", []bool{o.marks["a"], o.marks["乙"], o.marks["c"]}, stand)
		return errors.Join(err, tx.Suppress([]string{mark}, At(0)))
	}, func() { o.marks[mark] = true })
}

func (m *machine) raiseEpoch(rt *rapid.T, o *ownerModel) {
	var epoch int64
	m.write(rt, o, nil, func(tx store.Tx) (err error) {
		epoch, err = tx.RaiseEpoch()
		return err
	}, func() {
		o.state.Epoch++
		m.same("epoch", o.state.Epoch, epoch)
	})
}
