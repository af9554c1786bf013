package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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

// TestR13_ForgetAgainstExtraction runs a forget, of everything, by keyword or of
// a session, beside the jobs that read the conversation, their redelivery, a
// replay of what was parked, extractions by hand and dry ones, the review of
// what waits, contexts and appends sent again, in the order that a seed gives.
// Afterwards, and again when every job that is left has run and the agent has
// pasted back what it had been told, no row holds what was forgotten; said
// anew, it is learnt.
func TestR13_ForgetAgainstExtraction(t *testing.T) {
	t.Parallel()
	seeds := *interleavings
	if seeds == interleavingsOfATest {
		seeds = 120
	}
	for _, err := range forgetRaces(t, seeds, true) {
		t.Error(err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R13", Part: "extraction", Trials: seeds, What: "interleavings with jobs, parked jobs, replays, reviews, dry runs and echoes brought something back", Seeds: fmt.Sprint("0–", seeds-1)})
}

// TestR13_ForgetAgainstExtraction_Control: without the forget the same check
// finds what is there.
func TestR13_ForgetAgainstExtraction_Control(t *testing.T) {
	t.Parallel()
	const seeds = 8
	if found := forgetRaces(t, seeds, false); len(found) != seeds {
		t.Errorf("%d of %d seeds without a forget were seen", len(found), seeds)
	}
	boardtest.Report(t, boardtest.Row{ID: "R13", Part: "extraction-control", Hits: seeds, Trials: seeds, What: "interleavings with extraction and without the forget were seen"})
}

func forgetRaces(t *testing.T, seeds int, forgetting bool) (wrong []error) {
	t.Helper()
	model := &canaryModel{}
	settings := engine.DefaultSettings()
	settings.SpoiledCalls = 0 // all users are of one tenant, and the model refuses often
	b := newBenchWith(t, engine.Options{Model: model, Settings: &settings})
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for seed := range next {
				r := forgetRace{b: b, ctx: t.Context(), rng: rand.New(rand.NewPCG(uint64(seed), 131)), user: fmt.Sprint("u", seed), canary: fmt.Sprintf("canary%dx", seed)}
				if err := r.run(forgetting); err != nil {
					mu.Lock()
					wrong = append(wrong, fmt.Errorf("seed %d: %w", seed, err))
					mu.Unlock()
				}
			}
		})
	}
	for seed := range seeds {
		next <- seed
	}
	close(next)
	wg.Wait()
	return wrong
}

// canaryModel repeats every canary that it is shown: firmly, hedged, and in an
// operation that is parked. It refuses what says so, once by session.
type canaryModel struct {
	mu      sync.Mutex
	refused map[string]bool // guarded by mu
}

func (m *canaryModel) Name() string { return "canary" }

func (m *canaryModel) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.refused = map[string]bool{}
	}
	_, messages, _ := strings.Cut(req.Messages[0].Content, "<messages>")
	var ops []string
	for line := range strings.Lines(messages) {
		number, said, _ := strings.Cut(line, ". ")
		at := strings.Index(said, "canary")
		if at < 0 || strings.Contains(said, "(read before)") {
			continue
		}
		word, _, _ := strings.Cut(said[at:], " ")
		if strings.Contains(said, "refuse") && !m.refused[word] {
			m.refused[word] = true
			return llm.Response{}, yiku.Errorf(yiku.ErrInvalid, "refused")
		}
		ops = append(ops, fmt.Sprintf(`{"op":"create","content":"The secret is %[1]s","messages":[%[2]s]},{"op":"create","content":"也许 %[1]s 会搬走","confidence":"low","messages":[%[2]s]},{"op":"ponder","content":"%[1]s"}`, word, number))
	}
	return llm.Response{Text: `{"operations":[` + strings.Join(ops, ",") + `]}`}, nil
}

// forgetRace is one seed.
type forgetRace struct {
	b            bench
	ctx          context.Context
	rng          *rand.Rand
	user, canary string
}

func (r forgetRace) say(session, id, text string, role yiku.Role) error {
	_, err := r.b.operator().AppendMessages(r.ctx, yiku.AppendMessagesRequest{UserID: r.user, SessionID: session,
		Messages: []yiku.Message{{ID: id, Role: role, Content: yiku.Text(text)}}})
	return err
}

