package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestB6_ToolDefinitions: six tools in both forms and languages, each property
// described, each required one there.
func TestB6_ToolDefinitions(t *testing.T) {
	type schema struct {
		Type       string
		Properties map[string]struct{ Type, Description string }
		Required   []string
	}
	want := []string{"core_memory_append", "core_memory_replace", "working_update", "conversation_search", "archival_memory_insert", "archival_memory_search"}
	for _, format := range []string{"openai", "anthropic"} {
		for _, language := range []string{"zh", "en"} {
			list, err := Definitions(format, language)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, raw := range list {
				var d struct {
					Type, Name, Description string
					InputSchema             schema `json:"input_schema"`
					Function                struct {
						Name, Description string
						Parameters        schema
					}
				}
				if err := json.Unmarshal(raw, &d); err != nil {
					t.Fatal(err)
				}
				if format == "openai" {
					if d.Type != "function" {
						t.Errorf("type %q", d.Type)
					}
					d.Name, d.Description, d.InputSchema = d.Function.Name, d.Function.Description, d.Function.Parameters
				}
				names = append(names, d.Name)
				texts := []string{d.Description}
				for name, p := range d.InputSchema.Properties {
					texts = append(texts, p.Description)
					if p.Type == "" {
						t.Errorf("%s.%s has no type", d.Name, name)
					}
				}
				for _, text := range texts {
					if han := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }); text == "" || han != (language == "zh") {
						t.Errorf("%s in %s: %q", d.Name, language, text)
					}
				}
				for _, r := range d.InputSchema.Required {
					if _, ok := d.InputSchema.Properties[r]; !ok {
						t.Errorf("%s requires %s, which it does not have", d.Name, r)
					}
				}
			}
			if !slices.Equal(names, want) {
				t.Errorf("tools %v", names)
			}
		}
	}
}
