package drivers

import (
	"maps"
	"slices"
	"time"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/rerank/cohere"
	"github.com/yiku-ai/yiku/rerank/dashscope"
	"github.com/yiku-ai/yiku/rerank/listwise"
	"github.com/yiku-ai/yiku/rerank/tei"
)

// RerankOptions are what a reranker is opened with.
type RerankOptions struct {
	Name    string
	URL     string // "" is the driver's own
	Key     string
	Model   llm.Model // the language model, for the driver model
	Timeout time.Duration
}

func rerankers() map[string]func(RerankOptions) rerank.Reranker {
	return map[string]func(RerankOptions) rerank.Reranker{
		"cohere": func(o RerankOptions) rerank.Reranker {
			return cohere.New(o.Name, &cohere.Options{URL: o.URL, Key: o.Key})
		},
		"tei": func(o RerankOptions) rerank.Reranker { return tei.New(o.Name, &tei.Options{URL: o.URL, Key: o.Key}) },
		"dashscope": func(o RerankOptions) rerank.Reranker {
			return dashscope.New(o.Name, &dashscope.Options{URL: o.URL, Key: o.Key})
		},
		"model": func(o RerankOptions) rerank.Reranker { return listwise.New(o.Model) },
	}
}

// Reranker opens the reranker of that driver, with its time budget around it;
// an unknown driver is ErrUnsupported.
func Reranker(driver string, opts RerankOptions) (rerank.Reranker, error) {
	open, ok := rerankers()[driver]
	if !ok {
		return nil, unknown("rerank driver", driver, slices.Sorted(maps.Keys(rerankers())))
	}
	return rerank.NewSteady(open(opts), opts.Timeout), nil
}
