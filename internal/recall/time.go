package recall

import (
	"time"

	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Times returns the times that a query asks about (D9), the words to look for
// beside them, and the weight of what else it says, for [Fusion.Asks]. now is
// the asker's clock.
func Times(query string, now time.Time) (spans []index.Span, words string, rest float64) {
	q := lang.Asked(query, now)
	if len(q.Times) == 0 {
		return nil, query, 0
	}
	for _, s := range q.Times {
		spans = append(spans, index.Span(s))
	}
	for _, t := range lang.NewAnalyzer(nil).Query(q.Rest) {
		rest += float64(t.Weight)
	}
	return spans, q.Words, rest
}
