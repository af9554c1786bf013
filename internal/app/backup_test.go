package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

var drill = flag.Int("drill", 4, "megabytes of the drill of backup and restore")

// ledger is what one writer has been told is stored: memories by id, and how
// many pairs of messages.
type ledger struct {
	mu       sync.Mutex
	memories map[string]string
	pairs    int
}

func (g *ledger) copy() *ledger {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &ledger{memories: map[string]string{}, pairs: g.pairs}
	for id, text := range g.memories {
		c.memories[id] = text
	}
	return c
}

// write saves a memory and appends two messages at once, until told to stop.
func (g *ledger) write(ctx context.Context, s yiku.Service, user string, done func()) error {
	for n := 0; ctx.Err() == nil; n++ {
		text := fmt.Sprintf("memory 记忆 %s %d", user, n)
		m, err := s.SaveMemory(context.Background(), yiku.SaveMemoryRequest{UserID: user, Content: text})
		if err != nil {
			return err
		}
		_, err = s.AppendMessages(context.Background(), yiku.AppendMessagesRequest{UserID: user, SessionID: "s", Messages: []yiku.Message{
			{ID: fmt.Sprintf("%d-a", n), Role: yiku.RoleUser, Content: yiku.Text("问 " + text)},
			{ID: fmt.Sprintf("%d-b", n), Role: yiku.RoleAssistant, Content: yiku.Text("答 " + text)},
		}})
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.memories[m.ID], g.pairs = text, n+1
		g.mu.Unlock()
		done()
	}
	return nil
}

// compare counts what a restored store lacks of a ledger, and what stands by
// half or in another order.
func (g *ledger) compare(l *life, user string) (lost, torn int) {
	l.t.Helper()
	for id, text := range g.memories {
		if m, err := l.s.GetMemory(l.t.Context(), yiku.MemoryRequest{UserID: user, ID: id}); err != nil || m.Content != text {
			lost++
		}
	}
	var texts []string
	for cursor := ""; ; {
		page, err := l.s.ListMessages(l.t.Context(), yiku.ListMessagesRequest{UserID: user, SessionID: "s", Paging: yiku.Paging{Limit: 500, Cursor: cursor}})
		l.must(err)
		for _, m := range page.Items {
			texts = append(texts, m.Content.PlainText())
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	lost += max(0, g.pairs-len(texts)/2)
	torn += len(texts) % 2
	for i, text := range texts {
		if want := fmt.Sprintf("%s memory 记忆 %s %d", []string{"问", "答"}[i%2], user, i/2); text != want {
			torn++
		}
	}
	return lost, torn
}

// TestR6_BackupUnderLoad: backups made while eight writers save and append are
// restored: every write that was acknowledged before a backup began is there,
// what came later is there whole or not at all, and everything holds under its
// checks. Control: a backup misses what is written after it.
func TestR6_BackupUnderLoad(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	const writers, rounds = 8, 3
	var books [writers]*ledger
	var steps atomic.Int64
	progress := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, writers)
	for w := range writers {
		books[w] = &ledger{memories: map[string]string{}}
		go func() {
			ended <- books[w].write(ctx, l.s, fmt.Sprint("用户", w), func() {
				if steps.Add(1)%(5*writers) == 0 {
					select {
					case progress <- struct{}{}:
					default:
					}
				}
			})
		}()
	}
	type made struct {
		path  string
		known [writers]*ledger
	}
	var list []made
	for range rounds {
		select {
		case <-progress: // the writers have gone on since the last one
		case err := <-ended:
			t.Fatal(err)
		}
		var m made
		for w, book := range books {
			m.known[w] = book.copy()
		}
		m.path = backUp(t, cfg)
		list = append(list, m)
	}
	stop()
	for range writers {
		l.must(<-ended)
	}
	l.end()
	gone, torn, acked, missed := 0, 0, 0, 0
	for i, m := range list {
		to := lost(t, cfg, true)
		if _, err := Restore(t.Context(), to, RestoreOptions{From: m.path}, nil); err != nil {
			t.Fatal(err)
		}
		r := live(t, to)
		for w, book := range m.known {
			user := fmt.Sprint("用户", w)
			n, half := book.compare(r, user)
			gone, torn, acked = gone+n, torn+half, acked+len(book.memories)+book.pairs
			if i == 0 {
				n, _ := books[w].compare(r, user)
				missed += n
			}
		}
		r.whole()
		r.end()
	}
	if gone > 0 || torn > 0 || acked == 0 {
		t.Errorf("of %d acknowledged writes %d are lost; %d are torn", acked, gone, torn)
	}
	if missed == 0 {
		t.Error("control: the first backup holds what was written after it")
	}
	boardtest.Report(t, boardtest.Row{ID: "R6", Part: "under-load", Hits: gone + torn, Trials: acked, What: "acknowledged writes of eight writers were lost or torn in a restored backup",
		Note: fmt.Sprintf("%d backups", rounds), Control: fmt.Sprintf("%d writes that came after the first backup are not in it", missed)})
}

// TestR6_Drill: a directory of a size is backed up and restored; -drill 1024
// makes it a gigabyte. It says how long each took, and asserts no time.
func TestR6_Drill(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	const size = 256 << 10
	random := rand.New(rand.NewPCG(6, 6))
	word := func() string { return fmt.Sprintf("%016x 忆库 ", random.Uint64()) }
	n := *drill << 20 / size
	for i := range n {
		l.say(fmt.Sprint("user", i%10), "s", fmt.Sprint(i), strings.Repeat(word()+word(), size/48))
	}
	begun := time.Now()
	from := backUp(t, cfg)
	backedUp := time.Since(begun)
	l.end()
	info, err := os.Stat(from)
	l.must(err)
	to := lost(t, cfg, true)
	begun = time.Now()
	if _, err := Restore(t.Context(), to, RestoreOptions{From: from}, nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB: backed up in %.1f s, restored in %.1f s", info.Size()>>20, backedUp.Seconds(), time.Since(begun).Seconds())
	l = live(t, to)
	defer l.end()
	found := 0
	for u := range 10 {
		page, err := l.s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: fmt.Sprint("user", u), SessionID: "s", Paging: yiku.Paging{Limit: 500}})
		l.must(err)
		found += len(page.Items)
	}
	if found != n {
		t.Errorf("%d messages of %d", found, n)
	}
}

