package archtest

import "go/ast"

// CheckOwners finds methods of the contracts that read a person's data without
// saying whose: every method of store.Reader and of index.Index, but for
// Close, has a parameter of type yiku.Owner, so that a query without one does
// not compile.
func CheckOwners(tree *Tree) []Finding {
	r := &report{rule: "owner", tree: tree}
	contracts := map[string]string{"store": "Reader", "index": "Index"}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Code() {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok || contracts[pkg.Dir] != spec.Name.Name {
					return true
				}
				if contract, ok := spec.Type.(*ast.InterfaceType); ok {
					r.owners(file, contract)
				}
				return false
			})
		}
	}
	return r.done()
}

func (r *report) owners(file *File, contract *ast.InterfaceType) {
	for _, method := range contract.Methods.List {
		ft, ok := method.Type.(*ast.FuncType)
		if !ok || method.Names[0].Name == "Close" {
			continue
		}
		owned := false
		for _, param := range ft.Params.List {
			name, ok := file.selector(param.Type, Module)
			owned = owned || ok && name == "Owner"
		}
		if !owned {
			r.add(file, method.Pos(), method.Names[0].Name, "has no parameter of type yiku.Owner")
		}
	}
}
