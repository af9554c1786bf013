package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
)

// held is a store in which the work of a forget waits.
type held struct {
	store.Store
	entered, open chan struct{}
}

func (s held) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	if p == store.Maintenance {
		select {
		case s.entered <- struct{}{}:
		default:
		}
		select {
		case <-s.open:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Store.Update(ctx, owner, p, fn)
}

// TestE2_ACallerWhoLeaves: a forget that has begun goes on without its caller,
// nobody begins it a second time meanwhile, and a close waits for it. Where it
// cannot end, a close does not wait for ever, and the next start carries it out.
func TestE2_ACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	for name, stuck := range map[string]bool{"it ends": false, "it is stuck": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { leaveAForget(t, stuck) })
		})
	}
}

func leaveAForget(t *testing.T, stuck bool) {
	b := newBench(t, nil)
	h := held{Store: b.store, entered: make(chan struct{}, 1), open: make(chan struct{})}
	x := memindex.New(nil)
	t.Cleanup(func() { _ = x.Close() })
	e, err := engine.New(engine.Options{Store: h, Index: x, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	save(t, s, yiku.SaveMemoryRequest{Content: "梨 pear"})
	req := yiku.ForgetRequest{UserID: "ann", Reason: "asked", Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, Selector: yiku.Selector{Keyword: "pear"}}
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-h.entered; leave() }()
	if _, err := s.Forget(ctx, req); !errors.Is(err, context.Canceled) {
		t.Fatalf("who left got %v", err)
	}
	if _, err := s.Forget(t.Context(), req); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("its repetition meanwhile: %v", err)
	}
	if begun, err := b.store.Forgets(t.Context()); err != nil || len(begun) != 1 {
		t.Errorf("begun are %d, %v", len(begun), err)
	}
	if !stuck {
		close(h.open)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	begun, err := b.store.Forgets(t.Context())
	if err != nil || (len(begun) > 0) != stuck {
		t.Errorf("after the close %d are unfinished, %v", len(begun), err)
	}
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{All: true}}); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a forget after the close: %v", err)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, err := b.operator().Forget(t.Context(), req)
	if got := left(t, b.operator()); err != nil || !res.Verified || res.Removed.Memories != 1 || len(got) != 0 {
		t.Errorf("its repetition afterwards: %+v, %v; left %q", res, err, got)
	}
}
