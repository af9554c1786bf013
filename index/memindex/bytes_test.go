package memindex_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/indextest"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
)

// spoken are n texts of 200 characters of a set of the evaluation data.
func spoken(t *testing.T, set string, n int) []string {
	t.Helper()
	dir := os.Getenv("YIKU_EVAL_DATA")
	if dir == "" {
		t.Skip("YIKU_EVAL_DATA names no folder: texts that were really said are needed")
	}
	raw, err := os.ReadFile(filepath.Join(dir, set, "conversations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []rune
	for line := range bytes.Lines(raw) {
		var turn struct{ Text string }
		if err := json.Unmarshal(line, &turn); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, []rune(turn.Text)...), ' ')
	}
	n = min(n, len(all)/200)
	texts := make([]string, n)
	for i := range texts {
		texts[i] = string(all[200*i : 200*(i+1)])
	}
	return texts
}

// memories are a memory of each text, as the engine hands them over, with
// vectors of 384 values.
func memories(texts []string) []index.Doc {
	r, n := rand.New(rand.NewPCG(3, 4)), len(texts)
	docs := make([]index.Doc, n)
	for i, text := range texts {
		at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		m := yiku.Memory{ID: fmt.Sprintf("0198%012x", i), UserID: "ann", Content: text, Kind: yiku.KindSemantic, Type: yiku.TypeFact, Level: yiku.LevelUser,
			Status: yiku.StatusActive, Origin: yiku.OriginUser, Importance: .6, Confidence: .9, Trust: 1, ValidFrom: at, ConfirmedAt: at, CreatedAt: at, UpdatedAt: at}
		vector := make([]float32, 384)
		for j := range vector {
			vector[j] = float32(r.NormFloat64())
		}
		docs[i] = index.Doc{Ref: index.Ref{Kind: index.Memory, Key: int64(i + 1)}, Text: m.Content, At: at, Vector: vector, Fields: store.MemoryFields(m)}
	}
	return docs
}

// heap is what is in use after everything else was freed.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestH1_BytesOfAMemory: a memory of 200 characters takes no more than it
// may in the index, with everything, and the index's own account agrees with
// the heap.
func TestH1_BytesOfAMemory(t *testing.T) {
	for name, most := range map[string]int64{"locomo": 900, "lifebench_zh": 1400} {
		docs := memories(spoken(t, name, 10_000))
		x, owner := memindex.New(nil), indextest.Owner(t, "t", "u")
		n := int64(len(docs))
		if err := x.Apply(context.Background(), indextest.Owner(t, "t", "v"), index.Batch{To: index.Position{Generation: "g", Seq: 1}, Upserts: docs}); err != nil {
			t.Fatal(err) // the dictionaries are there from now on
		}
		if err := x.Drop(context.Background(), indextest.Owner(t, "t", "v")); err != nil {
			t.Fatal(err)
		}
		before := heap()
		for from := 0; from < len(docs); from += 2000 { // as the engine loads
			batch := index.Batch{To: index.Position{Generation: "g", Seq: int64(from + 2000)}, Upserts: docs[from:min(from+2000, len(docs))]}
			if from > 0 {
				batch.From = index.Position{Generation: "g", Seq: int64(from)}
			}
			if err := x.Apply(context.Background(), owner, batch); err != nil {
				t.Fatal(err)
			}
		}
		took, account := heap()-before, x.Bytes()
		t.Logf("%s, %d memories: %d bytes a memory in the heap, %d by the account", name, n, took/n, account/n)
		if account/n > most {
			t.Errorf("%s: a memory takes %d bytes, and may take %d", name, account/n, most)
		}
		if ratio := float64(account) / float64(took); ratio < 0.8 || ratio > 1.2 {
			t.Errorf("%s: the account says %d bytes, the heap %d", name, account, took)
		}
		runtime.KeepAlive(docs)
	}
}
