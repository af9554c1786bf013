package app

import (
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
)

// openReranker opens the reranker that is configured; nil where none is. The
// driver model asks the language model that is given.
func openReranker(r config.Rerank, model llm.Model) (rerank.Reranker, error) {
	if r.Driver == "" {
		return nil, nil
	}
	return drivers.Reranker(r.Driver, drivers.RerankOptions{Name: r.Name, URL: r.URL, Key: r.Key, Model: model, Timeout: r.Timeout})
}
