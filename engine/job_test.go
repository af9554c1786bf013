package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
	"github.com/yiku-ai/yiku/store"
)

// meanwhile is a model during whose every call something else happens.
type meanwhile struct {
	*llmtest.Script
	happens func()
}

func (m meanwhile) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.happens()
	return m.Script.Complete(ctx, req)
}

// TestL11_WhatIsSaidIsAlwaysRead: whatever became of what was said before it,
// and of the job that was to read it, a message is read at the next pause: where
// all that was unread was forgotten; where messages come during every attempt;
// where something is said as the last job ends; where consent was withdrawn and
// given again, during which no model sees anything.
func TestL11_WhatIsSaidIsAlwaysRead(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T, b bench) {
		t.Helper()
		for range 3 {
			b.clock.Advance(time.Hour)
			if err := b.RunJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("forgotten before it was read", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, nil)
		utter(t, b.operator(), "s", "I live in Bergen.")
		if _, err := b.operator().Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: yiku.Selector{Keyword: "Bergen"}, Reason: "asked"}); err != nil {
			t.Fatal(err)
		}
		read(t, b)
		utter(t, b.operator(), "s", "我喜欢爬山。")
		read(t, b)
		want(t, "memories", contents(t, b.operator(), ""), "我喜欢爬山")
	})
	t.Run("messages during every attempt", func(t *testing.T) {
		t.Parallel()
		script := llmtest.NewScript(answering(`{"op":"create","content":"Likes tea","messages":[1]}`))
		var b bench
		calls := 0
		b = newBenchWith(t, engine.Options{Model: meanwhile{script, func() {
			if calls++; calls <= 12 {
				utter(t, b.operator(), "s", "And so on.")
			}
		}}})
		utter(t, b.operator(), "s", "I like tea.")
		for range 14 {
			read(t, b)
		}
		if _, err := ranges(t.Context(), b, "ann", "s"); err != nil || len(jobsLeft(t, b)) != 0 {
			t.Errorf("%v; jobs left: %v", err, jobsLeft(t, b))
		}
		page, err := b.operator().ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann"})
		if err != nil || len(page.Items) == 0 || page.Items[0].Path != "llm" {
			t.Errorf("a model that answers was given up: %+v, %v", page.Items, err)
		}
	})
	t.Run("read by hand before the job", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, nil)
		utter(t, b.operator(), "s", "I live in Bergen.")
		if _, err := b.operator().ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
		read(t, b)
		utter(t, b.operator(), "s", "我喜欢爬山。")
		read(t, b)
		want(t, "memories", contents(t, b.operator(), ""), "我喜欢爬山", "I live in Bergen")
	})
	t.Run("consent withdrawn and given", func(t *testing.T) {
		t.Parallel()
		b, script := modelBench(t, answering(`{"op":"create","content":"Likes tea","messages":[1]}`))
		utter(t, b.operator(), "s", "I like tea.")
		consent(t, b, true)
		read(t, b)
		if n := len(script.Asked()); n != 0 || len(jobsLeft(t, b)) != 0 {
			t.Errorf("asked %d times without consent; jobs left: %v", n, jobsLeft(t, b))
		}
	})
}

// TestR12_AJobThatIsGoneWritesNothing: who runs a job that somebody else has
// ended since writes nothing of what the model said. Where it is there, it
// does: the control.
func TestR12_AJobThatIsGoneWritesNothing(t *testing.T) {
	t.Parallel()
	for gone, left := range map[bool]int{true: 0, false: 1} {
		var b bench
		script := llmtest.NewScript(answering(`{"op":"create","content":"Likes tea","messages":[1]}`))
		b = newBenchWith(t, engine.Options{Model: meanwhile{script, func() {
			owner, err := yiku.NewOwner("acme", "ann")
			if err != nil || !gone {
				return
			}
			err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) error {
				rows, err := tx.Jobs("acme", store.JobQuery{Limit: 9})
				for _, j := range rows {
					err = errors.Join(err, tx.DeleteJob(j.ID))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}}})
		utter(t, b.operator(), "s", "I like tea.")
		b.clock.Advance(time.Hour)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list := contents(t, b.operator(), ""); len(list) != left || len(script.Asked()) != 1 {
			t.Errorf("gone %v: memories %v, asked %d times", gone, list, len(script.Asked()))
		}
	}
}

// consent withdraws a person's consent, as a restored journal does.
func consent(t *testing.T, b bench, withdrawn bool) {
	t.Helper()
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) error {
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		state.ConsentWithdrawn = withdrawn
		return tx.Advance(state)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestC6_ReplayLeavesWhatRuns: a job that is replayed while it runs stays the
// runner's: nobody runs it beside it, and its attempts count on. A parked one
// begins anew: the control.
func TestC6_ReplayLeavesWhatRuns(t *testing.T) {
	t.Parallel()
	var b bench
	var during yiku.Job
	calls := 0
	down := llmtest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "down")}
	replay := func(state yiku.JobState) (jobs []yiku.Job) {
		page, err := b.operator().ListJobs(t.Context(), yiku.ListJobsRequest{State: state})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Items {
			again, err := b.operator().ReplayJob(t.Context(), yiku.ReplayJobRequest{ID: j.ID})
			if err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, again)
		}
		return jobs
	}
	b = newBenchWith(t, engine.Options{Model: meanwhile{llmtest.NewScript(down), func() {
		if calls++; calls == 1 {
			during = replay(yiku.JobWaiting)[0]
		}
	}}})
	utter(t, b.operator(), "s", "I live in Bergen.")
	b.clock.Advance(time.Hour)
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if during.Attempts != 1 || !during.NotBefore.After(b.clock.Now()) {
		t.Errorf("replayed while it ran: %+v", during)
	}
	for range 40 {
		b.clock.Advance(24 * time.Hour)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if again := replay(yiku.JobParked); len(again) != 1 || again[0].Attempts != 0 || again[0].State != yiku.JobWaiting {
		t.Errorf("a parked job: %+v", again)
	}
}

