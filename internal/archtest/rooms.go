package archtest

import (
	"maps"
	"slices"
	"strings"
)

// Room is one line of the import table: what a package may reach.
type Room struct {
	Dir string // the package's folder; "" is the root package
	// May names the folders of this module that the package may reach, through
	// whatever it imports; "dir/..." is the folder and all below it.
	May []string
	// Foreign names the modules outside the standard library that the
	// package's own files may import.
	Foreign []string
	// Pure packages take times and ids as arguments and touch neither files
	// nor network nor processes.
	Pure bool
}

// Groups of rooms that are entered together.
var (
	contracts = []string{"", "store", "index", "embed"}
	pure      = []string{
		"internal/token", "internal/form", "internal/window", "internal/lang",
		"internal/recall", "internal/compose", "internal/experiment", "internal/reconcile", "internal/graph", "internal/check", "internal/usage",
	}
)

// rooms is the import table, from the bottom up. A package that is not in it
// is a finding: put it where it belongs.
var rooms = []Room{
	// Vocabulary and contracts.
	{Dir: ""},
	{Dir: "store", May: []string{""}},
	{Dir: "index", May: []string{""}},
	{Dir: "embed", May: []string{""}},
	{Dir: "llm", May: []string{""}, Foreign: []string{"github.com/failsafe-go/failsafe-go"}},

	{Dir: "rerank", May: []string{"", "llm"}},

	// Pure packages: no contract but the index's types, no driver, no engine.
	{Dir: "internal/token", May: []string{""}, Foreign: []string{"github.com/tiktoken-go/tokenizer"}, Pure: true},
	{Dir: "internal/kernel", Foreign: []string{"golang.org/x/sys"}},
	{Dir: "internal/lang", Foreign: []string{"golang.org/x/text", "github.com/longbridgeapp/opencc", "github.com/6tail/lunar-go"}, Pure: true},
	{Dir: "internal/wire", May: []string{""}},
	{Dir: "internal/form", May: []string{""}, Pure: true},
	{Dir: "internal/check", May: []string{"", "internal/wire", "internal/lang"}, Foreign: []string{"github.com/go-json-experiment/json"}, Pure: true},
	{Dir: "internal/window", May: []string{"", "internal/token", "internal/form", "internal/lang"}, Pure: true},
	{Dir: "internal/recall", May: []string{"", "index", "internal/lang", "internal/token"}, Pure: true},
	{Dir: "internal/reconcile", May: []string{"", "internal/lang"}, Pure: true},
	{Dir: "internal/graph", May: []string{"", "internal/lang", "internal/reconcile"}, Pure: true},
	{Dir: "internal/extract", May: []string{"", "llm", "internal/lang", "internal/reconcile"}},
	{Dir: "internal/summary", May: []string{"", "llm", "internal/lang", "internal/reconcile", "internal/extract"}},
	{Dir: "internal/rewrite", May: []string{"", "llm", "internal/lang", "internal/reconcile", "internal/extract", "internal/summary"}},
	{Dir: "internal/tool", Pure: true},
	{Dir: "internal/experiment", Pure: true},
	{Dir: "internal/compose", May: []string{"", "internal/token", "internal/lang", "internal/form", "internal/recall", "internal/window"}, Pure: true},

	// What stands beside the engine.
	{Dir: "internal/keyring", May: []string{""}},
	{Dir: "internal/credential", May: []string{""}},
	{Dir: "internal/audit", May: []string{"", "store"}},
	{Dir: "internal/journal", May: []string{""}},
	{Dir: "internal/backup", May: []string{"", "internal/journal"}},
	{Dir: "internal/observe", May: []string{""}, Foreign: []string{"github.com/prometheus"}},

	{Dir: "internal/jobs", May: []string{"", "store"}},

	// The engine knows contracts and pure packages; no driver, no door.
	{Dir: "engine", May: slices.Concat(contracts, pure, []string{"llm", "rerank", "internal/extract", "internal/summary", "internal/rewrite", "internal/tool", "internal/jobs", "internal/wire", "internal/observe", "internal/keyring", "internal/audit", "internal/journal", "internal/credential"}), Foreign: []string{"github.com/google/uuid"}},

	// Drivers know their contract; not the engine, not each other.
	{Dir: "store/sqlite", May: []string{"", "store", "internal/keyring"}, Foreign: []string{"github.com/ncruces/go-sqlite3", "github.com/gofrs/flock", "github.com/google/uuid"}},
	{Dir: "index/memindex", May: []string{"", "index", "internal/kernel", "internal/lang"}},
	{Dir: "llm/openai", May: []string{"", "llm"}},
	{Dir: "llm/anthropic", May: []string{"", "llm"}},
	{Dir: "llm/ollama", May: []string{"", "llm"}},
	{Dir: "rerank/cohere", May: []string{"", "llm", "rerank"}},
	{Dir: "rerank/tei", May: []string{"", "llm", "rerank"}},
	{Dir: "rerank/dashscope", May: []string{"", "llm", "rerank"}},
	{Dir: "rerank/listwise", May: []string{"", "llm", "rerank"}},
	{Dir: "embed/local", May: []string{"", "embed", "internal/kernel"}, Foreign: []string{"golang.org/x/text"}},
	{Dir: "embed/hash", May: []string{"", "embed"}},
	{Dir: "embed/remote", May: []string{"", "embed", "llm"}},
	{Dir: "embed/openai", May: []string{"", "embed", "embed/remote", "llm"}},
	{Dir: "embed/ollama", May: []string{"", "embed", "embed/remote", "llm"}},

	// Doors know the interface; no store, no index, no driver. Who may come in
	// is told by the store's keys.
	{Dir: "internal/auth", May: []string{"", "store", "internal/credential"}},
	{Dir: "client", May: []string{"", "internal/wire"}},
	{Dir: "internal/limit", Foreign: []string{"golang.org/x/time"}},
	{Dir: "internal/httpapi", May: []string{"", "internal/lang", "internal/wire", "internal/check", "internal/observe", "internal/limit"}, Foreign: []string{"github.com/go-json-experiment/json"}},

	// Wiring.
	{Dir: "internal/usage", Pure: true},
	{Dir: "internal/drivers", May: []string{"", "store", "store/sqlite", "index", "index/memindex", "llm", "llm/openai", "llm/anthropic", "llm/ollama", "rerank", "rerank/cohere", "rerank/tei", "rerank/dashscope", "rerank/listwise", "embed", "embed/local", "embed/remote", "embed/openai", "embed/ollama", "internal/kernel", "internal/lang", "internal/keyring", "internal/observe"}},
	{Dir: "internal/weights", May: []string{"", "embed", "embed/local", "internal/kernel"}},
	{Dir: "internal/config", May: []string{"", "internal/usage"}, Foreign: []string{"github.com/knadh/koanf"}},
	{Dir: "internal/app", May: []string{"..."}},
	{Dir: "internal/cli", May: []string{"..."}, Foreign: []string{"github.com/spf13/cobra"}},
	{Dir: "cmd/yiku", May: []string{"..."}},

	// Measuring and tests.
	{Dir: "eval", May: []string{"..."}},
	{Dir: "eval/peers", May: []string{"..."}},
	{Dir: "eval/peers/protocol"},
	{Dir: "eval/judgement", May: []string{"", "internal/lang"}},
	{Dir: "internal/sample", May: []string{""}},
	{Dir: "internal/bench"},
	{Dir: "store/storetest", May: []string{"", "store", "internal/boardtest"}, Foreign: testLibraries},
	{Dir: "index/indextest", May: []string{"", "index"}, Foreign: testLibraries},
	{Dir: "embed/embedtest", May: []string{"", "embed"}},
	{Dir: "llm/llmtest", May: []string{"", "llm"}, Foreign: testLibraries},
	{Dir: "rerank/reranktest", May: []string{"", "llm", "rerank"}, Foreign: testLibraries},
	{Dir: "internal/servicetest", May: []string{"", "internal/wire", "internal/boardtest"}, Foreign: testLibraries},
	{Dir: "internal/boardtest"},
	{Dir: "internal/mutant"},
	{Dir: "internal/archtest", May: []string{"internal/boardtest"}, Foreign: testLibraries},
}

