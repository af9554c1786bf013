package cohere_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/rerank/cohere"
	"github.com/yiku-ai/yiku/rerank/reranktest"
)

// form is the protocol with what each of those who serve it has beside:
// documents echoed, tokens counted here or there.
func form(path, beside string) reranktest.Form {
	return reranktest.Form{Path: path + "/rerank",
		Read: func(body []byte) (string, []string, error) {
			var in struct {
				Model     string
				Query     string
				Documents []string
				TopN      int `json:"top_n"`
			}
			err := json.Unmarshal(body, &in)
			if err == nil && (in.Model != "m" || in.TopN != len(in.Documents)) {
				err = fmt.Errorf("model %q, top_n %d", in.Model, in.TopN)
			}
			return in.Query, in.Documents, err
		},
		Write: func(scores []float64) string {
			var lines []string
			for i := len(scores) - 1; i >= 0; i-- {
				lines = append(lines, fmt.Sprintf(`{"index":%d,"document":{"text":"echo"},"relevance_score":%v}`, i, scores[i]))
			}
			return `{"id":"r-1","results":[` + strings.Join(lines, ",") + `]` + beside + `}`
		},
	}
}

func line(index, score string) string {
	return `{"index":` + index + `,"relevance_score":` + score + `}`
}

// TestD11_Cohere runs the suite of rerankers over the form that is shared.
func TestD11_Cohere(t *testing.T) {
	t.Parallel()
	wrap := func(lines ...string) string { return `{"results":[` + strings.Join(lines, ",") + `]}` }
	reranktest.Run(t, reranktest.Driver{Form: form("/v2", `,"meta":{"billed_units":{"search_units":1}}`),
		Open: func(url, key string) rerank.Reranker {
			return cohere.New("m", &cohere.Options{URL: url + "/v2", Key: key})
		},
		Bad: map[string]string{
			"no results":    `{"id":"x"}`,
			"index beyond":  wrap(line("0", "1"), line("1", "1"), line("3", "1")),
			"index below":   wrap(line("0", "1"), line("1", "1"), line("-1", "1")),
			"index twice":   wrap(line("0", "1"), line("1", "1"), line("1", "2")),
			"index missing": wrap(line("0", "1"), line("1", "1"), `{"relevance_score":1}`),
			"score missing": wrap(line("0", "1"), line("1", "1"), `{"index":2}`),
			"score null":    wrap(line("0", "1"), line("1", "1"), line("2", "null")),
			"score NaN":     wrap(line("0", "1"), line("1", "1"), line("2", "NaN")),
			"score beyond":  wrap(line("0", "1"), line("1", "1"), line("2", "1e999")),
			"score as text": wrap(line("0", "1"), line("1", "1"), line("2", `"0.5"`)),
			"fewer":         wrap(line("0", "1"), line("1", "1")),
		}})
}

// TestG6_RerankTokens: tokens are read wherever an endpoint counts them.
func TestG6_RerankTokens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path, beside string
		want         rerank.Tokens
	}{
		"cohere":      {"/v2", `,"meta":{"billed_units":{"search_units":1}}`, rerank.Tokens{}},
		"jina":        {"/v1", `,"model":"m","usage":{"total_tokens":25}`, rerank.Tokens{In: 25}},
		"vllm":        {"", `,"model":"m","usage":{"total_tokens":56}`, rerank.Tokens{In: 56}},
		"siliconflow": {"/v1", `,"meta":{"tokens":{"input_tokens":19,"output_tokens":2}}`, rerank.Tokens{In: 19, Out: 2}},
	} {
		_, url := reranktest.Serve(t, form(test.path, test.beside))
		res, err := cohere.New("m", &cohere.Options{URL: url + test.path + "/"}).Rerank(t.Context(), "q", []string{"a", "b"})
		if err != nil || res.Tokens != test.want {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}
