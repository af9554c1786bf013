package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

var (
	sqlText = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|replace|create|alter|drop|pragma|with|savepoint|release|rollback|attach|vacuum|explain)\s`)
	// sqlPiece is a part of a statement as the stores write them, in capitals.
	sqlPiece = regexp.MustCompile(`\b(AND|OR|WHERE|IN|LIKE|GLOB|ORDER BY|LIMIT|VALUES|SET|FROM|JOIN|BETWEEN|UNION|RETURNING|MATCH)\b`)
)

// CheckSQL finds SQL that is put together from parts: a format with verbs, or
// a sum in which a term is neither a literal nor a constant. Values are bound,
// columns are named in constants. In the stores pieces of a statement count as
// well as its beginning.
func CheckSQL(tree *Tree) []Finding {
	r := &report{rule: "sql", tree: tree}
	for _, pkg := range tree.Packages {
		c := sqlCheck{report: r, constants: constantTexts(pkg), pieces: pkg.Dir == "store" || strings.HasPrefix(pkg.Dir, "store/")}
		for _, file := range pkg.Code() {
			inner := map[ast.Expr]bool{}
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					c.format(file, n)
				case *ast.BinaryExpr:
					if n.Op == token.ADD && !inner[n] {
						c.sum(file, n, inner)
					}
				case *ast.AssignStmt:
					if n.Tok == token.ADD_ASSIGN {
						c.grow(file, n.Rhs[0])
					}
				}
				return true
			})
		}
	}
	return r.done()
}

// sqlCheck looks at one package.
type sqlCheck struct {
	*report
	constants map[string]string // the beginnings of the texts of constants
	pieces    bool
}

func (c sqlCheck) isSQL(text string) bool {
	return sqlText.MatchString(text) || c.pieces && sqlPiece.MatchString(text)
}

// constant gives the text of a literal or a constant; false for anything else.
func (c sqlCheck) constant(expr ast.Expr) (string, bool) {
	if id, ok := expr.(*ast.Ident); ok {
		text, ok := c.constants[id.Name]
		return text, ok
	}
	return literal(expr)
}

func (c sqlCheck) format(file *File, call *ast.CallExpr) {
	name, ok := file.selector(call.Fun, "fmt")
	if !ok || !strings.HasPrefix(name, "Sprint") && !strings.HasPrefix(name, "Fprint") && !strings.HasPrefix(name, "Append") {
		return
	}
	sql, parts := false, strings.HasSuffix(name, "f")
	for i, arg := range call.Args {
		text, ok := c.constant(arg)
		if sql = sql || ok && c.isSQL(text); strings.HasSuffix(name, "f") {
			parts = parts && (!ok || !sql || strings.Contains(text, "%") || i > 0)
		} else {
			parts = parts || !ok
		}
	}
	if sql && parts {
		c.add(file, call.Pos(), file.enclosing(call.Pos()), "SQL with fmt.%s; bind values", name)
	}
}

func (c sqlCheck) sum(file *File, sum *ast.BinaryExpr, inner map[ast.Expr]bool) {
	sql := false
	var part ast.Expr
	for i, term := range sumTerms(sum, inner) {
		text, ok := c.constant(term)
		sql = sql || ok && c.isSQL(text) && (c.pieces || i == 0)
		if !ok && part == nil {
			part = term
		}
	}
	if sql && part != nil {
		c.add(file, part.Pos(), file.enclosing(part.Pos()), "SQL put together from parts that are not constants")
	}
}

// grow finds a statement that grows by something that is no constant; sums are
// looked at by themselves.
func (c sqlCheck) grow(file *File, by ast.Expr) {
	if call, ok := by.(*ast.CallExpr); ok && c.pieces {
		for _, arg := range call.Args {
			if text, ok := c.constant(arg); ok && c.isSQL(text) {
				c.add(file, by.Pos(), file.enclosing(by.Pos()), "SQL grows by what is not a constant")
				return
			}
		}
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

// constantTexts returns the constants of a package, local ones too, with their
// text as far as it stands in literals.
func constantTexts(pkg *Package) map[string]string {
	texts := map[string]string{}
	for _, file := range pkg.Code() {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			gen, ok := n.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				return true
			}
			for _, value := range values(gen) {
				for i, name := range value.Names {
					texts[name.Name] = ""
					if i < len(value.Values) {
						for _, term := range sumTerms(value.Values[i], map[ast.Expr]bool{}) {
							text, _ := literal(term)
							texts[name.Name] += text
						}
					}
				}
			}
			return true
		})
	}
	return texts
}