func (r forgetRace) run(forgetting bool) error {
	for _, step := range []func() error{
		func() error { return r.say("s", "1", "The word is "+r.canary+" today.", yiku.RoleUser) },
		func() error { return r.say("p", "1", "I refuse: "+r.canary+" 是暗号。", yiku.RoleUser) },
		func() error {
			_, err := r.b.operator().EndSession(r.ctx, yiku.EndSessionRequest{UserID: r.user, SessionID: "p", Reason: yiku.EndUserLeft})
			return err
		},
		func() error { return r.deliver("p") }, // parks it
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if r.rng.IntN(2) == 0 { // what waits for review is there before
		if _, err := r.b.operator().ExtractSession(r.ctx, yiku.ExtractSessionRequest{UserID: r.user, SessionID: "s"}); err != nil {
			return err
		}
	}
	if err := r.race(forgetting); err != nil {
		return err
	}
	if err := r.traces("after the race"); err != nil {
		return err
	}
	r.b.clock.Advance(time.Second)
	echo := "<yiku-memory>\nThe secret is " + r.canary + "\n</yiku-memory>\nUnderstood."
	for _, step := range []func() error{
		func() error { return r.say("s", "echo", echo, yiku.RoleAssistant) },
		func() error { return r.deliver("") },
		func() error {
			_, err := r.b.operator().ExtractSession(r.ctx, yiku.ExtractSessionRequest{UserID: r.user, SessionID: "s"})
			return err
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := r.memories("after the echo", 0); err != nil {
		return err
	}
	r.b.clock.Advance(time.Second)
	if err := r.say("n", "1", "Again: "+r.canary+" is the word", yiku.RoleUser); err != nil {
		return err
	}
	if _, err := r.b.operator().ExtractSession(r.ctx, yiku.ExtractSessionRequest{UserID: r.user, SessionID: "n"}); err != nil {
		return err
	}
	return r.memories("said anew", 2)
}

// race runs everything at once.
func (r forgetRace) race(forgetting bool) error {
	s := r.b.operator()
	ops := []func() error{
		func() error { return r.deliver("s") },
		func() error { return r.deliver("s") },
		func() error {
			_, err := s.ExtractSession(r.ctx, yiku.ExtractSessionRequest{UserID: r.user, SessionID: "s"})
			return err
		},
		func() error {
			_, err := s.ExtractSession(r.ctx, yiku.ExtractSessionRequest{UserID: r.user, SessionID: "s", DryRun: true})
			return err
		},
		r.replay,
		r.approve,
		func() error { return r.say("s", "1", "The word is "+r.canary+" today.", yiku.RoleUser) },
		func() error {
			_, err := s.GetContext(r.ctx, yiku.GetContextRequest{UserID: r.user, SessionID: "s", Query: r.canary})
			return err
		},
	}
	if forgetting {
		selector := []yiku.Selector{{All: true}, {Keyword: r.canary}}[r.rng.IntN(2)]
		ops = append(ops, func() error {
			_, err := s.Forget(r.ctx, yiku.ForgetRequest{UserID: r.user, Selector: selector, Reason: "asked"})
			return err
		})
	}
	r.rng.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	var wg sync.WaitGroup
	errs := make([]error, len(ops))
	for i, op := range ops {
		wait := r.rng.IntN(3) == 0
		wg.Go(func() { errs[i] = op() })
		if wait {
			wg.Wait()
		}
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, yiku.ErrForgotten) && !errors.Is(err, yiku.ErrNotFound) && !errors.Is(err, yiku.ErrConflict) {
			return err
		}
	}
	return nil
}

// jobs are the user's jobs, of one session or of all.
func (r forgetRace) jobs(session string) (mine []store.Job, err error) {
	err = r.b.store.View(r.ctx, func(rd store.Reader) error {
		all, err := rd.Jobs("acme", store.JobQuery{})
		for _, j := range all {
			if j.Owner.User() == r.user && strings.Contains(string(j.Arguments), `"id":"`+session) {
				mine = append(mine, j)
			}
		}
		return err
	})
	return mine, err
}

// deliver hands the jobs of a session to the engine, as its runner does.
func (r forgetRace) deliver(session string) error {
	jobs, err := r.jobs(session)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if job.State != yiku.JobWaiting {
			continue
		}
		h := r.b.Handler()
		if err := h.Do(r.ctx, job); errors.Is(err, yiku.ErrInvalid) {
			if _, err := h.Park(r.ctx, job, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r forgetRace) replay() error {
	jobs, err := r.jobs("p")
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if job.State == yiku.JobParked {
			if _, err := r.b.operator().ReplayJob(r.ctx, yiku.ReplayJobRequest{ID: job.ID}); err != nil {
				return err
			}
		}
	}
	return r.deliver("p")
}

func (r forgetRace) approve() error {
	page, err := r.b.operator().ListReview(r.ctx, yiku.ListReviewRequest{UserID: r.user})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	_, err = r.b.operator().Review(r.ctx, yiku.ReviewRequest{UserID: r.user, ID: page.Items[0].ID, Decision: yiku.ReviewApprove})
	return err
}

// traces looks for the canary in every row of the user's.
func (r forgetRace) traces(when string) error {
	owner, err := yiku.NewOwner("acme", r.user)
	if err != nil {
		return err
	}
	return r.b.store.View(r.ctx, func(rd store.Reader) error {
		messages, err := rd.OwnerMessages(owner, 0, 1<<62, 1000)
		if err != nil {
			return err
		}
		memories, err := rd.OwnerMemories(owner, 0, 1<<62, 1000)
		if err != nil {
			return err
		}
		records, err := rd.Extractions(owner, store.ExtractionQuery{})
		if err != nil {
			return err
		}
		jobs, err := r.jobs("")
		if err != nil {
			return err
		}
		for name, rows := range map[string]any{"message": messages, "memory": memories, "record": records, "job": jobs} {
			text, err := json.Marshal(rows)
			if err != nil {
				return err
			}
			if strings.Contains(string(text), r.canary) {
				return fmt.Errorf("%s: a %s holds it: %.600s", when, name, text)
			}
		}
		return nil
	})
}

// memories counts the memories of any status that hold the canary.
func (r forgetRace) memories(when string, want int) error {
	all, err := everything(r.ctx, r.b.operator(), r.user)
	n := 0
	for _, m := range all {
		if strings.Contains(m.Content, r.canary) {
			n++
		}
	}
	if err != nil || n != want {
		return fmt.Errorf("%s: %d memories hold it, want %d: %v", when, n, want, err)
	}
	return nil
}
