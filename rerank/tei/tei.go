// Package tei reranks over Hugging Face's Text Embeddings Inference: a query
// and texts go in, a bare list of index and score comes out. The server has one
// model, chosen when it starts, and takes at most 32 texts at once unless its
// --max-client-batch-size says otherwise.
package tei

import (
	"encoding/json"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// DefaultURL is where a server on this machine listens.
const DefaultURL = "http://127.0.0.1:8080"

// Options are what need not be given: the base, to which /rerank is added, and a key.
type Options = llm.Endpoint

// New returns the reranker; the name is for records only.
func New(name string, options *Options) *rerank.Driver {
	return rerank.NewDriver(rerank.Dialect{Driver: "tei", URL: DefaultURL, Path: "/rerank", Write: write, Read: read}, name, options)
}

type request struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

func write(_, query string, documents []string) any {
	return request{Query: query, Texts: documents, Truncate: true}
}

// read finds no tokens: the server does not say what it took.
func read(body []byte) ([]rerank.Ranked, rerank.Tokens, error) {
	var a []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"score"`
	}
	err := json.Unmarshal(body, &a)
	lines := make([]rerank.Ranked, len(a))
	for i, l := range a {
		lines[i] = rerank.Ranked(l)
	}
	return lines, rerank.Tokens{}, err
}
