// Package dashscope reranks over Alibaba Cloud's Model Studio (百炼), whose
// gte-rerank and qwen3-rerank take the query and the documents within "input"
// and answer within "output".
package dashscope

import (
	"encoding/json"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is the endpoint in China (Beijing).
const DefaultURL = "https://dashscope.aliyuncs.com/api/v1"

const path = "/services/rerank/text-rerank/text-rerank"

// Options are what need not be given: the base, up to /api/v1, and a key.
type Options = llm.Endpoint

// New returns the reranker of that name.
func New(name string, options *Options) *rerank.Driver {
	return rerank.NewDriver(rerank.Dialect{Driver: "dashscope", URL: DefaultURL, Path: path, Write: write, Read: read}, name, options)
}

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

func write(model, query string, documents []string) any {
	return request{Model: model, Input: input{query, documents}, Parameters: parameters{TopN: len(documents)}}
}

func read(body []byte) ([]rerank.Ranked, rerank.Tokens, error) {
	var a answer
	err := json.Unmarshal(body, &a)
	lines := make([]rerank.Ranked, len(a.Output.Results))
	for i, l := range a.Output.Results {
		lines[i] = rerank.Ranked(l)
	}
	return lines, rerank.Tokens{In: int(a.Usage.Total)}, err
}
