// Package openai embeds over OpenAI's embeddings, as OpenAI, DashScope,
// SiliconFlow, vLLM, llama.cpp, Text Embeddings Inference and many others
// serve them.
package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is OpenAI's own endpoint.
const DefaultURL = "https://api.openai.com/v1"

// Options are what need not be given.
type Options struct {
	remote.Options
	URL    string // the base, to which /embeddings is added; "" is DefaultURL
	Key    string // bearer; "" sends none
	Client *http.Client
	// Base64 asks for vectors in base64, which is a quarter of the length; not
	// every endpoint knows it. Both forms are read, whichever comes.
	Base64 bool
}

// Open is the embedder of that model. Where Dimensions are given the endpoint is
// asked for vectors of so many values, which only some models can shorten to.
func Open(ctx context.Context, model string, options *Options) (*remote.Embedder, error) {
	e := endpoint{model: model}
	if options != nil {
		e.Options = *options
	}
	return remote.Open(ctx, "openai/"+model, e.ask, e.Options.Options)
}

type endpoint struct {
	Options
	model string
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format,omitempty"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Data []struct {
		Index     *int   `json:"index"` // among the texts; absent: as they stand
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// ask runs one exchange.
func (e endpoint) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body := request{Model: e.model, Input: texts, Dimensions: e.Dimensions}
	if e.Base64 {
		body.Encoding = "base64"
	}
	var a answer
	if err := (llm.Endpoint{URL: e.URL, Key: e.Key, Client: e.Client}).Exchange(ctx, DefaultURL, "/embeddings", body, &a); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(out) || out[at] != nil || len(d.Embedding) == 0 {
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder's vectors are not one for each text")
		}
		out[at] = d.Embedding
	}
	if len(a.Data) != len(texts) {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder gave %d vectors for %d texts", len(a.Data), len(texts))
	}
	return out, nil
}

// vector is read from a list of numbers or from base64 of little-endian float32.
type vector []float32

// UnmarshalJSON reads either form.
func (v *vector) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, (*[]float32)(v))
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("%d bytes are no vector", len(raw))
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}
