package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
)

var answers = flag.Int("answers", 300, "answers of TestC6_NoTurnIsLost; make nightly takes 10,000")

// TestC6_NoTurnIsLost gives a conversation each of many bad answers, and of
// errors in their place, on the whole way from the append to the memory. Each
// turn ends stored, nothing or parked and under exactly one record; what an
// answer says is a memory or parked, at most once; nothing is asked for ever;
// and what was said can be read word for word (C6, and C3's ranges).
func TestC6_NoTurnIsLost(t *testing.T) {
	t.Parallel()
	model := &mangler{}
	settings := engine.DefaultSettings()
	settings.SpoiledCalls = 0 // all cases are of one tenant
	b := newBenchWith(t, engine.Options{Model: model, Settings: &settings})
	ends := map[yiku.ExtractionStatus]int{}
	lost := loss(t, b, model, *answers, ends)
	for _, l := range lost {
		t.Error(l)
	}
	for _, status := range []yiku.ExtractionStatus{yiku.ExtractionStored, yiku.ExtractionNothing, yiku.ExtractionParked} {
		if ends[status] == 0 {
			t.Errorf("no turn ended %s: the answers prove nothing of it", status)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "C6", Hits: len(lost), Trials: *answers, What: "answers lost or doubled something, or were asked for again without end", Seeds: fmt.Sprint("0–", *answers-1),
		Note: fmt.Sprintf("ranges stored %d, nothing %d, parked %d", ends[yiku.ExtractionStored], ends[yiku.ExtractionNothing], ends[yiku.ExtractionParked])})
}

// TestC6_NoTurnIsLost_Control: the check finds answers that are read as a
// careless reader does, which gives up on what is no JSON and says nothing.
func TestC6_NoTurnIsLost_Control(t *testing.T) {
	t.Parallel()
	model := &mangler{careless: true}
	settings := engine.DefaultSettings()
	settings.SpoiledCalls = 0 // all cases are of one tenant
	b := newBenchWith(t, engine.Options{Model: model, Settings: &settings})
	const trials = 120
	found := len(loss(t, b, model, trials, map[yiku.ExtractionStatus]int{}))
	if found < trials/10 {
		t.Errorf("a careless reader loses %d of %d, and the check should see more", found, trials)
	}
	boardtest.Report(t, boardtest.Row{ID: "C6", Part: "control", Hits: found, Trials: trials, What: "answers were seen to be lost by a reader that drops what is no JSON"})
}

