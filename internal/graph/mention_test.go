package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// TestD2_MayName: what a question names is among what it may name, in both
// languages; what it does not is not a place.
func TestD2_MayName(t *testing.T) {
	t.Parallel()
	r := graph.NewReader(reconcile.NewVocabulary())
	for question, want := range map[string]string{
		"Where does my sister's husband work?": "my sister's husband", "我老婆在哪里上班？": "我老婆", "我妹妹的老公做什么工作": "我妹妹的老公", "what about my boss's wife": "my boss's wife",
	} {
		places, _ := r.MayName(question)
		if !slices.ContainsFunc(places, func(n graph.Node) bool { return n.Name == r.Name(want).Name }) {
			t.Errorf("%q: places %q lack %q", question, places, want)
		}
	}
	for question, want := range map[string]string{"Where does Anna Smith live": "anna smith", "is ACME's office open": "acme", "王建国住在哪里": "王建国", "问问张总的意见": "张总"} {
		places, names := r.MayName(question)
		if len(places) != 0 || !slices.ContainsFunc(names, func(n graph.Node) bool { return n.Name == want }) {
			t.Errorf("%q: places %v, names %v; want %q", question, places, names, want)
		}
	}
	if places, names := r.MayName(strings.Repeat("a long question, ", 500) + "我" + strings.Repeat("的", 500)); len(places) != 0 || len(names) > 300 {
		t.Errorf("%d places and %d names", len(places), len(names))
	}
}
