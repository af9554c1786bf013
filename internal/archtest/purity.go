package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// CheckSleeps finds time.Sleep in tests and test kits. In a file that uses
// testing/synctest a sleep is fake time and lawful.
func CheckSleeps(tree *Tree) []Finding {
	r := &report{rule: "sleep", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			if _, fake := file.Imports["testing/synctest"]; fake || !file.Test && !pkg.TestKit() {
				continue
			}
			r.uses(file, "time", []string{"Sleep"}, "a test waits for an event, not for a time")
		}
	}
	return r.done()
}

// uses reports every selection of one of the names from an imported package.
func (r *report) uses(file *File, importPath string, names []string, message string) {
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		expr, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if name, ok := file.selector(expr, importPath); ok && slices.Contains(names, name) {
			r.add(file, expr.Pos(), file.enclosing(expr.Pos()), "%s.%s: %s", importPath, name, message)
		}
		return true
	})
}

// CheckClocks finds clocks, random numbers and ids in packages that must be
// given them: the pure ones may not even name them, the engine may name
// time.Now as a default but not call it.
func CheckClocks(tree *Tree) []Finding {
	r := &report{rule: "clock", tree: tree}
	for _, pkg := range tree.Packages {
		room, ok := roomOf(pkg.Dir)
		for _, file := range pkg.Code() {
			switch {
			case ok && room.Pure:
				r.uses(file, "time", []string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker"}, "pure code takes the time as an argument")
				for _, source := range []string{"math/rand", "math/rand/v2", "crypto/rand", "github.com/google/uuid"} {
					if _, ok := file.Imports[source]; ok {
						r.add(file, file.Syntax.Package, source, "pure code takes ids as arguments")
					}
				}
			case pkg.Dir == "engine":
				r.clockCalls(file)
			}
		}
	}
	return r.done()
}

func (r *report) clockCalls(file *File) {
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, ok := file.selector(call.Fun, "time"); ok && (name == "Now" || name == "Since" || name == "Until") {
			r.add(file, call.Pos(), file.enclosing(call.Pos()), "time.%s: the engine asks its own clock", name)
		}
		return true
	})
}

// EvalData is the one environment variable that is read outside the
// configuration: where the sets for measuring retrieval are.
const EvalData = "YIKU_EVAL_DATA"

// CheckEnvironment finds reads of the environment outside internal/config.
// Tests may read YIKU_EVAL_DATA and hand the environment on to programs that
// they start.
func CheckEnvironment(tree *Tree) []Finding {
	r := &report{rule: "environment", tree: tree}
	for _, pkg := range tree.Packages {
		if pkg.Dir == "internal/config" {
			continue
		}
		for _, file := range pkg.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				name, ok := file.selector(call.Fun, "os")
				if !ok || name != "Getenv" && name != "LookupEnv" && name != "Environ" && name != "ExpandEnv" {
					return true
				}
				if file.Test && (name == "Environ" || len(call.Args) == 1 && isEvalData(call.Args[0])) {
					return true
				}
				r.add(file, call.Pos(), file.enclosing(call.Pos()), "os.%s: only internal/config reads the environment", name)
				return true
			})
		}
	}
	return r.done()
}

func isEvalData(expr ast.Expr) bool {
	text, ok := literal(expr)
	return ok && text == EvalData
}

// CheckContexts finds functions and interface methods whose context is not the
// first parameter, and contexts kept in structs. In tests a testing.TB may
// stand before the context, and a fixture, which lives as long as its test,
// may keep one.
func CheckContexts(tree *Tree) []Finding {
	r := &report{rule: "context", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					r.contextFirst(file, n.Type)
				case *ast.InterfaceType:
					for _, method := range n.Methods.List {
						if ft, ok := method.Type.(*ast.FuncType); ok {
							r.contextFirst(file, ft)
						}
					}
				case *ast.StructType:
					if file.Test || pkg.TestKit() {
						return true
					}
					for _, field := range n.Fields.List {
						if name, ok := file.selector(field.Type, "context"); ok && name == "Context" {
							r.add(file, field.Pos(), file.enclosing(field.Pos()), "a context in a struct")
						}
					}
				}
				return true
			})
		}
	}
	return r.done()
}

func (r *report) contextFirst(file *File, ft *ast.FuncType) {
	before := 0
	for _, param := range ft.Params.List {
		if name, ok := file.selector(param.Type, "context"); ok && name == "Context" {
			if before > 0 {
				r.add(file, param.Pos(), file.enclosing(param.Pos()), "the context must be the first parameter")
			}
			return
		}
		if !testingParam(file, param.Type) {
			before++
		}
	}
}

func testingParam(file *File, expr ast.Expr) bool {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if _, ok := file.selector(expr, "testing"); ok {
		return true
	}
	name, ok := file.selector(expr, "pgregory.net/rapid")
	return ok && name == "T"
}

// CheckOptions finds functional options; the rest of a constructor's arguments
// is one struct.
func CheckOptions(tree *Tree) []Finding {
	r := &report{rule: "options", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if _, ok := spec.Type.(*ast.FuncType); ok && strings.HasSuffix(spec.Name.Name, "Option") {
					r.add(file, spec.Pos(), spec.Name.Name, "a functional option; use a struct of options")
				}
				return true
			})
		}
	}
	return r.done()
}

// CheckLoggers finds uses of the process-wide loggers. A logger is given to
// what logs.
func CheckLoggers(tree *Tree) []Finding {
	r := &report{rule: "logger", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Code() {
			r.uses(file, "log/slog", []string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs", "With", "Default", "SetDefault"}, "the logger is injected")
			r.uses(file, "log", []string{"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default", "SetOutput"}, "the logger is injected")
		}
	}
	return r.done()
}
