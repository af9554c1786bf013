// Package judgement measures whether Yiku judges rightly what is worth keeping:
// short scripted conversations in Chinese and English, each with the memories
// that must and must not exist at its end.
//
// The cases are written by somebody who has not seen the rules, in parts. A part
// is one file of testdata, JSON lines of [Case], compressed where its name ends
// in .gz, and is named by its file. What a name says is what was done with it:
//
//   - seen: was read while rules were written.
//   - seen-2: was unseen. Rules were steered by its totals, and then it was
//     released and read case by case. Its scores prove nothing of other cases.
//   - seen-3: half of a later lot, drawn by lot, released and read; rules went by it.
//   - unseen-2: the other half.
//   - unseen-3: half of a third lot, drawn by lot, which somebody wrote on the
//     requirements alone, without having seen the rules or any other part. Rules
//     were once weighed by its totals, never by its cases.
//   - unseen-4: the other half, by which nothing went.
//   - unseen…: is not opened by who writes rules; only its scores are printed.
//
// A new part is put in as testdata/unseen-5.jsonl.gz, or under any other name
// that begins with unseen, and its scores are written by
//
//	go test ./eval/judgement -run C5 -update
//
// which refuses to write a score below one that stands. Whoever changes rules
// does not go by an unseen part; one that was gone by is renamed. What is better
// on the seen parts need not be better elsewhere: that is what the unseen are for.
package judgement

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Case is one conversation, of one user, with what must come of it.
type Case struct {
	ID       string    `json:"id"`
	Language string    `json:"language"` // zh or en
	Kind     string    `json:"kind"`
	Sessions []Session `json:"sessions"`
	Must     []Pattern `json:"must"`     // each is a memory that must exist
	MustNot  []Pattern `json:"must_not"` // no active memory may be one of these
	Allowed  []Pattern `json:"allowed"`  // neither asked for nor wrong
}

// Session is one conversation of a case; it is ended after its last message.
type Session struct {
	ID       string    `json:"session_id"`
	Project  string    `json:"project_id,omitempty"`
	Task     string    `json:"task_id,omitempty"`
	Messages []Message `json:"messages"`
	Complete *Complete `json:"complete,omitempty"` // the task is completed after the last message
}

// Message is one message of a session.
type Message struct {
	Role    yiku.Role   `json:"role"`
	Content string      `json:"content"`
	At      time.Time   `json:"at"`
	Origin  yiku.Origin `json:"origin,omitempty"`
}

// Complete is the completion of a task.
type Complete struct {
	Outcome yiku.TaskOutcome `json:"outcome"`
	Result  string           `json:"result,omitempty"`
}

// Pattern describes a memory. All that is given must hold; texts are compared
// after folding width and case.
type Pattern struct {
	All     []string      `json:"all,omitempty"`  // each stands in the content or the value
	Any     []string      `json:"any,omitempty"`  // one of these does
	None    []string      `json:"none,omitempty"` // none of these does
	Types   []yiku.Type   `json:"types,omitempty"`
	Subject []string      `json:"subject,omitempty"` // one of these stands in the subject or the content
	Status  []yiku.Status `json:"status,omitempty"`  // active where absent
	Day     string        `json:"day,omitempty"`     // YYYY-MM-DD: stands in the content or the value, or valid_from or valid_to lies on it
}

// Match reports whether a memory is what the pattern describes.
func (p Pattern) Match(m yiku.Memory) bool {
	text := lang.Fold(m.Content + "\n" + m.Value)
	has := func(s string) bool { return strings.Contains(text, lang.Fold(s)) }
	for _, s := range p.All {
		if !has(s) {
			return false
		}
	}
	for _, s := range p.None {
		if has(s) {
			return false
		}
	}
	return oneOf(p.Any, has) && oneOf(p.Types, func(t yiku.Type) bool { return t == m.Type }) &&
		oneOf(p.Subject, func(s string) bool { return strings.Contains(lang.Fold(m.Subject+"\n"+m.Content), lang.Fold(s)) }) &&
		p.inStatus(m.Status) && p.onDay(m, has)
}

func oneOf[T any](list []T, holds func(T) bool) bool {
	for _, v := range list {
		if holds(v) {
			return true
		}
	}
	return len(list) == 0
}

func (p Pattern) inStatus(s yiku.Status) bool {
	if len(p.Status) == 0 {
		return s == yiku.StatusActive
	}
	return oneOf(p.Status, func(want yiku.Status) bool { return want == s })
}

func (p Pattern) onDay(m yiku.Memory, has func(string) bool) bool {
	on := func(t time.Time) bool { return !t.IsZero() && t.Format(time.DateOnly) == p.Day }
	return p.Day == "" || has(p.Day) || on(m.ValidFrom) || on(m.ValidTo)
}

// Load reads the cases of a file: JSON lines, compressed where its name ends
// in .gz.
func Load(path string) ([]Case, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open cases: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("open cases: %w", err)
		}
	}
	var cases []Case
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var c Case
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", filepath.Base(path), n, err)
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}

// Parts returns the names of the parts in a directory, each with its file.
func Parts(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	parts := map[string]string{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if parts[name] != "" {
			return nil, fmt.Errorf("part %s stands in two files", name)
		}
		parts[name] = file
	}
	return parts, nil
}

// Unseen reports whether a part is one that is not opened by who writes rules.
func Unseen(part string) bool { return strings.HasPrefix(part, "unseen") }

// Score counts over cases.
type Score struct {
	Cases        int `json:"cases"`
	Kept         int `json:"kept"`          // memories that exist and are active
	Wrong        int `json:"wrong"`         // of these, neither asked for nor allowed
	Asked        int `json:"asked"`         // memories that must exist
	Found        int `json:"found"`         // of these, those that do
	Forbidden    int `json:"forbidden"`     // active memories that must not exist
	WrongRetired int `json:"wrong_retired"` // memories that must be active, and were retired
}

