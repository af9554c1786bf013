package extract

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

const (
	maxContent    = 20000 // characters of a memory, as SaveMemoryRequest says
	maxOperations = 200   // of one answer
	maxAttempts   = 64    // places in an answer at which a value is looked for
)

// ParseAnswer reads a model's answer to a window with that many messages and
// neighbours (C6). It never fails: what cannot be read is parked, and an
// answer without any list of operations is parked whole, so that "nothing to
// remember" and "nothing understood" stay apart.
func ParseAnswer(answer string, messages, neighbours int) ([]Candidate, []Parked) {
	found := operations(thoughts.ReplaceAllString(answer, ""))
	if !found.ok {
		return nil, []Parked{{NoJSON, clip(answer)}}
	}
	var candidates []Candidate
	parked := found.parked()
	var beside []Parked // what is not read of facts that are kept
	for i, v := range found.list {
		if i >= maxOperations {
			parked = append(parked, Parked{TooMany, clip(text(found.list[i:]))})
			break
		}
		c, reason := candidate(v, messages, neighbours)
		if found.cut && i == len(found.list)-1 && (reason != "" || !isObject(v, opNames())) {
			reason = Truncated
		}
		if reason == "" && isObject(v, []string{doubled}) {
			parked = append(parked, Parked{Unreadable, clip(text(v))}) // what it says besides
		}
		switch {
		case reason == "" && c.Op != OpNone:
			var bad []Parked
			c.Relations, bad = relatedIn(v)
			candidates, beside = append(candidates, c), append(beside, bad...)
		case reason != "":
			parked = append(parked, Parked{reason, clip(text(v))})
		}
	}
	if found.cut && len(parked) == 0 {
		parked = append(parked, Parked{Truncated, clip(tail(answer))})
	}
	parked = append(parked, beside...)
	return candidates, parked
}

// thoughts are what reasoning models write before they answer.
var thoughts = regexp.MustCompile(`(?s)<(think|thinking|reasoning)>.*?</(think|thinking|reasoning)>`)

// answered is what an answer holds of operations.
type answered struct {
	list    []any
	earlier []any    // of lists that the answer replaces by the one behind them
	unread  []string // what looks like an operation and could not be read
	cut     bool     // it broke off
	ok      bool     // there is a list, and be it an empty one
}

// parked is what of an answer is no operation to be done.
func (a answered) parked() []Parked {
	var parked []Parked
	if len(a.earlier) > 0 {
		parked = append(parked, Parked{Replaced, clip(text(a.earlier))})
	}
	for _, s := range a.unread {
		parked = append(parked, Parked{Unreadable, clip(s)})
	}
	return parked
}

// pass notes what of an answer is passed over.
func (a *answered) pass(piece string) {
	if contentName.MatchString(piece) {
		a.unread = append(a.unread, strings.TrimSpace(piece))
	}
}

// contentName is the name of a content before its value.
var contentName = regexp.MustCompile(`(^|[^\pL\pN_])(content|memory|text|fact|data)["'”’]?\s*[:：]`)

// operations finds the operations of an answer in all values that look like
// some. Those between which nothing is said are one list; else the last that
// is not empty counts, since what comes first may be an example or a draft.
func operations(answer string) (a answered) {
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	end, attempts := 0, 0
	for at := 0; at < len(answer) && attempts < maxAttempts; {
		start := strings.IndexAny(answer[at:], "{[")
		if start < 0 {
			break
		}
		at += start
		attempts++
		l := lenient{text: answer, at: at}
		v, read := l.value()
		ops, shaped := operationList(v)
		if !read || !shaped {
			at++
			continue
		}
		switch {
		case len(a.list) == 0:
			a.list = ops
		case len(ops) == 0:
		case wordless.MatchString(answer[end:at]):
			a.list = append(a.list, ops...)
		default:
			a.earlier, a.list = append(a.earlier, a.list...), ops
		}
		a.pass(answer[end:at])
		a.cut, a.ok = a.cut || l.cut, true
		at = l.at
		end = at
	}
	a.pass(answer[end:])
	return a
}

