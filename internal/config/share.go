package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
)

// Shares are numbers by tenant, as text: "acme=100000,*=5000", where * is
// every tenant that is not named.
type Shares string

// Of returns a function that gives a tenant's number; 0 where there is none.
func (s Shares) Of() func(tenant string) int {
	numbers := map[string]int{}
	for part := range strings.SplitSeq(string(s), ",") {
		tenant, number, _ := strings.Cut(part, "=")
		numbers[tenant], _ = strconv.Atoi(number) // 0 for the empty text; checked when it was read
	}
	return func(tenant string) int {
		if n, ok := numbers[tenant]; ok {
			return n
		}
		return numbers["*"]
	}
}

// parseShares reads the text that Shares is, without its blanks.
func parseShares(text string) (Shares, error) {
	if text == "" {
		return "", nil
	}
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		tenant, number, found := strings.Cut(part, "=")
		tenant, number = strings.TrimSpace(tenant), strings.TrimSpace(number)
		if n, err := strconv.Atoi(number); !found || err != nil || n < 0 || yiku.CheckID("tenant", tenant) != nil {
			return "", errors.New("must be tenant=number pairs with commas, such as acme=1000,*=50")
		}
		parts = append(parts, tenant+"="+number)
	}
	return Shares(strings.Join(parts, ",")), nil
}
