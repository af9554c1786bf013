package rerank

import (
	"context"
	"time"

	"github.com/yiku-ai/yiku/llm"
)

// DefaultTimeout is how long a reranker may take where nothing else is said.
const DefaultTimeout = time.Second

// Steady is a reranker with a hard time budget and a breaker around it, as
// llm.Patient has them. Nothing is tried again: somebody waits for the answer,
// and has one without it.
type Steady struct {
	reranker Reranker
	patient  *llm.Patient[Response]
}

// NewSteady puts a time budget around a reranker; 0 is DefaultTimeout.
func NewSteady(r Reranker, timeout time.Duration) *Steady {
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return &Steady{r, llm.NewPatient[Response](&llm.Patience{Timeout: timeout, Attempts: 1})}
}

// Name is the reranker's own.
func (s *Steady) Name() string { return s.reranker.Name() }

// Open reports whether the breaker keeps calls away.
func (s *Steady) Open() bool { return s.patient.Open() }

// Rerank asks the reranker, for as long as it may take. One that does not heed
// its context is not waited for.
func (s *Steady) Rerank(ctx context.Context, query string, documents []string) (Response, error) {
	type answer struct {
		res Response
		err error
	}
	return s.patient.Ask(ctx, func(ctx context.Context) (Response, error) {
		came := make(chan answer, 1)
		go func() {
			res, err := s.reranker.Rerank(ctx, query, documents)
			came <- answer{res, err}
		}()
		select {
		case a := <-came:
			return a.res, a.err
		case <-ctx.Done():
			return Response{}, ctx.Err()
		}
	})
}
