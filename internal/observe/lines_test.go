package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestG4_OneObjectALine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLines(&out, nil)
	l.Record(t.Context(), Event{
		Time: time.Date(2026, 3, 1, 8, 0, 0, 5000, time.FixedZone("", 8*3600)), Layer: "memory", Tenant: "default", User: "林夏",
		Session: "s\n1", Operation: "save_memory", MemoryIDs: []string{"m1"}, Tokens: map[string]int{"memory": 3},
		Counts: map[string]int{"items": 1}, Duration: 1234567 * time.Nanosecond, Outcome: "ok", Request: "r", Trace: "t",
	})
	l.Record(t.Context(), Event{Operation: "get_context", Outcome: "invalid"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-03-01T00:00:00.000005Z","layer":"memory","operation":"save_memory","outcome":"ok","duration_ms":1.234,"tenant":"default","user_id":"林夏","session_id":"s\n1","memory_ids":["m1"],"tokens":{"memory":3},"counts":{"items":1},"request_id":"r","trace_id":"t"}
{"time":"0001-01-01T00:00:00Z","layer":"","operation":"get_context","outcome":"invalid","duration_ms":0}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A line stays a line, reads back as what was put in, and holds nothing that
// moves a cursor or turns the direction of text.
func TestG4_LinesAreInert(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x1b\x7f\u0085\u009b\u200b\u200e\u202e\u2028\u2066\ufeff\U000e0041\U0010ffff\\\"<忆\n")), 0, 20, -1)).Draw(t, "text")
		got := Event{User: text}.AppendJSON(nil)
		body := strings.TrimSuffix(string(got), "\n")
		for _, r := range body {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("U+%04X stands in the line", r)
			}
		}
		var back struct {
			User string `json:"user_id"`
		}
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); back.User != want {
			t.Fatalf("got %q, want %q", back.User, want)
		}
	})
}

// gate is a writer that waits until it is opened.
type gate struct {
	entered, open chan struct{}
	once          sync.Once
	out           bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	g.once.Do(func() { close(g.entered) })
	<-g.open
	return g.out.Write(p)
}

func TestG4_NeverBlocksAndCountsDrops(t *testing.T) {
	t.Parallel()
	g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
	l := NewLines(g, &LinesOptions{Buffer: 2})
	l.Record(t.Context(), Event{Operation: "first"})
	<-g.entered // the writer holds the first; the buffer is empty
	for range 10 {
		l.Record(t.Context(), Event{Operation: "more"})
	}
	if got := l.Dropped(); got != 8 {
		t.Errorf("dropped %d, want 8", got)
	}
	close(g.open)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Record(t.Context(), Event{Operation: "late"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(g.out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], `"dropped":8`) || l.Dropped() != 9 {
		t.Errorf("got %d dropped and %q", l.Dropped(), lines)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLinesTellOfFailure(t *testing.T) {
	t.Parallel()
	l := NewLines(broken{}, nil)
	l.Record(t.Context(), Event{})
	if err := l.Close(); err == nil {
		t.Error("Close does not tell that nothing was written")
	}
}

func TestLinesFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLines(&out, &LinesOptions{Buffer: 10000})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.Record(t.Context(), Event{Operation: "op"})
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 800 {
		t.Errorf("%d lines, want 800", n)
	}
}