// TestR6_BackupRefuses: what cannot be backed up or restored is refused with
// its reason, and changes nothing.
func TestR6_BackupRefuses(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	l.save("ann", "Prefers tea 喝茶", yiku.SaveMemoryRequest{})
	from := backUp(t, cfg)
	refuse := func(what string, err, sentinel error, text string) {
		t.Helper()
		if !errors.Is(err, sentinel) || !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := Backup(t.Context(), cfg, from, nil)
	refuse("a file that is there", err, yiku.ErrConflict, "exists already")
	_, err = Backup(t.Context(), cfg, filepath.Join(t.TempDir(), "no", "b.tar"), nil)
	refuse("a directory that is not there", err, yiku.ErrNotFound, "no directory")
	empty := testConfig(t)
	_, err = Backup(t.Context(), empty, t.TempDir(), nil)
	refuse("a directory without a key", err, yiku.ErrNotFound, "no audit key")
	_, err = Restore(t.Context(), cfg, RestoreOptions{From: from, Replace: true}, nil)
	refuse("a directory in use", err, yiku.ErrUnavailable, "in use")
	l.end()
	_, err = Restore(t.Context(), cfg, RestoreOptions{From: from}, nil)
	refuse("a database that is there", err, yiku.ErrConflict, "--replace")
	other := testConfig(t)
	live(t, other).end()
	_, err = Restore(t.Context(), other, RestoreOptions{From: from, Replace: true}, nil)
	refuse("a backup under another key", err, yiku.ErrUnavailable, "audit key")
	stranger := lost(t, cfg, true)
	if err := os.Remove(JournalPath(stranger)); err != nil {
		t.Fatal(err)
	}
	live(t, stranger).end() // a new journal under the same key
	_, err = Restore(t.Context(), stranger, RestoreOptions{From: from, Replace: true}, nil)
	refuse("another journal", err, yiku.ErrConflict, "another forget journal")
	l = live(t, cfg)
	defer l.end()
	if !strings.Contains(l.shown("ann"), "Prefers tea") {
		t.Error("what was there is not")
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(from), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left beside the backup: %v, %v", left, err)
	}
	if info, err := os.Stat(from); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v", info.Mode(), err)
	}
}

// TestE8_BackupsAreAudited: that a backup was made, and that one was restored,
// stands in the audit log: at the maintenance of the server beside which it was
// made, or at the next start. A note that somebody else wrote does not.
func TestE8_BackupsAreAudited(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	actions := func() (all []string) {
		l.must(l.core.store.View(t.Context(), func(r store.Reader) error {
			entries, err := r.AuditEntries(0, 0)
			for _, e := range entries {
				all = append(all, e.Action+" "+e.Ref)
			}
			return err
		}))
		return all
	}
	first, err := Backup(t.Context(), cfg, t.TempDir(), nil)
	l.must(err)
	forged := filepath.Join(cfg.DataDir, "backup-forged.note")
	l.must(os.WriteFile(forged, []byte(`{"id":"forged","mac":"AAAA"}`), 0o600))
	if got := actions(); len(got) != 0 {
		t.Errorf("before the maintenance: %q", got)
	}
	l.must(l.core.tend(t.Context()))
	if got := actions(); !slices.Equal(got, []string{"backup " + first.ID}) {
		t.Errorf("after it: %q, want that of %s", got, first.ID)
	}
	l.end()
	second, err := Backup(t.Context(), cfg, t.TempDir(), nil)
	l.must(err)
	l = live(t, cfg)
	if got := actions(); !slices.Equal(got, []string{"backup " + first.ID, "backup " + second.ID}) {
		t.Errorf("after a start: %q", got)
	}
	l.whole()
	l.end()
	if notes, err := filepath.Glob(filepath.Join(cfg.DataDir, notePattern)); err != nil || !slices.Equal(notes, []string{forged}) {
		t.Errorf("notes that are left: %q, %v", notes, err)
	}
	_, err = Restore(t.Context(), cfg, RestoreOptions{From: second.Path, Replace: true}, nil)
	l.must(err)
	l = live(t, cfg)
	defer l.end()
	if got := actions(); !slices.Equal(got, []string{"backup " + first.ID, "restore " + second.ID}) {
		t.Errorf("after a restoration: %q", got)
	}
}
