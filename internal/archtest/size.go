package archtest

import (
	"go/ast"
	"slices"
)

// The limits of size. They are for code; tests are not counted.
const (
	MaxFunctionLines = 80
	MaxUseCaseLines  = 40 // of a method of the engine's service: it reads as its list of steps
	MaxFunctionP95   = 50
	MaxFileLines     = 600
	MaxParameters    = 6
)

// CheckSizes finds functions and files that are too long, and a tree whose
// 95th percentile of function lengths is. A function's length is counted from
// its func to its closing brace, both included.
func CheckSizes(tree *Tree) []Finding {
	r := &report{rule: "size", tree: tree}
	var lengths []int
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Code() {
			if file.Generated() {
				continue
			}
			if file.Lines > MaxFileLines {
				r.add(file, file.Syntax.Package, "file", "%d lines; at most %d", file.Lines, MaxFileLines)
			}
			for _, decl := range file.Syntax.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				lines := tree.Fset.Position(fn.End()).Line - tree.Fset.Position(fn.Pos()).Line + 1
				lengths = append(lengths, lines)
				most := MaxFunctionLines
				if pkg.Dir == "engine" && receiver(fn) == "service" {
					most = MaxUseCaseLines
				}
				if lines > most {
					r.add(file, fn.Pos(), funcName(fn), "%d lines; at most %d", lines, most)
				}
			}
		}
	}
	if p95 := percentile(lengths, 95); p95 > MaxFunctionP95 {
		r.findings = append(r.findings, Finding{Rule: r.rule, File: ".", Symbol: "p95",
			Message: "95 % of the functions should have at most 50 lines"})
	}
	return r.done()
}

// percentile returns the smallest value that at least p percent of the values do not exceed.
func percentile(values []int, p int) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)*p+99)/100-1]
}

// CheckParameters finds functions, methods and interface methods with more
// than six parameters.
func CheckParameters(tree *Tree) []Finding {
	r := &report{rule: "parameters", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Code() {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					r.parameters(file, n, funcName(n), n.Type)
				case *ast.InterfaceType:
					for _, method := range n.Methods.List {
						if ft, ok := method.Type.(*ast.FuncType); ok && len(method.Names) > 0 {
							r.parameters(file, method, method.Names[0].Name, ft)
						}
					}
				}
				return true
			})
		}
	}
	return r.done()
}

func (r *report) parameters(file *File, node ast.Node, name string, ft *ast.FuncType) {
	if n := ft.Params.NumFields(); n > MaxParameters {
		r.add(file, node.Pos(), name, "%d parameters; at most %d", n, MaxParameters)
	}
}
