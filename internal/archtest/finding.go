package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// Finding is one breach of a rule. Rule, File and Symbol together name it in
// the allow-list; the line is for people.
type Finding struct {
	Rule    string
	File    string // a file or, for what concerns a whole package, its folder
	Line    int    // 0 where the finding is about a whole file or package
	Symbol  string // the function, type, variable or import that is at fault
	Message string
}

// String gives the finding as compilers do.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s: %s", f.File, f.Line, f.Rule, f.Symbol, f.Message)
}

// Rule is one house rule.
type Rule struct {
	Name  string
	Check func(*Tree) []Finding
}

// Rules lists the house rules that need nothing but the source.
func Rules() []Rule {
	return []Rule{
		{"import", CheckImports},
		{"size", CheckSizes},
		{"parameters", CheckParameters},
		{"package-doc", CheckPackageDocs},
		{"exported-doc", CheckExportedDocs},
		{"package-name", CheckPackageNames},
		{"init", CheckInit},
		{"package-variable", CheckVariables},
		{"blank-import", CheckBlankImports},
		{"sleep", CheckSleeps},
		{"clock", CheckClocks},
		{"sql", CheckSQL},
		{"environment", CheckEnvironment},
		{"context", CheckContexts},
		{"options", CheckOptions},
		{"logger", CheckLoggers},
		{"owner", CheckOwners},
		{"call", CheckCalls},
	}
}

// Allowed is one entry of the allow-list: a finding that stays, and why.
type Allowed struct {
	Rule, File, Symbol string
	Reason             string
}

// Judge returns the findings that no entry allows, then the entries that allow
// nothing or give no reason.
func Judge(findings []Finding, allowed []Allowed) (open []Finding, idle []Allowed) {
	used := make([]bool, len(allowed))
	for _, f := range findings {
		i := slices.IndexFunc(allowed, func(a Allowed) bool {
			return a.Rule == f.Rule && a.File == f.File && a.Symbol == f.Symbol
		})
		if i < 0 {
			open = append(open, f)
			continue
		}
		used[i] = true
	}
	for i, a := range allowed {
		if !used[i] || a.Reason == "" {
			idle = append(idle, a)
		}
	}
	return open, idle
}

func sortFindings(findings []Finding) []Finding {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Symbol, b.Symbol))
	})
	return findings
}

// report collects findings of one rule.
type report struct {
	rule     string
	tree     *Tree
	findings []Finding
}

func (r *report) add(file *File, pos token.Pos, symbol, format string, args ...any) {
	r.findings = append(r.findings, Finding{
		Rule: r.rule, File: file.Path, Line: r.tree.Fset.Position(pos).Line,
		Symbol: symbol, Message: fmt.Sprintf(format, args...),
	})
}

func (r *report) addPackage(pkg *Package, symbol, format string, args ...any) {
	dir := pkg.Dir
	if dir == "" {
		dir = "."
	}
	r.findings = append(r.findings, Finding{Rule: r.rule, File: dir, Symbol: symbol, Message: fmt.Sprintf(format, args...)})
}

func (r *report) done() []Finding { return sortFindings(r.findings) }

// funcName names a function as people do: Name or Type.Name.
func funcName(decl *ast.FuncDecl) string {
	if recv := receiver(decl); recv != "" {
		return recv + "." + decl.Name.Name
	}
	return decl.Name.Name
}

// receiver returns the name of a method's type, "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	expr := decl.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// enclosing returns the name of the top-level declaration that holds pos.
func (f *File) enclosing(pos token.Pos) string {
	for _, decl := range f.Syntax.Decls {
		if pos < decl.Pos() || pos > decl.End() {
			continue
		}
		if fn, ok := decl.(*ast.FuncDecl); ok {
			return funcName(fn)
		}
		for _, spec := range types(decl) {
			if pos >= spec.Pos() && pos <= spec.End() {
				return spec.Name.Name
			}
		}
		for _, value := range values(decl) {
			if pos >= value.Pos() && pos <= value.End() {
				return value.Names[0].Name
			}
		}
	}
	return f.Syntax.Name.Name
}

// values returns the specs of a constant or variable declaration.
func values(decl ast.Decl) []*ast.ValueSpec {
	gen, ok := decl.(*ast.GenDecl)
	if !ok {
		return nil
	}
	var specs []*ast.ValueSpec
	for _, spec := range gen.Specs {
		if value, ok := spec.(*ast.ValueSpec); ok {
			specs = append(specs, value)
		}
	}
	return specs
}

// types returns the specs of a type declaration.
func types(decl ast.Decl) []*ast.TypeSpec {
	gen, ok := decl.(*ast.GenDecl)
	if !ok {
		return nil
	}
	var specs []*ast.TypeSpec
	for _, spec := range gen.Specs {
		if typ, ok := spec.(*ast.TypeSpec); ok {
			specs = append(specs, typ)
		}
	}
	return specs
}
