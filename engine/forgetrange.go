package engine

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// inRange reports whether a time lies in a selector's range.
func inRange(s yiku.Selector, at time.Time) bool {
	return !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To))
}

// writtenIn finds the memories, by key, that were made to say something else
// within a forget's time range. Those that were only confirmed, archived or
// expired then say nothing of that time.
func (c *call) writtenIn(ctx context.Context, f store.Forget) (map[int64]bool, error) {
	written := map[int64]bool{}
	err := c.slices(ctx, func(r store.Reader, after int64) (int64, bool, error) {
		rows, err := r.OwnerMemories(f.Owner, after, f.UpTo, previewSlice)
		if err != nil || len(rows) == 0 {
			return 0, false, err
		}
		for _, row := range rows {
			if row.Version < 2 || row.UpdatedAt.Before(f.Request.Selector.From) {
				continue
			}
			versions, err := r.Versions(f.Owner, row.Key)
			if err != nil {
				return 0, false, err
			}
			next := row.Memory
			for _, v := range versions { // newest first
				if inRange(f.Request.Selector, v.ReplacedAt) && !saysTheSame(v.Memory, next) {
					written[row.Key] = true
				}
				next = v.Memory
			}
		}
		return rows[len(rows)-1].Key, len(rows) == previewSlice, nil
	})
	return written, err
}

func saysTheSame(a, b yiku.Memory) bool {
	return a.Content == b.Content && a.Subject == b.Subject && a.Attribute == b.Attribute && a.Value == b.Value &&
		slices.Equal(a.Topics, b.Topics) && (len(a.Metadata)+len(b.Metadata) == 0 || reflect.DeepEqual(a.Metadata, b.Metadata))
}

// purgeWorking deletes the working memory that a forget takes. Of what a time
// range takes the marks stand in the journal: the range itself does not.
func (c *call) purgeWorking(tx store.Tx, f *store.Forget, drop func(store.Working) bool) error {
	s := f.Request.Selector
	if drop == nil || s.From.IsZero() && s.To.IsZero() {
		return tx.PurgeWorking(drop, &f.Removed)
	}
	var names []string
	err := tx.PurgeWorking(func(w store.Working) bool {
		takes := drop(w)
		if takes {
			names = append(names, workingMark(w.SessionID))
		}
		return takes
	}, &f.Removed)
	if err != nil || len(names) == 0 {
		return err
	}
	return c.suppress(tx, f.Owner, f.At, names...)
}
