package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/llm"
)

// TestC4_ModelsPage: every command of docs/models.md is one that the program
// takes, and opens a model.
func TestC4_ModelsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^yiku serve (.*?)\s*#`).FindAllStringSubmatch(string(page), -1)
	if len(commands) < 12 {
		t.Fatalf("%d commands were found", len(commands))
	}
	for _, command := range commands {
		values := map[string]string{}
		for _, set := range strings.Split(command[1], "--set ")[1:] {
			name, value, _ := strings.Cut(strings.TrimSpace(set), "=")
			values[name] = value
		}
		cfg, err := config.Load(nil, values)
		if err != nil {
			t.Errorf("%s: %v", command[1], err)
			continue
		}
		m := cfg.Model
		model, err := drivers.Model(m.Driver, drivers.ModelOptions{Name: m.Name, Options: llm.Options{URL: m.URL}})
		if err != nil || model.Name() != m.Driver+"/"+m.Name {
			t.Errorf("%s: %v", command[1], err)
		}
	}
}
