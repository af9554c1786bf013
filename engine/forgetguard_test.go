package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
	"github.com/yiku-ai/yiku/store/storetest"
)

// TestE2_SourcesGoOrStay: the messages that a memory came from go with it, or
// stay where the caller keeps them; another message stays in either case.
func TestE2_SourcesGoOrStay(t *testing.T) {
	t.Parallel()
	for sources, want := range map[yiku.SourcePolicy][]string{
		yiku.SourcesDelete: {"noted"},
		yiku.SourcesKeep:   {"I like pears", "noted"},
	} {
		t.Run(string(sources), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			say(t, s, "one", "I like pears", "noted")
			memory := save(t, s, yiku.SaveMemoryRequest{Content: "Prefers pears"})
			owner, err := yiku.NewOwner("acme", "ann")
			if err != nil {
				t.Fatal(err)
			}
			err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) error {
				messages, err := tx.OwnerMessages(owner, 0, 1<<30, 1)
				if err != nil {
					return err
				}
				row, err := tx.Memory(owner, memory.ID)
				if err != nil {
					return err
				}
				return tx.AddLineage(store.Item{Kind: store.ItemMemory, Key: row.Key}, []store.Item{{Kind: store.ItemMessage, Key: messages[0].Key}})
			})
			if err != nil {
				t.Fatal(err)
			}
			forget(t, s, yiku.ForgetRequest{Sources: sources, Selector: yiku.Selector{IDs: []string{memory.ID}}})
			got := left(t, s)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestE1_ForgetWithinAProject: a forget that names a project takes nothing of
// another project, nor what belongs to none, whichever selector it has.
func TestE1_ForgetWithinAProject(t *testing.T) {
	t.Parallel()
	for name, selector := range map[string]yiku.Selector{"keyword": {Keyword: "梨"}, "all": {All: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			for _, project := range []string{"", "a", "b"} {
				save(t, s, yiku.SaveMemoryRequest{Content: "梨 pear of " + project, ProjectID: project})
				_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s" + project, ProjectID: project,
					Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("说梨 of " + project)}}})
				if err != nil {
					t.Fatal(err)
				}
			}
			forget(t, s, yiku.ForgetRequest{ProjectID: "a", Selector: selector})
			got := left(t, s)
			slices.Sort(got)
			if diff := cmp.Diff([]string{"梨 pear of ", "梨 pear of b", "说梨 of ", "说梨 of b"}, got); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// leaky is a store in which something of what was forgotten is left.
type leaky struct{ store.Store }

func (s leaky) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, owner, p, func(tx store.Tx) error { return fn(leakyTx{tx}) })
}

func (s leaky) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(leakyReader{r}) })
}

type leakyTx struct{ store.Tx }

func (t leakyTx) Residue(owner yiku.Owner, items []store.Item) (map[string]int, error) {
	return leak(t.Tx.Residue(owner, items))
}

type leakyReader struct{ store.Reader }

func (r leakyReader) Residue(owner yiku.Owner, items []store.Item) (map[string]int, error) {
	return leak(r.Reader.Residue(owner, items))
}

func leak(left map[string]int, err error) (map[string]int, error) {
	if err == nil {
		left["versions.memory"]++
	}
	return left, err
}

// TestE2_ReceiptTellsResidue: where something is left neither the receipt nor a
// later look says that nothing is.
func TestE2_ReceiptTellsResidue(t *testing.T) {
	t.Parallel()
	for _, leaks := range []bool{false, true} {
		st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var used store.Store = st
		if leaks {
			used = leaky{st}
		}
		s := open(t, used, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		memory := save(t, s, yiku.SaveMemoryRequest{Content: "Prefers pears"})
		res := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{memory.ID}}})
		receipt, err := s.GetReceipt(t.Context(), yiku.ReceiptRequest{UserID: "ann", ID: res.ReceiptID})
		if err != nil || res.Verified == leaks || receipt.Verified == leaks {
			t.Errorf("something left: %v; verified %v, %v, %v", leaks, res.Verified, receipt.Verified, err)
		}
		look, err := s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{UserID: "ann", ID: res.ReceiptID})
		if err != nil || look.Clean == leaks || (look.Found["versions.memory"] == 1) != leaks {
			t.Errorf("something left: %v; a later look: %+v, %v", leaks, look, err)
		}
	}
}

