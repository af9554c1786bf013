package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// wholeOptions make a store whose contents are the same in every run.
func wholeOptions() *Options {
	n := 0
	return &Options{
		Readers: 1, Now: testTime,
		NewID: func() string { n++; return fmt.Sprintf("0197f0c2-0000-7000-9000-%012d", n) },
	}
}

// wholeOwners are the owners of fillWhole.
func wholeOwners(t testing.TB) []yiku.Owner {
	t.Helper()
	shared, err := yiku.SharedOwner("acme")
	if err != nil {
		t.Fatal(err)
	}
	return []yiku.Owner{testOwner(t, "acme", "王小明"), testOwner(t, "acme", "ann"), shared, testOwner(t, "other", "ann")}
}

// fillWhole writes something into every table that the store fills.
func fillWhole(t testing.TB, s *Store, memories int) {
	t.Helper()
	for _, owner := range wholeOwners(t) {
		var keys []int64
		session := store.Session{Session: yiku.Session{ID: "s", ProjectID: "项目", AgentID: "agent", CreatedAt: testTime(), Metadata: yiku.Metadata{"n": 1.5}}}
		write(t, s, owner, func(tx store.Tx) error {
			if err := tx.PutSession(&session); err != nil {
				return err
			}
			for i := range memories {
				message := wholeMessage(i)
				if err := tx.AddMessages(session.Key, []*store.Message{message}); err != nil {
					return err
				}
				m := wholeMemory(i)
				if err := errors.Join(tx.AddMemory(m), tx.AddLineage(item(store.ItemMemory, m.Key), []store.Item{item(store.ItemMessage, message.Key)})); err != nil {
					return err
				}
				keys = append(keys, m.Key)
			}
			return tx.Touch(keys[:memories/2], testTime())
		})
		write(t, s, owner, func(tx store.Tx) error {
			return tx.PutSetting(&store.Setting{Name: "tenant", Body: []byte(`{"budgets":{}}`), UpdatedAt: testTime()})
		})
		write(t, s, owner, func(tx store.Tx) error { return wholeRecords(tx, session.Key, keys) })
		write(t, s, owner, func(tx store.Tx) error { return wholeChanges(owner, tx, &session, keys) })
	}
}

func item(kind store.ItemKind, key int64) store.Item { return store.Item{Kind: kind, Key: key} }

func wholeMessage(i int) *store.Message {
	m := benchMessage(int64(i))
	m.TaskID, m.RecordedAt = "task", testTime()
	if i%5 == 0 {
		m.Pinned, m.Role = true, yiku.RoleSystem
	}
	return m
}

func wholeMemory(i int) *store.Memory {
	m := &store.Memory{ContentNorm: fmt.Sprint("content ", i), SubjectNorm: "user", AttributeNorm: fmt.Sprint("attribute ", i)}
	m.ID = fmt.Sprintf("0197f0c2-0000-7000-8000-%012d", i)
	m.Content = fmt.Sprint("memory ", i, strings.Repeat(" 喜欢在周末爬山 likes hiking", 1+i%40))
	m.Subject, m.Attribute, m.Value, m.Single = "user", fmt.Sprint("attribute ", i), "value", i%2 == 0
	m.Kind, m.Type, m.Level, m.Status, m.Origin = yiku.KindSemantic, yiku.TypeFact, yiku.LevelUser, yiku.StatusActive, yiku.OriginUser
	m.Topics, m.Sources, m.Metadata = []string{"hobby", "爱好"}, []string{"m-1"}, yiku.Metadata{"i": float64(i)}
	m.Importance, m.Confidence, m.Trust, m.Pinned = float64(i%10)/10, .5, .9, i%7 == 0
	m.CreatedAt, m.UpdatedAt, m.ValidFrom, m.ExpiresAt = testTime(), testTime(), testTime().Add(-time.Hour), testTime().AddDate(1, 0, 0)
	if i%3 == 0 {
		m.Subject, m.Attribute, m.Value, m.SubjectNorm, m.AttributeNorm, m.Single, m.ProjectID = "", "", "", "", "", false, "项目"
	}
	switch i % 6 {
	case 3:
		m.Kind, m.Type = yiku.KindEpisodic, yiku.TypeTaskResult
		m.Episode = &yiku.Episode{From: testTime(), To: testTime().Add(time.Hour), Participants: []string{"小李", "Ann"}, Outcome: yiku.TaskSuccess}
	case 0:
		m.Kind, m.Type = yiku.KindProcedural, yiku.TypeSkill
		m.Skill = &yiku.Skill{Name: fmt.Sprint("技能 ", i), Situation: "周四", Steps: []string{"打标签", "push"}, Version: 2, Successes: int64(i), Failures: 1}
	}
	return m
}

