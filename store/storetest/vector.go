package storetest

import (
	"context"
	"errors"
	"math"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func vectorTests() map[string]func(*env) {
	return map[string]func(*env){
		"Put":     vectorPut,
		"Changes": vectorChanges,
		"Goes":    vectorGoes,
		"Drop":    vectorDrop,
		"Model":   vectorModel,
	}
}

func vectorOf(item store.Item, values ...float32) store.Vector {
	return store.Vector{Item: item, Values: values}
}

// near reports whether a vector came back as it went in, but for rounding.
func (e *env) near(what string, want, got []float32) {
	e.t.Helper()
	var most float64
	for _, x := range want {
		most = max(most, math.Abs(float64(x)))
	}
	if len(want) != len(got) {
		e.t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if math.Abs(float64(want[i]-got[i])) > most/250 {
			e.t.Errorf("%s: value %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func vectorPut(e *env) {
	m := e.memories("tea")[0]
	item := memoryItem(m)
	gone := store.Item{Kind: store.ItemMemory, Key: m.Key + 100}
	e.update(func(tx store.Tx) error {
		return tx.PutVectors("one", []store.Vector{vectorOf(item, 0.6, -0.8, 0.1), vectorOf(gone, 1)})
	})
	e.update(func(tx store.Tx) error { return tx.PutVectors("two", []store.Vector{vectorOf(item, 1, 0)}) })
	e.update(func(tx store.Tx) error { return tx.PutVectors("one", []store.Vector{vectorOf(item, 0.8, 0.6, 0)}) })
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.PutVectors("one", []store.Vector{vectorOf(item, 0, 0, 1)}) })
	e.view(func(r store.Reader) error {
		got, err := r.Vectors(e.owner, "one", []int64{m.Key, gone.Key})
		e.same("vectors of what exists", 1, len(got))
		e.near("replaced", []float32{0.8, 0.6, 0}, got[m.Key])
		if err != nil {
			return err
		}
		if got, err = r.Vectors(e.owner, "two", []int64{m.Key}); err != nil {
			return err
		}
		e.near("of another model", []float32{1, 0}, got[m.Key])
		for _, o := range []yiku.Owner{e.neighbour, e.alien} { // one is unknown
			if got, err = r.Vectors(o, "one", []int64{m.Key}); err != nil {
				return err
			}
			e.same("another owner's", 0, len(got))
		}
		return nil
	})
}

// vectorChanges: a vector is a change of its item, given once with the last number.
func vectorChanges(e *env) {
	m := e.memories("tea")[0]
	var before int64
	e.view(func(r store.Reader) error {
		state, err := r.Owner(e.owner)
		before = state.Seq
		return err
	})
	item := memoryItem(m)
	e.update(func(tx store.Tx) error { return tx.PutVectors("one", []store.Vector{vectorOf(item, 1)}) })
	e.view(func(r store.Reader) error {
		state, err := r.Owner(e.owner)
		if err != nil {
			return err
		}
		e.same("the sequence", before+1, state.Seq)
		late, err := r.Changes(e.owner, before, 0)
		e.same("changes after the memory's", []store.Change{{Item: item, Seq: before + 1}}, late)
		if err != nil {
			return err
		}
		all, err := r.Changes(e.owner, 0, 0)
		n := 0
		for _, ch := range all {
			if ch.Item == item {
				n++
			}
		}
		e.same("changes of the memory", 1, n)
		return err
	})
}

// vectorGoes: a vector goes with its item and with what the item said.
func vectorGoes(e *env) {
	both := e.memories("tea", "coffee")
	a, b := both[0], both[1]
	e.update(func(tx store.Tx) error {
		return tx.PutVectors("one", []store.Vector{vectorOf(memoryItem(a), 1, 0), vectorOf(memoryItem(b), 0, 1)})
	})
	have := func(what string, want ...int64) {
		e.t.Helper()
		e.view(func(r store.Reader) error {
			got, err := r.Vectors(e.owner, "one", []int64{a.Key, b.Key})
			e.same(what+", how many", len(want), len(got))
			for _, key := range want {
				if got[key] == nil {
					e.t.Errorf("%s: a vector is missing", what)
				}
			}
			return err
		})
	}
	e.update(func(tx store.Tx) error {
		a.Importance = 0.9
		return tx.UpdateMemory(a, "more important")
	})
	have("after a change of what it is not found by", a.Key, b.Key)
	e.update(func(tx store.Tx) error {
		a.Content = "likes green tea"
		return tx.UpdateMemory(a, "edited")
	})
	have("after a change of the content", b.Key)
	e.update(func(tx store.Tx) error { return tx.DeleteMemory(b.Key) })
	have("after the deletion")
}

func vectorDrop(e *env) {
	m := e.memories("tea")[0]
	item := memoryItem(m)
	theirs := fact("theirs")
	e.updateAs(e.alien, func(tx store.Tx) error {
		return errors.Join(tx.AddMemory(theirs), tx.PutVectors("one", []store.Vector{vectorOf(memoryItem(theirs), 1)}))
	})
	var n int
	e.update(func(tx store.Tx) error {
		for _, model := range []string{"one", "two", "three"} {
			if err := tx.PutVectors(model, []store.Vector{vectorOf(item, 1)}); err != nil {
				return err
			}
		}
		var err error
		n, err = tx.DropVectors([]string{"two", "none"}, 1)
		return err
	})
	e.same("dropped, at most one", 1, n)
	e.update(func(tx store.Tx) (err error) {
		n, err = tx.DropVectors([]string{"two", "none"}, 0)
		return err
	})
	e.same("dropped", 1, n)
	e.view(func(r store.Reader) error {
		left, err := r.Vectors(e.owner, "two", []int64{m.Key})
		e.same("left of the model", 1, len(left))
		others, err2 := r.Vectors(e.alien, "one", []int64{theirs.Key})
		e.same("left of another owner", 1, len(others))
		return errors.Join(err, err2)
	})
}

// vectorModel: the owner's model stands in its state, outside the sequence, and
// goes with a transaction that is undone; the store's stands in Meta.
func vectorModel(e *env) {
	e.memories("tea")
	before := e.stateOf(e.owner)
	e.update(func(tx store.Tx) error { return tx.SetEmbedded("one/3") })
	want := before
	want.Embedded = "one/3"
	e.same("state", want, e.stateOf(e.owner))
	undone := errors.New("undone")
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		if err := tx.SetEmbedded("two/4"); err != nil {
			return err
		}
		state, err := tx.Owner(e.owner)
		e.same("within the transaction", "two/4", state.Embedded)
		return errors.Join(err, undone)
	})
	if !errors.Is(err, undone) {
		e.t.Error(err)
	}
	e.memories("coffee")
	e.same("after the transaction was undone and another one", "one/3", e.stateOf(e.owner).Embedded)
	if err := e.s.KeepModel(context.Background(), "two/4"); err != nil || e.s.Meta().Model != "two/4" {
		e.t.Errorf("keep model: %q, %v", e.s.Meta().Model, err)
	}
}
