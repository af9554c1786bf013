package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

// dependants is a graph of memories, each derived from earlier ones: chains,
// diamonds and what lies between.
type dependants struct {
	ids     []string
	sources [][]int
}

// below lists what rests on a memory, however far.
func (d dependants) below(n int) []int {
	var out []int
	for i := n + 1; i < len(d.ids); i++ {
		for _, s := range d.sources[i] {
			if s == n || slices.Contains(out, s) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// drawDependants saves a random graph of dependent facts of one user.
func drawDependants(rt *rapid.T, t *testing.T, s yiku.Service, user string) dependants {
	var d dependants
	for i := range rapid.IntRange(2, 6).Draw(rt, "memories") {
		req := yiku.SaveMemoryRequest{UserID: user, Content: fmt.Sprintf("Fact number %d of many", i), Subject: "user", Attribute: fmt.Sprintf("parameter %d", i), Value: "old", Single: new(bool)}
		*req.Single = true
		var from []int
		if i > 0 {
			from = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID).Draw(rt, "from")
		}
		for _, n := range from {
			req.DerivedFrom = append(req.DerivedFrom, d.ids[n])
		}
		res, err := s.SaveMemory(t.Context(), req)
		if err != nil {
			rt.Fatal(err)
		}
		d.ids, d.sources = append(d.ids, res.ID), append(d.sources, from)
	}
	return d
}

// TestC9_EveryDependantIsFlagged measures it over random graphs and every way
// in which a fact can cease to hold: what rests on it leaves retrieval, all of
// it and nothing else, and comes back when it is confirmed.
func TestC9_EveryDependantIsFlagged(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	due, flagged, wrong, graphs := 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		graphs++
		user := fmt.Sprintf("user-%d", graphs)
		d := drawDependants(rt, t, s, user)
		n := rapid.IntRange(0, len(d.ids)-1).Draw(rt, "changed")
		way := rapid.SampledFrom([]string{"supersede", "patch", "delete", "archive", "forget and archive", "forget"}).Draw(rt, "way")
		b.clock.Advance(time.Hour)
		if err := cease(t, s, user, way, n, d.ids[n]); err != nil {
			rt.Fatal(err)
		}
		should := d.below(n)
		for i, id := range d.ids {
			m, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: user, ID: id})
			gone := err != nil || m.Status == yiku.StatusStale // a forget takes what was derived with it
			switch {
			case i == n:
			case slices.Contains(should, i):
				due++
				if gone {
					flagged++
				}
			case gone:
				wrong++
			}
			if err != nil || m.Status != yiku.StatusStale {
				continue
			}
			if back, err := s.ConfirmMemory(t.Context(), yiku.ConfirmMemoryRequest{UserID: user, ID: id}); err != nil || back.Status != yiku.StatusActive {
				rt.Errorf("confirmed: %s, %v", back.Status, err)
			}
		}
	})
	if share := float64(flagged) / float64(due); due == 0 || share != 1 || wrong != 0 {
		t.Errorf("%d of %d dependants were flagged (%.2f, want 1.00), and %d other memories", flagged, due, share, wrong)
	}
}

// cease makes a fact cease to hold.
func cease(t *testing.T, s yiku.Service, user, way string, n int, id string) error {
	t.Helper()
	var err error
	switch way {
	case "supersede":
		_, err = s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: "It is otherwise now", Subject: "user", Attribute: fmt.Sprintf("parameter %d", n), Value: "new"})
	case "patch":
		_, err = s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: user, ID: id, Value: yiku.Opt[string]{Present: true, Value: "new"}})
	case "archive":
		_, err = s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: user, ID: id, Status: yiku.Opt[yiku.Status]{Present: true, Value: yiku.StatusArchived}})
	case "delete":
		_, err = s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: user, ID: id})
	default:
		mode := yiku.ForgetPurge
		if way != "forget" {
			mode = yiku.ForgetArchive
		}
		_, err = s.Forget(t.Context(), yiku.ForgetRequest{UserID: user, Reason: "asked", Mode: mode, Selector: yiku.Selector{IDs: []string{id}}})
	}
	return err
}

// thinking is a model during whose thinking something happens.
type thinking struct {
	*llmtest.Script
	meanwhile func()
}

func (m *thinking) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.meanwhile()
	return m.Script.Complete(ctx, req)
}

// TestC9_ModelsSayWhatItRestsOn: what a model says that a fact rests on is
// recorded, as what took its place where that has just changed; what rests on
// a fact that another took the place of while the model thought waits for a person.
func TestC9_ModelsSayWhatItRestsOn(t *testing.T) {
	t.Parallel()
	home := yiku.SaveMemoryRequest{Content: "The user lives in Bergen", Subject: "user", Attribute: "residence", Value: "Bergen"}
	moved := yiku.SaveMemoryRequest{Content: "The user lives in Oslo", Subject: "user", Attribute: "residence", Value: "Oslo"}
	tram := `{"op":"create","content":"The user commutes by tram","depends_on":[1],"messages":[1]}`
	update := `{"op":"update","target":1,"content":"The user lives in Oslo","subject":"user","attribute":"residence","value":"Oslo","messages":[1]},`
	for name, c := range map[string]struct {
		answer    string
		meanwhile bool // another call changes the fact while the model thinks
		want      map[yiku.Status]string
		later     yiku.Status // of what rests on it, once the fact has changed again
	}{
		"recorded":  {tram, false, map[yiku.Status]string{yiku.StatusActive: "The user commutes by tram"}, yiku.StatusStale},
		"replaced":  {update + tram, false, map[yiku.Status]string{yiku.StatusActive: "The user commutes by tram"}, yiku.StatusStale},
		"outdated":  {tram, true, map[yiku.Status]string{yiku.StatusQuarantined: "The user commutes by tram"}, yiku.StatusQuarantined},
		"unrelated": {`{"op":"create","content":"The user commutes by tram","messages":[1]}`, false, map[yiku.Status]string{yiku.StatusActive: "The user commutes by tram"}, yiku.StatusActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &thinking{Script: llmtest.NewScript(answering(c.answer)), meanwhile: func() {}}
			b := newBenchWith(t, engine.Options{Model: model})
			s := b.operator()
			if c.meanwhile {
				model.meanwhile = func() { save(t, s, moved) }
			}
			save(t, s, home)
			b.clock.Advance(time.Hour)
			utter(t, s, "s", "In Bergen the user takes the tram.")
			b.clock.Advance(time.Hour)
			if err := b.RunJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
			for status, content := range c.want {
				if got := contents(t, s, status); !slices.Contains(got, content) {
					t.Fatalf("%s: %q lack %q", status, got, content)
				}
			}
			b.clock.Advance(time.Hour)
			save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Paris", Subject: "user", Attribute: "residence", Value: "Paris"})
			if got := contents(t, s, c.later); !slices.Contains(got, "The user commutes by tram") {
				t.Errorf("later: %s are %q", c.later, got)
			}
		})
	}
}
