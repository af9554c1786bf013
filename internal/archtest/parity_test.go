package archtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

func serviceMethods() []string {
	var names []string
	service := reflect.TypeFor[yiku.Service]()
	for i := range service.NumMethod() {
		names = append(names, service.Method(i).Name)
	}
	return names
}

// TestParity holds every operation against every path: each method of
// yiku.Service has one entry in the operation table, with its own types, and
// so a route; the client has it; the OpenAPI document shows it; the suite of
// the service exercises it.
// Lessons: L26, L62.
func TestParity(t *testing.T) {
	t.Parallel()
	tree := load(t)
	methods := serviceMethods()

	t.Run("wire", func(t *testing.T) {
		t.Parallel()
		service := reflect.TypeFor[yiku.Service]()
		entries, routes := map[string]bool{}, map[string]string{}
		for _, op := range wire.Operations() {
			name := MethodOf(op.ID)
			method, ok := service.MethodByName(name)
			if !ok {
				t.Errorf("operation %s: yiku.Service has no method %s", op.ID, name)
				continue
			}
			if entries[name] {
				t.Errorf("operation %s stands twice in the table", op.ID)
			}
			entries[name] = true
			if method.Type.In(1) != op.Request || method.Type.Out(0) != op.Response {
				t.Errorf("operation %s: types are not those of %s", op.ID, name)
			}
			route := op.Method + " " + op.Path
			if other := routes[route]; other != "" {
				t.Errorf("operations %s and %s share the route %s", other, op.ID, route)
			}
			routes[route] = op.ID
		}
		if missing := Absent(methods, entries); len(missing) > 0 {
			t.Errorf("methods without an entry in internal/wire: %v", missing)
		}
	})
	t.Run("client", func(t *testing.T) {
		t.Parallel()
		has, ok := Methods(tree, "client", "Client")
		if !ok {
			t.Fatal("there is no package client")
		}
		if missing := Absent(methods, has); len(missing) > 0 {
			t.Errorf("methods that client.Client lacks: %v", missing)
		}
	})
	t.Run("suite", func(t *testing.T) {
		t.Parallel()
		calls, ok := Selected(tree, "internal/servicetest")
		if !ok {
			t.Fatal("there is no package internal/servicetest")
		}
		if missing := Absent(methods, calls); len(missing) > 0 {
			t.Errorf("operations that internal/servicetest never calls: %v", missing)
		}
	})
	t.Run("openapi", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile(filepath.Join(root, "docs", "openapi.json"))
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Paths map[string]map[string]struct {
				OperationID string `json:"operationId"`
			} `json:"paths"`
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		want, got := map[string]string{}, map[string]string{}
		for _, op := range wire.Operations() {
			want[op.Method+" "+op.Path] = op.ID
		}
		for path, item := range document.Paths {
			for method, op := range item {
				if strings.HasPrefix(path, "/v1/") {
					got[strings.ToUpper(method)+" "+path] = op.OperationID
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("docs/openapi.json (-table +document):\n%s", diff)
		}
	})
}

// TestParityControl is the control: a client and a suite that lack an operation.
func TestParityControl(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "parity.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"GetContext", "GetMemory"}
	has, ok := Methods(tree, "client", "Client")
	if missing := Absent(want, has); !ok || len(missing) != 1 || missing[0] != "GetMemory" {
		t.Errorf("the client lacks %v; want GetMemory", missing)
	}
	calls, ok := Selected(tree, "internal/servicetest")
	if missing := Absent(want, calls); !ok || len(missing) != 1 || missing[0] != "GetContext" {
		t.Errorf("the suite lacks %v; want GetContext", missing)
	}
	if _, ok := Methods(tree, "engine", "Engine"); ok {
		t.Error("a package that is not there was found")
	}
	for operation, method := range map[string]string{"get_context": "GetContext", "forget": "Forget"} {
		if got := MethodOf(operation); got != method {
			t.Errorf("MethodOf(%s) = %s", operation, got)
		}
	}
}
