package cli

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

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

// checkIndex says what the running server's index takes of memory, for a memory
// and for a user.
func (t *tool) checkIndex(ctx context.Context, url, key string) finding {
	m, err := metrics(ctx, url, key, "yiku_index_")
	if err != nil {
		return t.found("index", statusWarn, phrase{"The server does not say what its index takes: %s.", "服务未说明索引占用：%s。"}, t.errText(err))
	}
	owners, documents := m["owners"], m["documents"]
	if documents == 0 {
		return t.found("index", statusOK, phrase{"Nobody is loaded into the index.", "索引中还没有载入任何用户。"})
	}
	return t.found("index", statusOK, phrase{
		"%.0f users with %.0f memories and messages are loaded into the index: %.1f MB, %.0f bytes for each user, %.0f for each memory or message (vectors %.0f, words %.0f, the rest %.0f).",
		"索引已载入 %.0f 个用户的 %.0f 条记忆和消息：%.1f MB，平均每个用户 %.0f 字节，每条 %.0f 字节（向量 %.0f，词 %.0f，其余 %.0f）。",
	}, owners, documents, m["bytes"]/1e6, m["bytes"]/owners, m["bytes"]/documents, m["vector_bytes"]/documents, m["posting_bytes"]/documents, m["row_bytes"]/documents)
}

// metrics reads the numbers of a server whose names begin so, by the rest of
// their names.
func metrics(ctx context.Context, url, key, prefix string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or given up
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	out := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name, ok := strings.CutPrefix(name, prefix); ok {
			if out[name], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, fmt.Errorf("the metric %s is no number", name)
			}
		}
	}
	return out, lines.Err()
}
