package mutant

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A schemata is a copy of the tree in which functions without their guards
// stand beside those with them, so that all mutants are compiled once and one
// is tried by running a test binary under a variable of the environment:
//
//	func (r *Row) open(key int) error { switch yikuMutant.At(3) { case 17: return r.mutant17_open(key) }
//
// A constant or a variable of a package becomes a variable that has one of two
// values. The idea is Untch, Offutt and Harrold's, "Mutation analysis using
// mutant schemata" (1993).
type schemata struct {
	dir, module string
	bin         string           // the folder of the test binaries
	order       map[string]int   // the numbers of all mutants, from 1, by their names; they stay while some are left out
	numbers     map[string]int   // of those that are in it
	places      map[string]int   // the function that a mutant is in: the number of its first; 0 where it is a value
	unfit       map[string]error // what cannot be tried like this, and why
}

// switchDir is the package of the copy that says which mutant is on.
const switchDir = "internal/yikumutant"

// The variables of the environment: the number of the mutant that is on, and
// the file to which the places that are reached are written.
const (
	envOn      = "MUTANT_ON"
	envReached = "MUTANT_REACHED"
)

// switchText is the package in switchDir. A place is written when it is first
// reached, so that it is kept however the process ends.
const switchText = `package yikumutant

import (
	"os"
	"strconv"
	"sync"
)

var (
	on, _ = strconv.Atoi(os.Getenv("` + envOn + `"))
	path  = os.Getenv("` + envReached + `")
	seen  sync.Map
)

func At(place int) int {
	if path != "" {
		if _, before := seen.LoadOrStore(place, true); !before {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err == nil {
				_, err = f.WriteString(strconv.Itoa(place) + "\n")
			}
			if err != nil {
				panic(err)
			}
			f.Close()
		}
	}
	return on
}

func Either[T any](number int, without, whole T) T {
	if on == number {
		return without
	}
	return whole
}
`

// newSchemata puts the mutants that fit into the tree in dir, compiles the
// tests of the packages, and puts the tree back as it was, for what is tried
// without them. A mutant that does not compile is left out.
func newSchemata(t *testing.T, dir string, list []mutant, packages []string) *schemata {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	s := &schemata{dir: dir, module: strings.TrimPrefix(first, "module "), bin: t.TempDir(), order: map[string]int{}, unfit: map[string]error{}}
	files, whole := map[string][]mutant{}, map[string][]byte{}
	for _, m := range list {
		s.order[m.name] = len(s.order) + 1
		files[m.file] = append(files[m.file], m)
		if whole[m.file], err = os.ReadFile(filepath.Join(dir, m.file)); err != nil {
			t.Fatal(err)
		}
		defer writeFile(t, filepath.Join(dir, m.file), whole[m.file])
	}
	defer os.RemoveAll(filepath.Join(dir, switchDir))
	writeFile(t, filepath.Join(dir, switchDir, "mutant.go"), []byte(switchText))
	for {
		s.numbers, s.places = map[string]int{}, map[string]int{}
		added := map[string][]tail{}
		for file, of := range files {
			r := s.rewrite(whole[file], of)
			writeFile(t, filepath.Join(dir, file), r.text())
			added[file] = r.tails
		}
		out, err := s.compile(t, packages)
		if err == nil {
			return s
		}
		if !s.leaveOut(out, added) {
			t.Fatalf("compile the mutants: %v\n%s", err, out)
		}
	}
}

func writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// binary is the compiled tests of a package.
func (s *schemata) binary(pkg string) string {
	return filepath.Join(s.bin, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// compile compiles the tests of packages, up to the first that does not compile.
func (s *schemata) compile(t *testing.T, packages []string) ([]byte, error) {
	t.Helper()
	for _, pkg := range packages {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", s.binary(pkg), "./"+pkg)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return out, err
		}
	}
	return nil, nil
}

var fault = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)

// leaveOut leaves out the mutants in which the compiler found faults, and says
// whether there are any: those in whose lines one is, and those whose constant
// is named in one elsewhere, because it had to become a variable, or stands in
// the same package where none is named.
func (s *schemata) leaveOut(out []byte, added map[string][]tail) bool {
	before := len(s.unfit)
	for _, f := range fault.FindAllSubmatch(out, -1) {
		file := filepath.ToSlash(filepath.Clean(string(f[1])))
		line, _ := strconv.Atoi(string(f[2]))
		var within, named, beside []string
		for other, list := range added {
			for _, a := range list {
				switch {
				case file == other && a.from <= line && line <= a.to:
					within = append(within, a.mutants...)
				case a.value == "":
				case regexp.MustCompile(`\b` + a.value + `\b`).Match(f[3]):
					named = append(named, a.mutants...)
				case path.Dir(file) == path.Dir(other):
					beside = append(beside, a.mutants...)
				}
			}
		}
		for _, guilty := range [][]string{within, named, beside} {
			for _, name := range guilty {
				s.unfit[name] = fmt.Errorf("it does not compile beside the others: %s", f[3])
			}
			if len(guilty) > 0 {
				break
			}
		}
	}
	return len(s.unfit) > before
}

