package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// journaled is a bench with a forget journal that can be made to fail.
type journaled struct {
	bench
	t    *testing.T
	path string
	log  bytes.Buffer
}

func newJournaled(t *testing.T) *journaled {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &journaled{t: t, bench: bench{store: s}, path: filepath.Join(t.TempDir(), "forgets.log")}
}

// on puts an engine with the journal in place; off makes that refuse entries,
// as a full disk does.
func (b *journaled) on() (off func()) {
	b.t.Helper()
	j, err := journal.Open(b.path, bytes.Repeat([]byte{1}, 32), testTime())
	if err != nil {
		b.t.Fatal(err)
	}
	x := memindex.New(nil)
	b.Engine, err = engine.New(engine.Options{Store: b.store, Index: x, Journal: j, Log: slog.New(slog.NewTextHandler(&b.log, nil))})
	if err != nil {
		b.t.Fatal(err)
	}
	e := b.Engine
	b.t.Cleanup(func() { _ = errors.Join(e.Close(), x.Close()) })
	off = func() { _ = j.Close() }
	b.t.Cleanup(off)
	return off
}

func (b *journaled) entries() (all []journal.Entry) {
	b.t.Helper()
	j, err := journal.Open(b.path, bytes.Repeat([]byte{1}, 32), testTime())
	if err != nil {
		b.t.Fatal(err)
	}
	defer j.Close()
	if err := j.Each(b.t.Context(), func(e journal.Entry) error { all = append(all, e); return nil }); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// TestR39_NoReceiptBeforeTheJournalHasAll: a forget whose entry the journal did
// not take says so, nothing else of that owner is forgotten until it does, and
// then the journal names what went before the next receipt is given.
func TestR39_NoReceiptBeforeTheJournalHasAll(t *testing.T) {
	t.Parallel()
	b := newJournaled(t)
	off := b.on()
	save(t, b.operator(), yiku.SaveMemoryRequest{Content: "苹果 apple"})
	other := save(t, b.operator(), yiku.SaveMemoryRequest{Content: "梨 pear"})
	off()
	req := yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "apple"}}
	_, err := b.operator().Forget(t.Context(), req)
	if e := (*yiku.Error)(nil); !errors.Is(err, yiku.ErrUnavailable) || !errors.As(err, &e) || !strings.Contains(e.Detail, "not yet in the forget journal") {
		t.Fatalf("a forget without a journal: %v", err)
	}
	if log := b.log.String(); !strings.Contains(log, "level=WARN") || strings.Contains(log, "apple") {
		t.Errorf("the log says %q", log)
	}
	_, err = b.operator().Forget(t.Context(), req)
	if e := (*yiku.Error)(nil); !errors.Is(err, yiku.ErrUnavailable) || !errors.As(err, &e) || !strings.Contains(e.Detail, "An earlier forget") {
		t.Errorf("its repetition meanwhile: %v", err)
	}
	_, err = b.operator().DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: other.ID})
	if !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a deletion meanwhile: %v", err)
	}
	if got := left(t, b.operator()); len(got) != 1 {
		t.Errorf("left %q", got)
	}
	if err := b.Recover(t.Context()); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "not completed yet: 1.") {
		t.Errorf("recover meanwhile: %v", err)
	}

	b.on()
	audit, err := b.operator().VerifyAudit(t.Context(), yiku.VerifyAuditRequest{})
	if err != nil || !audit.Valid || audit.JournalPending != 1 || audit.JournalBefore != 0 {
		t.Errorf("verify meanwhile: %+v, %v", audit, err)
	}
	res, err := b.operator().Forget(t.Context(), req)
	if err != nil || !res.Verified {
		t.Fatalf("once there is room: %+v, %v", res, err)
	}
	entries := b.entries()
	if len(entries) != 2 || len(entries[0].Marks) == 0 || entries[0].Receipt.Removed.Memories != 1 || entries[1].Ref != res.ReceiptID {
		t.Errorf("the journal has %+v", entries)
	}
}

// TestR39_AForgetCoversOneThatRuns: what another forget of the owner has taken
// and not journaled yet is in the entry of the one that is answered first.
func TestR39_AForgetCoversOneThatRuns(t *testing.T) {
	t.Parallel()
	b := newJournaled(t)
	b.on()
	save(t, b.operator(), yiku.SaveMemoryRequest{Content: "apple"})
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	mark := store.Suppression{Mark: strings.Repeat("m", journal.MarkSize), At: testTime()}
	err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) error {
		note := store.Forget{Owner: owner, Receipt: "runs", At: mark.At, Request: yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "pear"}, Mode: yiku.ForgetPurge}}
		return errors.Join(tx.Suppress([]string{mark.Mark}, mark.At), tx.PutForget(&note))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.store = &late{Store: b.store}
	b.on()
	if _, err := b.operator().Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "apple"}}); err != nil {
		t.Fatal(err)
	}
	if entries := b.entries(); len(entries) != 1 || !strings.Contains(string(entries[0].Marks), mark.Mark) || len(entries[0].Marks) == journal.MarkSize {
		t.Errorf("the journal has %+v", entries)
	}
}