// wordless is what may stand between the parts of one list.
var wordless = regexp.MustCompile(`^[^\pL\pN]*(?i:json[^\pL\pN]*)?$`)

// operationList returns what a value holds of operations: a list, an object
// with a list under one of the usual names, or a single operation.
func operationList(v any) (ops []any, ok bool) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return v, true
		}
		for _, e := range v {
			if isOperation(e) {
				return v, true
			}
		}
	case map[string]any:
		for _, name := range []string{"operations", "memory_commands", "memories", "facts", "ops", "commands", "actions", "result", "results"} {
			switch list := v[name].(type) {
			case []any:
				return list, true
			case map[string]any:
				if isOperation(list) {
					return []any{list}, true
				}
			case nil:
				if _, there := v[name]; there {
					return nil, true
				}
			}
		}
		if isOperation(v) {
			return []any{v}, true
		}
	}
	return nil, false
}

func isOperation(v any) bool { return isObject(v, opNames()) || isObject(v, contentNames()) }

// isObject reports whether a value is an object with a field of one of the names.
func isObject(v any, names []string) bool {
	m, ok := v.(map[string]any)
	return ok && slices.ContainsFunc(names, func(n string) bool { _, has := m[n]; return has })
}

// The names that models give to the two fields that every operation has.
func opNames() []string      { return []string{"op", "operation", "action", "event"} }
func contentNames() []string { return []string{"content", "memory", "text", "fact", "data"} }

// candidate reads one operation. A wrong type of a field that can be left out
// leaves it out; an update of what was not shown becomes a create, because the
// fact must not be lost.
func candidate(v any, messages, neighbours int) (Candidate, Reason) {
	m, ok := v.(map[string]any)
	if !ok {
		return Candidate{}, Unreadable
	}
	c := Candidate{
		Content: strings.TrimSpace(str(first(m, contentNames()))), Type: typeOf(str(m["type"])),
		Subject: short(str(m["subject"]), 512), Attribute: short(str(m["attribute"]), 512), Value: short(str(m["value"]), 4096),
		Importance: importance(m["importance"]), Confidence: confidence(m["confidence"]), Level: levelOf(str(m["level"])),
		ValidFrom: moment(m["valid_from"]), ValidTo: moment(m["valid_to"]), Reason: short(str(m["reason"]), 512),
		Messages: numbers(m["messages"], messages), From: numbers(first(m, []string{"depends_on", "derived_from", "from"}), neighbours),
	}
	c.Skill, c.Episode = skillIn(m, c), episodeIn(m)
	if single, ok := m["single"].(bool); ok {
		c.Single = &single
	}
	if list, ok := m["topics"].([]any); ok {
		for _, t := range list {
			if topic := short(str(t), 256); topic != "" && len(c.Topics) < 32 && !slices.Contains(c.Topics, topic) {
				c.Topics = append(c.Topics, topic)
			}
		}
	}
	if !c.ValidTo.IsZero() && !c.ValidTo.After(c.ValidFrom) {
		c.ValidTo = time.Time{}
	}
	if c.Attribute != "" && c.Subject == "" || c.Attribute == "" {
		c.Attribute, c.Value, c.Single = "", "", nil
	}
	if target := numbers(first(m, []string{"target", "id", "memory_id", "number"}), neighbours); len(target) > 0 {
		c.Target = target[0]
	}
	op := strings.ToLower(strings.TrimSpace(str(first(m, opNames()))))
	if neighbours == 0 && first(m, []string{"target", "id", "memory_id", "number"}) != nil && c.Content != "" && known(op) {
		op = "create" // nothing was shown, so that nothing can be known already
	}
	return settle(c, op)
}

