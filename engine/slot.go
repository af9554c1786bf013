package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

// Exact data of messages that a summary is about to cover are found before that
// (B2). What belongs to the task goes to data slots: what the user said and what
// tools returned, and whatever a search would not bring back. The rest is read
// in the messages, which a search finds word for word.

const (
	messageSlots = 8       // data of one message that become slots
	slotBytes    = 200     // of a slot's value
	searchChecks = 64      // data of one step whose being found is checked
	exactQuery   = 1 << 10 // bytes of a query that are looked through for exact data
	foundWithin  = 3       // results of a search among which a datum must be
)

// slotFind is a datum that is to become a data slot.
type slotFind struct {
	task    string
	name    string
	changes bool // it is a value of what its name says, which another one replaces
	value   string
	message store.Message
}

// exactData is what of a raw zone becomes data slots.
func (c *call) exactData(ctx context.Context, owner yiku.Owner, z rawZone) ([]slotFind, error) {
	var finds []slotFind
	checks := searchChecks
	for _, m := range z.cover {
		if !summarized(m.Message) || window.SmallTalk(m.Message) {
			continue
		}
		text := extract.Unfenced(m.Content.PlainText())
		data := summary.Find(text, m.CreatedAt.In(clockOf(z.session)))
		c.count("exact_data", len(data))
		strongest(data)
		slots := 0
		for _, d := range data {
			label, named := summary.Label(text, d)
			find := slotFind{task: m.TaskID, name: label, changes: named && changing(d.Kind), value: slotValue(d), message: m}
			belongs := m.Role != yiku.RoleAssistant && (d.Kind != summary.Number || named) && slots < messageSlots
			if !belongs && checks > 0 && len(d.Text) <= slotBytes {
				checks--
				if err := jobs.Yield(ctx); err != nil {
					return nil, err
				}
				found, err := c.findsWordForWord(ctx, owner, summary.Question(text, d), d.Text)
				if err != nil {
					return nil, err
				}
				if !found {
					c.count("unfindable", 1)
				}
				belongs = !found
			}
			if belongs && len(find.value) <= slotBytes {
				slots++
				finds = append(finds, find)
			}
		}
	}
	return finds, nil
}

// strongest puts the data first that are hardest to say otherwise.
func strongest(data []summary.Datum) {
	rank := func(d summary.Datum) int {
		return slices.Index([]summary.Kind{summary.Phone, summary.Email, summary.URL, summary.ID, summary.Path, summary.Amount, summary.Date, summary.Clock, summary.Number}, d.Kind)
	}
	slices.SortStableFunc(data, func(a, b summary.Datum) int { return cmp.Compare(rank(a), rank(b)) })
}

// changing reports whether a datum of a kind is a property that takes other
// values in time, like a deadline, and not a thing beside others, like a ticket.
func changing(k summary.Kind) bool {
	return k == summary.Amount || k == summary.Date || k == summary.Clock || k == summary.Number
}

// slotValue is a datum word for word; beside the words of a relative date stands
// the day that they meant.
func slotValue(d summary.Datum) string {
	if d.Day != "" {
		return d.Text + " (" + d.Day + ")"
	}
	return d.Text
}

// findsWordForWord reports whether a search for the words around a datum brings
// back a message that says it.
func (c *call) findsWordForWord(ctx context.Context, owner yiku.Owner, query, text string) (bool, error) {
	hits, err := c.conversations(ctx, owner, query, foundWithin)
	return slices.ContainsFunc(hits, func(h hit) bool { return strings.Contains(h.message.Content.PlainText(), text) }), err
}

// conversations searches an owner's messages.
func (c *call) conversations(ctx context.Context, owner yiku.Owner, query string, limit int) ([]hit, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	hits, _, err := c.find(ctx, []yiku.Owner{owner}, question{text: query, kinds: []index.Kind{index.Message}, limit: limit,
		least: c.settings.SearchRelevance, recorded: c.now.Add(-c.settings.TranscriptRetention)})
	return hits, err
}

