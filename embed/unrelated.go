package embed

import (
	"context"
	"math"
)

// unrelatedTexts have nothing to do with each other.
func unrelatedTexts() []string {
	return []string{
		"The ferry leaves at seven in the morning.", "My sister plays the cello.", "这道题要用到二次方程。", "厨房的水龙头又漏水了。",
		"Please send the invoice to the accounting office.", "A fox crossed the road near the forest.", "他对花生过敏。", "这座桥是一九三七年建成的。",
		"The server runs out of memory every night.", "We had soup and bread for lunch.", "妹妹下个月要去北海道滑雪。", "请把合同的第三页再打印一份。",
		"Gold is heavier than iron.", "The match ended without a goal.", "窗外的桂花开了。", "新来的同事负责数据库。",
	}
}

// leastDeviation is below what any model spreads unrelated texts.
const leastDeviation = 0.01

// Unrelated measures what cosine a model's queries and passages have that have
// nothing to do with each other: the mean and the standard deviation over
// sixteen short texts of two languages, each against the others.
func Unrelated(ctx context.Context, e Embedder) (mean, deviation float64, err error) {
	texts := unrelatedTexts()
	passages, err := e.Embed(ctx, texts, Sample)
	if err != nil {
		return 0, 0, err
	}
	queries, err := e.Embed(ctx, texts, Query)
	if err != nil {
		return 0, 0, err
	}
	var sum, squares, n float64
	for i, q := range queries {
		for j, p := range passages {
			if i == j {
				continue
			}
			var cosine float64
			for k := range q {
				cosine += float64(q[k]) * float64(p[k])
			}
			sum, squares, n = sum+cosine, squares+cosine*cosine, n+1
		}
	}
	mean = sum / n
	return mean, max(leastDeviation, math.Sqrt(max(0, squares/n-mean*mean))), nil
}
