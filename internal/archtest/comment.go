package archtest

import (
	"go/ast"
	"go/token"
	"strings"
)

// CheckPackageDocs finds packages whose comment is missing, does not begin
// with "Package name" ("Command name" for a program), or stands in two files.
func CheckPackageDocs(tree *Tree) []Finding {
	r := &report{rule: "package-doc", tree: tree}
	for _, pkg := range tree.Packages {
		files := pkg.Code()
		if len(files) == 0 {
			continue
		}
		want := "Package " + pkg.Name + " "
		if pkg.Name == "main" {
			want = "Command "
		}
		docs := 0
		for _, file := range files {
			if file.Syntax.Doc == nil {
				continue
			}
			docs++
			if !strings.HasPrefix(file.Syntax.Doc.Text(), want) {
				r.add(file, file.Syntax.Package, pkg.Name, "the package comment must begin with %q", want)
			}
		}
		if docs != 1 {
			r.addPackage(pkg, pkg.Name, "%d files have a package comment; exactly one must", docs)
		}
	}
	return r.done()
}

// CheckExportedDocs finds exported functions, methods of exported types, types,
// constants and variables without a comment, and functions and types whose
// comment does not begin with their name. In a group of constants or variables
// one comment for the group is enough.
func CheckExportedDocs(tree *Tree) []Finding {
	r := &report{rule: "exported-doc", tree: tree}
	for _, pkg := range tree.Packages {
		if pkg.Name == "main" {
			continue
		}
		for _, file := range pkg.Code() {
			if file.Generated() {
				continue
			}
			for _, decl := range file.Syntax.Decls {
				switch decl := decl.(type) {
				case *ast.FuncDecl:
					r.funcDoc(file, decl)
				case *ast.GenDecl:
					r.genDoc(file, decl)
				}
			}
		}
	}
	return r.done()
}

func (r *report) funcDoc(file *File, decl *ast.FuncDecl) {
	recv := receiver(decl)
	if !decl.Name.IsExported() || recv != "" && !ast.IsExported(recv) {
		return
	}
	r.named(file, decl.Pos(), funcName(decl), decl.Name.Name, decl.Doc)
}

func (r *report) genDoc(file *File, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			doc := spec.Doc
			if doc == nil {
				doc = decl.Doc
			}
			r.named(file, spec.Pos(), spec.Name.Name, spec.Name.Name, doc)
		case *ast.ValueSpec:
			documented := decl.Doc != nil || spec.Doc != nil || spec.Comment != nil
			for _, name := range spec.Names {
				if name.IsExported() && !documented {
					r.add(file, name.Pos(), name.Name, "exported without a comment")
				}
			}
		}
	}
}

// named checks that a comment exists and begins with the name it is about.
func (r *report) named(file *File, pos token.Pos, symbol, name string, doc *ast.CommentGroup) {
	if doc == nil || doc.Text() == "" {
		r.add(file, pos, symbol, "exported without a comment")
		return
	}
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if strings.TrimRight(words[0], ",.:;") != name {
		r.add(file, pos, symbol, "the comment must begin with %s", name)
	}
}

// CheckPackageNames finds package names that say nothing about what they hold.
func CheckPackageNames(tree *Tree) []Finding {
	r := &report{rule: "package-name", tree: tree}
	for _, pkg := range tree.Packages {
		switch name := strings.ToLower(pkg.Name); {
		case vague(name):
			r.addPackage(pkg, pkg.Name, "says nothing about what it holds")
		case strings.ContainsAny(pkg.Name, "_") || name != pkg.Name:
			r.addPackage(pkg, pkg.Name, "must be lower case without underscores")
		}
	}
	return r.done()
}

func vague(name string) bool {
	for _, word := range []string{"util", "utils", "common", "helper", "helpers", "model", "models", "type", "types", "misc", "base", "shared", "lib"} {
		if name == word || strings.HasSuffix(name, "util") || strings.HasSuffix(name, "utils") {
			return true
		}
	}
	return false
}
