package compose

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Entry is a memory that is to be shown, and why.
type Entry struct {
	Memory yiku.Memory
	Place  string // what is equal for memories of one subject and attribute; "" where it has none
	Group  yiku.Group
	Score  float64
	Scores yiku.Scores
	Source string
	Notes  *yiku.Explain
}

// Episode is a past message that is to be shown.
type Episode struct {
	Message yiku.Message
	Score   float64
}

// Input is what may be shown. Entries and Episodes stand in the order in which
// they are to find room: what is always loaded first.
type Input struct {
	Entries    []Entry
	Episodes   []Episode
	Working    *yiku.WorkingMemory // nil: none
	Summary    []Line              // of the session, as it is to be shown
	Script     lang.Script         // the language of our own words
	Zone       *time.Location      // of the dates shown
	Count      func(string) int    // tokens of a text
	Budget     int                 // tokens for memory: fence, labels, memories and episodes
	ItemTokens int                 // the longest that one item may be
}

// Output is the memory text and what stands in it.
type Output struct {
	Text          string // empty where nothing is shown
	MemoryTokens  int
	WorkingTokens int
	SummaryTokens int
	Memories      []yiku.ContextMemory
	Episodes      []yiku.ContextEpisode
	Omitted       int        // entries and episodes that found no room
	Cut           []yiku.Cut // these, and older values of what is shown
}

// Compose writes the memory text. Working memory and the summary are always
// shown whole, and counted apart from Budget; the rest finds room in order, and
// what does not fit is left out and counted. Of several memories that give a single-valued
// attribute different values only the newest valid one is shown (D6).
func Compose(in Input) Output {
	w := wordsIn(in.Script)
	var sections [parts]Section
	for p := range sections {
		sections[p].Label = w.labels[p]
	}
	out := Output{}
	if in.Working != nil {
		sections[partWorking].JSON = workingJSON(*in.Working)
		out.WorkingTokens = in.Count(labelMark+w.labels[partWorking]+"\n") + in.Count(string(sections[partWorking].JSON)+"\n")
	}
	if len(in.Summary) > 0 {
		sections[partSummary].Lines = in.Summary
		out.SummaryTokens = in.Count(labelMark + w.labels[partSummary] + "\n")
		for _, l := range in.Summary {
			out.SummaryTokens += LineTokens(l, in.Count)
		}
	}
	fence := in.Count(fenceOpen+"\n") + in.Count(w.preamble+"\n") + in.Count(fenceClose)
	left := in.Budget - fence
	put := func(p part, l Line) bool {
		cost := LineTokens(l, in.Count)
		if len(sections[p].Lines) == 0 && sections[p].JSON == nil {
			cost += in.Count(labelMark + w.labels[p] + "\n")
		}
		if cost > left {
			return false
		}
		left -= cost
		sections[p].Lines = append(sections[p].Lines, l)
		return true
	}
	shown := Newest(in.Entries)
	for _, e := range in.Entries {
		if !slices.ContainsFunc(shown, func(s Entry) bool { return s.Memory.ID == e.Memory.ID }) {
			out.Cut = append(out.Cut, yiku.Cut{ID: e.Memory.ID, Rule: yiku.CutValue, Score: e.Score, Scores: e.Scores})
		}
	}
	for _, e := range shown {
		text := Shorten(e.Memory.Content, in.ItemTokens, in.Count)
		if !put(partOf(e.Memory), Line{Date: in.date(e.Memory.ValidFrom, e.Memory.CreatedAt), Who: string(e.Memory.Origin), Text: text}) {
			out.Omitted++
			out.Cut = append(out.Cut, yiku.Cut{ID: e.Memory.ID, Rule: yiku.CutRoom, Score: e.Score, Scores: e.Scores})
			continue
		}
		out.Memories = append(out.Memories, yiku.ContextMemory{ID: e.Memory.ID, Content: text, Kind: e.Memory.Kind, Type: e.Memory.Type,
			Score: e.Score, Scores: e.Scores, Group: e.Group, Source: e.Source, Version: e.Memory.Version, Explain: e.Notes})
	}
	for _, e := range in.Episodes {
		m := e.Message
		text := Shorten(m.Content.PlainText(), in.ItemTokens, in.Count)
		if !put(partHistory, Line{Date: in.date(m.CreatedAt), Who: string(m.Role), Name: m.Name, Text: text}) {
			out.Omitted++
			out.Cut = append(out.Cut, yiku.Cut{ID: m.ID, SessionID: m.SessionID, Rule: yiku.CutRoom, Score: e.Score})
			continue
		}
		out.Episodes = append(out.Episodes, yiku.ContextEpisode{SessionID: m.SessionID, ID: m.ID, Role: m.Role, Name: m.Name,
			Content: text, CreatedAt: m.CreatedAt, Score: e.Score})
	}
	switch { // the fence is counted once
	case len(out.Memories)+len(out.Episodes) > 0:
		out.MemoryTokens = in.Budget - left
	case in.Working != nil:
		out.WorkingTokens += fence
	case len(in.Summary) > 0:
		out.SummaryTokens += fence
	}
	d := Document{Preamble: w.preamble}
	for _, s := range sections {
		if len(s.Lines) > 0 || s.JSON != nil {
			d.Sections = append(d.Sections, s)
		}
	}
	if len(d.Sections) > 0 {
		out.Text = Render(d)
	}
	return out
}

