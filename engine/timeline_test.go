package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// TestD9_OneValueAtATime: values of a single-valued attribute that are saved,
// corrected, patched, archived, restored and confirmed in any order: at every
// moment at most one of them holds. The order is that of the seed.
func TestD9_OneValueAtATime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			walkTimeline(t, rand.New(rand.NewPCG(seed, 9)))
		})
	}
}

func walkTimeline(t *testing.T, r *rand.Rand) {
	b := newBench(t, nil)
	s := b.operator()
	day := func() time.Time { return b.clock.Now().Add(time.Duration(r.IntN(40)-30) * 24 * time.Hour) }
	var ids []string
	for range 25 {
		b.clock.Advance(time.Duration(r.IntN(3*24)) * time.Hour)
		id := ""
		if len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
		}
		var err error
		switch n := r.IntN(10); {
		case n < 5 || id == "":
			city := fmt.Sprintf("City%d", r.IntN(12))
			req := yiku.SaveMemoryRequest{UserID: "ann", Content: "The user lives in " + city, Subject: "user", Attribute: "residence", Value: city, ValidFrom: day()}
			if r.IntN(4) == 0 {
				req.ValidTo = req.ValidFrom.Add(time.Duration(1+r.IntN(200)) * time.Hour)
			}
			if r.IntN(5) == 0 {
				req.Type = yiku.TypeCorrection
			}
			if r.IntN(3) == 0 {
				req.Subject, req.Attribute, req.Value = "", "", "" // the words alone
			}
			var res yiku.SaveMemoryResponse
			res, err = s.SaveMemory(t.Context(), req)
			ids = append(ids, res.ID)
		case n == 5:
			_, err = s.RestoreMemory(t.Context(), yiku.RestoreMemoryRequest{UserID: "ann", ID: id})
		case n == 6:
			_, err = s.ConfirmMemory(t.Context(), yiku.ConfirmMemoryRequest{UserID: "ann", ID: id})
		case n == 7:
			status := []yiku.Status{yiku.StatusArchived, yiku.StatusActive}[r.IntN(2)]
			_, err = s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: id, Status: yiku.Some(status)})
		case n == 8:
			_, err = s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: id, ValidFrom: yiku.Some(day())})
		default:
			_, err = s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: id, ValidTo: yiku.Some(day())})
		}
		if err != nil && !errors.Is(err, yiku.ErrConflict) && !errors.Is(err, yiku.ErrInvalid) {
			t.Fatal(err)
		}
		noTwoAtOnce(t, b)
	}
}

// noTwoAtOnce looks at every value, present and past, that an as-of read may give.
func noTwoAtOnce(t *testing.T, b bench) {
	t.Helper()
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	var all []store.Memory
	err = b.store.View(t.Context(), func(r store.Reader) (err error) {
		all, err = r.Memories(owner, store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive, yiku.StatusSuperseded}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		for _, other := range all[:i] {
			if m.Attribute != "" && other.Attribute != "" && reconcile.Overlap(m.Memory, other.Memory) {
				t.Fatalf("%s (%s, %s to %s) and %s (%s, %s to %s) hold at once", m.Value, m.Status, m.ValidFrom, m.ValidTo, other.Value, other.Status, other.ValidFrom, other.ValidTo)
			}
		}
	}
}
