package cli

import (
	"context"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// checkVectors counts the people everything of whom has its vector of the model
// that the store's vectors are made with (H4).
func (t *tool) checkVectors(ctx context.Context, s store.Store) finding {
	model := s.Meta().Model
	if model == "" {
		return t.found("vectors", statusOK, phrase{"No vectors were made yet: words alone find.", "还没有生成向量：只按词查找。"})
	}
	people, whole, err := embeddedWith(ctx, s, model)
	switch {
	case err != nil:
		return t.found("vectors", statusFail, phrase{"The store cannot say who has vectors: %s.", "存储无法说明谁已有向量：%s。"}, t.describe(err))
	case whole < people:
		return t.found("vectors", statusWarn, phrase{
			"%d of %d users have all of their vectors of %s; the running server makes the others.",
			"%d/%d 个用户的向量已全部由 %s 生成；其余由运行中的服务继续生成。",
		}, whole, people, model)
	}
	return t.found("vectors", statusOK, phrase{"All of %d users have their vectors of %s.", "全部 %d 个用户的向量都由 %s 生成。"}, people, model)
}

// embeddedWith counts those who have anything, and those of them who are found
// by a model's vectors.
func embeddedWith(ctx context.Context, s store.Store, model string) (people, whole int, err error) {
	const page = 1000
	for last := (yiku.Owner{}); ; {
		owners, err := s.Owners(ctx, last, page)
		if err != nil || len(owners) == 0 {
			return people, whole, err
		}
		last = owners[len(owners)-1]
		err = s.View(ctx, func(r store.Reader) error {
			for _, owner := range owners {
				state, err := r.Owner(owner)
				if err != nil {
					return err
				}
				if state.Seq > 0 {
					people++
				}
				if state.Embedded == model {
					whole++
				}
			}
			return nil
		})
		if err != nil {
			return people, whole, err
		}
	}
}
