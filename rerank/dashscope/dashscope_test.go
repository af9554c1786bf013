package dashscope_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/rerank/dashscope"
	"github.com/yiku-ai/yiku/rerank/reranktest"
)

// TestD11_DashScope runs the suite of rerankers over Model Studio's form.
func TestD11_DashScope(t *testing.T) {
	t.Parallel()
	form := reranktest.Form{Path: "/api/v1/services/rerank/text-rerank/text-rerank",
		Read: func(body []byte) (string, []string, error) {
			var in struct {
				Model string
				Input struct {
					Query     string
					Documents []string
				}
				Parameters struct {
					TopN int `json:"top_n"`
				}
			}
			err := json.Unmarshal(body, &in)
			if err == nil && (in.Model != "gte-rerank-v2" || in.Parameters.TopN != len(in.Input.Documents)) {
				err = fmt.Errorf("model %q, top_n %d", in.Model, in.Parameters.TopN)
			}
			return in.Input.Query, in.Input.Documents, err
		},
		Write: func(scores []float64) string {
			var lines []string
			for i, s := range scores {
				lines = append([]string{fmt.Sprintf(`{"index":%d,"relevance_score":%v}`, i, s)}, lines...)
			}
			return `{"output":{"results":[` + strings.Join(lines, ",") + `]},"usage":{"total_tokens":79},"request_id":"r"}`
		},
	}
	open := func(url, key string) rerank.Reranker {
		return dashscope.New("gte-rerank-v2", &dashscope.Options{URL: url + "/api/v1", Key: key})
	}
	reranktest.Run(t, reranktest.Driver{Form: form, Open: open,
		Bad: map[string]string{
			"no output":    `{"request_id":"r"}`,
			"index beyond": `{"output":{"results":[{"index":9,"relevance_score":1},{"index":1,"relevance_score":1},{"index":2,"relevance_score":1}]}}`,
			"score null":   `{"output":{"results":[{"index":0,"relevance_score":null},{"index":1,"relevance_score":1},{"index":2,"relevance_score":1}]}}`,
			"an error":     `{"code":"InvalidParameter","message":"x"}`,
		}})
	_, url := reranktest.Serve(t, form)
	if res, err := open(url, "").Rerank(t.Context(), "q", []string{"a"}); err != nil || res.Tokens != (rerank.Tokens{In: 79}) {
		t.Errorf("tokens: %+v, %v", res, err)
	}
}
