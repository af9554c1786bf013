// Package tei reranks over Hugging Face's Text Embeddings Inference: a query
// and texts go in, a bare list of index and score comes out. The server has one
// model, chosen when it starts, and takes at most 32 texts at once unless its
// --max-client-batch-size says otherwise.
package tei

import (
	"context"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is where a server on this machine listens.
const DefaultURL = "http://127.0.0.1:8080"

// Options are what need not be given.
type Options struct {
	URL    string // the base, to which /rerank is added; "" is DefaultURL
	Key    string // bearer; "" sends none
	Client *http.Client
}

// Reranker is one server.
type Reranker struct {
	name    string
	options Options
}

// New returns the reranker; the name is for records only.
func New(name string, options *Options) *Reranker {
	r := &Reranker{name: name}
	if options != nil {
		r.options = *options
	}
	if r.options.URL == "" {
		r.options.URL = DefaultURL
	}
	if r.options.Client == nil {
		r.options.Client = llm.NoRedirects
	}
	return r
}

// Name returns tei/ and the name given.
func (r *Reranker) Name() string { return "tei/" + r.name }

type request struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// Rerank runs one exchange. The server does not say what it took.
func (r *Reranker) Rerank(ctx context.Context, query string, documents []string) (rerank.Response, error) {
	if len(documents) == 0 {
		return rerank.Response{}, nil
	}
	header := http.Header{}
	if r.options.Key != "" {
		header.Set("Authorization", "Bearer "+r.options.Key)
	}
	var a []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"score"`
	}
	body := request{Query: query, Texts: documents, Truncate: true}
	if err := llm.Exchange(ctx, r.options.Client, strings.TrimSuffix(r.options.URL, "/")+"/rerank", header, body, &a); err != nil {
		return rerank.Response{}, err
	}
	lines := make([]rerank.Ranked, len(a))
	for i, l := range a {
		lines[i] = rerank.Ranked(l)
	}
	scores, err := rerank.Scores(lines, len(documents))
	return rerank.Response{Scores: scores}, err
}
