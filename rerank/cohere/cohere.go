// Package cohere reranks over the /rerank form that Cohere began and that Jina,
// vLLM, SiliconFlow, Xinference, llama.cpp and many others serve: a model, a
// query and documents go in, results with index and relevance_score come out.
// They differ in the base's path and in where tokens are counted.
package cohere

import (
	"encoding/json"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is Cohere's own endpoint.
const DefaultURL = "https://api.cohere.com/v2"

// Options are what need not be given: the base, to which /rerank is added, and a key.
type Options = llm.Endpoint

// New returns the reranker of that name.
func New(name string, options *Options) *rerank.Driver {
	return rerank.NewDriver(rerank.Dialect{Driver: "cohere", URL: DefaultURL, Path: "/rerank", Write: write, Read: read}, name, options)
}

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

func write(model, query string, documents []string) any {
	return request{Model: model, Query: query, Documents: documents, TopN: len(documents)}
}

func read(body []byte) ([]rerank.Ranked, rerank.Tokens, error) {
	var a answer
	err := json.Unmarshal(body, &a)
	lines := make([]rerank.Ranked, len(a.Results))
	for i, l := range a.Results {
		lines[i] = rerank.Ranked(l)
	}
	tokens := rerank.Tokens{In: int(a.Meta.Tokens.In), Out: int(a.Meta.Tokens.Out)}
	if a.Usage.Total > 0 {
		tokens = rerank.Tokens{In: int(a.Usage.Total)}
	}
	return lines, tokens, err
}
