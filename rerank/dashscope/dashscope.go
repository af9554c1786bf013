// Package dashscope reranks over Alibaba Cloud's Model Studio (百炼), whose
// gte-rerank and qwen3-rerank take the query and the documents within "input"
// and answer within "output".
package dashscope

import (
	"context"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is the endpoint in China (Beijing).
const DefaultURL = "https://dashscope.aliyuncs.com/api/v1"

const path = "/services/rerank/text-rerank/text-rerank"

// Options are what need not be given.
type Options struct {
	URL    string // the base, up to /api/v1; "" is DefaultURL
	Key    string // bearer
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

// Name returns dashscope/ and the model's name.
func (r *Reranker) Name() string { return "dashscope/" + r.name }

type request struct {
	Model      string     `json:"model"`
	Input      input      `json:"input"`
	Parameters parameters `json:"parameters"`
}

type input struct {
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
}

type parameters struct {
	TopN int `json:"top_n"`
}

type answer struct {
	Output struct {
		Results []struct {
			Index *int     `json:"index"`
			Score *float64 `json:"relevance_score"`
		} `json:"results"`
	} `json:"output"`
	Usage struct {
		Total llm.Tally `json:"total_tokens"`
	} `json:"usage"`
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
	body := request{Model: r.name, Input: input{query, documents}, Parameters: parameters{TopN: len(documents)}}
	if err := llm.Exchange(ctx, r.options.Client, strings.TrimSuffix(r.options.URL, "/")+path, header, body, &a); err != nil {
		return rerank.Response{}, err
	}
	lines := make([]rerank.Ranked, len(a.Output.Results))
	for i, l := range a.Output.Results {
		lines[i] = rerank.Ranked(l)
	}
	scores, err := rerank.Scores(lines, len(documents))
	return rerank.Response{Scores: scores, Tokens: rerank.Tokens{In: int(a.Usage.Total)}}, err
}
