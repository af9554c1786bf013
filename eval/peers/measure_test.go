package main

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
)

// TestCompare: each peer is held against the Yiku that is reached as it is, and
// one that did not run against none.
func TestCompare(t *testing.T) {
	t.Parallel()
	process, http := &protocol.About{Over: "process", Arms: "vectors"}, &protocol.About{Over: "http"}
	s := &setReport{Name: "set", Peers: []*row{
		{Name: "yiku", About: process, Recall10: .8, P50: 2, CPU50: 2, Full: 20, Ingest: 1},
		{Name: "yiku-index", About: process, CPU50: .5},
		{Name: "yiku-http", About: http, Recall10: .8, P50: 4, CPU50: 2},
		{Name: "flat", About: process, Recall10: .4, P50: 1, CPU50: 1, Full: 10, Ingest: 3},
		{Name: "far", About: http, Recall10: .4, P50: 12, CPU50: 4},
		{Name: "broken", Error: "it fell"},
	}}
	s.compare()
	if got, want := *s.Peers[3].Ratios, (ratios{Recall10: .5, P50: .5, CPU50: .5, Index: 2, Ingest: 3, RSS: .5}); got.Recall10 != want.Recall10 ||
		got.P50 != want.P50 || got.CPU50 != want.CPU50 || got.Index != want.Index || got.Ingest != want.Ingest || got.RSS != want.RSS {
		t.Errorf("in process %+v, want %+v", got, want)
	}
	if got := s.Peers[4].Ratios; got.P50 != 3 || got.CPU50 != 2 || got.Index != 0 {
		t.Errorf("over http %+v", got)
	}
	if s.Peers[0].Ratios != nil || s.Peers[5].Ratios != nil {
		t.Error("Yiku or a peer that did not run has ratios")
	}
	var table bytes.Buffer
	s.table(&table)
	if !strings.Contains(table.String(), "| broken | did not run: it fell |") {
		t.Error(table.String())
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	ten := make([]eval.Turn, 10)
	for i := range ten {
		ten[i].ID = strconv.Itoa(i)
	}
	set := &eval.Set{Conversations: []eval.Conversation{{ID: "a", Turns: ten}, {ID: "b", Turns: ten}}, Questions: []eval.Question{
		{Conversation: "b", Evidence: []string{"1"}}, {Conversation: "a", Evidence: []string{"3"}}, {Conversation: "a", Evidence: []string{"3", "8"}}, {Conversation: "a"},
	}}
	for _, c := range []struct {
		conversations, turns, asks int
		has                        string // of a
	}{{0, 0, 3, "0123456789"}, {1, 0, 2, "0123456789"}, {1, 1, 2, "38"}, {1, 4, 2, "3489"}, {5, 10, 3, "0123456789"}} {
		got := first(set, c.conversations, c.turns)
		has := ""
		for _, turn := range got.Conversations[0].Turns {
			has += turn.ID
		}
		if has != c.has || len(got.Questions) != c.asks {
			t.Errorf("%+v: %s, %d questions", c, has, len(got.Questions))
		}
	}
	if len(set.Conversations[0].Turns) != 10 {
		t.Error("the set itself is cut")
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	d := []time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}
	if quantile(d, .5) != 2 || quantile(d, .99) != 3 {
		t.Errorf("p50 %v, p99 %v", quantile(d, .5), quantile(d, .99))
	}
}

// TestVectors: what is in the file is not asked of the model, which is not
// there; what is not, is, and fails.
func TestVectors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, err := eval.KeepVectors(seventh{&model{}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Embed(context.Background(), []string{"text"}, embed.Query); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	v, end, err := openVectors(dir, "no model")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	got, err := v.Embed(context.Background(), []string{"text", "text"}, embed.Query)
	if err != nil || len(got) != 2 || got[1][7] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := v.Embed(context.Background(), []string{"text"}, embed.Passage); err == nil {
		t.Error("a question's vector is a passage's too")
	}
}

// seventh is the model where every text has one and the same vector.
type seventh struct{ embed.Embedder }

func (seventh) Embed(_ context.Context, texts []string, _ embed.Use) ([][]float32, error) {
	made := make([][]float32, len(texts))
	for i := range made {
		made[i] = make([]float32, dimensions)
		made[i][7] = 1
	}
	return made, nil
}
