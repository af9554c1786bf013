package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the module that the rules are about.
const Module = "github.com/yiku-ai/yiku"

// Tree is the parsed source of a module.
type Tree struct {
	Fset     *token.FileSet
	Packages []*Package // in the order of their folders
}

// Package is one folder of Go files. The files of its external test package
// are among its files.
type Package struct {
	Dir   string // relative to the module; "" is the root
	Name  string // as its non-test files say; of a test file where there are no others
	Files []*File
}

// File is one parsed file.
type File struct {
	Path    string // relative to the module
	Test    bool   // its name ends in _test.go
	Lines   int
	Imports map[string]string // path to the name it is used under; "_" and "." as written
	Syntax  *ast.File
}

// Load parses every Go file of fsys, the root of a module. Folders named
// testdata, vendor or node_modules, those that begin with a dot or an
// underscore, and other modules inside are left out.
func Load(fsys fs.FS) (*Tree, error) {
	tree := &Tree{Fset: token.NewFileSet()}
	byDir := map[string]*Package{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipDir(fsys, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parseFile(tree.Fset, fsys, name)
		if err != nil {
			return err
		}
		dir := strings.TrimSuffix(path.Dir(name), ".")
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &Package{Dir: dir}
			byDir[dir] = pkg
			tree.Packages = append(tree.Packages, pkg)
		}
		if pkg.Name == "" || !file.Test {
			pkg.Name = strings.TrimSuffix(file.Syntax.Name.Name, "_test")
		}
		pkg.Files = append(pkg.Files, file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load tree: %w", err)
	}
	slices.SortFunc(tree.Packages, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return tree, nil
}

func skipDir(fsys fs.FS, name string) bool {
	if name == "." {
		return false
	}
	base := path.Base(name)
	if base == "testdata" || base == "vendor" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
	return err == nil
}

func parseFile(fset *token.FileSet, fsys fs.FS, name string) (*File, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	file := &File{
		Path:    name,
		Test:    strings.HasSuffix(name, "_test.go"),
		Lines:   strings.Count(string(text), "\n"),
		Imports: map[string]string{},
		Syntax:  syntax,
	}
	for _, spec := range syntax.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		file.Imports[importPath] = importName(spec, importPath)
	}
	return file, nil
}

// importName guesses the package name from the path where the file does not say.
func importName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && base[1] >= '0' && base[1] <= '9' {
		base = path.Base(path.Dir(importPath))
	}
	return strings.TrimPrefix(base, "go-")
}

// Code returns the files that are not tests.
func (p *Package) Code() []*File {
	var files []*File
	for _, f := range p.Files {
		if !f.Test {
			files = append(files, f)
		}
	}
	return files
}

// TestKit tells whether the package exists for tests only, by its name.
func (p *Package) TestKit() bool { return strings.HasSuffix(p.Name, "test") }

// Generated tells whether the file says that a program wrote it.
func (f *File) Generated() bool { return ast.IsGenerated(f.Syntax) }

// selector returns the name that expr selects from the package that the file
// imports by importPath, such as "Now" of "time".
func (f *File) selector(expr ast.Expr, importPath string) (string, bool) {
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	name, imported := f.Imports[importPath]
	if !imported || id.Name != name {
		return "", false
	}
	return sel.Sel.Name, true
}

// std tells whether an import path is of the standard library.
func std(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// ownDir returns the folder of an import path of this module.
func ownDir(importPath string) (string, bool) {
	if importPath == Module {
		return "", true
	}
	return strings.CutPrefix(importPath, Module+"/")
}
