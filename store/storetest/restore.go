package storetest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func restoreTests() map[string]func(*env) {
	return map[string]func(*env){
		"Suppressions": listSuppressions,
		"Advance":      advance,
		"HoldOwner":    holdOwner,
		"Withdrawn":    holdWithdrawn,
		"Renew":        renew,
	}
}

// suppressions lists an owner's marks in their order.
func (e *env) suppressions(o yiku.Owner, at time.Time) (list []store.Suppression) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		list, err = r.Suppressions(o, at)
		return err
	})
	slices.SortFunc(list, func(a, b store.Suppression) int { return strings.Compare(a.Mark, b.Mark) })
	return list
}

// listSuppressions: of a mark the last time counts; owners do not meet.
func listSuppressions(e *env) {
	for i, marks := range [][]string{{"b", "\x00\xff"}, {"b", "c"}} {
		e.update(func(tx store.Tx) error { return tx.Suppress(marks, At(i)) })
	}
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.Suppress([]string{"d"}, At(0)) })
	e.same("all", []store.Suppression{{Mark: "\x00\xff", At: At(0)}, {Mark: "b", At: At(1)}, {Mark: "c", At: At(1)}}, e.suppressions(e.owner, time.Time{}))
	e.same("of one time", []store.Suppression{{Mark: "b", At: At(1)}, {Mark: "c", At: At(1)}}, e.suppressions(e.owner, At(1)))
	e.same("of an unknown owner", []store.Suppression{}, e.suppressions(e.neighbour, time.Time{}))
}

func (e *env) stateOf(o yiku.Owner) (st store.OwnerState) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		st, err = r.Owner(o)
		return err
	})
	return st
}

// advance: numbers go forward only, and what is added then has higher ones.
func advance(e *env) {
	e.memories("before")
	e.update(func(tx store.Tx) error { return tx.Advance(store.OwnerState{Epoch: 7, Seq: 500}) })
	e.update(func(tx store.Tx) error { return tx.Advance(store.OwnerState{Epoch: 3, Seq: 1, ConsentWithdrawn: true}) })
	e.update(func(tx store.Tx) error { return tx.Advance(store.OwnerState{}) })
	e.same("state", store.OwnerState{Known: true, Epoch: 7, Seq: 500, ConsentWithdrawn: true}, e.stateOf(e.owner))
	if m := e.memories("after")[0]; m.Seq != 501 {
		e.t.Errorf("the next number is %d", m.Seq)
	}
}

// holdOwner: nobody sees an owner whose place is held; when it comes, it has
// the numbers and the marks.
func holdOwner(e *env) {
	ctx := context.Background()
	e.update(func(store.Tx) error { return nil })
	mark := e.s.OwnerMark(e.alien)
	if bytes.Equal(mark, e.s.OwnerMark(e.owner)) || len(mark) == 0 || !bytes.Equal(mark, e.s.OwnerMark(e.alien)) {
		e.t.Errorf("marks of owners: %x", mark)
	}
	e.want("hold a known owner", e.s.HoldOwner(ctx, store.HeldOwner{Mark: e.s.OwnerMark(e.owner)}), yiku.ErrConflict)
	for _, h := range []store.HeldOwner{
		{Mark: mark, State: store.OwnerState{Epoch: 4, Seq: 90}, Marks: []store.Suppression{{Mark: "a", At: At(1)}}},
		{Mark: mark, State: store.OwnerState{Epoch: 2, Seq: 95}, Marks: []store.Suppression{{Mark: "a", At: At(2)}, {Mark: "b", At: At(2)}}},
	} {
		if err := e.s.HoldOwner(ctx, h); err != nil {
			e.t.Fatal(err)
		}
	}
	e.same("state of a held owner", store.OwnerState{}, e.stateOf(e.alien))
	e.same("where a held owner stands", store.OwnerState{Epoch: 4, Seq: 95}, e.standing(mark))
	e.same("where nobody stands", store.OwnerState{}, e.standing(e.s.OwnerMark(e.neighbour)))
	e.same("marks of a held owner", []store.Suppression{}, e.suppressions(e.alien, time.Time{}))
	owners, err := e.s.Owners(ctx, yiku.Owner{}, 10)
	if err != nil {
		e.t.Fatal(err)
	}
	e.same("owners", []yiku.Owner{e.owner}, owners)
	e.updateAs(e.neighbour, func(store.Tx) error { return nil })
	e.updateAs(e.alien, func(tx store.Tx) error {
		stand, err := tx.Suppressed([]string{"a", "b", "c"})
		e.same("marks", []bool{true, true, false}, stand)
		return err
	})
	e.same("state", store.OwnerState{Known: true, Epoch: 4, Seq: 95}, e.stateOf(e.alien))
	e.same("where it stands", store.OwnerState{Known: true, Epoch: 4, Seq: 95}, e.standing(mark))
	e.same("marks", []store.Suppression{{Mark: "a", At: At(2)}, {Mark: "b", At: At(2)}}, e.suppressions(e.alien, time.Time{}))
	session, message, memory := populate(e, e.alien)
	e.view(func(r store.Reader) error {
		e.empty(r, e.neighbour, session, message, memory)
		return nil
	})
	e.want("hold an owner that came", e.s.HoldOwner(ctx, store.HeldOwner{Mark: mark}), yiku.ErrConflict)
}

func (e *env) standing(mark []byte) store.OwnerState {
	st, err := e.s.Standing(context.Background(), mark)
	if err != nil {
		e.t.Fatal(err)
	}
	return st
}

func holdWithdrawn(e *env) {
	h := store.HeldOwner{Mark: e.s.OwnerMark(e.owner), State: store.OwnerState{Epoch: 1, ConsentWithdrawn: true}}
	if err := e.s.HoldOwner(context.Background(), h); err != nil {
		e.t.Fatal(err)
	}
	e.update(func(tx store.Tx) error {
		st, err := tx.Owner(e.owner)
		e.same("state", store.OwnerState{Known: true, Epoch: 1, ConsentWithdrawn: true}, st)
		return err
	})
}

// renew: another generation, epochs and numbers ahead, and everything still there.
func renew(e *env) {
	session, message, memory := populate(e, e.owner)
	before, generation := e.stateOf(e.owner), e.s.Meta().Generation
	if err := e.s.Renew(context.Background()); err != nil {
		e.t.Fatal(err)
	}
	if err := e.s.KeepJournal(context.Background(), "one"); err != nil || e.s.Meta().Journal != "one" {
		e.t.Errorf("keep journal: %q, %v", e.s.Meta().Journal, err)
	}
	after := e.stateOf(e.owner)
	if after.Epoch <= before.Epoch || after.Seq <= before.Seq || e.s.Meta().Generation == generation {
		e.t.Errorf("after a renewal %+v, before %+v", after, before)
	}
	e.view(func(r store.Reader) error {
		one, _, _ := reads(r, e.owner, session, message, memory)
		for name, err := range one {
			e.want(name, err, nil)
		}
		return nil
	})
	if m := e.memories("new")[0]; m.Seq <= after.Seq {
		e.t.Errorf("the next number is %d after %d", m.Seq, after.Seq)
	}
	if faults, err := e.s.Check(context.Background()); err != nil || len(faults) > 0 {
		e.t.Errorf("check: %v %v", faults, err)
	}
}
