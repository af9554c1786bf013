package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// rig is an engine on a store in a directory.
type rig struct {
	store  *sqlite.Store
	index  *memindex.Index
	engine *engine.Engine
}

func newRig(b *testing.B, dir string, options *sqlite.Options) rig {
	b.Helper()
	s, err := sqlite.Open(b.Context(), dir, options)
	if err != nil {
		b.Fatal(err)
	}
	r := rig{store: s, index: memindex.New(nil)}
	if r.engine, err = engine.New(engine.Options{Store: s, Index: r.index}); err != nil {
		b.Fatal(err)
	}
	return r
}

func (r rig) close(b *testing.B) {
	b.Helper()
	for _, end := range []func() error{r.engine.Close, r.index.Close, r.store.Close} {
		if err := end(); err != nil {
			b.Error(err)
		}
	}
}

func (r rig) service() yiku.Service {
	return r.engine.As(yiku.Principal{Tenant: tenant, Access: yiku.AccessAdmin})
}

// tenant is the one that a server without keys uses.
const tenant = "default"

// words are what sentences are made of: 2,000 English and 2,000 Chinese ones,
// drawn with the skew of real text (Zipf, s = 1.1).
type words struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

func newWords(seed uint64) *words {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &words{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 1999)}
}

// sentence is one fact, every second one Chinese.
func (w *words) sentence(n int) string {
	var b strings.Builder
	if n%2 == 0 {
		for range 8 + w.rng.IntN(10) {
			fmt.Fprintf(&b, "%s ", english(w.zipf.Uint64()))
		}
		return b.String() + fmt.Sprint("no ", n)
	}
	for range 8 + w.rng.IntN(12) {
		k := rune(w.zipf.Uint64())
		b.WriteRune(0x4e00 + k*9)
		b.WriteRune(0x4e00 + (k*37)%20000)
	}
	return b.String() + fmt.Sprint("第", n, "条")
}

// english makes a pronounceable word of a number.
func english(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for range 3 {
		b.WriteByte(consonants[n%uint64(len(consonants))])
		n /= uint64(len(consonants))
		b.WriteByte(vowels[n%uint64(len(vowels))])
		n = n/uint64(len(vowels)) + 7
	}
	return b.String()
}

// query asks for three words.
func (w *words) query() string {
	if w.rng.IntN(2) == 0 {
		return english(w.zipf.Uint64()) + " " + english(w.zipf.Uint64()) + " " + english(w.zipf.Uint64())
	}
	k := rune(w.zipf.Uint64())
	return string([]rune{0x4e00 + k*9, 0x4e00 + (k*37)%20000, 0x4e00 + rune(w.zipf.Uint64())*9})
}

// fill writes memories of an owner straight into the store, in batches.
func fill(b *testing.B, s *sqlite.Store, user string, count int, w *words) {
	b.Helper()
	fillOf(b, s, tenant, user, count, w)
}

// fillOf is fill for a user of any tenant.
func fillOf(b *testing.B, s *sqlite.Store, tenant, user string, count int, w *words) {
	b.Helper()
	owner, err := yiku.NewOwner(tenant, user)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().UTC()
	for done := 0; done < count; {
		size := min(500, count-done)
		err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
			for i := range size {
				text := w.sentence(done + i)
				m := store.Memory{ContentNorm: text, Memory: yiku.Memory{ID: fmt.Sprintf("m%d", done+i), Content: text, Type: yiku.TypeFact,
					Kind: yiku.KindSemantic, Level: yiku.LevelUser, Status: yiku.StatusActive, Importance: .5, Confidence: 1, Trust: 1,
					Origin: yiku.OriginUser, ValidFrom: now, CreatedAt: now, UpdatedAt: now, ConfirmedAt: now}}
				if err := tx.AddMemory(&m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		done += size
	}
}

// timings collects durations of single calls.
type timings []time.Duration

func (t *timings) time(b *testing.B, call func() error) {
	b.Helper()
	start := time.Now()
	if err := call(); err != nil {
		b.Fatal(err)
	}
	*t = append(*t, time.Since(start))
}

// at is a quantile; it sorts t.
func (t timings) at(q float64) time.Duration {
	slices.Sort(t)
	return t[int(q*float64(len(t)-1))]
}

// report gives the median and the 99th percentile in milliseconds.
func (t timings) report(b *testing.B, name string) {
	b.Helper()
	if len(t) == 0 {
		return
	}
	b.ReportMetric(float64(t.at(.5).Microseconds())/1000, name+"-p50-ms")
	b.ReportMetric(float64(t.at(.99).Microseconds())/1000, name+"-p99-ms")
}
