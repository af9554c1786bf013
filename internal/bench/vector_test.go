package bench_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/local"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/kernel"
	"github.com/yiku-ai/yiku/internal/weights"
)

// spent is the time that the process had of processors, which other work on
// the machine lengthens less than the time on the clock.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpu reports the processor's time of each of n calls since before.
func cpu(b *testing.B, name string, before time.Duration, n int) {
	b.ReportMetric(float64((spent(b)-before).Microseconds())/1000/float64(n), name+"-cpu-ms")
}

// BenchmarkEncode embeds one text, and 64 short ones together, with the default
// model on one core.
func BenchmarkEncode(b *testing.B) {
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Skip("no cache directory, so no model: ", err)
	}
	path := weights.Path(filepath.Join(cache, "yiku", "models"), weights.Default)
	if _, err := os.Stat(path); err != nil {
		b.Skip("the model was not fetched: make model")
	}
	e, err := local.Open(path, &local.Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // of a benchmark
	short := make([]string, 64)
	for i := range short {
		short[i] = []string{"我周五要去上海出差", "my sister plays the cello", "记得给猫买粮", "the invoice is due on Monday"}[i%4] + fmt.Sprint(i)
	}
	for name, texts := range map[string][]string{
		"20tokens":  {"I moved to Berlin last spring and now I work as a nurse there."},
		"100tokens": {"上个月我们把项目的截止日期从三月十五号改到了四月底，因为供应商的零件没有按时到货，而且测试环境的服务器又坏了两次。小王负责联系供应商，我负责重新安排测试，预算不能超过二十万。大家都同意每周五下午三点开一次会，会议纪要发到群里。"},
		"64short":   short,
	} {
		b.Run(name+"/"+kernel.Path(), func(b *testing.B) {
			before := spent(b)
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts, embed.Passage); err != nil {
					b.Fatal(err)
				}
			}
			cpu(b, "text", before, b.N*len(texts))
		})
	}
}

// million is an owner's shard of 1,000,000 messages of about 20 words with
// vectors of 384 values, loaded as the engine does it.
func million(b *testing.B, x *memindex.Index, owner yiku.Owner, w *words, vector func() []float32) {
	const n, chunk = 1_000_000, 2000
	texts := make([]string, 50_000)
	for i := range texts {
		texts[i] = w.sentence(20)
	}
	at := index.Position{}
	for at.Seq < n {
		docs := make([]index.Doc, chunk)
		for i := range docs {
			key := at.Seq + int64(i) + 1
			docs[i] = index.Doc{Ref: index.Ref{Kind: index.Message, Key: key}, Session: key/50 + 1, Text: texts[key%int64(len(texts))], Vector: vector()}
		}
		to := index.Position{Generation: "g", Seq: at.Seq + chunk}
		if err := x.Apply(b.Context(), owner, index.Batch{From: at, To: to, Upserts: docs}); err != nil {
			b.Fatal(err)
		}
		at = to
	}
}

// BenchmarkMillion searches an owner of 1,000,000 messages, by words and vector
// together and by vector alone, and tells what the kernel alone takes for as
// many vectors in the same run.
func BenchmarkMillion(b *testing.B) {
	const size, searches = 384, 100
	r, w := rand.New(rand.NewPCG(5, 6)), newWords(7)
	vector := func() []float32 {
		v := make([]float32, size)
		for j := range v {
			v[j] = r.Float32() - .5
		}
		return v
	}
	owner, err := yiku.NewOwner(tenant, "u")
	if err != nil {
		b.Fatal(err)
	}
	x := memindex.New(nil)
	before := spent(b)
	million(b, x, owner, w, vector)
	cpu(b, "load", before, 1)
	runtime.GC()
	b.ReportMetric(float64(x.Bytes())/1e6, "MB")
	search := func(text string, v []float32) func() error {
		return func() error {
			_, err := x.Search(b.Context(), owner, index.Query{Text: text, Vector: v, K: 200})
			return err
		}
	}
	rows, sums, q := make([]int8, 1_000_000*size), make([]int32, 512), make([]int8, size)
	for b.Loop() {
		var both, dense timings
		before = spent(b)
		for range searches {
			both.time(b, search(w.query(), vector()))
		}
		cpu(b, "both", before, searches)
		before = spent(b)
		for range searches {
			dense.time(b, search("", vector()))
		}
		cpu(b, "vectors", before, searches)
		before = spent(b)
		for range searches {
			for from := 0; from < len(rows)/size; from += len(sums) {
				n := min(len(sums), len(rows)/size-from)
				kernel.DotsInt8(sums[:n], q, rows[from*size:(from+n)*size])
			}
		}
		cpu(b, "kernel", before, searches)
		both.report(b, "both")
		dense.report(b, "vectors")
	}
}
