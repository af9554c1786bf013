package engine

import (
	"github.com/yiku-ai/yiku/store"
)

// taskMark names a task, which the journal finds it by.
func taskMark(t store.Task) string { return mark("task", t.ProjectID, t.ID) }

// purgeTasks deletes the tasks that a forget takes by themselves, as those are
// that were completed and have no working memory any more.
func (c *call) purgeTasks(tx store.Tx, f *store.Forget, takes func(store.Task) bool) error {
	if takes == nil {
		return nil
	}
	var names []string
	err := tx.PurgeTasks(func(t store.Task) bool {
		if t.Key&seqMask > f.UpTo || !takes(t) {
			return false
		}
		names = append(names, taskMark(t))
		return true
	}, &f.Removed)
	if err != nil || len(names) == 0 {
		return err
	}
	return c.suppress(tx, f.Owner, f.At, names...)
}
