package archtest

import (
	"go/ast"
	"go/token"
)

// CheckInit finds init functions.
func CheckInit(tree *Tree) []Finding {
	r := &report{rule: "init", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			for _, decl := range file.Syntax.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					r.add(file, fn.Pos(), "init", "nothing happens at import; call it from where it is needed")
				}
			}
		}
	}
	return r.done()
}

// CheckBlankImports finds imports for their side effects; "embed" has none.
func CheckBlankImports(tree *Tree) []Finding {
	r := &report{rule: "blank-import", tree: tree}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			for importPath, name := range file.Imports {
				if name == "_" && importPath != "embed" {
					r.add(file, file.Syntax.Package, importPath, "imported for a side effect")
				}
				if name == "." {
					r.add(file, file.Syntax.Package, importPath, "imported into the file's own names")
				}
			}
		}
	}
	return r.done()
}

// CheckVariables finds package variables that are, or may be, state. A package
// variable is lawful when its value never changes: an error sentinel, a
// compiled expression, an embedded file, a table of package unicode, a value
// computed once (sync.OnceValue), an assertion "var _ I = T{}", or a literal
// table. A lawful one must not be assigned to, have an element or field
// assigned, be deleted from or have its address taken anywhere in the package.
// Tests may have flags.
func CheckVariables(tree *Tree) []Finding {
	r := &report{rule: "package-variable", tree: tree}
	for _, pkg := range tree.Packages {
		lawful := map[string]bool{}
		for _, file := range pkg.Files {
			for _, decl := range file.Syntax.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
					r.variables(file, gen, lawful)
				}
			}
		}
		for _, file := range pkg.Files {
			r.mutations(file, lawful)
		}
	}
	return r.done()
}

func (r *report) variables(file *File, gen *ast.GenDecl, lawful map[string]bool) {
	for _, value := range values(gen) {
		embedded := directive(gen.Doc, "//go:embed") || directive(value.Doc, "//go:embed")
		for i, name := range value.Names {
			switch {
			case name.Name == "_":
			case embedded, i < len(value.Values) && constant(file, value.Values[i]):
				lawful[name.Name] = true
			default:
				r.add(file, name.Pos(), name.Name, "a package variable that is not a table, sentinel, expression, embedded file or once-computed value")
			}
		}
	}
}

func directive(doc *ast.CommentGroup, prefix string) bool {
	if doc == nil {
		return false
	}
	for _, line := range doc.List {
		if len(line.Text) >= len(prefix) && line.Text[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}

// constant tells whether an initial value is one that lawful variables have.
func constant(file *File, expr ast.Expr) bool {
	switch e := expr.(type) {
	case *ast.BasicLit, *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return constant(file, e.X)
	case *ast.CallExpr:
		return constantCall(file, e)
	case *ast.SelectorExpr:
		_, table := file.selector(e, "unicode")
		return table
	}
	return false
}

// constantCall tells whether a call makes a value that nobody can change, or a
// conversion of a literal.
func constantCall(file *File, call *ast.CallExpr) bool {
	if _, conversion := call.Fun.(*ast.ArrayType); conversion {
		return true
	}
	fun := call.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	makers := map[string][]string{
		"errors": {"New"}, "fmt": {"Errorf"}, "regexp": {"MustCompile"}, "reflect": {"TypeFor", "TypeOf"},
		"strings": {"NewReplacer"}, "sync": {"OnceValue", "OnceValues"},
	}
	for importPath, names := range makers {
		if name, ok := file.selector(fun, importPath); ok {
			for _, n := range names {
				if n == name {
					return true
				}
			}
		}
	}
	if name, ok := file.selector(fun, "flag"); ok && file.Test {
		return name == "Bool" || name == "String" || name == "Int" || name == "Float64" || name == "Duration"
	}
	return false
}

// mutations finds what changes a lawful variable in a file. A local variable
// of the same name hides the package's in its function.
func (r *report) mutations(file *File, lawful map[string]bool) {
	for _, decl := range file.Syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		hidden := localNames(fn)
		change := func(expr ast.Expr) {
			if id := rootIdent(expr); id != nil && lawful[id.Name] && !hidden[id.Name] {
				r.add(file, expr.Pos(), id.Name, "a package variable is changed in %s", funcName(fn))
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, lhs := range n.Lhs {
						change(lhs)
					}
				}
			case *ast.IncDecStmt:
				change(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					change(n.X)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (id.Name == "delete" || id.Name == "clear") {
					change(n.Args[0])
				}
			}
			return true
		})
	}
}

// rootIdent returns x of x, x.f, x[i] and *x.
func rootIdent(expr ast.Expr) *ast.Ident {
	for {
		switch e := expr.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		default:
			return nil
		}
	}
}

// localNames returns the names that a function declares: receiver, parameters,
// results and variables.
func localNames(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	add := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
	}
	add(fn.Recv)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			add(n.Params)
			add(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, lhs := range n.Lhs {
					if id, ok := lhs.(*ast.Ident); ok {
						names[id.Name] = true
					}
				}
			}
		case *ast.RangeStmt:
			for _, v := range []ast.Expr{n.Key, n.Value} {
				if id, ok := v.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}