var testLibraries = []string{"github.com/google/go-cmp", "pgregory.net/rapid", "golang.org/x/tools", "go.uber.org/goleak", "github.com/rogpeppe/go-internal"}

// banned names the packages of the standard library that pure packages may not use.
var banned = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall", "log", "log/slog"}

func roomOf(dir string) (Room, bool) {
	i := slices.IndexFunc(rooms, func(r Room) bool { return r.Dir == dir })
	if i < 0 {
		return Room{}, false
	}
	return rooms[i], true
}

// CheckImports holds the code of every package against the import table: which
// of our packages it reaches over the whole graph, which foreign modules its
// own files import, and that nothing but test kits imports test kits or
// testing. Tests may import what they need.
func CheckImports(tree *Tree) []Finding {
	r := &report{rule: "import", tree: tree}
	graph := ownGraph(tree)
	kits := map[string]bool{}
	for _, pkg := range tree.Packages {
		kits[pkg.Dir] = pkg.TestKit()
	}
	for _, pkg := range tree.Packages {
		if len(pkg.Code()) == 0 {
			continue
		}
		room, ok := roomOf(pkg.Dir)
		if !ok {
			r.addPackage(pkg, pkg.Name, "is not in the import table of internal/archtest/rooms.go")
			continue
		}
		for _, dir := range slices.Sorted(maps.Keys(reach(graph, pkg.Dir))) {
			switch {
			case kits[dir] && !kits[pkg.Dir]:
				r.addPackage(pkg, show(dir), "a test kit in code")
			case !within(dir, room.May):
				r.addPackage(pkg, show(dir), "may not reach this package")
			}
		}
		for _, file := range pkg.Code() {
			r.foreign(file, room, pkg.TestKit())
		}
	}
	return r.done()
}

