package weights

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed/local"
)

// hubName is a model's name on a hub.
var hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)

// fromHub fetches a model's weights, vocabulary and shape from a hub, which
// serves them at ADDRESS/OWNER/NAME/resolve/main/FILE.
func (o *Options) fromHub(ctx context.Context, name string) (*local.File, error) {
	if !hubName.MatchString(name) {
		return nil, fmt.Errorf("%w: a model of a hub is named OWNER/NAME", yiku.ErrInvalid)
	}
	if len(o.SHA256) != 64 {
		return nil, fmt.Errorf("%w: the sha256 of its model.safetensors must be given, 64 hex digits", yiku.ErrInvalid)
	}
	base, err := url.JoinPath(o.Hub, name, "resolve", "main")
	if err != nil {
		return nil, fmt.Errorf("%w: hub: %w", yiku.ErrInvalid, err)
	}
	o.say("from " + base)
	files := map[string][]byte{}
	for _, file := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		if files[file], err = get(ctx, base+"/"+file); err != nil {
			return nil, err
		}
	}
	if err := matches(files["model.safetensors"], strings.ToLower(o.SHA256)); err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	f, err := fromHuggingFace(files["config.json"], files["tokenizer.json"], files["model.safetensors"], o.Exact)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", yiku.ErrInvalid, err)
	}
	label(f, name, base+", sha256 "+strings.ToLower(o.SHA256), "see the hub")
	return f, nil
}

func get(ctx context.Context, at string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", yiku.ErrInvalid, err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", yiku.ErrUnavailable, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: GET %s: %s", yiku.ErrUnavailable, at, res.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%w: GET %s: %w", yiku.ErrUnavailable, at, err)
	}
	return raw, nil
}

// bertShape is what config.json says of a BERT encoder.
type bertShape struct {
	Type      string  `json:"model_type"`
	Hidden    int     `json:"hidden_size"`
	Layers    int     `json:"num_hidden_layers"`
	Heads     int     `json:"num_attention_heads"`
	Inner     int     `json:"intermediate_size"`
	Words     int     `json:"vocab_size"`
	Positions int     `json:"max_position_embeddings"`
	Kinds     int     `json:"type_vocab_size"`
	Epsilon   float32 `json:"layer_norm_eps"`
	Act       string  `json:"hidden_act"`
}

