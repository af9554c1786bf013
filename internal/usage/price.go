package usage

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Prices are what models take for a million tokens, in USD, as text:
// "gpt-4o-mini=0.15/0.6,*=1/2", prompt and answer by the model's name, where *
// is every model that is not named.
type Prices string

// Rate is what a million tokens cost, in USD.
type Rate struct {
	In, Out float64
}

// Cost is what tokens cost.
func (r Rate) Cost(in, out int64) float64 { return Price(in, r.In) + Price(out, r.Out) }

// ParsePrices reads the text that Prices is, without its blanks.
func ParsePrices(text string) (Prices, error) {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" && text == "" {
			continue
		}
		model, rate, found := strings.Cut(part, "=")
		if model = strings.TrimSpace(model); !found || model == "" {
			return "", errPrices()
		}
		in, out, both := strings.Cut(rate, "/")
		for _, number := range []string{in, out} {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if !both || err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
				return "", errPrices()
			}
		}
		parts = append(parts, model+"="+strings.TrimSpace(in)+"/"+strings.TrimSpace(out))
	}
	return Prices(strings.Join(parts, ",")), nil
}

func errPrices() error {
	return errors.New("must be model=in/out pairs with commas, in USD for a million tokens, such as gpt-4o-mini=0.15/0.6,*=1/2")
}

// Of returns a model's rate; false where none is known. The model may bear its
// driver's name ("openai/gpt-4o-mini").
func (p Prices) Of(model string) (Rate, bool) {
	var rest *Rate
	for part := range strings.SplitSeq(string(p), ",") {
		name, text, _ := strings.Cut(part, "=")
		in, out, _ := strings.Cut(text, "/")
		var r Rate
		r.In, _ = strconv.ParseFloat(in, 64) // checked when it was read
		r.Out, _ = strconv.ParseFloat(out, 64)
		if name != "" && (name == model || strings.HasSuffix(model, "/"+name)) {
			return r, true
		}
		if name == "*" {
			rest = &r
		}
	}
	if rest == nil {
		return Rate{}, false
	}
	return *rest, true
}