// Precision is the share of what was kept that was right.
func (s Score) Precision() float64 {
	if s.Kept == 0 {
		return 1
	}
	return 1 - float64(s.Wrong)/float64(s.Kept)
}

// Recall is the share of what must exist that does.
func (s Score) Recall() float64 {
	if s.Asked == 0 {
		return 1
	}
	return float64(s.Found) / float64(s.Asked)
}

// Below says in which respects a score is worse than one that stands; nothing
// where it is in none.
func (s Score) Below(stands Score) []string {
	var worse []string
	if s.Precision() < stands.Precision() {
		worse = append(worse, fmt.Sprintf("precision %.4f, was %.4f", s.Precision(), stands.Precision()))
	}
	if s.Recall() < stands.Recall() {
		worse = append(worse, fmt.Sprintf("recall %.4f, was %.4f", s.Recall(), stands.Recall()))
	}
	if s.Forbidden > stands.Forbidden {
		worse = append(worse, fmt.Sprintf("%d forbidden, were %d", s.Forbidden, stands.Forbidden))
	}
	if s.WrongRetired > stands.WrongRetired {
		worse = append(worse, fmt.Sprintf("%d wrongly retired, were %d", s.WrongRetired, stands.WrongRetired))
	}
	return worse
}

// Add adds another score.
func (s *Score) Add(o Score) {
	s.Cases, s.Kept, s.Wrong, s.Asked = s.Cases+o.Cases, s.Kept+o.Kept, s.Wrong+o.Wrong, s.Asked+o.Asked
	s.Found, s.Forbidden, s.WrongRetired = s.Found+o.Found, s.Forbidden+o.Forbidden, s.WrongRetired+o.WrongRetired
}

// Clock is the time at which a case is played: that of its last message, as if
// it were said now. Its Now is the clock of the service that the case is played
// to, or what a case says would be of the past or of the future, as the day may be.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *Clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Run plays a case in as a user of its own and scores what is remembered at
// its end. The service goes by the clock. Faults says in words what is wrong.
func Run(ctx context.Context, s yiku.Service, clock *Clock, c Case) (score Score, faults []string, err error) {
	for _, session := range c.Sessions {
		if err := play(ctx, s, clock, c.ID, session); err != nil {
			return score, nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
	}
	var all []yiku.Memory
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusSuperseded, yiku.StatusStale, yiku.StatusArchived, yiku.StatusQuarantined} {
		page, err := s.ListMemories(ctx, yiku.ListMemoriesRequest{Paging: yiku.Paging{Limit: 500}, UserID: c.ID, Status: status})
		if err != nil {
			return score, nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
		all = append(all, page.Items...)
	}
	score, faults = judge(c, all)
	return score, faults, nil
}

func play(ctx context.Context, s yiku.Service, clock *Clock, user string, session Session) error {
	req := yiku.AppendMessagesRequest{UserID: user, SessionID: session.ID, ProjectID: session.Project, TaskID: session.Task}
	for n, m := range session.Messages {
		message := yiku.Message{Role: m.Role, Content: yiku.Text(m.Content), CreatedAt: m.At, Origin: m.Origin}
		if m.Role == yiku.RoleTool {
			message.ToolCallID = fmt.Sprint("call-", n)
		}
		req.Messages = []yiku.Message{message}
		clock.set(m.At)
		if _, err := s.AppendMessages(ctx, req); err != nil {
			return err
		}
	}
	if session.Complete != nil && session.Task != "" {
		_, err := s.CompleteTask(ctx, yiku.CompleteTaskRequest{UserID: user, TaskID: session.Task, ProjectID: session.Project, SessionID: session.ID,
			Outcome: session.Complete.Outcome, Result: session.Complete.Result})
		if err != nil {
			return err
		}
	}
	_, err := s.EndSession(ctx, yiku.EndSessionRequest{UserID: user, SessionID: session.ID, Reason: yiku.EndUserLeft, Wait: true})
	return err
}

func judge(c Case, all []yiku.Memory) (Score, []string) {
	score := Score{Cases: 1, Asked: len(c.Must)}
	var faults []string
	for _, p := range c.Must {
		switch {
		case oneOfMemories(all, p):
			score.Found++
		case len(p.Status) == 0 && oneOfMemories(all, Pattern{All: p.All, Any: p.Any, None: p.None, Status: []yiku.Status{yiku.StatusSuperseded, yiku.StatusStale}}):
			score.WrongRetired++
			faults = append(faults, "retired: "+describe(p))
		default:
			faults = append(faults, "missing: "+describe(p))
		}
	}
	for _, m := range all {
		if m.Status != yiku.StatusActive {
			continue
		}
		score.Kept++
		is := func(p Pattern) bool { return p.Match(m) }
		if len(c.MustNot) > 0 && oneOf(c.MustNot, is) {
			score.Forbidden++
			score.Wrong++
			faults = append(faults, "forbidden: "+m.Content)
			continue
		}
		if !(len(c.Must) > 0 && oneOf(c.Must, is)) && !(len(c.Allowed) > 0 && oneOf(c.Allowed, is)) {
			score.Wrong++
			faults = append(faults, "not asked for: "+m.Content)
		}
	}
	return score, faults
}

func oneOfMemories(all []yiku.Memory, p Pattern) bool {
	for _, m := range all {
		if p.Match(m) {
			return true
		}
	}
	return false
}

func describe(p Pattern) string {
	return strings.Join(append(append([]string{}, p.All...), p.Any...), " ")
}