// A rewrite is a file on its way to hold mutants. Edits are in the offsets of
// the file as it was and do not overlap; tails come behind it, in lines of
// their own.
type rewrite struct {
	*schemata
	whole []byte
	edits []edit
	tails []tail
}

type (
	edit struct {
		from, to int
		text     string
	}
	// tail is what is there for mutants only.
	tail struct {
		mutants  []string
		value    string // the variable that it is; "" for a function
		text     string
		from, to int // its lines, once the file is whole
	}
	// change is one mutant's edit.
	change struct {
		edit
		name string
	}
)

func offset(p token.Pos) int { return int(p) - 1 } // of a file set of one file

// rewrite puts those of the list into a file that fit.
func (s *schemata) rewrite(whole []byte, list []mutant) *rewrite {
	r := &rewrite{schemata: s, whole: whole}
	file, err := parser.ParseFile(token.NewFileSet(), "", whole, parser.SkipObjectResolution)
	if err != nil {
		return r // the compiler says so
	}
	homes := map[ast.Node][]change{}
	for _, m := range list {
		if s.unfit[m.name] != nil {
			continue
		}
		from := bytes.Index(whole, []byte(m.old))
		c := change{edit{from, from + len(m.old), m.new}, m.name}
		if home := homeOf(file, c.edit); home != nil {
			homes[home] = append(homes[home], c)
		} else {
			s.unfit[m.name] = errors.New("it lies neither in one function nor in one value")
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			r.function(d, homes[d])
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					r.value(d, v, homes[v])
				}
			}
		}
	}
	if len(r.tails) > 0 {
		r.edits = append(r.edits, edit{offset(file.Name.End()), offset(file.Name.End()), fmt.Sprintf("; import yikuMutant %q", s.module+"/"+switchDir)})
	}
	return r
}

// homeOf is the function whose body, or the constant or variable whose only
// value, has the edit in it, and that can be had twice; nil where there is none.
func homeOf(file *ast.File, e edit) ast.Node {
	holds := func(n ast.Node) bool { return offset(n.Pos()) <= e.from && e.to <= offset(n.End()) }
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && holds(d.Body) && d.Name.Name != "init" && !recovers(d.Body) {
				return d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if ok && len(v.Names) == 1 && len(v.Values) == 1 && holds(v) && !counts(d) {
					return v
				}
			}
		}
	}
	return nil
}

// recovers says whether a body calls recover itself, which does nothing when
// it is a copy that a deferred function calls.
func recovers(body *ast.BlockStmt) bool {
	return finds(body, func(n ast.Node) bool { _, literal := n.(*ast.FuncLit); return !literal }, "recover")
}

// counts says whether constants of a group depend on their order.
func counts(d *ast.GenDecl) bool {
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.CONST && len(v.Values) == 0 {
			return true
		}
	}
	return finds(d, func(ast.Node) bool { return true }, "iota")
}

func finds(in ast.Node, enter func(ast.Node) bool, name string) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return n != nil && enter(n)
	})
	return found
}

// function adds a copy of the function for each change, behind the file, and
// calls the one that is on before anything else.
func (r *rewrite) function(f *ast.FuncDecl, list []change) {
	place, cases := 0, ""
	for _, c := range list {
		number := r.order[c.name]
		name := fmt.Sprintf("mutant%d_%s", number, f.Name.Name)
		text := apply(r.whole, offset(f.Pos()), offset(f.End()), c.edit, edit{offset(f.Name.Pos()), offset(f.Name.End()), name})
		if one, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution); err != nil || len(one.Decls) != 1 {
			r.unfit[c.name] = errors.New("it is not one function")
			continue
		}
		if place == 0 {
			place = number
		}
		r.numbers[c.name], r.places[c.name] = number, place
		r.tails = append(r.tails, tail{mutants: []string{c.name}, text: text})
		cases += fmt.Sprintf("case %d: %s; ", number, call(f, name))
	}
	if cases == "" {
		return
	}
	r.edits = append(r.edits, edit{offset(f.Body.Lbrace) + 1, offset(f.Body.Lbrace) + 1, fmt.Sprintf(" switch yikuMutant.At(%d) { %s}; ", place, cases)})
	r.name(f.Recv)
	r.name(f.Type.Params)
}

