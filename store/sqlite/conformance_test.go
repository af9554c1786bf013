package sqlite

import (
	"testing"

	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/storetest"
)

// variants are the ways in which the store runs.
func variants() map[string]*Options {
	return map[string]*Options{
		"default":         nil,
		"one_connection":  {SingleConnection: true},
		"one_commit_each": {GroupLimit: 1, Readers: 1},
	}
}

// TestConformance (part of H4) runs the contract's suite in every way the store runs.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) store.Store { return openTest(t, options) })
		})
	}
}

// TestR11_Model compares the store with plain maps.
func TestR11_Model(t *testing.T) {
	t.Parallel()
	storetest.Model(t, func(t *testing.T) store.Store { return openTest(t, nil) })
}

// TestR11_ModelSeesBugs: the model finds bugs that are put in on purpose.
func TestR11_ModelSeesBugs(t *testing.T) {
	t.Parallel()
	storetest.ModelSeesBugs(t, func(t *testing.T) store.Store { return openTest(t, nil) })
}

// TestR4_FaultWalk: each call failing once leaves, after a retry, the state of
// a run without faults.
func TestR4_FaultWalk(t *testing.T) {
	t.Parallel()
	storetest.FaultWalk(t, func(t *testing.T) store.Store { return openTest(t, &Options{Readers: 1}) })
}
