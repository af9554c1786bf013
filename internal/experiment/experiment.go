// Package experiment assigns users to variants and says whether what was
// measured of them differs by more than noise (G3). It is pure.
package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// Assign returns the number of the variant of a user, by weights that are all
// positive. It is the first 64 bits of SHA-256 over salt and user as a point on
// the line on which each variant has its weight's share: the same user always
// gets the same variant, and another salt parts the users anew.
func Assign(salt, user string, weights []int) int {
	h := sha256.New()
	for _, part := range []string{salt, user} { // length-prefixed: no two pairs are one text
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	total := 0
	for _, w := range weights {
		total += w
	}
	point := float64(binary.BigEndian.Uint64(h.Sum(nil))>>11) / (1 << 53) * float64(total)
	for i, w := range weights {
		if point -= float64(w); point < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// Sum is what one user contributes to one metric: the sum over the user's
// requests and how many there were.
type Sum struct {
	Total float64
	N     int
}

// Comparison says how a metric of a variant differs from that of the control.
type Comparison struct {
	ControlMean float64 `json:"control_mean"` // of a request
	VariantMean float64 `json:"variant_mean"`
	Difference  float64 `json:"difference"` // variant less control
	Low         float64 `json:"low"`        // of the difference's interval
	High        float64 `json:"high"`
	Significant bool    `json:"significant"` // 0 lies outside of the interval
	Few         bool    `json:"few"`         // too few users for it to mean much
}

const (
	resamples = 2000
	// fewUsers is the number of users of a side below which a percentile
	// interval is too narrow to be trusted.
	fewUsers = 30
)

// Compare compares a metric of two groups of users. Users, not requests, are
// drawn at random and are therefore what is resampled: requests of one user
// resemble each other, and an interval that took them for independent would be
// too narrow (Kohavi, Tang and Xu, Trustworthy Online Controlled Experiments,
// 2020, ch. 18). The interval is the percentile bootstrap's (Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13) of the difference
// of the means of a request, at 1 - alpha/tests: Bonferroni's correction for
// the number of comparisons that are made together. The same sums give the same
// interval; their order does not matter.
//
// It holds for one look at an end that was decided on before. Who looks again
// and again, and stops at the first difference, finds one too often (Johari et
// al., Peeking at A/B Tests, KDD 2017).
func Compare(control, variant []Sum, alpha float64, tests int) Comparison {
	control, variant = sorted(control), sorted(variant)
	c := Comparison{ControlMean: mean(control), VariantMean: mean(variant), Few: min(len(control), len(variant)) < fewUsers}
	c.Difference = c.VariantMean - c.ControlMean
	if len(control) == 0 || len(variant) == 0 {
		return c
	}
	random := new(draw)
	draws := make([]float64, resamples)
	for i := range draws {
		draws[i] = resampled(random, variant) - resampled(random, control)
	}
	slices.Sort(draws)
	tail := alpha / float64(max(tests, 1)) / 2
	at := func(q float64) float64 { return draws[min(int(q*resamples), resamples-1)] }
	c.Low, c.High = at(tail), at(1-tail)
	c.Significant = !c.Few && (c.Low > 0 || c.High < 0)
	return c
}

func sorted(sums []Sum) []Sum {
	return slices.SortedFunc(slices.Values(sums), func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.N, b.N))
	})
}

// mean is the mean of a request over all users; 0 without requests.
func mean(users []Sum) float64 {
	total, n := 0.0, 0
	for _, u := range users {
		total, n = total+u.Total, n+u.N
	}
	return total / math.Max(float64(n), 1)
}

// draw is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014) from a fixed seed: the same report comes out again.
type draw uint64

// below draws a number below n, which is small beside 2^64.
func (d *draw) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// resampled is the mean of as many users, drawn with replacement.
func resampled(random *draw, users []Sum) float64 {
	total, n := 0.0, 0
	for range users {
		u := users[random.below(len(users))]
		total, n = total+u.Total, n+u.N
	}
	return total / math.Max(float64(n), 1)
}