// settle decides what the operation is.
func settle(c Candidate, op string) (Candidate, Reason) {
	switch op {
	case "create", "add", "insert", "new", "":
		c.Op = OpCreate
	case "update", "replace", "change", "modify":
		c.Op = OpUpdate
	case "delete", "remove", "forget":
		if c.Target == 0 {
			return c, UnknownTarget
		}
		c.Op = OpDelete
		return c, ""
	default:
		if !known(op) {
			return c, UnknownOp
		}
		c.Op = OpNone
		return c, ""
	}
	switch {
	case c.Content == "":
		return c, NoContent
	case utf8.RuneCountInString(c.Content) > maxContent:
		return c, TooLong
	case saysNothing(c.Content):
		c.Op = OpNone
	case c.Op == OpUpdate && c.Target == 0:
		c.Op = OpCreate
	}
	return c, ""
}

// known reports whether an operation says that something is known already.
func known(op string) bool {
	return slices.Contains([]string{"none", "noop", "no_op", "keep", "no_change", "nothing", "skip"}, op)
}

// nothing are the sentences by which models say, in the place of a fact, that
// there is none.
var nothing = regexp.MustCompile(`(?i)^\W*(no (change|update|new (information|memor(y|ies)|facts?))s?( (is |are )?(needed|required|necessary|found))?|nothing( new)? to (remember|store|update|save|add)|none|n/a|无|没有(需要|值得)(记住|更新|保存)的.*|无需(更新|修改|记住)|无(变化|更新|新信息))\W*$`)

func saysNothing(content string) bool { return nothing.MatchString(content) }

func first(m map[string]any, names []string) any {
	for _, n := range names {
		if v, ok := m[n]; ok && v != nil {
			return v
		}
	}
	return nil
}

// str is a value as text: numbers and truth values as they are written, all
// else as nothing.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func short(s string, max int) string {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > max {
		return ""
	}
	return s
}

// importance is 0–1 of what the model gives: an integer 1–5 as n/5, a
// fraction as it is; .6 where it gives none.
func importance(v any) float64 {
	n, err := strconv.ParseFloat(str(v), 64)
	switch {
	case err != nil || math.IsNaN(n):
		return 0.6
	case n > 0 && n < 1:
		return n
	}
	return min(max(n, 0), 5) / 5
}

// confidence is 0–1: a fraction as it is, a word by its meaning, 1 where there
// is none.
func confidence(v any) float64 {
	s := strings.ToLower(str(v))
	switch s {
	case "low", "hedged", "uncertain", "低":
		return 0.3
	case "medium", "中":
		return 0.6
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1 {
		return 1
	}
	return n
}

// numbers are the valid small numbers in a value: one, several, or as text.
func numbers(v any, max int) []int {
	var out []int
	add := func(v any) {
		n, err := strconv.Atoi(strings.Trim(str(v), "#[] "))
		if err == nil && n >= 1 && n <= max && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if list, ok := v.([]any); ok {
		for _, e := range list {
			add(e)
		}
		return out
	}
	add(v)
	return out
}

// moment reads a date or a time; what it cannot read it leaves out.
func moment(v any) time.Time {
	s := str(v)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 0 {
			return t.UTC()
		}
	}
	return time.Time{}
}

func typeOf(s string) yiku.Type {
	t := yiku.Type(strings.ToLower(strings.TrimSpace(s)))
	switch t {
	case yiku.TypeProfile, yiku.TypePreference, yiku.TypeConstraint, yiku.TypeProject, yiku.TypeCorrection, yiku.TypeKnowledge,
		yiku.TypeEvent, yiku.TypeTaskResult, yiku.TypeSkill:
		return t
	case "identity", "background":
		return yiku.TypeProfile
	}
	return yiku.TypeFact
}

func levelOf(s string) yiku.Level {
	switch l := yiku.Level(strings.ToLower(strings.TrimSpace(s))); l {
	case yiku.LevelUser, yiku.LevelProject, yiku.LevelTask:
		return l
	}
	return ""
}

// text is a value as it stood in the answer, for what is parked; as JSON
// where it is no part of one.
func text(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v[source].(string); ok {
			return s
		}
	case broken:
		return string(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = text(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// clip cuts a text to maxRaw bytes at a character and makes its bytes valid.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "�")
	if len(s) <= maxRaw {
		return s
	}
	cut := maxRaw
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

func tail(s string) string { return s[max(0, len(s)-1024):] }