// loss runs the cases and says what of each is wrong.
func loss(t *testing.T, b bench, model *mangler, n int, ends map[yiku.ExtractionStatus]int) []string {
	t.Helper()
	s := b.operator()
	var wg sync.WaitGroup
	for part := range 8 {
		wg.Go(func() {
			for seed := part; seed < n; seed += 8 {
				if _, err := s.AppendMessages(t.Context(), mangled(seed).request()); err != nil {
					t.Errorf("seed %d: append: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
	for range 10 { // as many attempts as a job has, and more
		b.clock.Advance(2 * time.Hour)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var wrong []string
	left := jobsLeft(t, b)
	for seed := range n {
		c := mangled(seed)
		if err := c.check(t.Context(), b, model, left[c.user()], ends); err != nil {
			wrong = append(wrong, fmt.Sprintf("seed %d (%s): %v", seed, c.kind, err))
		}
	}
	return wrong
}

// mangledCase is one short conversation and how its answers are spoilt.
type mangledCase struct {
	seed  int
	turns int
	kind  string
}

func mangled(seed int) mangledCase {
	rng := rand.New(rand.NewPCG(uint64(seed), 66))
	return mangledCase{seed: seed, turns: 1 + rng.IntN(4), kind: mangles()[seed%len(mangles())].name}
}

func (c mangledCase) user() string { return fmt.Sprint("u", c.seed) }

// fact is what the model finds in a turn; nothing else says it.
func (c mangledCase) fact(turn int) string { return fmt.Sprintf("k%dz%dq", c.seed, turn) }

func (c mangledCase) request() yiku.AppendMessagesRequest {
	req := yiku.AppendMessagesRequest{UserID: c.user(), SessionID: "s"}
	for turn := range c.turns {
		text := fmt.Sprintf("I like tea number %d. (case %d turn %d)", 1000*c.seed+turn, c.seed, turn)
		if (c.seed+turn)%2 == 1 {
			text = fmt.Sprintf("我喜欢第%d号茶。（case %d turn %d）", 1000*c.seed+turn, c.seed, turn)
		}
		req.Messages = append(req.Messages, yiku.Message{ID: strconv.Itoa(turn), Role: yiku.RoleUser, Content: yiku.Text(text)})
	}
	return req
}

// check holds a case to what it must have come to.
func (c mangledCase) check(ctx context.Context, b bench, model *mangler, left []yiku.JobState, ends map[yiku.ExtractionStatus]int) error {
	s := b.operator()
	page, err := s.ListMessages(ctx, yiku.ListMessagesRequest{UserID: c.user(), SessionID: "s"})
	if err != nil {
		return err
	}
	for i, m := range c.request().Messages {
		if i >= len(page.Items) || page.Items[i].Content.Text != m.Content.Text {
			return fmt.Errorf("message %d cannot be read as it was said", i)
		}
	}
	reports, err := ranges(ctx, b, c.user(), "s")
	if err != nil {
		return err
	}
	var kept []string // every text that a person can find
	for _, r := range reports {
		ends[r.Report.Status]++
		for _, p := range r.Report.Parked {
			kept = append(kept, p.Text)
		}
	}
	memories, err := everything(ctx, s, c.user())
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, m := range memories {
		if seen[m.Content] {
			return fmt.Errorf("%q is stored twice", m.Content)
		}
		seen[m.Content] = true
		kept = append(kept, m.Content)
	}
	calls, said := model.of(c.seed)
	if most := 8 * 2 * c.turns; calls > most || calls == 0 {
		return fmt.Errorf("asked %d times, at most %d", calls, most)
	}
	for turn := range c.turns {
		f := c.fact(turn)
		has := func(text string) bool { return strings.Contains(text, f) }
		last := said[turn] // of larger ones the beginning is kept
		if len(last) < 16<<10 && has(last) && !slices.ContainsFunc(kept, has) {
			return fmt.Errorf("%s was answered and is gone: %q", f, last)
		}
	}
	if len(said) > 0 && len(kept) == 0 && !mangles()[c.seed%len(mangles())].empty {
		return errors.New("an answer that is not empty left nothing")
	}
	if waits := slices.ContainsFunc(left, func(s yiku.JobState) bool { return s != yiku.JobParked }); waits || (len(said) == 0) != (len(left) == 1) {
		return fmt.Errorf("jobs %v are left of a model that answered %d times", left, len(said))
	}
	return nil
}

// jobsLeft are the states of the jobs that there are still, by user.
func jobsLeft(t *testing.T, b bench) map[string][]yiku.JobState {
	t.Helper()
	left := map[string][]yiku.JobState{}
	err := b.store.View(t.Context(), func(r store.Reader) error {
		all, err := r.Jobs("acme", store.JobQuery{})
		for _, j := range all {
			left[j.Owner.User()] = append(left[j.Owner.User()], j.State)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// ranges returns the records of a session, oldest first, once they cover its
// messages without a gap and none twice, and say truly how each ended.
func ranges(ctx context.Context, b bench, user, session string) ([]store.Extraction, error) {
	owner, err := yiku.NewOwner("acme", user)
	if err != nil {
		return nil, err
	}
	var all []store.Extraction
	err = b.store.View(ctx, func(r store.Reader) error {
		row, err := r.Session(owner, session)
		if err != nil {
			return err
		}
		messages, err := r.Messages(owner, store.MessageQuery{SessionKey: row.Key})
		if err != nil {
			return err
		}
		if all, err = r.Extractions(owner, store.ExtractionQuery{SessionKey: row.Key}); err != nil {
			return err
		}
		slices.Reverse(all)
		at := 0
		for _, e := range all {
			if at >= len(messages) || messages[at].Key != e.From {
				return fmt.Errorf("the record %d–%d begins at no unread message", e.From, e.To)
			}
			for at < len(messages) && messages[at].Key <= e.To {
				at++
			}
			if ended := statusOf(e.Report); e.Report.Status != ended {
				return fmt.Errorf("a record says %q and is %q", e.Report.Status, ended)
			}
		}
		if at != len(messages) || row.Cursor != messages[len(messages)-1].Key || row.Unread != 0 {
			return fmt.Errorf("%d of %d messages have a record; the cursor is at %d, %d are unread", at, len(messages), row.Cursor, row.Unread)
		}
		return nil
	})
	return all, err
}

func statusOf(r yiku.ExtractionReport) yiku.ExtractionStatus {
	switch {
	case slices.ContainsFunc(r.Operations, func(o yiku.Operation) bool { return o.Op != "none" }):
		return yiku.ExtractionStored
	case len(r.Parked) > 0:
		return yiku.ExtractionParked
	}
	return yiku.ExtractionNothing
}

// everything lists all memories of a user, of every status.
func everything(ctx context.Context, s yiku.Service, user string) ([]yiku.Memory, error) {
	var all []yiku.Memory
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusArchived, yiku.StatusSuperseded, yiku.StatusQuarantined, yiku.StatusStale} {
		req := yiku.ListMemoriesRequest{UserID: user, Status: status, Paging: yiku.Paging{Limit: 200}}
		for {
			page, err := s.ListMemories(ctx, req)
			if err != nil {
				return nil, err
			}
			all = append(all, page.Items...)
			if req.Cursor = page.NextCursor; req.Cursor == "" {
				break
			}
		}
	}
	return all, nil
}

// mangler is a model that answers each case in its way.
type mangler struct {
	careless bool // reads its own answer as a careless program does, for the control
	mu       sync.Mutex
	calls    map[int]int            // guarded by mu
	answered map[int]map[int]string // guarded by mu: what was answered last, by case and turn
}

// Name is "mangler".
func (m *mangler) Name() string { return "mangler" }

// Complete answers the case that the request shows.
func (m *mangler) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	c, turns := askedAbout(req.Messages[0].Content)
	m.mu.Lock()
	if m.calls == nil {
		m.calls, m.answered = map[int]int{}, map[int]map[int]string{}
	}
	m.calls[c.seed]++
	call := m.calls[c.seed]
	m.mu.Unlock()
	rng := rand.New(rand.NewPCG(uint64(c.seed), uint64(call)))
	how := mangles()[c.seed%len(mangles())]
	if how.fail != nil {
		if err := how.fail(call); err != nil {
			return llm.Response{}, err
		}
	}
	var ops []string
	for i, turn := range turns {
		ops = append(ops, fmt.Sprintf(`{"op":"create","content":"Likes tea %s","type":"preference","importance":%d,"messages":[%d]}`, c.fact(turn), 1+rng.IntN(5), i+1))
	}
	text := `{"operations":[` + strings.Join(ops, ",") + `]}`
	if how.spoil != nil {
		text = how.spoil(rng, ops, text)
	}
	m.mu.Lock()
	if m.answered[c.seed] == nil {
		m.answered[c.seed] = map[int]string{}
	}
	for _, turn := range turns {
		m.answered[c.seed][turn] = text
	}
	m.mu.Unlock()
	if m.careless && !json.Valid([]byte(text)) {
		text = `{"operations":[]}`
	}
	return llm.Response{Text: text, Truncated: how.name == "truncated", Usage: llm.Usage{In: 10, Out: 5}}, nil
}

// of returns how often a case was asked about and what was answered last, by turn.
func (m *mangler) of(seed int) (calls int, said map[int]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[seed], m.answered[seed]
}

var turnOfCase = regexp.MustCompile(`(?m)^\d+\. [^\n]*case (\d+) turn (\d+)[^\n]*$`)

// askedAbout finds the case and its new turns in a request.
func askedAbout(text string) (c mangledCase, turns []int) {
	for _, m := range turnOfCase.FindAllStringSubmatch(text, -1) {
		c.seed, _ = strconv.Atoi(m[1]) //nolint:errcheck // digits
		turn, _ := strconv.Atoi(m[2])  //nolint:errcheck // digits
		if !strings.Contains(m[0], "(read before)") {
			turns = append(turns, turn)
		}
	}
	return mangled(c.seed), turns
}