// wholeRecords writes what stands beside messages and memories.
func wholeRecords(tx store.Tx, session int64, keys []int64) error {
	task := store.Task{Task: yiku.Task{ID: "task", ProjectID: "项目", SessionID: "s", StartedAt: testTime()}, SessionKey: session}
	working := store.Working{Project: "项目", SessionID: "s", AgentID: "agent", Open: true}
	working.TaskID, working.UpdatedAt, working.DataSlots = "task", testTime(), map[string]any{"电话": "12345"}
	own := store.Working{SessionID: "s"}
	own.TaskState = map[string]any{"step": 2.0}
	snapshot := store.Snapshot{ExpiresAt: testTime().AddDate(0, 0, 7), Cites: []store.Item{item(store.ItemMemory, keys[1])}}
	snapshot.ID, snapshot.SessionID, snapshot.CreatedAt = "snapshot", "s", testTime()
	job := store.Job{Kind: "extract", Unique: "s", SessionKey: session, Arguments: []byte(`{"a":1}`), CreatedAt: testTime(), NotBefore: testTime()}
	receipt := store.Receipt{Gone: []store.Item{item(store.ItemMemory, 7)}, IDs: []string{"x"}}
	receipt.ID, receipt.CreatedAt = "receipt", testTime()
	forget := store.Forget{Epoch: 1, UpTo: 5, Receipt: "later", Actor: "admin", At: testTime()}
	audit := store.AuditEntry{At: testTime(), Subject: []byte("mark"), Actor: "admin", Action: "forget", Ref: "receipt", Counts: map[string]int{"memories": 1}}
	key := store.Key{Hash: fmt.Append(nil, "hash of ", keys[0])}
	key.ID, key.Name, key.Access, key.CreatedAt, key.ExpiresAt = fmt.Sprint("key-", keys[0]), "名字", yiku.Access("write"), testTime(), testTime().AddDate(1, 0, 0)
	gone := key
	gone.ID, gone.Hash = key.ID+"-revoked", append([]byte("old "), key.Hash...)
	_, err := tx.Enqueue(&job)
	_, err2 := tx.RaiseEpoch()
	for i, operation := range []string{"save", "append"} {
		made := []store.Item{item(store.ItemMemory, keys[2+i])}
		record := store.Idempotency{Operation: operation, Key: "k", Request: []byte{1, 2}, Result: []byte(`{"id":1}`), At: testTime()}
		err = errors.Join(err, tx.PutIdempotency(&record, made))
	}
	return errors.Join(err, err2, tx.PutTask(&task), tx.PutWorking(&working), tx.PutWorking(&own), tx.PutSnapshot(&snapshot),
		tx.PutReceipt(&receipt), tx.PutForget(&forget), tx.Suppress([]string{"a", "b"}, testTime()),
		tx.Audit(&audit, func(previous []byte, _ store.AuditEntry) []byte { return append(previous, 'm') }),
		tx.PutKey(&key), tx.PutKey(&gone), tx.RevokeKey(gone.ID, testTime()))
}

// wholeChanges changes and deletes some of what is there.
func wholeChanges(owner yiku.Owner, tx store.Tx, session *store.Session, keys []int64) error {
	list, err := tx.MemoriesByKey(owner, keys[4:6])
	if err != nil {
		return err
	}
	changed, superseded := list[0], list[1]
	changed.Content, changed.Importance = "changed 改了", .8
	changed.UpdatedAt, superseded.UpdatedAt = testTime().Add(time.Hour), testTime().Add(time.Hour)
	superseded.Status, superseded.ValidTo = yiku.StatusSuperseded, testTime()
	session.LastMessageAt, session.RecentFrom = testTime(), keys[0]
	return errors.Join(tx.UpdateMemory(&changed, "patched"), tx.UpdateMemory(&superseded, "superseded"),
		tx.DeleteMemory(keys[2]), tx.PutSession(session))
}

