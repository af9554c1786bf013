// Package tool holds the definitions of the memory tools that a model may call
// (B6), in the forms of the two APIs and in both languages.
package tool

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed tools.json
var definitions []byte

// words are a text in both languages.
type words map[string]string

// definition is a tool as tools.json has it.
type definition struct {
	Name        string                    `json:"name"`
	Description words                     `json:"description"`
	Properties  map[string]map[string]any `json:"properties"`
	Required    []string                  `json:"required"`
}

// Definitions returns the tools in the form of openai or anthropic, with
// descriptions in zh or en.
func Definitions(format, language string) ([]json.RawMessage, error) {
	var all []definition
	if err := json.Unmarshal(definitions, &all); err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	out := make([]json.RawMessage, len(all))
	for i, d := range all {
		for _, p := range d.Properties {
			if both, ok := p["description"].(map[string]any); ok {
				p["description"] = both[language]
			}
		}
		schema := map[string]any{"type": "object", "properties": d.Properties, "required": d.Required, "additionalProperties": false}
		form := map[string]any{"name": d.Name, "description": d.Description[language], "input_schema": schema}
		if format == "openai" {
			form = map[string]any{"type": "function", "function": map[string]any{"name": d.Name, "description": d.Description[language], "parameters": schema}}
		}
		raw, err := json.Marshal(form)
		if err != nil {
			return nil, fmt.Errorf("write tools: %w", err)
		}
		out[i] = raw
	}
	return out, nil
}
