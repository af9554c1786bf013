package archtest

import (
	"bufio"
	_ "embed"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed requirements.txt
var requirementsText string

// Requirement is one row of what the project must do.
type Requirement struct {
	ID      string
	Now     bool // expected of the present milestone
	Title   string
	Section string
}

// Requirements returns the project's list.
func Requirements() ([]Requirement, error) { return ParseRequirements(requirementsText) }

var requirementID = regexp.MustCompile(`^([A-I]|R|L)[1-9][0-9]{0,2}$`)

// ParseRequirements reads a list in the form that requirements.txt explains.
func ParseRequirements(text string) ([]Requirement, error) {
	var all []Requirement
	section := ""
	seen := map[string]bool{}
	scanner := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scanner.Scan(); n++ {
		line := strings.TrimSpace(scanner.Text())
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) != 3 || !requirementID.MatchString(fields[0]) || fields[1] != "now" && fields[1] != "later" {
			return nil, fmt.Errorf("requirements line %d: want id, now or later, title", n)
		}
		if seen[fields[0]] {
			return nil, fmt.Errorf("requirements line %d: %s stands twice", n, fields[0])
		}
		seen[fields[0]] = true
		all = append(all, Requirement{ID: fields[0], Now: fields[1] == "now", Title: fields[2], Section: section})
	}
	return all, scanner.Err()
}

// Proof is a test that names a requirement.
type Proof struct {
	Dir  string // the test's folder
	Test string // the function's name, or the script's file
}

var (
	idInName    = regexp.MustCompile(`(?:^Test|^Fuzz|^Benchmark|_)((?:[A-I]|R|L)[1-9][0-9]{0,2})(?:_|$)`)
	idInComment = regexp.MustCompile(`\b((?:[A-I]|R|L)[1-9][0-9]{0,2})\b`)
)

// Proofs finds the tests that name a requirement: a function TestXxx or FuzzXxx
// in its name or in a comment on it or inside it, and a script below testdata
// (.txtar, .txt) in a line that begins with "#". The functions of a test kit
// count too.
func Proofs(tree *Tree, fsys fs.FS) (map[string][]Proof, error) {
	proofs := map[string][]Proof{}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			if file.Test || pkg.TestKit() && pkg.Dir != "internal/archtest" {
				fileProofs(pkg, file, proofs)
			}
		}
	}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(name, ".git")):
			return fs.SkipDir
		case entry.IsDir() || !strings.Contains(name, "testdata/") || strings.HasPrefix(name, "internal/archtest/"):
			return nil
		}
		if ext := path.Ext(name); ext != ".txtar" && ext != ".txt" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		dir, _, _ := strings.Cut(name, "/testdata/")
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				addProofs(proofs, idInComment, line, Proof{dir, path.Base(name)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find proofs: %w", err)
	}
	return proofs, nil
}

func fileProofs(pkg *Package, file *File, proofs map[string][]Proof) {
	for _, decl := range file.Syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if file.Test && !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
			continue
		}
		proof := Proof{pkg.Dir, name}
		addProofs(proofs, idInName, strings.ReplaceAll(name, "_", "__"), proof)
		for _, group := range file.Syntax.Comments {
			if group == fn.Doc || group.Pos() > fn.Pos() && group.End() < fn.End() {
				addProofs(proofs, idInComment, group.Text(), proof)
			}
		}
	}
}

func addProofs(proofs map[string][]Proof, ids *regexp.Regexp, text string, proof Proof) {
	for _, match := range ids.FindAllStringSubmatch(text, -1) {
		if id := match[1]; !slices.Contains(proofs[id], proof) {
			proofs[id] = append(proofs[id], proof)
		}
	}
}

// Unproven returns the ids that are expected now and that no test names.
func Unproven(all []Requirement, proofs map[string][]Proof) []string {
	var ids []string
	for _, req := range all {
		if req.Now && len(proofs[req.ID]) == 0 {
			ids = append(ids, req.ID)
		}
	}
	return ids
}

// Render writes docs/requirements.md.
func Render(all []Requirement, proofs map[string][]Proof) string {
	var b strings.Builder
	b.WriteString("# Requirements and the tests that prove them\n\n" +
		"Written by `go test ./internal/archtest -run Requirements -update` from `internal/archtest/requirements.txt`\n" +
		"and the ids in the names and comments of tests. A test fails when this page is not what it should be, or\n" +
		"when a row that is expected now has no test. *Later* rows are planned; a test beside one proves a part of it.\n")
	section := ""
	for _, req := range all {
		if req.Section != section {
			section = req.Section
			fmt.Fprintf(&b, "\n## %s\n\n| id | requirement | expected | tests |\n| --- | --- | --- | --- |\n", section)
		}
		when := "later"
		if req.Now {
			when = "now"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", req.ID, req.Title, when, cell(proofs[req.ID]))
	}
	return b.String()
}

// cell lists proofs by folder.
func cell(proofs []Proof) string {
	sorted := slices.Clone(proofs)
	slices.SortFunc(sorted, func(a, b Proof) int {
		return strings.Compare(a.Dir+"\x00"+a.Test, b.Dir+"\x00"+b.Test)
	})
	var b strings.Builder
	dir := "\x00"
	for _, p := range sorted {
		switch {
		case p.Dir != dir && b.Len() > 0:
			fmt.Fprintf(&b, "; %s: `%s`", show(p.Dir), p.Test)
		case p.Dir != dir:
			fmt.Fprintf(&b, "%s: `%s`", show(p.Dir), p.Test)
		default:
			fmt.Fprintf(&b, ", `%s`", p.Test)
		}
		dir = p.Dir
	}
	return b.String()
}
