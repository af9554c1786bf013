package archtest

import (
	"go/ast"
	gotypes "go/types"
)

// Call is a call that a function must make and whose absence no test can see
// from outside: it changes how long something takes, or what a power cut
// leaves.
type Call struct {
	Dir, Function string // "internal/auth", "Authenticator.key"
	Call          string // as it is written, without its arguments
}

// requiredCalls is the list. What is compared here is secret, or tells whether
// a secret was guessed in part.
var requiredCalls = []Call{
	{"internal/credential", "Mint.Token", "hmac.Equal"},
	{"internal/credential", "same", "subtle.ConstantTimeCompare"},
	{"internal/auth", "Authenticator.key", "subtle.ConstantTimeCompare"},
	{"internal/audit", "Verifier.Next", "hmac.Equal"},
	{"engine", "call.openCursor", "hmac.Equal"},
	{"engine", "onceIn", "hmac.Equal"},

	{"store/sqlite", "conn.assert", "minVersion"},
	{"store/sqlite", "Store.create", "s.dir.sync"},
	{"store/sqlite", "directory.sync", "f.Sync"},
	{"internal/audit", "Load", "f.Sync"},
	{"internal/audit", "Load", "syncDirectory"},
}

// CheckCalls finds functions that do not make a call of the list.
func CheckCalls(tree *Tree) []Finding {
	r := &report{rule: "call", tree: tree}
	for _, pkg := range tree.Packages {
		for _, want := range requiredCalls {
			if want.Dir == pkg.Dir && !makes(pkg, want) {
				r.addPackage(pkg, want.Function, "must call %s: see call.go", want.Call)
			}
		}
	}
	return r.done()
}

func makes(pkg *Package, want Call) bool {
	found := false
	for _, file := range pkg.Code() {
		for _, decl := range file.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || funcName(fn) != want.Function {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && gotypes.ExprString(call.Fun) == want.Call {
					found = true
				}
				return true
			})
		}
	}
	return found
}