// vocabulary is what tokenizer.json says of a unigram model.
type vocabulary struct {
	Model struct {
		Type    string              `json:"type"`
		Unknown int                 `json:"unk_id"`
		Pieces  [][]json.RawMessage `json:"vocab"`
	} `json:"model"`
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// fromHuggingFace puts a BERT encoder with a unigram vocabulary, as its
// authors publish it, into our form.
func fromHuggingFace(config, tokenizer, weights []byte, exact bool) (*local.File, error) {
	var shape bertShape
	if err := json.Unmarshal(config, &shape); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if shape.Type != "bert" || shape.Act != "gelu" {
		return nil, fmt.Errorf("config.json: a %s with %s is not a BERT encoder with gelu", shape.Type, shape.Act)
	}
	c := local.Config{
		Hidden: shape.Hidden, Layers: shape.Layers, Heads: shape.Heads, Inner: shape.Inner,
		Words: shape.Words, Positions: shape.Positions, Epsilon: shape.Epsilon,
		Query: "query: ", Passage: "passage: ",
	}
	f := &local.File{Meta: map[string]string{}, Tensors: map[string]local.Tensor{}}
	if err := words(f, &c, tokenizer); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	from, err := local.ParseFile(weights)
	if err != nil {
		return nil, err
	}
	out := &output{File: f, exact: exact}
	bert(from, out, c, shape.Kinds)
	if out.err != nil {
		return nil, out.err
	}
	raw, err := json.Marshal(c)
	f.Meta["config"] = string(raw)
	return f, err
}

// words writes the vocabulary and finds its special pieces.
func words(f *local.File, c *local.Config, tokenizer []byte) error {
	var v vocabulary
	if err := json.Unmarshal(tokenizer, &v); err != nil {
		return err
	}
	if v.Model.Type != "Unigram" || len(v.Model.Pieces) == 0 {
		return fmt.Errorf("a vocabulary of the kind %q is not a unigram one", v.Model.Type)
	}
	var pieces []byte
	offsets, scores := []uint32{0}, []float32{}
	for i, p := range v.Model.Pieces {
		var piece string
		var score float64
		if len(p) != 2 || json.Unmarshal(p[0], &piece) != nil || json.Unmarshal(p[1], &score) != nil {
			return fmt.Errorf("piece %d is not a text and a score", i)
		}
		pieces = append(pieces, piece...)
		offsets, scores = append(offsets, uint32(len(pieces))), append(scores, float32(score))
	}
	c.Begin, c.End, c.Unknown = -1, -1, v.Model.Unknown
	for _, a := range v.Added {
		switch {
		case a.Content == "<s>":
			c.Begin = a.ID
		case a.Content == "</s>":
			c.End = a.ID
		case a.Special && a.ID != c.Unknown:
			c.Special = append(c.Special, a.ID)
		}
	}
	if c.Begin < 0 || c.End < 0 {
		return errors.New("it has no <s> or no </s>")
	}
	f.Tensors["pieces"] = local.Tensor{Type: "U8", Shape: []int{len(pieces)}, Data: pieces}
	f.Tensors["offsets"] = local.Numbers(offsets, len(offsets))
	f.Tensors["scores"] = local.Floats(scores, len(scores))
	return nil
}

// bert writes every tensor under its name in our file.
func bert(from *local.File, out *output, c local.Config, kinds int) {
	prefix := ""
	if _, ok := from.Tensors["bert.embeddings.word_embeddings.weight"]; ok {
		prefix = "bert."
	}
	take := func(name string, n int) []float32 {
		v, err := wide(from.Tensors[prefix+name], n)
		if err != nil {
			out.fail(fmt.Errorf("tensor %s: %w", prefix+name, err))
		}
		return v
	}
	h := c.Hidden
	norm := func(to, name string) {
		out.floats(to+".weight", take(name+".weight", h), h)
		out.floats(to+".bias", take(name+".bias", h), h)
	}
	out.whole("word", take("embeddings.word_embeddings.weight", c.Words*h), c.Words, h)
	out.floats("position", take("embeddings.position_embeddings.weight", c.Positions*h), c.Positions, h)
	if kind := take("embeddings.token_type_embeddings.weight", kinds*h); out.err == nil && kinds > 0 {
		out.floats("type", kind[:h], h)
	}
	norm("norm", "embeddings.LayerNorm")
	for i := 0; i < c.Layers && out.err == nil; i++ {
		name, to := "encoder.layer."+strconv.Itoa(i)+".", strconv.Itoa(i)+"."
		for _, m := range []struct {
			from, to  string
			outs, ins int
		}{
			{"attention.self.query", "query", h, h}, {"attention.self.key", "key", h, h},
			{"attention.self.value", "value", h, h}, {"attention.output.dense", "output", h, h},
			{"intermediate.dense", "up", c.Inner, h}, {"output.dense", "down", h, c.Inner},
		} {
			out.whole(to+m.to, take(name+m.from+".weight", m.outs*m.ins), m.outs, m.ins)
			out.floats(to+m.to+".bias", take(name+m.from+".bias", m.outs), m.outs)
		}
		norm(to+"attention_norm", name+"attention.output.LayerNorm")
		norm(to+"output_norm", name+"output.LayerNorm")
	}
}

// wide are the n values of a tensor of floating-point numbers of any width.
func wide(t local.Tensor, n int) ([]float32, error) {
	size := map[string]int{"F32": 4, "F16": 2, "BF16": 2}[t.Type]
	if size == 0 || len(t.Data) != size*n {
		return nil, fmt.Errorf("%v of %q are not %d floating-point values", t.Shape, t.Type, n)
	}
	out := make([]float32, n)
	for i := range out {
		switch t.Type {
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
		case "F16":
			out[i] = half(binary.LittleEndian.Uint16(t.Data[2*i:]))
		case "BF16":
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.Data[2*i:])) << 16)
		}
	}
	return out, nil
}