// LineTokens is what a line costs in the memory text.
func LineTokens(l Line, count func(string) int) int { return count(renderLine(l) + "\n") }

// date is the day of the first time that is set, in the zone of the input.
func (in Input) date(times ...time.Time) string {
	for _, t := range times {
		if !t.IsZero() {
			return t.In(in.Zone).Format(time.DateOnly)
		}
	}
	return ""
}

// workingJSON is working memory as one JSON object (B5): only what it holds.
func workingJSON(w yiku.WorkingMemory) []byte {
	blocks := map[string]string{}
	for name, b := range w.Blocks {
		blocks[name] = b.Value
	}
	v := struct {
		Task        string            `json:"task_id,omitempty"`
		State       map[string]any    `json:"task_state,omitempty"`
		Slots       map[string]any    `json:"data_slots,omitempty"`
		Preferences map[string]any    `json:"preferences,omitempty"`
		Todos       []any             `json:"todos,omitempty"`
		Blocks      map[string]string `json:"blocks,omitempty"`
	}{w.TaskID, w.TaskState, w.DataSlots, w.Preferences, w.Todos, blocks}
	return encode(v)
}

// Newest leaves out, of the entries that give one single-valued attribute of
// one subject different values, all but the newest valid one (D6). The order stays.
func Newest(entries []Entry) []Entry {
	newest := map[string]yiku.Memory{}
	single := func(e Entry) bool { return e.Memory.Single && e.Place != "" }
	for _, e := range entries {
		if old, known := newest[e.Place]; single(e) && (!known || newer(e.Memory, old)) {
			newest[e.Place] = e.Memory
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return single(e) && newest[e.Place].ID != e.Memory.ID
	})
}

// newer orders by the time from which a memory holds; of equal ones the
// narrower level wins, then the one that was changed later.
func newer(a, b yiku.Memory) bool {
	if !a.ValidFrom.Equal(b.ValidFrom) {
		return a.ValidFrom.After(b.ValidFrom)
	}
	rank := func(l yiku.Level) int {
		return slices.Index([]yiku.Level{yiku.LevelShared, yiku.LevelUser, yiku.LevelProject, yiku.LevelTask}, l)
	}
	if rank(a.Level) != rank(b.Level) {
		return rank(a.Level) > rank(b.Level)
	}
	return a.UpdatedAt.After(b.UpdatedAt)
}

// Shorten returns text in at most limit tokens: its first whole sentences, or,
// where not even the first fits, its beginning, followed by an ellipsis.
func Shorten(text string, limit int, count func(string) int) string {
	// No tokenizer makes more tokens of a text than it has bytes, and what
	// cannot fit need not be counted: few texts have over 16 bytes a token.
	most := 16 * limit
	if len(text) <= limit || len(text) <= most && count(text) <= limit {
		return text
	}
	const ellipsis = " …"
	room := limit - count(ellipsis)
	if len(text) > most {
		text = text[:cutRune(text, most)]
	}
	best := 0
	for _, end := range sentenceEnds(text) {
		if count(text[:end]) > room {
			break
		}
		best = end
	}
	if best == 0 {
		low, high := 0, len(text)
		for low < high {
			mid := (low + high + 1) / 2
			if count(text[:cutRune(text, mid)]) <= room {
				low = mid
			} else {
				high = mid - 1
			}
		}
		best = cutRune(text, low)
	}
	return strings.TrimSpace(text[:best]) + ellipsis
}

// cutRune moves a byte position back to the start of a character.
func cutRune(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// sentenceEnds are the byte positions after each sentence of a text.
func sentenceEnds(text string) []int {
	var ends []int
	for i, r := range text {
		switch r {
		case '。', '！', '？', '；', '\n':
			ends = append(ends, i+utf8.RuneLen(r))
		case '.', '!', '?', ';':
			if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' {
				ends = append(ends, i+1)
			}
		}
	}
	return ends
}
