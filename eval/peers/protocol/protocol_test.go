package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/eval/peers/protocol"
)

// echo finds the items in the order in which they were added, and fails
// without a vector.
type echo struct {
	ids    []string
	closed bool
}

func (e *echo) Open(dir string) (protocol.About, error) { return protocol.About{What: dir}, nil }

func (e *echo) Add(_ string, items []protocol.Item) error {
	for _, i := range items {
		e.ids = append(e.ids, i.ID)
	}
	return nil
}

func (e *echo) Settle() error { return nil }

func (e *echo) Search(_, _ string, v protocol.Vector, k int) ([]string, error) {
	if len(v) == 0 {
		return nil, errors.New("no vector")
	}
	return e.ids[:k], nil
}

func (e *echo) Close() error { e.closed = true; return nil }

func TestServe(t *testing.T) {
	t.Parallel()
	var in, out bytes.Buffer
	asked := []protocol.Request{
		{Op: "open", Dir: "somewhere"},
		{Op: "add", Items: []protocol.Item{{ID: "a", Vector: protocol.Vector{.5, -2}}, {ID: "b"}}},
		{Op: "settle"},
		{Op: "search", Vector: protocol.Vector{1}, K: 1},
		{Op: "search"},
		{Op: "sing"},
	}
	for _, r := range asked {
		if err := json.NewEncoder(&in).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	var s echo
	if err := protocol.Serve(&s, &in, &out); err != nil || !s.closed {
		t.Fatalf("%v, closed %v", err, s.closed)
	}
	answers := json.NewDecoder(strings.NewReader(out.String()))
	var got []protocol.Answer
	for range asked {
		var a protocol.Answer
		if err := answers.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if a.Error == "" && a.NS <= 0 {
			t.Errorf("answer %d took %d ns", len(got), a.NS)
		}
		a.NS, a.CPU = 0, 0
		got = append(got, a)
	}
	want := []protocol.Answer{{About: &protocol.About{What: "somewhere"}}, {}, {}, {IDs: []string{"a"}}, {Error: "no vector"}, {Error: `unknown op "sing"`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestVector(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(protocol.Vector{1, -.25})
	if err != nil || string(raw) != `"AACAPwAAgL4="` { // 0x3f800000 and 0xbe800000, little-endian
		t.Fatalf("%s, %v", raw, err)
	}
	var back protocol.Vector
	if err := json.Unmarshal(raw, &back); err != nil || !cmp.Equal(back, protocol.Vector{1, -.25}) {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"AAAA"`), &back); err == nil {
		t.Error("three bytes are a vector")
	}
}
