package config

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku/internal/usage"
)

// WriteYAML writes the configuration as a file that gives it again, with what
// each key means and the variable that sets it. Secrets are left out.
func (c Config) WriteYAML(w io.Writer) error {
	var open []string // the groups that the last key was in
	for _, k := range Keys() {
		if k.IsSecret() {
			continue
		}
		path := strings.Split(k.Name, ".")
		groups, name := path[:len(path)-1], path[len(path)-1]
		for depth, group := range groups {
			if depth < len(open) && open[depth] == group {
				continue
			}
			if _, err := fmt.Fprintf(w, "%s%s:\n", strings.Repeat("  ", depth), group); err != nil {
				return err
			}
			open = append(open[:depth:depth], group)
		}
		open = groups
		margin := strings.Repeat("  ", len(groups))
		if _, err := fmt.Fprintf(w, "%s# %s (%s)\n%s%s: %s\n", margin, k.Doc, k.Env(), margin, name, yamlValue(k.at(&c))); err != nil {
			return err
		}
	}
	return nil
}

// yamlValue writes a value so that YAML takes texts as texts.
func yamlValue(field any) string {
	switch field.(type) {
	case *string, *Shares, *usage.Prices:
		return strconv.Quote(format(field))
	}
	return format(field)
}
