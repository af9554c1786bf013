package audit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func testKey(t *testing.T, fill byte) Key {
	t.Helper()
	k, err := NewKey(bytes.Repeat([]byte{fill}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// chain returns a sealed chain of n entries.
func chain(t *testing.T, k Key, n int) []store.AuditEntry {
	t.Helper()
	owner, err := yiku.NewOwner("acme", "王小明")
	if err != nil {
		t.Fatal(err)
	}
	var list []store.AuditEntry
	var last []byte
	for i := range n {
		e := store.AuditEntry{N: int64(i + 1), At: time.UnixMicro(int64(1e15 + i)), Owner: 7, Subject: k.Subject(owner), Actor: "admin:k1",
			Action: "forget", Trigger: "user", Ref: fmt.Sprint("receipt-", i), Counts: map[string]int{"memories": i, "messages": 2}}
		e.MAC = k.Seal(last, e)
		last = e.MAC
		list = append(list, e)
	}
	return list
}

func seq(list []store.AuditEntry) iter.Seq2[store.AuditEntry, error] {
	return func(yield func(store.AuditEntry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func check(t *testing.T, k Key, list []store.AuditEntry, head string) Result {
	t.Helper()
	r, err := k.Verify(t.Context(), seq(list), head)
	if err != nil {
		t.Fatal(err)
	}
	if r.Valid != (r.Fault == "") {
		t.Errorf("Valid is %v beside the fault %q", r.Valid, r.Fault)
	}
	return r
}

// TestE8_WholeChainHolds is the control of the others.
func TestE8_WholeChainHolds(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	for _, n := range []int{0, 1, 5} {
		list := chain(t, k, n)
		r := check(t, k, list, "")
		if !r.Valid || r.Entries != int64(n) || !strings.HasPrefix(r.Head, fmt.Sprint(n, ":")) {
			t.Errorf("%d entries: %+v", n, r)
		}
		if again := check(t, k, append(list, chain(t, k, n+2)[n:]...), r.Head); !again.Valid {
			t.Errorf("the chain has grown since the head was exported: %+v", again)
		}
	}
}

// TestE8_EveryFieldIsSealed changes each field of each entry.
func TestE8_EveryFieldIsSealed(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	for name, edit := range map[string]func(e *store.AuditEntry){
		"n": func(e *store.AuditEntry) { e.N++ }, "at": func(e *store.AuditEntry) { e.At = e.At.Add(time.Microsecond) },
		"owner": func(e *store.AuditEntry) { e.Owner++ }, "subject": func(e *store.AuditEntry) { e.Subject = append([]byte{1}, e.Subject[1:]...) },
		"actor": func(e *store.AuditEntry) { e.Actor += "x" }, "action": func(e *store.AuditEntry) { e.Action = "" },
		"trigger": func(e *store.AuditEntry) { e.Trigger = "legal" }, "ref": func(e *store.AuditEntry) { e.Ref += "0" },
		"count": func(e *store.AuditEntry) { e.Counts = map[string]int{"memories": 99, "messages": 2} },
		"name":  func(e *store.AuditEntry) { e.Counts = map[string]int{"memory": e.Counts["memories"], "messages": 2} },
		"less":  func(e *store.AuditEntry) { e.Counts = nil },
		"mac":   func(e *store.AuditEntry) { e.MAC = append([]byte{e.MAC[0] ^ 1}, e.MAC[1:]...) },
		"moved": func(e *store.AuditEntry) { e.Actor, e.Action = e.Actor+e.Action[:1], e.Action[1:] },
	} {
		for i := range 4 {
			list := chain(t, k, 4)
			edit(&list[i])
			if r := check(t, k, list, ""); r.Valid || r.Entries != int64(i) {
				t.Errorf("%s of entry %d: %+v", name, i+1, r)
			}
		}
	}
}

// TestE8_RowsMoved removes, swaps, doubles and adds rows.
func TestE8_RowsMoved(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	for i := range 4 {
		whole := chain(t, k, 5)
		renumbered := slices.Delete(slices.Clone(whole), i, i+1)
		for j := range renumbered {
			renumbered[j].N = int64(j + 1)
		}
		forged := slices.Insert(slices.Clone(whole), i, chain(t, testKey(t, 2), 5)[i])
		swapped := slices.Clone(whole)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		for name, list := range map[string][]store.AuditEntry{
			"removed": slices.Delete(slices.Clone(whole), i, i+1), "removed and renumbered": renumbered, "swapped": swapped,
			"doubled": slices.Insert(slices.Clone(whole), i, whole[i]), "added": forged,
		} {
			if r := check(t, k, list, ""); r.Valid {
				t.Errorf("%s at %d is not seen", name, i)
			}
		}
	}
}

// TestE8_NumbersWithoutGaps: entries that the key sealed one after the other hold
// only where their numbers do: an entry that was never written is missed too.
func TestE8_NumbersWithoutGaps(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	for _, jump := range []int64{1, -1} {
		list := chain(t, k, 4)
		var last []byte
		for i := range list {
			if i >= 2 {
				list[i].N += jump
			}
			list[i].MAC = k.Seal(last, list[i])
			last = list[i].MAC
		}
		if r := check(t, k, list, ""); r.Valid || r.Entries != 2 {
			t.Errorf("numbers that jump by %d are not seen: %+v", jump, r)
		}
	}
}

// TestE8_AnotherPast: entries that were sealed after one past do not verify
// after another, even where each of them is genuine: what a store held before
// it was set back, and wrote anew, cannot be mixed.
func TestE8_AnotherPast(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	list := chain(t, k, 4)
	other := store.AuditEntry{N: 2, At: time.UnixMicro(2e15), Owner: 7, Actor: "admin:k1", Action: "delete_memory"}
	other.MAC = k.Seal(list[0].MAC, other)
	if r := check(t, k, []store.AuditEntry{list[0], other}, ""); !r.Valid {
		t.Fatalf("the other entry by itself: %+v", r)
	}
	if r := check(t, k, []store.AuditEntry{list[0], other, list[2], list[3]}, ""); r.Valid || r.Entries != 2 {
		t.Errorf("two pasts: %+v, want a fault after two entries", r)
	}
}

// TestE8_CutTail: a cut tail shows against an exported head, and only there.
func TestE8_CutTail(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	list := chain(t, k, 5)
	head := check(t, k, list, "").Head
	for n := range 5 {
		if r := check(t, k, list[:n], head); r.Valid {
			t.Errorf("a tail cut after %d is not seen", n)
		}
		if r := check(t, k, list[:n], ""); !r.Valid {
			t.Errorf("without a head: %+v", r)
		}
	}
	other := chain(t, k, 5)
	other[4].Ref = "another"
	other[4].MAC = k.Seal(other[3].MAC, other[4])
	if r := check(t, k, other, head); r.Valid {
		t.Error("another last entry under the same key is not seen")
	}
}

// TestE8_WrongKey: nothing holds under another key.
func TestE8_WrongKey(t *testing.T) {
	t.Parallel()
	if r := check(t, testKey(t, 2), chain(t, testKey(t, 1), 3), ""); r.Valid || r.Entries != 0 {
		t.Errorf("%+v", r)
	}
	if s := fmt.Sprintf("%v %+v %#v %s", testKey(t, 'x'), testKey(t, 'x'), testKey(t, 'x'), testKey(t, 'x')); strings.Contains(s, "xx") {
		t.Error("the key prints itself")
	}
}

func TestVerifyErrors(t *testing.T) {
	t.Parallel()
	k := testKey(t, 1)
	for _, head := range []string{"x", "1", "1:", ":ab", "-1:ab", "1:zz", "a:ab"} {
		if _, err := k.Verify(t.Context(), seq(nil), head); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("head %q: %v", head, err)
		}
	}
	failing := Pages(2, func(after int64, _ int) ([]store.AuditEntry, error) {
		if after == 4 {
			return nil, yiku.ErrUnavailable
		}
		return chain(t, k, 4)[after : after+2], nil
	})
	if _, err := k.Verify(t.Context(), failing, ""); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("an error of the iterator: %v", err)
	}
}

// TestE8_KeyFile: the key is made once, for the user alone.
func TestE8_KeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.key")
	first, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != KeySize {
		t.Errorf("file: %v, %v", info, err)
	}
	if again, err := Load(path); err != nil || again != first {
		t.Errorf("loaded again: another key, %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "0644") {
		t.Errorf("mode 0644: %v", err)
	}
	short := filepath.Join(t.TempDir(), "short.key")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(short); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "5 bytes") {
		t.Errorf("five bytes: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link.key")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a link: %v", err)
	}
}
