// Package cohere reranks over the /rerank form that Cohere began and that Jina,
// vLLM, SiliconFlow, Xinference, llama.cpp and many others serve: a model, a
// query and documents go in, results with index and relevance_score come out.
// They differ in the base's path and in where tokens are counted.
package cohere

import (
	"context"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is Cohere's own endpoint.
const DefaultURL = "https://api.cohere.com/v2"

// Options are what need not be given.
type Options struct {
	URL    string // the base, to which /rerank is added; "" is DefaultURL
	Key    string // bearer; "" sends none
	Client *http.Client
}

// Reranker is one model behind an endpoint.
type Reranker struct {
	name    string
	options Options
}

// New returns the reranker of that name.
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

// Name returns cohere/ and the model's name.
func (r *Reranker) Name() string { return "cohere/" + r.name }

type request struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type answer struct {
	Results []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"relevance_score"`
	} `json:"results"`
	Usage struct { // Jina, vLLM
		Total llm.Tally `json:"total_tokens"`
	} `json:"usage"`
	Meta struct { // SiliconFlow, and Cohere on its own clouds
		Tokens struct {
			In  llm.Tally `json:"input_tokens"`
			Out llm.Tally `json:"output_tokens"`
		} `json:"tokens"`
	} `json:"meta"`
}

// Rerank runs one exchange.
func (r *Reranker) Rerank(ctx context.Context, query string, documents []string) (rerank.Response, error) {
	if len(documents) == 0 {
		return rerank.Response{}, nil
	}
	header := http.Header{}
	if r.options.Key != "" {
		header.Set("Authorization", "Bearer "+r.options.Key)
	}
	var a answer
	body := request{Model: r.name, Query: query, Documents: documents, TopN: len(documents)}
	if err := llm.Exchange(ctx, r.options.Client, strings.TrimSuffix(r.options.URL, "/")+"/rerank", header, body, &a); err != nil {
		return rerank.Response{}, err
	}
	lines := make([]rerank.Ranked, len(a.Results))
	for i, l := range a.Results {
		lines[i] = rerank.Ranked(l)
	}
	scores, err := rerank.Scores(lines, len(documents))
	if err != nil {
		return rerank.Response{}, err
	}
	tokens := rerank.Tokens{In: int(a.Meta.Tokens.In), Out: int(a.Meta.Tokens.Out)}
	if a.Usage.Total > 0 {
		tokens = rerank.Tokens{In: int(a.Usage.Total)}
	}
	return rerank.Response{Scores: scores, Tokens: tokens}, nil
}