// TestE2_RestartGoesOn: a forget that was interrupted after it had begun is
// carried out by the next start, without anybody asking again.
func TestE2_RestartGoesOn(t *testing.T) {
	t.Parallel()
	interrupted := 0
	for n := 1; n < 40; n += 3 {
		st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		faulty := storetest.Faulty(st, storetest.Plan{})
		e := open(t, faulty, &engine.Options{})
		s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		save(t, s, yiku.SaveMemoryRequest{Content: "likes pears"})
		save(t, s, yiku.SaveMemoryRequest{Content: "drinks tea"})
		faulty.Set(storetest.Plan{Call: n})
		_, first := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "pears"}})
		faulty.Set(storetest.Plan{})
		begun, err := faulty.Forgets(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(begun) == 0 {
			continue
		}
		interrupted++
		if err := e.Recover(t.Context()); err != nil {
			t.Fatalf("call %d (first: %v): recover: %v", n, first, err)
		}
		rest, err := faulty.Forgets(t.Context())
		if got := left(t, s); err != nil || len(rest) != 0 || !slices.Equal(got, []string{"drinks tea"}) {
			t.Errorf("call %d: left %q, %d forgets unfinished, %v", n, got, len(rest), err)
		}
	}
	if interrupted < 3 {
		t.Errorf("only %d forgets were interrupted", interrupted)
	}
}

// TestC9_PatchMakesStale: what was derived from a memory is stale once its
// content or its value is another, and not where only its weight is.
func TestC9_PatchMakesStale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*yiku.PatchMemoryRequest)
		want   yiku.Status
	}{
		"content": {func(r *yiku.PatchMemoryRequest) {
			r.Content = yiku.Opt[string]{Present: true, Value: "住在杭州西湖区"}
		}, yiku.StatusStale},
		"value":  {func(r *yiku.PatchMemoryRequest) { r.Value = yiku.Opt[string]{Present: true, Value: "西湖"} }, yiku.StatusStale},
		"weight": {func(r *yiku.PatchMemoryRequest) { r.Importance = yiku.Opt[float64]{Present: true, Value: 0.9} }, yiku.StatusActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			home := save(t, s, yiku.SaveMemoryRequest{Content: "住在杭州", Subject: "user", Attribute: "residence", Value: "杭州"})
			derived := save(t, s, yiku.SaveMemoryRequest{Content: "Hangzhou events are of interest", DerivedFrom: []string{home.ID}})
			req := yiku.PatchMemoryRequest{UserID: "ann", ID: home.ID}
			c.change(&req)
			if _, err := s.PatchMemory(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			got, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: derived.ID})
			if err != nil || got.Status != c.want {
				t.Errorf("%s, %v, want %s", got.Status, err, c.want)
			}
		})
	}
}

// TestC9_ArchiveMakesStale: what was derived from a memory that a forget
// archives is stale, unless the forget archives it too. Control: another
// memory stays active.
func TestC9_ArchiveMakesStale(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	home := save(t, s, yiku.SaveMemoryRequest{Content: "住在杭州"})
	near := save(t, s, yiku.SaveMemoryRequest{Content: "Events in 杭州 are of interest", DerivedFrom: []string{home.ID}})
	far := save(t, s, yiku.SaveMemoryRequest{Content: "Likes lakes", DerivedFrom: []string{near.ID}})
	other := save(t, s, yiku.SaveMemoryRequest{Content: "Drinks tea"})
	forget(t, s, yiku.ForgetRequest{Mode: yiku.ForgetArchive, Selector: yiku.Selector{Keyword: "杭州"}})
	for id, want := range map[string]yiku.Status{home.ID: yiku.StatusArchived, near.ID: yiku.StatusArchived, far.ID: yiku.StatusStale, other.ID: yiku.StatusActive} {
		got, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: id})
		if err != nil || got.Status != want {
			t.Errorf("%q is %s, %v, want %s", got.Content, got.Status, err, want)
		}
	}
}
