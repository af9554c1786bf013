package engine_test

import (
	"maps"

	"github.com/anishathalye/porcupine"

	"github.com/yiku-ai/yiku"
)

// row is what a memory of one slot is, as far as the model goes.
type row struct {
	archived bool
	note     int   // metadata that patches set
	version  int64 // counts every change
}

// slot is the model's state of the memories that say one thing: by id, at most
// one of them active.
type slot map[string]row

func (s slot) active() (string, bool) {
	for id, r := range s {
		if !r.archived {
			return id, true
		}
	}
	return "", false
}

// with returns the slot with one row changed; the slot itself stays as it is.
func (s slot) with(id string, r row) slot {
	next := maps.Clone(s)
	next[id] = r
	return next
}

func (s slot) without(id string) slot {
	next := maps.Clone(s)
	delete(next, id)
	return next
}

// verb is what an operation of a history does.
type verb string

const (
	verbSave    verb = "save"
	verbGet     verb = "get"
	verbFind    verb = "find" // a search for the slot's words
	verbPatch   verb = "patch"
	verbArchive verb = "archive"
	verbConfirm verb = "confirm"
	verbRestore verb = "restore"
	verbDelete  verb = "delete"
	verbForget  verb = "forget"
)

// asked is the input of an operation.
type asked struct {
	slot  int
	verb  verb
	id    string // of all but save and find
	note  int    // of patch
	match int64  // of patch and delete: the version of If-Match; 0: none
}

// got is the output of an operation.
type got struct {
	unknown bool // it failed so that nobody knows whether it took effect
	err     error
	id      string // of save and find; "" where find found nothing
	created bool   // of save
	nothing bool   // of forget: it came when the memory was there and found it gone
	row     row    // what the answer shows of the memory
}

// linearModel is the sequential specification: each operation takes effect at
// one moment between its call and its answer.
func linearModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[int][]porcupine.Operation{}
			for _, op := range history {
				n := op.Input.(asked).slot
				parts[n] = append(parts[n], op)
			}
			var all [][]porcupine.Operation
			for _, part := range parts {
				all = append(all, part)
			}
			return all
		},
		Init: func() any { return slot{} },
		Step: func(state, in, out any) (bool, any) {
			ok, next := step(state.(slot), in.(asked), out.(got))
			return ok, next
		},
		Equal: func(a, b any) bool { return maps.Equal(a.(slot), b.(slot)) },
	}
}

// step says whether an operation may have had this output in this state, and
// the state after it. An unknown output is possible in every state: where the
// operation did not take effect, it stands last in the history.
func step(s slot, in asked, out got) (bool, slot) {
	if in.verb == verbSave || in.verb == verbFind {
		return stepByWords(s, in, out)
	}
	r, there := s[in.id]
	refused := func(want error) (bool, slot) { return out.unknown || out.err == want, s }
	answer := func(next slot, shown row) (bool, slot) {
		return out.unknown || out.err == nil && out.row == shown, next
	}
	switch {
	case !there && in.verb == verbForget && out.nothing:
		return out.err == nil, s
	case !there:
		return refused(yiku.ErrNotFound)
	case in.match != 0 && in.match != r.version:
		return refused(yiku.ErrPreconditionFailed)
	}
	switch in.verb {
	case verbGet:
		return answer(s, r)
	case verbPatch:
		if r.note == in.note { // nothing changes
			return answer(s, r)
		}
		r.note = in.note
	case verbArchive:
		if r.archived {
			return answer(s, r)
		}
		r.archived = true
	case verbConfirm:
		if r.archived {
			return refused(yiku.ErrConflict)
		}
	case verbRestore:
		if !r.archived {
			return answer(s, r)
		}
		if _, taken := s.active(); taken {
			return refused(yiku.ErrConflict)
		}
		r.archived = false
	case verbDelete, verbForget:
		if out.nothing && !out.unknown {
			return false, s
		}
		return answer(s.without(in.id), row{})
	}
	r.version++
	return answer(s.with(in.id, r), r)
}

// stepByWords is step for what names no id: a save reinforces the active memory
// or makes one, a search finds the active one.
func stepByWords(s slot, in asked, out got) (bool, slot) {
	id, active := s.active()
	if in.verb == verbFind {
		return out.err == nil && out.id == id && out.row == s[id], s
	}
	switch {
	case out.err != nil:
		return false, s
	case active:
		return !out.created && out.id == id && out.row == s[id], s
	}
	fresh := row{version: 1}
	_, used := s[out.id]
	return out.created && !used && out.row == fresh, s.with(out.id, fresh)
}
