package engine

import (
	"context"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/store"
)

// Handler is what runs an engine's jobs, for tests that deliver them themselves.
func (e *Engine) Handler() jobs.Handler { return handler{e} }

// DocOf is the document that a memory is found by, without its vector.
func DocOf(ctx context.Context, s store.Store, owner yiku.Owner, ref index.Ref) (doc index.Doc, err error) {
	err = s.View(ctx, func(r store.Reader) error {
		all, err := docs(r, owner, []int64{ref.Key}, nil, "")
		if len(all) == 1 {
			doc = all[0]
		}
		return err
	})
	return doc, err
}
