package weights

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/local"
)

// realModel is the default model, where make test or yiku model pull has fetched it.
func realModel(t testing.TB) *local.Embedder {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("SKIP: no cache directory, so no model: ", err)
	}
	path := Path(filepath.Join(cache, "yiku", "models"), Default)
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIP: the model was not fetched: make model")
	}
	e, err := local.Open(path, &local.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestD2_RealModel: with the real weights a question is nearest to its answer,
// in Chinese and in English. (Across languages that holds for long texts; see
// docs/decisions/013. Short ones are near to many.)
func TestD2_RealModel(t *testing.T) {
	e := realModel(t)
	for language, c := range map[string]struct{ answers, questions []string }{
		"English": {
			[]string{"I have been a nurse at the children's hospital since 2019.", "The quarterly report is due on Friday.", "We moved to Lisbon last spring.", "My brother is allergic to peanuts."},
			[]string{"What does she do for a living?", "When must the report be handed in?", "Which city do they live in now?", "Which food must he avoid?"},
		},
		"Chinese": {
			[]string{"我家的猫叫豆豆，今年三岁。", "他对青霉素过敏。", "周末我喜欢去爬山。", "去年秋天我们搬到了成都。"},
			[]string{"宠物叫什么名字？", "他不能用什么药？", "她休息的时候爱做什么？", "他们现在住在哪个城市？"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			passages, err := e.Embed(t.Context(), c.answers, embed.Passage)
			if err != nil {
				t.Fatal(err)
			}
			queries, err := e.Embed(t.Context(), c.questions, embed.Query)
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range queries {
				for j, p := range passages {
					if embedtest.Dot(q, p) > embedtest.Dot(q, passages[i]) {
						t.Errorf("%q is nearer to %q than to its answer", c.questions[i], c.answers[j])
					}
				}
			}
		})
	}
}

// TestD2_RealModelUnrelated: what is usual between texts that have nothing to
// do with each other is far from what relates.
func TestD2_RealModelUnrelated(t *testing.T) {
	e := realModel(t)
	mean, deviation, err := embed.Unrelated(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Embed(t.Context(), []string{"猫", "cat"}, embed.Passage)
	if err != nil {
		t.Fatal(err)
	}
	if z := (embedtest.Dot(v[0], v[1]) - mean) / deviation; z < 3 || math.IsNaN(z) {
		t.Errorf("one animal in two languages is %.1f deviations above the usual %.3f ± %.3f", z, mean, deviation)
	}
}