// call calls a copy of a function with its own arguments.
func call(f *ast.FuncDecl, name string) string {
	if f.Recv != nil {
		name = arguments(f.Recv)[0] + "." + name
	}
	if f.Type.TypeParams != nil {
		name += "[" + strings.Join(arguments(f.Type.TypeParams), ", ") + "]"
	}
	name += "(" + strings.Join(arguments(f.Type.Params), ", ")
	if n := len(f.Type.Params.List); n > 0 {
		if _, variadic := f.Type.Params.List[n-1].Type.(*ast.Ellipsis); variadic {
			name += "..."
		}
	}
	if f.Type.Results == nil {
		return name + "); return"
	}
	return "return " + name + ")"
}

// arguments are the names of parameters.
func arguments(list *ast.FieldList) []string {
	var names []string
	for _, p := range list.List {
		for _, n := range p.Names {
			if n.Name == "_" {
				names = append(names, nameless(n))
			} else {
				names = append(names, n.Name)
			}
		}
		if len(p.Names) == 0 {
			names = append(names, nameless(p.Type))
		}
	}
	return names
}

// nameless is the name that a parameter without one gets.
func nameless(n ast.Node) string { return fmt.Sprintf("mutantArgument%d", n.Pos()) }

// name gives names to the parameters that have none.
func (r *rewrite) name(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, p := range list.List {
		for _, n := range p.Names {
			if n.Name == "_" {
				r.edits = append(r.edits, edit{offset(n.Pos()), offset(n.End()), nameless(n)})
			}
		}
		if len(p.Names) == 0 {
			r.edits = append(r.edits, edit{offset(p.Type.Pos()), offset(p.Type.Pos()), nameless(p.Type) + " "})
		}
	}
}

// value makes a variable of a constant or variable, which is one of its values,
// behind the file.
func (r *rewrite) value(d *ast.GenDecl, v *ast.ValueSpec, list []change) {
	text, kind, names := r.valueText(v), "", []string(nil)
	if v.Type != nil {
		kind = "[" + apply(r.whole, offset(v.Type.Pos()), offset(v.Type.End())) + "]"
	}
	for _, c := range list {
		without := r.valueText(v, c.edit)
		if without == "" {
			r.unfit[c.name] = errors.New("it is not one value")
			continue
		}
		number := r.order[c.name]
		r.numbers[c.name], r.places[c.name] = number, 0
		text = fmt.Sprintf("yikuMutant.Either%s(%d, %s, %s)", kind, number, without, text)
		names = append(names, c.name)
	}
	if len(names) == 0 {
		return
	}
	from, to := v.Pos(), v.End()
	if !d.Lparen.IsValid() {
		from, to = d.Pos(), d.End()
	}
	blank := strings.Repeat("\n", strings.Count(apply(r.whole, offset(from), offset(to)), "\n"))
	r.edits = append(r.edits, edit{offset(from), offset(to), blank})
	r.tails = append(r.tails, tail{mutants: names, value: v.Names[0].Name, text: "var " + v.Names[0].Name + " = " + text})
}

// valueText is the value of an edited constant or variable, "" where it has
// not one.
func (r *rewrite) valueText(v *ast.ValueSpec, edits ...edit) string {
	text := []byte("package p\nvar " + apply(r.whole, offset(v.Pos()), offset(v.End()), edits...))
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return ""
	}
	spec := file.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
	if len(spec.Values) != 1 || spec.Names[0].Name != v.Names[0].Name {
		return ""
	}
	return apply(text, offset(spec.Values[0].Pos()), offset(spec.Values[0].End()))
}

// apply gives the bytes of a text from one offset to another, edited.
func apply(whole []byte, from, to int, edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	for _, e := range edits {
		out.Write(whole[from:e.from])
		out.WriteString(e.text)
		from = e.to
	}
	out.Write(whole[from:to])
	return out.String()
}

// text is the file with its tails, whose lines it notes.
func (r *rewrite) text() []byte {
	out := []byte(apply(r.whole, 0, len(r.whole), r.edits...))
	for i, t := range r.tails {
		r.tails[i].from = bytes.Count(out, []byte("\n")) + 2
		out = append(out, "\n"+t.text+"\n"...)
		r.tails[i].to = bytes.Count(out, []byte("\n"))
	}
	return out
}