func (r *report) foreign(file *File, room Room, kit bool) {
	for importPath := range file.Imports {
		_, own := ownDir(importPath)
		switch {
		case own:
		case std(importPath):
			if room.Pure && slices.Contains(banned, importPath) {
				r.add(file, file.Syntax.Package, importPath, "a pure package touches the world")
			}
			if !kit && (importPath == "testing" || strings.HasPrefix(importPath, "testing/")) {
				r.add(file, file.Syntax.Package, importPath, "tests only")
			}
		case !slices.ContainsFunc(room.Foreign, func(m string) bool {
			return importPath == m || strings.HasPrefix(importPath, m+"/")
		}):
			r.add(file, file.Syntax.Package, importPath, "may not import this module")
		}
	}
}

// IdleImports returns what the table allows and no code needs: rooms without a
// package, and foreign modules that a room does not import. Test kits may list
// all test libraries.
func IdleImports(tree *Tree) []string {
	var idle []string
	for _, room := range rooms {
		i := slices.IndexFunc(tree.Packages, func(p *Package) bool { return p.Dir == room.Dir })
		if i < 0 {
			idle = append(idle, show(room.Dir)+": there is no such package")
			continue
		}
		if tree.Packages[i].TestKit() {
			continue
		}
		for _, module := range room.Foreign {
			if !tree.Packages[i].imports(module) {
				idle = append(idle, show(room.Dir)+": does not import "+module)
			}
		}
	}
	return idle
}

// imports tells whether the package's code imports a module.
func (p *Package) imports(module string) bool {
	for _, file := range p.Code() {
		for importPath := range file.Imports {
			if importPath == module || strings.HasPrefix(importPath, module+"/") {
				return true
			}
		}
	}
	return false
}

// ownGraph returns which of our folders each folder's code imports directly.
func ownGraph(tree *Tree) map[string][]string {
	graph := map[string][]string{}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Code() {
			for importPath := range file.Imports {
				if dir, ok := ownDir(importPath); ok {
					graph[pkg.Dir] = append(graph[pkg.Dir], dir)
				}
			}
		}
	}
	return graph
}

// reach returns every folder that can be reached from one, without itself.
func reach(graph map[string][]string, from string) map[string]bool {
	seen := map[string]bool{}
	todo := []string{from}
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range graph[dir] {
			if !seen[next] && next != from {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return seen
}

func within(dir string, patterns []string) bool {
	for _, p := range patterns {
		base, all := strings.CutSuffix(p, "...")
		if p == dir || all && (base == "" || dir+"/" == base || strings.HasPrefix(dir, base)) {
			return true
		}
	}
	return false
}

func show(dir string) string {
	if dir == "" {
		return "yiku"
	}
	return dir
}