// exactOf returns the exact data of a query, each once; words for a day, such as
// "last Friday", meant another day whenever they were said. A long text that was
// put in as a query is not one that names something.
func exactOf(query string) []string {
	if len(query) > exactQuery {
		return nil
	}
	var out []string
	for _, d := range summary.Find(query, time.Time{}) {
		meantAnother := d.Kind == summary.Date && strings.EqualFold(d.Means[0], d.Text) && !strings.ContainsAny(d.Text, "0123456789")
		if !meantAnother && !slices.Contains(out, d.Text) {
			out = append(out, d.Text)
		}
	}
	return out
}

// putFinds writes data slots into the working memories that they belong to.
func (c *call) putFinds(tx store.Tx, owner yiku.Owner, session store.Session, finds []slotFind) error {
	tasks := map[string][]slotFind{}
	for _, f := range finds {
		tasks[f.task] = append(tasks[f.task], f)
	}
	for _, task := range slices.Sorted(maps.Keys(tasks)) {
		over, err := c.taskIsOver(tx, owner, session.ProjectID, task)
		if err != nil {
			return err
		}
		if over {
			continue
		}
		_, err = c.changeBench(tx, owner, session.ID, task, "", func(w *store.Working) error {
			for _, f := range tasks[task] {
				putFind(w, f)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// taskIsOver reports whether a task was completed: its working memory was
// cleared, and stays so.
func (c *call) taskIsOver(r store.Reader, owner yiku.Owner, project, task string) (bool, error) {
	if task == "" {
		return false, nil
	}
	t, err := r.Task(owner, project, task)
	if errors.Is(err, yiku.ErrNotFound) {
		return false, nil
	}
	return !t.CompletedAt.IsZero(), err
}

// putFind puts one datum into its slot: that of the same value, or of the same
// words where they said another one in an earlier message; what callers have
// set is never touched. Where the slots are full the least used, oldest one of
// those that were found goes.
func putFind(w *store.Working, f slotFind) {
	if w.Found == nil {
		w.Found = map[string]store.Found{}
	}
	for _, name := range slices.Sorted(maps.Keys(w.DataSlots)) {
		if w.DataSlots[name] != f.value {
			continue
		}
		if have, ok := w.Found[name]; ok {
			w.Found[name] = store.Found{Message: f.message.Key, Uses: have.Uses + 1, At: f.message.CreatedAt}
		}
		return
	}
	name := f.name
	for n := 2; ; n++ {
		have, found := w.Found[name]
		if _, taken := w.DataSlots[name]; !taken || f.changes && found && have.Message != f.message.Key {
			break
		}
		name = fmt.Sprintf("%s %d", f.name, n)
	}
	if _, taken := w.DataSlots[name]; !taken && len(w.DataSlots) >= yiku.MaxDataSlots && !evict(w) {
		return // callers have filled them all
	}
	w.DataSlots[name] = f.value
	w.Found[name] = store.Found{Message: f.message.Key, Uses: 1, At: f.message.CreatedAt}
}

// evict takes away the found slot that was used least, and of equal ones the
// one that was said longest ago.
func evict(w *store.Working) bool {
	if len(w.Found) == 0 {
		return false
	}
	least := slices.MinFunc(slices.Sorted(maps.Keys(w.Found)), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.Found[a].Uses, w.Found[b].Uses), w.Found[a].At.Compare(w.Found[b].At))
	})
	delete(w.Found, least)
	delete(w.DataSlots, least)
	return true
}

// sansFound is a working memory without the slots that were found in messages.
func sansFound(w yiku.WorkingMemory, found map[string]store.Found) yiku.WorkingMemory {
	w.DataSlots = maps.Clone(w.DataSlots)
	for name := range found {
		delete(w.DataSlots, name)
	}
	return w
}

// keepFound forgets where slots were found that a caller has set since.
func keepFound(w *store.Working, before map[string]any) {
	for name := range w.Found {
		if value, ok := w.DataSlots[name]; !ok || value != before[name] {
			delete(w.Found, name)
		}
	}
}
