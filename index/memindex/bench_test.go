package memindex_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/indextest"
	"github.com/yiku-ai/yiku/index/memindex"
)

// corpus makes n texts of about size words (English) or characters (Chinese)
// whose words are as unevenly frequent as a language's.
func corpus(n, size int, chinese bool) []string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 20000)
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range size {
			w := zipf.Uint64()
			if chinese {
				b.WriteRune(rune(0x4e00 + w%3500))
				continue
			}
			fmt.Fprintf(&b, "%s%s ", syllable(w/64), syllable(w%64))
		}
		out[i] = b.String()
	}
	return out
}

func syllable(n uint64) string {
	const c, v = "bdfgklmnprstvz", "aeiou"
	s := ""
	for {
		s += string(c[n%14]) + string(v[n/14%5])
		if n /= 70; n == 0 {
			return s
		}
	}
}

func docsOf(texts []string) []index.Doc {
	docs := make([]index.Doc, len(texts))
	for i, s := range texts {
		docs[i] = index.Doc{Ref: index.Ref{Kind: index.Message, Key: int64(i + 1)}, Session: int64(i/20 + 1), Text: s,
			Fields: func(field string) (any, bool) {
				switch field {
				case "type":
					return "fact", true
				case "importance":
					return 0.5, true
				}
				return nil, false
			}}
	}
	return docs
}

func languages() map[string]bool { return map[string]bool{"English": false, "Chinese": true} }

// size is the number of words or characters of one message in the benchmarks.
func size(chinese bool) int {
	if chinese {
		return 100
	}
	return 50
}

func BenchmarkLoad10000(b *testing.B) {
	for name, chinese := range languages() {
		b.Run(name, func(b *testing.B) {
			docs := docsOf(corpus(10000, size(chinese), chinese))
			owner := indextest.Owner(b, "t", "u")
			for b.Loop() {
				x := memindex.New(nil)
				if err := x.Apply(context.Background(), owner, index.Batch{To: index.Position{Generation: "g", Seq: 1}, Upserts: docs}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(x.Bytes())/10000, "bytes/doc")
			}
		})
	}
}

func loaded(b *testing.B, chinese bool) (*memindex.Index, yiku.Owner, []string) {
	texts := corpus(10000, size(chinese), chinese)
	x, owner := memindex.New(nil), indextest.Owner(b, "t", "u")
	if err := x.Apply(context.Background(), owner, index.Batch{To: index.Position{Generation: "g", Seq: 1}, Upserts: docsOf(texts)}); err != nil {
		b.Fatal(err)
	}
	return x, owner, texts
}

func BenchmarkApplyOne(b *testing.B) {
	for name, chinese := range languages() {
		b.Run(name, func(b *testing.B) {
			x, owner, texts := loaded(b, chinese)
			seq := int64(1)
			for b.Loop() {
				batch := index.Batch{From: index.Position{Generation: "g", Seq: seq}, To: index.Position{Generation: "g", Seq: seq + 1},
					Upserts: []index.Doc{{Ref: index.Ref{Kind: index.Message, Key: 20000 + seq}, Session: 5000 + seq/50, Text: texts[seq%10000]}}}
				if err := x.Apply(context.Background(), owner, batch); err != nil {
					b.Fatal(err)
				}
				seq++
			}
		})
	}
}

func BenchmarkSearch10000(b *testing.B) {
	filter := &yiku.Filter{And: []yiku.Filter{{Field: "type", Op: yiku.OpEq, Value: "fact"}, {Field: "importance", Op: yiku.OpGte, Value: .3}}}
	for name, chinese := range languages() {
		x, owner, texts := loaded(b, chinese)
		queries := map[string]string{"short": cut(texts[7], 12*boolInt(chinese)+40*boolInt(!chinese)), "message": texts[9], "long20000": cut(strings.Join(texts[:400], " "), 20000)}
		for kind, q := range queries {
			for _, f := range []*yiku.Filter{nil, filter} {
				b.Run(fmt.Sprintf("%s/%s/filter=%v", name, kind, f != nil), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := x.Search(context.Background(), owner, index.Query{Text: q, K: 200, Filter: f}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func cut(s string, runes int) string {
	r := []rune(s)
	return string(r[:min(runes, len(r))])
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
