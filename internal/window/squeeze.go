package window

import (
	"cmp"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
)

// target is an item that must stay and may be cut.
type target struct {
	unit *unit
	item int
}

// squeeze cuts what must stay where it does not fit: first its tool results,
// not below [leastResult], then its longest texts.
func (f *fitting) squeeze() error {
	if f.total <= f.Budget {
		return nil
	}
	var results, all []target
	for _, u := range f.units {
		if u.gone || u.system {
			continue
		}
		for i, it := range u.items {
			if it.message.Pinned || textual(it.message.Content) == "" {
				continue
			}
			all = append(all, target{u, i})
			if it.message.Role == yiku.RoleTool {
				results = append(results, target{u, i})
			}
		}
	}
	f.level(results, leastResult)
	f.level(all, leastCut)
	f.level(all, 0)
	for _, t := range all { // some could not come down as far as the others: the rest is taken where it can be
		if over := f.total - f.Budget; over > 0 {
			f.cutItem(t.unit, t.item, t.unit.items[t.item].tokens-over)
		}
	}
	if f.total > f.Budget {
		return tooLarge("messages", f.total, f.Budget)
	}
	return nil
}

// leastResult is the size, in tokens, below which tool results are not cut
// while there are other texts to cut.
const leastResult = 256

// level cuts the largest of the targets down to one height, at least the one
// given, so that what is left fits where that is possible.
func (f *fitting) level(targets []target, least int) {
	over := f.total - f.Budget
	if over <= 0 || len(targets) == 0 {
		return
	}
	size := func(t target) int { return t.unit.items[t.item].tokens }
	sorted := slices.Clone(targets)
	slices.SortStableFunc(sorted, func(a, b target) int { return cmp.Compare(size(b), size(a)) })
	height := max(heightOf(sorted, size, over), least)
	for _, t := range sorted {
		if size(t) <= height || f.total <= f.Budget {
			continue
		}
		// What earlier cuts fell short of or went beyond evens out here.
		f.cutItem(t.unit, t.item, max(height, size(t)-(f.total-f.Budget)))
	}
}

// heightOf returns the height to which the largest, sorted ones must come down
// so that over tokens go.
func heightOf(sorted []target, size func(target) int, over int) int {
	sum := 0
	for i, t := range sorted {
		sum += size(t)
		below := 0
		if i+1 < len(sorted) {
			below = size(sorted[i+1])
		}
		if height := (sum - over) / (i + 1); height >= below {
			return max(height, 0)
		}
	}
	return 0
}

// cutItem cuts the text of an item so that its message counts at most limit
// tokens, as nearly as that is possible. An item that was cut before is cut
// from its whole text again.
func (f *fitting) cutItem(u *unit, i, limit int) {
	it := &u.items[i]
	if it.whole == nil {
		whole := it.message.Content
		it.whole = &whole
	}
	text := textual(*it.whole)
	if text == "" {
		return
	}
	m := it.message
	m.Content = withText(*it.whole, "")
	room, least := limit-f.Count.Message(m), f.Count.Text(token.Marker(text))
	n := it.tokens
	for range 4 { // a text can count a little more inside a message than alone
		cut := token.Middle(f.Count, text, max(room, least))
		if cut == text { // several parts as one text can count less
			if room = f.Count.Text(text) - 1; room < least {
				return // no longer than the marker
			}
			continue
		}
		m.Content = withText(*it.whole, cut)
		if n = f.Count.Message(m); n <= limit || room <= least {
			break
		}
		room -= n - limit
	}
	if n >= it.tokens {
		return
	}
	u.tokens += n - it.tokens
	f.total += n - it.tokens
	it.message, it.tokens, it.cut = m, n, true
}

// textual returns the text of a content that may be cut: all of its text parts
// together.
func textual(c yiku.Content) string {
	if len(c.Parts) == 0 {
		return c.Text
	}
	var texts []string
	for _, p := range c.Parts {
		if p.Type == "text" && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// withText returns a content with another text in place of its text parts; the
// other parts stay in their order.
func withText(c yiku.Content, text string) yiku.Content {
	var parts []yiku.Part
	placed := text == ""
	for _, p := range c.Parts {
		switch {
		case p.Type != "text":
			parts = append(parts, p)
		case !placed:
			parts, placed = append(parts, yiku.Part{Type: "text", Text: text}), true
		}
	}
	if len(parts) == 0 || len(parts) == 1 && parts[0].Type == "text" {
		return yiku.Text(text)
	}
	return yiku.Content{Parts: parts}
}