// TestL12_PoisonEndsParked: messages on which the model's driver panics are
// read by rules, once, and the job is parked; the next ones are read.
func TestL12_PoisonEndsParked(t *testing.T) {
	t.Parallel()
	calls := 0
	b := newBenchWith(t, engine.Options{Model: meanwhile{llmtest.NewScript(answering(`{"op":"create","content":"Likes tea","messages":[1]}`)), func() {
		if calls++; calls == 1 {
			panic("poison")
		}
	}}})
	utter(t, b.operator(), "s", "I live in Bergen.")
	for _, text := range []string{"我喜欢茶。", ""} {
		b.clock.Advance(time.Hour)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			utter(t, b.operator(), "s", text)
		}
	}
	want(t, "memories", contents(t, b.operator(), ""), "Likes tea", "I live in Bergen")
	if left := jobsLeft(t, b)["ann"]; calls != 2 || len(left) != 1 || left[0] != yiku.JobParked {
		t.Errorf("asked %d times, jobs %v", calls, left)
	}
	if _, err := ranges(t.Context(), b, "ann", "s"); err != nil {
		t.Error(err)
	}
}

// TestL33_ACorrectionTakesEffect: what the model says to correct takes the
// place of it also where the attribute holds another value, or another memory
// says the same words of somebody else; nothing is retired for nothing.
func TestL33_ACorrectionTakesEffect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		known  []yiku.SaveMemoryRequest // the last is corrected
		answer string
		active string
	}{
		{"the attribute holds another value", []yiku.SaveMemoryRequest{
			{Content: "Orchid's database is PostgreSQL", Subject: "Orchid", Attribute: "database", Value: "PostgreSQL", Single: new(true)},
			{Content: "Orchid uses MySQL for all data"},
		}, `{"op":"update","target":§,"content":"Orchid uses CockroachDB","subject":"Orchid","attribute":"database","value":"CockroachDB","single":true,"messages":[1]}`, "Orchid uses CockroachDB"},
		{"the same words of another", []yiku.SaveMemoryRequest{
			{Content: "住在奥斯陆", Subject: "姐姐", Attribute: "residence", Value: "奥斯陆"},
			{Content: "住在卑尔根", Subject: "user", Attribute: "residence", Value: "卑尔根"},
		}, `{"op":"update","target":§,"content":"住在奥斯陆","messages":[1]}`, "住在奥斯陆 | 住在奥斯陆"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			script := &targeting{answer: test.answer, content: test.known[len(test.known)-1].Content}
			b := newBenchWith(t, engine.Options{Model: script})
			for _, req := range test.known {
				save(t, b.operator(), req)
				b.clock.Advance(time.Minute)
			}
			utter(t, b.operator(), "s", "CockroachDB Orchid MySQL database 奥斯陆 卑尔根 住在")
			report, err := b.operator().ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"})
			if err != nil || len(report.Parked) != 0 || len(report.Operations) != 1 || len(report.Operations[0].Superseded) == 0 {
				t.Errorf("report %+v, %v", report, err)
			}
			want(t, "active", contents(t, b.operator(), ""), strings.Split(test.active, " | ")...)
		})
	}
}

// targeting answers with the number under which it is shown a memory.
type targeting struct{ answer, content string }

func (m *targeting) Name() string { return "targeting" }

func (m *targeting) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	number := "99"
	for line := range strings.Lines(req.Messages[0].Content) {
		if n, rest, ok := strings.Cut(line, ". "); ok && strings.Contains(rest, m.content) && len(n) < 3 {
			number = n
			break
		}
	}
	return llm.Response{Text: `{"operations":[` + strings.ReplaceAll(m.answer, "§", number) + `]}`}, nil
}
