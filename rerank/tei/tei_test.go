package tei_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/rerank/reranktest"
	"github.com/yiku-ai/yiku/rerank/tei"
)

// TestD11_TEI runs the suite of rerankers over Text Embeddings Inference's form.
func TestD11_TEI(t *testing.T) {
	t.Parallel()
	form := reranktest.Form{Path: "/rerank",
		Read: func(body []byte) (string, []string, error) {
			var in struct {
				Query    string
				Texts    []string
				Truncate bool
			}
			err := json.Unmarshal(body, &in)
			if err == nil && !in.Truncate {
				err = errors.New("long texts would be refused")
			}
			return in.Query, in.Texts, err
		},
		Write: func(scores []float64) string {
			var lines []string
			for i, s := range scores {
				lines = append([]string{fmt.Sprintf(`{"index":%d,"score":%v}`, i, s)}, lines...)
			}
			return "[" + strings.Join(lines, ",") + "]"
		},
	}
	reranktest.Run(t, reranktest.Driver{Form: form,
		Open: func(url, key string) rerank.Reranker { return tei.New("m", &tei.Options{URL: url, Key: key}) },
		Bad: map[string]string{
			"none":         `[]`,
			"index beyond": `[{"index":0,"score":1},{"index":1,"score":1},{"index":3,"score":1}]`,
			"index twice":  `[{"index":0,"score":1},{"index":1,"score":1},{"index":1,"score":1}]`,
			"score null":   `[{"index":0,"score":1},{"index":1,"score":1},{"index":2,"score":null}]`,
			"an error":     `{"error":"model is overloaded","error_type":"overloaded"}`,
		}})
}
