package local

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
)

func TestContract(t *testing.T) {
	for name, whole := range map[string]bool{"whole": true, "float32": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "tiny.safetensors")
			if err := os.WriteFile(path, tiny(t, whole), 0o600); err != nil {
				t.Fatal(err)
			}
			e, err := Open(path, &Options{MaxTokens: 100})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			embedtest.Run(t, e)
		})
	}
}

// The forward pass is that of the formulas, worked out by hand in float64.
func TestForward(t *testing.T) {
	for name, whole := range map[string]bool{"whole": true, "float32": false} {
		t.Run(name, func(t *testing.T) {
			e, err := New(tiny(t, whole), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, pieces := range [][]int{{0, 2}, {0, 5, 2}, {0, 17, 30, 30, 41, 9, 2}, append(append([]int{0}, slices.Repeat([]int{8, 50, 77}, 12)...), 2)} {
				sums := make([]float32, e.encoder.Hidden)
				w := e.encoder.newWork(40)
				e.encoder.forward(w, [][]int{pieces}, sums)
				var dot, a, b float64
				for i, x := range byHand(e.encoder, pieces) {
					dot, a, b = dot+x*float64(sums[i]), a+x*x, b+float64(sums[i])*float64(sums[i])
				}
				if cos := dot / math.Sqrt(a*b); cos < 0.99999 {
					t.Errorf("%d tokens: cosine %.7f", len(pieces), cos)
				}
			}
		})
	}
}

// A control: with one wrong weight the comparison of TestForward must fail.
func TestForwardSeesAWrongWeight(t *testing.T) {
	e, err := New(tiny(t, false), nil)
	if err != nil {
		t.Fatal(err)
	}
	pieces := []int{0, 17, 30, 41, 2}
	want := byHand(e.encoder, pieces)
	e.encoder.layers[1].outputNorm.weight = slices.Clone(e.encoder.layers[1].outputNorm.weight)
	e.encoder.layers[1].outputNorm.weight[3] += 2
	sums := make([]float32, e.encoder.Hidden)
	e.encoder.forward(e.encoder.newWork(8), [][]int{pieces}, sums)
	var dot, a, b float64
	for i, x := range want {
		dot, a, b = dot+x*float64(sums[i]), a+x*x, b+float64(sums[i])*float64(sums[i])
	}
	if cos := dot / math.Sqrt(a*b); cos >= 0.99999 {
		t.Errorf("cosine %.7f", cos)
	}
}

func TestTokenizer(t *testing.T) {
	e, err := New(tiny(t, true, "▁I", "▁live", "▁in", "li", "ve", "▁我", "杭州"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"":                         nil,
		"  ":                       nil,
		"I live  in\t":             {"▁I", "▁live", "▁in"},
		"Ｉ　ｌｉｖｅ":                   {"▁I", "▁live"}, // wide forms
		"olive":                    {"▁", "o", "li", "ve"},
		"我住在杭州。":                   {"▁我", "住", "在", "杭州", "。"},
		"I\u0007 \u200blive\u2028": {"▁I", "▁live"},
		"I <s>":                    {"▁I", "▁", "<", "s", ">"}, // no special piece from a text
		"你好吗I":                     {"▁", "<unk>", "I"},        // one for a run
		"I\xff live":               {"▁I", "▁live"},
	} {
		var got []string
		for _, i := range e.words.cut(text) {
			got = append(got, string(e.words.piece(i)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Of a long text the beginning counts, in pieces that the model takes.
func TestLongTexts(t *testing.T) {
	e, err := New(tiny(t, true), &Options{MaxTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 95)
	for _, s := range e.segments(text, embed.Passage) {
		if len(s) > tinyConfig.Positions || s[0] != tinyConfig.Begin || s[len(s)-1] != tinyConfig.End {
			t.Errorf("a segment of %d pieces, from %d to %d", len(s), s[0], s[len(s)-1])
		}
	}
	if a, b := e.segments(text+"bbbbbbbb", embed.Passage), e.segments(text+"bbbbbbbb"+strings.Repeat("c", 1<<20), embed.Passage); !cmp.Equal(a, b) {
		t.Error("what comes after the most tokens is not left out")
	}
}

func TestQueriesAndPassagesDiffer(t *testing.T) {
	e, err := New(tiny(t, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(e.segments("a", embed.Query), e.segments("a", embed.Passage)) {
		t.Error("a query is embedded as a passage")
	}
}

// Files that are no models are refused, whole or cut anywhere.
func TestBadFiles(t *testing.T) {
	raw := tiny(t, true)
	for _, n := range []int{0, 7, 8, 100, len(raw) / 2, len(raw) - 1} {
		if _, err := New(raw[:n], nil); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	for old, other := range map[string]string{
		`yiku-encoder/1`: `yiku-encoder/9`, `\"hidden\":64`: `\"hidden\":63`, `\"heads\":2`: `\"heads\":7`,
		`\"words\":1000`: `\"words\":9000`, `1.output_norm.bias`: `1.output_norm.bios`, `\"end\":2`: `\"end\":-`,
	} {
		if _, err := New([]byte(strings.Replace(string(raw), old, other, 1)), nil); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("%s instead of %s: %v", other, old, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x3c\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}       ab`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := ParseFile(raw)
		if err != nil {
			return
		}
		for name, x := range file.Tensors {
			size := width[x.Type]
			for _, n := range x.Shape {
				size *= n
			}
			if len(x.Data) != size {
				t.Errorf("tensor %q has %d bytes, want %d", name, len(x.Data), size)
			}
		}
		if _, err := New(raw, nil); err != nil && !errors.Is(err, yiku.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestMath(t *testing.T) {
	g := newGELUTable()
	for x := float32(-9); x <= 9; x += 0.0137 {
		v := []float32{x}
		g.gelu(v)
		if want := float64(x) * 0.5 * math.Erfc(-float64(x)/math.Sqrt2); math.Abs(float64(v[0])-want) > 1e-6 {
			t.Errorf("gelu(%g) = %g, want %g", x, v[0], want)
		}
		if x <= 0 {
			if got, want := float64(exp(10*x)), math.Exp(float64(10*x)); math.Abs(got-want) > 1e-6*want && want > 1e-37 {
				t.Errorf("exp(%g) = %g, want %g", 10*x, got, want)
			}
		}
	}
	for _, x := range []float32{0, 0.4, 0.5, 1.5, -2.5, -0.6, 8191, -8191, 4095.5} {
		if got, want := roundEven(x), int32(math.RoundToEven(float64(x))); got != want {
			t.Errorf("roundEven(%g) = %d, want %d", x, got, want)
		}
	}
}
