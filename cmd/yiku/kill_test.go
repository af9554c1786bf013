package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/boardtest"
)

var kills = flag.Int("kills", 100, "how often the server is killed under load; make nightly takes 1,000")

// effect is one write with its idempotency key, and whether it was answered.
type effect struct {
	key, text string
	memory    bool
	acked     bool
}

// ledger is one writer's effects, in the order in which it asked for them.
type ledger struct {
	user    string
	effects []effect
}

// do asks for an effect; the same effect may be asked for again.
func (e *effect) do(ctx context.Context, c *client.Client, user string) error {
	key := yiku.Idempotent{IdempotencyKey: e.key}
	var err error
	if e.memory {
		_, err = c.SaveMemory(ctx, yiku.SaveMemoryRequest{Idempotent: key, UserID: user, Content: e.text})
	} else {
		_, err = c.AppendMessages(ctx, yiku.AppendMessagesRequest{Idempotent: key, UserID: user, SessionID: "s",
			Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text(e.text)}}})
	}
	e.acked = err == nil
	return err
}

// TestR2_KillUnderLoad kills the real server (SIGKILL) in the middle of mixed
// writes, starts it again, asks for what was in doubt under the same key, and
// finds every effect exactly once: 0 lost, 0 twice. A kill leaves the page
// cache alone: that nothing is lost when the power goes is R1's matter.
// Lessons: L5, L115.
func TestR2_KillUnderLoad(t *testing.T) {
	t.Parallel()
	program, dir := program(t), t.TempDir()
	rng := rand.New(rand.NewPCG(2, 2))
	ledgers := make([]*ledger, 8)
	for i := range ledgers {
		ledgers[i] = &ledger{user: fmt.Sprint("user-", i)}
	}
	for cycle := range *kills {
		p := start(t, program, dir)
		c := connect(t, p)
		for _, l := range ledgers { // what the last kill left in doubt
			if n := len(l.effects); n > 0 && !l.effects[n-1].acked {
				if err := l.effects[n-1].do(t.Context(), c, l.user); err != nil {
					t.Fatalf("cycle %d: asked again: %v", cycle, err)
				}
			}
		}
		killAfter(t, p, c, ledgers, cycle, 1+rng.IntN(60))
	}
	p := start(t, program, dir)
	c := connect(t, p)
	acked := 0
	for _, l := range ledgers {
		if n := len(l.effects); !l.effects[n-1].acked {
			if err := l.effects[n-1].do(t.Context(), c, l.user); err != nil {
				t.Fatal(err)
			}
		}
		acked += len(l.effects)
		assertOnce(t, c, l)
	}
	p.end(t)
	boardtest.Report(t, boardtest.Row{ID: "R2", Trials: *kills, What: "kills lost or doubled an effect", Seeds: "2", Note: fmt.Sprint(acked, " effects")})
}

func connect(t *testing.T, p *process) *client.Client {
	t.Helper()
	c, err := client.New(p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// killAfter runs all writers and kills the server after so many answers.
func killAfter(t *testing.T, p *process, c *client.Client, ledgers []*ledger, cycle, answers int) {
	t.Helper()
	acks := make(chan struct{}, 1<<16)
	var running sync.WaitGroup
	for _, l := range ledgers {
		running.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("%s-%d-%d", l.user, cycle, n)
				l.effects = append(l.effects, effect{key: key, text: "效果 effect " + key, memory: n%3 == 0})
				if l.effects[len(l.effects)-1].do(t.Context(), c, l.user) != nil {
					return
				}
				acks <- struct{}{}
			}
		})
	}
	for range answers {
		<-acks
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.rest
	_ = p.cmd.Wait() // killed
	running.Wait()
}

// assertOnce finds each effect exactly once, and nothing else.
func assertOnce(t *testing.T, c *client.Client, l *ledger) {
	t.Helper()
	found := map[string]int{}
	messages := yiku.ListMessagesRequest{UserID: l.user, SessionID: "s", Paging: yiku.Paging{Limit: 500}}
	for {
		page, err := c.ListMessages(t.Context(), messages)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Items {
			found[m.Content.PlainText()]++
		}
		if messages.Cursor = page.NextCursor; messages.Cursor == "" {
			break
		}
	}
	memories := yiku.ListMemoriesRequest{UserID: l.user, Paging: yiku.Paging{Limit: 500}}
	for {
		page, err := c.ListMemories(t.Context(), memories)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Items {
			found[m.Content] += 1 + int(m.AccessCount)
		}
		if memories.Cursor = page.NextCursor; memories.Cursor == "" {
			break
		}
	}
	for _, e := range l.effects {
		if found[e.text] != 1 {
			t.Errorf("%s: found %d times", e.key, found[e.text])
		}
		delete(found, e.text)
	}
	for text := range found {
		if !strings.HasPrefix(text, "效果") {
			t.Errorf("something else was found")
		}
	}
}
