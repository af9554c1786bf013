package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
)

// verifier is a service of which only VerifyIndex is asked.
type verifier struct {
	yiku.Service
	answer  yiku.VerifyIndexResponse
	rebuild bool // as it was asked last
}

func (v *verifier) VerifyIndex(_ context.Context, req yiku.VerifyIndexRequest) (yiku.VerifyIndexResponse, error) {
	v.rebuild = req.Rebuild
	return v.answer, nil
}

// TestF6_VerifyIndex: the command line names what differs in both languages and
// fails, but not where it was rebuilt.
func TestF6_VerifyIndex(t *testing.T) {
	t.Parallel()
	differs := yiku.VerifyIndexResponse{Users: 1, Documents: 30, Faults: yiku.IndexFaults{Missing: 22, Extra: 1, Position: 1}, Items: []yiku.IndexFault{
		{UserID: "ann", Fault: "position"},
		{UserID: "ann", Fault: "extra", Kind: "memory", Row: 77},
		{UserID: "ann", Fault: "missing", Kind: "message", ID: "m1", SessionID: "s1", Row: 5},
	}}
	for n := range 20 {
		differs.Items = append(differs.Items, yiku.IndexFault{UserID: "ann", Fault: "missing", Kind: "memory", ID: fmt.Sprint("id", n)})
	}
	rebuilt := differs
	rebuilt.Rebuilt = 1
	for _, c := range []struct {
		lang    string
		answer  yiku.VerifyIndexResponse
		rebuild bool
		fails   bool
		says    []string
	}{
		{"en", yiku.VerifyIndexResponse{Clean: true, Users: 2, Documents: 9}, false, false, []string{"agrees with the store: 2 users, 9 items"}},
		{"zh", yiku.VerifyIndexResponse{Clean: true, Users: 2, Documents: 9}, true, false, []string{"索引与存储一致", "9 项"}},
		{"en", differs, false, true, []string{"22 missing, 1 extra", "ann: ahead of the store\n", "ann: extra memory in row 77", "ann: missing message m1 of session s1", "and 3 more", "yiku verify --rebuild"}},
		{"zh", differs, false, true, []string{"缺少 22 项，多余 1 项", "ann: 多余 记忆 第 77 行", "m1（会话 s1）", "还有 3 项", "可以修复"}},
		{"en", rebuilt, true, false, []string{"22 missing", "rebuilt: 1 user"}},
		{"zh", rebuilt, true, false, []string{"已重建：1 个用户"}},
	} {
		var out bytes.Buffer
		tool := &tool{lang: c.lang, env: Env{Stdout: &out}}
		v := &verifier{answer: c.answer}
		if err := tool.verifyIndex(t.Context(), v, c.rebuild); errors.Is(err, errNotClean) != c.fails || err != nil && !c.fails || v.rebuild != c.rebuild {
			t.Errorf("%s: %v, asked to rebuild: %v", c.lang, err, v.rebuild)
		}
		for _, words := range c.says {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%s: no %q in\n%s", c.lang, words, out.String())
			}
		}
	}
}
