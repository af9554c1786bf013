package archtest

import (
	"go/ast"
	"strings"
)

// MethodOf returns the name of the method that carries out an operation:
// get_context is GetContext.
func MethodOf(operation string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(operation, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// Methods returns the names of the methods of a type, and false where the
// package is not there.
func Methods(tree *Tree, dir, typeName string) (map[string]bool, bool) {
	for _, pkg := range tree.Packages {
		if pkg.Dir != dir {
			continue
		}
		names := map[string]bool{}
		for _, file := range pkg.Code() {
			for _, decl := range file.Syntax.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && receiver(fn) == typeName {
					names[fn.Name.Name] = true
				}
			}
		}
		return names, true
	}
	return nil, false
}

// Selected returns every name that the package's code selects from something,
// as Append in s.Append(ctx, …), and false where the package is not there.
func Selected(tree *Tree, dir string) (map[string]bool, bool) {
	for _, pkg := range tree.Packages {
		if pkg.Dir != dir {
			continue
		}
		names := map[string]bool{}
		for _, file := range pkg.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
						names[sel.Sel.Name] = true
					}
				}
				return true
			})
		}
		return names, true
	}
	return nil, false
}

// Absent returns the names of want that got lacks.
func Absent(want []string, got map[string]bool) []string {
	var absent []string
	for _, name := range want {
		if !got[name] {
			absent = append(absent, name)
		}
	}
	return absent
}
