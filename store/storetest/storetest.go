// Package storetest is the conformance suite of store.Store: what its contract
// says, as tests that every driver runs. Model compares a driver with plain Go
// maps under random use; Faulty makes a store fail on purpose.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Run tests the stores that open returns against the contract. Each call of
// open returns an empty store, which it closes at the end of its test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*env)
	}{
		{"Update", updateTests()},
		{"Owner", ownerTests()},
		{"Session", sessionTests()},
		{"Message", messageTests()},
		{"Task", taskTests()},
		{"Working", workingTests()},
		{"Memory", memoryTests()},
		{"MemoryQuery", memoryQueryTests()},
		{"Lineage", lineageTests()},
		{"Change", changeTests()},
		{"Record", recordTests()},
		{"Forget", forgetTests()},
		{"Key", keyTests()},
		{"Restore", restoreTests()},
		{"Job", jobTests()},
		{"Vector", vectorTests()},
		{"Spend", spendTests()},
		{"Graph", graphTests()},
		{"Summary", summaryTests()},
	} {
		for name, test := range group.tests {
			t.Run(group.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(newEnv(t, open(t)))
			})
		}
	}
}

// env is one test's store and owners: two users of one tenant, and a user of
// another tenant with the same id as the first.
type env struct {
	t                       *testing.T
	s                       store.Store
	owner, neighbour, alien yiku.Owner
}

func newEnv(t *testing.T, s store.Store) *env {
	return &env{t: t, s: s, owner: Owner(t, "acme", "王小明"), neighbour: Owner(t, "acme", "bob"), alien: Owner(t, "globex", "王小明")}
}

// Owner returns an owner or fails the test.
func Owner(t testing.TB, tenant, user string) yiku.Owner {
	t.Helper()
	o, err := yiku.NewOwner(tenant, user)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// At is a time of the tests: n minutes after its zero.
func At(n int) time.Time {
	return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

// update runs fn as the first owner and fails the test on an error.
func (e *env) update(fn func(tx store.Tx) error) {
	e.t.Helper()
	e.updateAs(e.owner, fn)
}

func (e *env) updateAs(o yiku.Owner, fn func(tx store.Tx) error) {
	e.t.Helper()
	if err := e.s.Update(context.Background(), o, store.Request, fn); err != nil {
		e.t.Fatal(err)
	}
}

// view runs fn and fails the test on an error.
func (e *env) view(fn func(r store.Reader) error) {
	e.t.Helper()
	if err := e.s.View(context.Background(), fn); err != nil {
		e.t.Fatal(err)
	}
}

// want reports an error that is not the sentinel, nil included.
func (e *env) want(what string, err, sentinel error) {
	e.t.Helper()
	if !errors.Is(err, sentinel) {
		e.t.Errorf("%s = %v, want %v", what, err, sentinel)
	}
}

// same reports a difference between two values. Empty and nil lists are equal.
func (e *env) same(what string, want, got any) {
	e.t.Helper()
	if diff := diff(want, got); diff != "" {
		e.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// stored hides what reads do not give back.
func diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(store.Memory{}, "ContentNorm", "SubjectNorm", "AttributeNorm", "Relations"),
		cmp.AllowUnexported(yiku.Owner{}), cmp.Comparer(sameContent))
}

// sameContent compares what a message says, with its parts as they came.
func sameContent(a, b yiku.Content) bool {
	x, err1 := a.MarshalJSON()
	y, err2 := b.MarshalJSON()
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// session adds a session.
func (e *env) session(id string, minute int) *store.Session {
	e.t.Helper()
	s := &store.Session{Session: yiku.Session{ID: id, CreatedAt: At(minute)}}
	e.update(func(tx store.Tx) error { return tx.PutSession(s) })
	return s
}

// messages appends messages with the ids to a session.
func (e *env) messages(s *store.Session, ids ...string) []*store.Message {
	e.t.Helper()
	var list []*store.Message
	for i, id := range ids {
		list = append(list, message(id, i))
	}
	e.update(func(tx store.Tx) error { return tx.AddMessages(s.Key, list) })
	return list
}

func message(id string, minute int) *store.Message {
	return &store.Message{
		Message:    yiku.Message{ID: id, Role: yiku.RoleUser, Origin: yiku.OriginUser, Content: yiku.Text("text of " + id), CreatedAt: At(minute)},
		RecordedAt: At(minute),
	}
}

// fact is an active memory of user level.
func fact(id string) *store.Memory {
	m := &store.Memory{ContentNorm: "content of " + id}
	m.ID, m.Content = id, "Content of "+id
	m.Kind, m.Type, m.Level, m.Status, m.Origin = yiku.KindSemantic, yiku.TypeFact, yiku.LevelUser, yiku.StatusActive, yiku.OriginUser
	m.Importance, m.Confidence, m.Trust = 0.5, 1, 1
	m.CreatedAt, m.UpdatedAt = At(0), At(0)
	return m
}

// memories adds memories with the ids.
func (e *env) memories(ids ...string) []*store.Memory {
	e.t.Helper()
	var list []*store.Memory
	e.update(func(tx store.Tx) error {
		list = nil
		for _, id := range ids {
			m := fact(id)
			if err := tx.AddMemory(m); err != nil {
				return err
			}
			list = append(list, m)
		}
		return nil
	})
	return list
}

func values[T any](list []*T) []T {
	var out []T
	for _, p := range list {
		out = append(out, *p)
	}
	return out
}

func ids(list []store.Memory) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

func memoryItem(m *store.Memory) store.Item   { return store.Item{Kind: store.ItemMemory, Key: m.Key} }
func messageItem(m *store.Message) store.Item { return store.Item{Kind: store.ItemMessage, Key: m.Key} }
func sessionItem(s *store.Session) store.Item { return store.Item{Kind: store.ItemSession, Key: s.Key} }

// number is a short unique text of an index.
func number(i int) string { return fmt.Sprintf("%03d", i) }
