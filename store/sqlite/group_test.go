package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// TestAFailedUpdateOfAGroup: of updates that are committed together those that
// fail, or panic, leave nothing, and the others stand.
func TestAFailedUpdateOfAGroup(t *testing.T) {
	t.Parallel()
	s := openTest(t, &Options{GroupLimit: 16, Now: testTime}) // a clock that stands: the window never ends a group
	own := errors.New("its own")
	free := blockWriter(t, s)
	var wait sync.WaitGroup
	const updates = 9
	for i := range updates {
		owner := testOwner(t, "acme", fmt.Sprint(i))
		wait.Go(func() {
			defer func() {
				if p := recover(); (p != nil) != (i%3 == 2) {
					t.Errorf("update %d: panic %v", i, p)
				}
			}()
			err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
				err := tx.PutSession(&store.Session{Session: yiku.Session{ID: "会话", CreatedAt: testTime()}})
				switch {
				case err != nil:
					return err
				case i%3 == 2:
					panic("in the middle")
				case i%3 == 1:
					return own
				}
				return nil
			})
			if want := map[bool]error{true: own}[i%3 == 1]; !errors.Is(err, want) {
				t.Errorf("update %d: %v", i, err)
			}
		})
	}
	waiting(s.writer.requests, updates)
	free()
	wait.Wait()
	if st := s.Stats(); st.LargestGroup < updates {
		t.Fatalf("they were not one group: %+v", st)
	}
	err := s.View(t.Context(), func(r store.Reader) error {
		for i := range updates {
			_, err := r.Session(testOwner(t, "acme", fmt.Sprint(i)), "会话")
			if stands := i%3 == 0; stands && err != nil || !stands && !errors.Is(err, yiku.ErrNotFound) {
				t.Errorf("update %d left %v", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults, err := s.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("the store has %q, %v", faults, err)
	}
}