// readWhole asks the store everything and returns the answers, a line each.
// The first error ends it.
func readWhole(ctx context.Context, s *Store, owners []yiku.Owner) (lines []string, err error) {
	say := func(what string, answer any, err error) error {
		if errors.Is(err, yiku.ErrNotFound) {
			answer, err = "not found", nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		b, err := json.Marshal(answer)
		lines = append(lines, what+" "+string(b))
		return err
	}
	known, err := s.Owners(ctx, yiku.Owner{}, 0)
	if err := say("owners", fmt.Sprint(known), err); err != nil {
		return nil, err
	}
	forgets, err := s.Forgets(ctx)
	if err := say("forgets", forgets, err); err != nil {
		return nil, err
	}
	err = s.View(ctx, func(r store.Reader) error {
		keys, err := r.Keys("", "", 100)
		count, err2 := r.CountKeys("acme")
		audit, err3 := r.AuditEntries(0, 0)
		if err := errors.Join(say("keys", keys, err), say("key count", count, err2), say("audit", audit, err3)); err != nil {
			return err
		}
		for _, owner := range owners {
			if err := readOwner(r, owner, say); err != nil {
				return err
			}
		}
		return nil
	})
	return lines, err
}

// readOwner asks everything of one owner.
func readOwner(r store.Reader, owner yiku.Owner, say func(string, any, error) error) error {
	var errs []error
	ask := func(what string, answer any, err error) { errs = append(errs, say(what, answer, err)) }
	state, err := r.Owner(owner)
	ask("owner", state, err)
	session, err := r.Session(owner, "s")
	ask("session", session, err)
	sessions, err := r.Sessions(owner, store.SessionQuery{ProjectID: "项目"})
	ask("sessions", sessions, err)
	for _, q := range []store.MessageQuery{{}, {Kept: true}, {Last: true, Limit: 5}} {
		q.SessionKey = session.Key
		messages, err := r.Messages(owner, q)
		ask("messages", messages, err)
	}
	message, err := r.MessageByID(owner, session.Key, "m-3")
	ask("message", message, err)
	tasks, err := r.SessionTasks(owner, session.Key)
	ask("tasks", tasks, err)
	working, err := r.Working(owner, "项目", "task", "")
	ask("working", working, err)
	working, err = r.Working(owner, "", "", "s")
	ask("working of the session", working, err)
	working, err = r.OpenWorking(owner, "项目", "agent")
	ask("open working", working, err)
	var memories []store.Memory
	for _, q := range []store.MemoryQuery{
		{ProjectID: "项目"}, {Statuses: []yiku.Status{yiku.StatusActive}, Types: []yiku.Type{yiku.TypeFact}},
		{SubjectNorm: "user", AttributeNorm: "attribute 4"}, {Pinned: true}, {Topic: "爱好"}, {},
	} {
		memories, err = r.Memories(owner, q)
		ask("memories", memories, err)
	}
	for _, m := range memories {
		versions, err := r.Versions(owner, m.Key)
		sources, err2 := r.Sources(owner, item(store.ItemMemory, m.Key))
		byID, err3 := r.Memory(owner, m.ID)
		ask("versions", versions, err)
		ask("sources", sources, err2)
		ask("memory", byID, err3)
	}
	changes, err := r.Changes(owner, 0, 10_000)
	ask("changes", changes, err)
	snapshot, err := r.Snapshot(owner, "snapshot", testTime())
	ask("snapshot", snapshot, err)
	for _, operation := range []string{"save", "append"} {
		record, err := r.Idempotency(owner, operation, "k")
		ask("idempotency", record, err)
	}
	receipts, err := r.Receipts(owner, "", 0)
	ask("receipts", receipts, err)
	return errors.Join(errs...)
}