// late is a store in which a forget begins just after somebody looked.
type late struct {
	store.Store
	asked bool
}

func (s *late) Forgets(ctx context.Context) ([]store.Forget, error) {
	if !s.asked {
		s.asked = true
		return nil, nil
	}
	return s.Store.Forgets(ctx)
}

func testTime() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) }

// full is a store on a disk that has no room for the work of a forget.
type full struct {
	store.Store
	isFull bool
}

func (s *full) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	if s.isFull && p == store.Maintenance {
		return yiku.Errorf(yiku.ErrUnavailable, "The disk is full.")
	}
	return s.Store.Update(ctx, owner, p, fn)
}

// TestE2_AForgetThatHasBegunSaysSo: where the disk fills up in the middle the
// answer says that the forget goes on, and its repetition gives the receipt.
func TestE2_AForgetThatHasBegunSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	disk := &full{Store: b.store}
	x := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: disk, Index: x, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(e.Close(), x.Close()) })
	s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	save(t, s, yiku.SaveMemoryRequest{Content: "梨 pear"})
	req := yiku.ForgetRequest{UserID: "ann", Reason: "asked", Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, Selector: yiku.Selector{All: true}}
	disk.isFull = true
	_, err = s.Forget(t.Context(), req)
	if e := (*yiku.Error)(nil); !errors.Is(err, yiku.ErrUnavailable) || !errors.As(err, &e) || !strings.Contains(e.Detail, "has begun") || !strings.Contains(e.Detail, "The disk is full.") {
		t.Errorf("on a full disk: %v", err)
	}
	disk.isFull = false
	res, err := s.Forget(t.Context(), req)
	if err != nil || !res.Verified || res.Removed.Memories != 1 {
		t.Errorf("once there is room: %+v, %v", res, err)
	}
}

// TestE2_NothingSelectedNothingGone: a forget that selects nothing leaves a
// receipt of zeros; of what a caller asked only what says the keyword goes.
// Control: a forget that finds something takes all snapshots.
func TestE2_NothingSelectedNothingGone(t *testing.T) {
	t.Parallel()
	for keyword, want := range map[string]yiku.Removed{"quince": {}, "木瓜": {}, "window": {Snapshots: 1}, "天气": {Snapshots: 1}, "pear": {Memories: 1, Snapshots: 2}} {
		t.Run(keyword, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			save(t, s, yiku.SaveMemoryRequest{Content: "梨 pear"})
			for _, query := range []string{"the window", "天气"} {
				if _, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", Query: query}); err != nil {
					t.Fatal(err)
				}
			}
			req := yiku.ForgetRequest{Selector: yiku.Selector{Keyword: keyword}, DryRun: true}
			would := forget(t, s, req)
			req.DryRun = false
			did := forget(t, s, req)
			if would.Removed != want || did.Removed != want {
				t.Errorf("would remove %+v, removed %+v, want %+v", would.Removed, did.Removed, want)
			}
			proven(t, s, did)
		})
	}
}

// TestE2_KeywordInTheHistory: a memory that said the keyword before it was
// changed goes with its history. Control: one that never said it stays.
func TestE2_KeywordInTheHistory(t *testing.T) {
	t.Parallel()
	for _, keyword := range []string{"plums", "李子"} {
		t.Run(keyword, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			m := save(t, s, yiku.SaveMemoryRequest{Content: "Likes plums 李子"})
			other := save(t, s, yiku.SaveMemoryRequest{Content: "Rides a bicycle"})
			for id, content := range map[string]string{m.ID: "Likes fruit 水果", other.ID: "Rides a tram"} {
				if _, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: id, Content: yiku.Some(content)}); err != nil {
					t.Fatal(err)
				}
			}
			req := yiku.ForgetRequest{Selector: yiku.Selector{Keyword: keyword}, DryRun: true}
			would := forget(t, s, req)
			req.DryRun = false
			did := forget(t, s, req)
			if would.Removed != did.Removed || did.Removed.Memories != 1 || did.Removed.Versions != 1 || len(did.IDs) != 1 || did.IDs[0] != m.ID {
				t.Errorf("would remove %+v, removed %+v, %q", would.Removed, did.Removed, did.IDs)
			}
			if got := left(t, s); len(got) != 1 || got[0] != "Rides a tram" {
				t.Errorf("left %q", got)
			}
			proven(t, s, did)
		})
	}
}
