package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

func at(n int) time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

func key() []byte { return bytes.Repeat([]byte{7}, 32) }

// written makes a journal of n entries, one a day, and returns its path.
func written(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "forgets.log")
	j := opened(t, path)
	for i := 1; i <= n; i++ {
		add(t, j, i)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, key(), at(0))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func add(t *testing.T, j *Journal, i int) {
	t.Helper()
	e := Entry{At: at(i), Action: "forget", Ref: fmt.Sprint(i), Owner: []byte{1}, Marks: bytes.Repeat([]byte{byte(i)}, MarkSize),
		Receipt: &yiku.Receipt{ID: fmt.Sprint(i), CreatedAt: at(i)}}
	if err := j.Append(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
}

func refs(t *testing.T, j *Journal) []string {
	t.Helper()
	var list []string
	if err := j.Each(t.Context(), func(e Entry) error { list = append(list, e.Ref); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestR39_JournalKeepsWhatWasAppended: entries survive, in order, and the file
// is its owner's alone.
func TestR39_JournalKeepsWhatWasAppended(t *testing.T) {
	t.Parallel()
	path := written(t, 3)
	j := opened(t, path)
	defer j.Close()
	add(t, j, 4)
	if diff := cmp.Diff([]string{"1", "2", "3", "4"}, refs(t, j)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// TestR39_JournalAfterACrash: half a line at the end, or one that was never
// written, is cut off; the next entry follows the last whole one.
func TestR39_JournalAfterACrash(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(written(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	third := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := third + 1; cut < len(whole); cut += 7 {
		for name, tail := range map[string][]byte{
			"short": whole[third:cut],
			"holes": append(make([]byte, cut-third), whole[cut:]...),
		} {
			path := filepath.Join(t.TempDir(), "forgets.log")
			if err := os.WriteFile(path, append(bytes.Clone(whole[:third]), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			j := opened(t, path)
			add(t, j, 9)
			if diff := cmp.Diff([]string{"1", "2", "9"}, refs(t, j)); diff != "" {
				t.Errorf("%s at %d: %s", name, cut, diff)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestR39_JournalTampering: a flipped bit, a line taken out, two exchanged, or
// another key is refused. Control: the journal as it was is taken.
func TestR39_JournalTampering(t *testing.T) {
	t.Parallel()
	path := written(t, 4)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, content []byte, key []byte) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "forgets.log")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, key, at(0))
		if err == nil {
			got := refs(t, j)
			_ = j.Close()
			t.Errorf("%s is taken, with the entries %v", what, got)
		} else if !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	refuse("a line taken out", bytes.Join([][]byte{lines[0], lines[1], lines[3], lines[4]}, nil), key())
	refuse("two exchanged", bytes.Join([][]byte{lines[0], lines[2], lines[1], lines[3], lines[4]}, nil), key())
	refuse("another key", whole, bytes.Repeat([]byte{8}, 32))
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 { // in front of the last line's end: that would be a cut tail
		flipped := bytes.Clone(whole)
		i := random.IntN(len(whole) - 1)
		flipped[i] ^= 1 << random.IntN(8)
		refuse(fmt.Sprintf("a bit of byte %d", i), flipped, key())
	}
	j := opened(t, path)
	defer j.Close()
	if got := refs(t, j); len(got) != 4 {
		t.Errorf("control: %v", got)
	}
}

// TestR39_JournalCompaction: what is older goes, from the front; the chain goes
// on, also over a restart; a position from before is refused.
func TestR39_JournalCompaction(t *testing.T) {
	t.Parallel()
	path := written(t, 5)
	j := opened(t, path)
	var positions []Position
	for n := range int64(6) {
		p, err := ReadPosition(path, key(), n)
		if err != nil {
			t.Fatal(err)
		}
		positions = append(positions, p)
	}
	for _, step := range []struct {
		before  int
		dropped int64
	}{{1, 0}, {3, 2}, {3, 0}} {
		if dropped, err := j.Compact(t.Context(), at(step.before)); err != nil || dropped != step.dropped {
			t.Errorf("before day %d: %d dropped, %v", step.before, dropped, err)
		}
	}
	add(t, j, 6)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = opened(t, path)
	defer j.Close()
	if diff := cmp.Diff([]string{"3", "4", "5", "6"}, refs(t, j)); diff != "" || !j.Since().Equal(at(3)) {
		t.Error(diff, j.Since())
	}
	for n, p := range positions {
		var got []string
		err := j.After(t.Context(), p, func(e Entry) error { got = append(got, e.Ref); return nil })
		if n < 2 {
			if !errors.Is(err, yiku.ErrConflict) {
				t.Errorf("position %d: %v", n, err)
			}
			continue
		}
		if diff := cmp.Diff([]string{"3", "4", "5", "6"}[n-2:], got); diff != "" || err != nil {
			t.Errorf("position %d: %s %v", n, diff, err)
		}
	}
	if _, err := j.Compact(t.Context(), at(99)); err != nil || len(refs(t, j)) != 0 || j.Position().N != 6 {
		t.Errorf("all dropped: %v, %d left, at %d", err, len(refs(t, j)), j.Position().N)
	}
}

// TestR39_JournalCutTail: a journal that lost its tail, and another one, do not
// fit a position that was taken before.
func TestR39_JournalCutTail(t *testing.T) {
	t.Parallel()
	path := written(t, 3)
	end, err := ReadPosition(path, key(), -1)
	if err != nil || end.N != 3 {
		t.Fatal(end, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1], 0o600); err != nil {
		t.Fatal(err)
	}
	other := written(t, 5)
	forked := opened(t, path)
	nothing := func(Entry) error { return nil }
	if err := forked.After(t.Context(), end, nothing); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("a cut tail: %v", err)
	}
	add(t, forked, 33)
	if err := forked.After(t.Context(), end, nothing); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("another tail: %v", err)
	}
	j := opened(t, other)
	if err := j.After(t.Context(), end, nothing); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("another journal: %v", err)
	}
	if err := errors.Join(forked.Close(), j.Close()); err != nil {
		t.Error(err)
	}
}
