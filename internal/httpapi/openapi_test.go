package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestF1_OpenAPI keeps the committed document in step with the table.
func TestF1_OpenAPI(t *testing.T) {
	t.Parallel()
	doc, err := httpapi.Document("")
	if err != nil {
		t.Fatal(err)
	}
	again, err := httpapi.Document("")
	if err != nil || !bytes.Equal(doc, again) {
		t.Fatal("two documents differ")
	}
	doc = append(doc, '\n')
	file := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(doc)); diff != "" {
		t.Errorf("docs/openapi.json is not that of the table; run the test with -update (-file +table):\n%s", diff)
	}
}

// TestF1_OpenAPIIsComplete asserts that every operation of the table stands in
// the document under its id, and that every reference leads somewhere.
func TestF1_OpenAPIIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	rec := w.send("GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %q", doc.OpenAPI)
	}
	for _, op := range wire.Operations() {
		if got := doc.Paths[op.Path][strings.ToLower(op.Method)].OperationID; got != op.ID {
			t.Errorf("%s %s has the operationId %q; want %q", op.Method, op.Path, got, op.ID)
		}
	}
	for _, ref := range strings.Split(rec.Body.String(), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("the reference %q leads nowhere", name)
		}
	}
}
