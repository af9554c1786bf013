package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
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

var sqlText = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|replace|create|alter|drop|pragma|with|savepoint|release|rollback|attach|vacuum)\s`)

// CheckSQL finds SQL that is put together from parts: a format with verbs, or
// a sum in which a term is neither a literal nor a name in capitals or of a
// constant. Values are bound, columns are named in constants.
func CheckSQL(tree *Tree) []Finding {
	r := &report{rule: "sql", tree: tree}
	for _, pkg := range tree.Packages {
		constants := constantNames(pkg)
		for _, file := range pkg.Code() {
			inner := map[ast.Expr]bool{}
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					r.sqlFormat(file, n)
				case *ast.BinaryExpr:
					if n.Op == token.ADD && !inner[n] {
						r.sqlSum(file, n, constants, inner)
					}
				}
				return true
			})
		}
	}
	return r.done()
}

func (r *report) sqlFormat(file *File, call *ast.CallExpr) {
	name, ok := file.selector(call.Fun, "fmt")
	if !ok || !strings.HasPrefix(name, "Sprintf") && !strings.HasPrefix(name, "Fprintf") && !strings.HasPrefix(name, "Appendf") {
		return
	}
	for _, arg := range call.Args {
		if text, ok := literal(arg); ok && sqlText.MatchString(text) && strings.Contains(text, "%") {
			r.add(file, call.Pos(), file.enclosing(call.Pos()), "SQL with fmt.%s; bind values", name)
		}
	}
}

func (r *report) sqlSum(file *File, sum *ast.BinaryExpr, constants map[string]bool, inner map[ast.Expr]bool) {
	terms := sumTerms(sum, inner)
	text, ok := literal(terms[0])
	if !ok || !sqlText.MatchString(text) {
		return
	}
	for _, term := range terms[1:] {
		if _, ok := literal(term); ok {
			continue
		}
		if id, ok := term.(*ast.Ident); ok && constants[id.Name] {
			continue
		}
		r.add(file, term.Pos(), file.enclosing(term.Pos()), "SQL put together from parts that are not constants")
		return
	}
}

// sumTerms returns the terms of a sum from left to right and marks its inner sums.
func sumTerms(expr ast.Expr, inner map[ast.Expr]bool) []ast.Expr {
	if sum, ok := expr.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		inner[sum] = true
		return append(sumTerms(sum.X, inner), sumTerms(sum.Y, inner)...)
	}
	return []ast.Expr{expr}
}

func literal(expr ast.Expr) (string, bool) {
	lit, ok := expr.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// constantNames returns the names of all constants of a package, local ones too.
func constantNames(pkg *Package) map[string]bool {
	names := map[string]bool{}
	for _, file := range pkg.Code() {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			if gen, ok := n.(*ast.GenDecl); ok && gen.Tok == token.CONST {
				for _, value := range values(gen) {
					for _, name := range value.Names {
						names[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return names
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
