package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store/sqlite"
	"github.com/yiku-ai/yiku/store/storetest"
)

var interleavings = flag.Int("interleavings", interleavingsOfATest, "seeds of TestR13; make nightly takes 10,000")

// interleavingsOfATest is how many a plain go test runs.
const interleavingsOfATest = 1000

// TestR13_ForgetAgainstEverything runs a forget of all beside appends, replays,
// patches, searches, contexts and their snapshots, in the order that each seed
// gives. Whatever was there before the forget began is gone from every door
// after it; whatever was said after it returned is there.
func TestR13_ForgetAgainstEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	var wg sync.WaitGroup
	seeds := make(chan int)
	for range 4 {
		wg.Go(func() {
			for seed := range seeds {
				if err := interleave(t.Context(), s, seed, true); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	for seed := range *interleavings {
		seeds <- seed
	}
	close(seeds)
	wg.Wait()
	boardtest.Report(t, boardtest.Row{ID: "R13", Trials: *interleavings, What: "interleavings brought something back or lost what was said after", Seeds: fmt.Sprint("0–", *interleavings-1)})
}

// TestR13_Control: without the forget the same check finds what was there.
func TestR13_Control(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	const seeds = 20
	for seed := range seeds {
		if err := interleave(t.Context(), b.operator(), seed, false); err == nil {
			t.Errorf("seed %d: the check sees nothing", seed)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R13", Part: "control", Hits: seeds, Trials: seeds, What: "interleavings without the forget were seen"})
}

// interleave runs one seed for a user of its own.
func interleave(ctx context.Context, s yiku.Service, seed int, forgetting bool) error {
	rng := rand.New(rand.NewPCG(uint64(seed), 13))
	user, canary := fmt.Sprint("u", seed), fmt.Sprintf("canary%d", seed)
	old := yiku.AppendMessagesRequest{UserID: user, SessionID: "s", Idempotent: yiku.Idempotent{IdempotencyKey: "k"},
		Messages: []yiku.Message{{ID: "m", Role: yiku.RoleUser, Content: yiku.Text("the word is " + canary)}}}
	if _, err := s.AppendMessages(ctx, old); err != nil {
		return err
	}
	saved, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: user, Content: "the secret is " + canary})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var snapshots []string
	again := old
	again.IdempotencyKey = ""
	ops := []func() error{
		func() error { _, err := s.AppendMessages(ctx, old); return err },
		func() error { _, err := s.AppendMessages(ctx, again); return err },
		func() error {
			_, err := s.PatchMemory(ctx, yiku.PatchMemoryRequest{UserID: user, ID: saved.ID, Importance: yiku.Some(0.9)})
			return err
		},
		func() error {
			_, err := s.ConfirmMemory(ctx, yiku.ConfirmMemoryRequest{UserID: user, ID: saved.ID})
			return err
		},
		func() error {
			_, err := s.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: user, Query: canary, IncludeMessages: true})
			return err
		},
		func() error {
			res, err := s.GetContext(ctx, yiku.GetContextRequest{UserID: user, SessionID: "s", Query: canary})
			mu.Lock()
			defer mu.Unlock()
			snapshots = append(snapshots, res.SnapshotID)
			return err
		},
		func() error {
			_, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: user, Content: "derived", DerivedFrom: []string{saved.ID}})
			return err
		},
	}
	if forgetting {
		ops = append(ops, func() error {
			_, err := s.Forget(ctx, yiku.ForgetRequest{UserID: user, Selector: yiku.Selector{All: true}, Reason: "asked"})
			return err
		})
	}
	rng.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	var wg sync.WaitGroup
	errs := make([]error, len(ops))
	for i, op := range ops {
		wg.Go(func() { errs[i] = op() })
		if rng.IntN(3) == 0 {
			wg.Wait()
		}
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, yiku.ErrForgotten) && !errors.Is(err, yiku.ErrNotFound) && !errors.Is(err, yiku.ErrInvalid) {
			return err
		}
	}
	return gone(ctx, s, user, canary, saved.ID, snapshots)
}

// gone looks through every door for what was forgotten.
func gone(ctx context.Context, s yiku.Service, user, canary, memory string, snapshots []string) error {
	if _, err := s.GetMemory(ctx, yiku.MemoryRequest{UserID: user, ID: memory}); !errors.Is(err, yiku.ErrNotFound) {
		return fmt.Errorf("the memory: %v", err)
	}
	found, err := s.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: user, Query: canary, IncludeMessages: true, MinRelevance: new(0.0)})
	if err != nil || len(found.Items) != 0 {
		return fmt.Errorf("search finds %d items, %v", len(found.Items), err)
	}
	page, err := s.ListMessages(ctx, yiku.ListMessagesRequest{UserID: user, SessionID: "s"})
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		return err
	}
	for _, m := range page.Items {
		if strings.Contains(m.Content.PlainText(), canary) {
			return errors.New("a message is back")
		}
	}
	for _, id := range snapshots {
		if id == "" {
			continue
		}
		snapshot, err := s.GetSnapshot(ctx, yiku.GetSnapshotRequest{UserID: user, ID: id})
		if err == nil && (strings.Contains(snapshot.Response.System, canary) || len(snapshot.Response.Messages) > 0) {
			return errors.New("a snapshot is left")
		}
	}
	if _, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: user, Content: "said after " + canary}); err != nil {
		return err
	}
	found, err = s.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: user, Query: canary, MinRelevance: new(0.0)})
	if err != nil || len(found.Items) != 1 {
		return fmt.Errorf("what was said after it: %d items, %v", len(found.Items), err)
	}
	return nil
}

// TestR4_ForgetGoesOnAfterAnyFault: whichever call of the store fails, before or
// after its effect, a restart carries the forget out, and its repetition under
// the same key gives the receipt.
func TestR4_ForgetGoesOnAfterAnyFault(t *testing.T) {
	t.Parallel()
	req := yiku.ForgetRequest{UserID: "ann", Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, Reason: "asked", Selector: yiku.Selector{Keyword: "alpha"}}
	run := func(n int, after bool) (calls int) {
		s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		faulty := storetest.Faulty(s, storetest.Plan{})
		b := bench{Engine: open(t, faulty, &engine.Options{}), store: s, clock: &clock{}}
		life(t, b, b.operator())
		before := left(t, b.operator())
		faulty.Set(storetest.Plan{Call: n, After: after})
		_, first := b.operator().Forget(t.Context(), req)
		calls = faulty.Calls()
		faulty.Set(storetest.Plan{})
		if n%4 == 1 { // otherwise its repetition goes on with it
			if err := b.Recover(t.Context()); err != nil {
				t.Fatalf("call %d: recover: %v", n, err)
			}
		}
		res, err := b.operator().Forget(t.Context(), req)
		if err != nil || !res.Verified || res.Removed.Memories != 2 || res.Removed.Messages != 1 {
			t.Errorf("call %d, after %v (first: %v): %+v, %v", n, after, first, res, err)
		}
		want := slices.DeleteFunc(before, func(c string) bool {
			return strings.Contains(strings.ToLower(c), "alpha") || c == "Summer is busy"
		})
		if diff := cmp.Diff(want, left(t, b.operator())); diff != "" {
			t.Errorf("call %d, after %v: %s", n, after, diff)
		}
		proven(t, b.operator(), res)
		return calls
	}
	trials := 0
	for n, calls := 1, run(0, false); n <= calls; n += 2 {
		run(n, n%4 == 1)
		trials++
	}
	boardtest.Report(t, boardtest.Row{ID: "R4", Part: "forgetting", Trials: trials, What: "faults left a forget half done"})
}
