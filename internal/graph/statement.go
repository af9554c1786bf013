package graph

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

// shortForm is the type of a statement that says by what shorter form somebody
// is called. It leads to the same one, where it leads from nobody else.
const shortForm = "~short"

// Hidden reports whether a type is Yiku's own and is not shown.
func Hidden(relation string) bool { return strings.HasPrefix(relation, "~") }

// Statement is what is said of somebody: a relation to somebody or something,
// or a value. One without a type only speaks of From.
type Statement struct {
	Type             string
	From, To         Node
	FromName, ToName string
	FromKind, ToKind yiku.EntityKind
}

// mostStatements is how many one memory says.
const mostStatements = 24

// Statements tells what a memory says of whom, by its subject, attribute and
// value.
func (r Reader) Statements(m yiku.Memory) []Statement {
	if m.Subject == "" {
		return nil
	}
	return r.Relate(m.Subject, m.Attribute, m.Value)
}

// Explicit is what is said by naming a relation from somebody or something to
// another one, of which one knows what it is where kind is not empty; without
// a relation it only names the one.
func (r Reader) Explicit(from, relation, to string, kind yiku.EntityKind) []Statement {
	list := r.relate(from, relation, to, true)
	for i, s := range list {
		if s.FromName != "" && s.FromKind == "" {
			list[i].FromKind = kind
		}
	}
	return list
}

// Relate is what a fact says: an attribute of a subject; without an attribute
// or a value it only names the one.
func (r Reader) Relate(subject, attribute, value string) []Statement {
	return r.relate(subject, attribute, value, false)
}

func (r Reader) relate(from, attribute, value string, explicit bool) []Statement {
	subject := r.Name(from)
	if subject.Name == "" {
		return nil
	}
	out := written(subject)
	if attribute == "" || value == "" {
		return out.add(Statement{From: subject.Node, FromName: subject.Written, FromKind: subject.Kind}).list
	}
	role := r.vocabulary.Canonical(attribute)
	base := Statement{Type: role, From: subject.Node, FromName: subject.Written, FromKind: subject.Kind, ToName: strings.TrimSpace(value)}
	if base.FromKind == "" && (r.vocabulary.Of(role) == yiku.EntityPerson && role != "owner" && role != "member" && role != "founder" || personal(role)) {
		base.FromKind = yiku.EntityPerson
	}
	if r.vocabulary.Names(role) {
		named := r.name(strings.TrimSpace(value))
		base.To, base.ToKind = named.Node, base.FromKind
		if named.Name == Self().Name || named.Name == base.From.Name {
			base.To = Node{}
		}
		return out.add(base).list
	}
	kind := r.vocabulary.Of(role)
	for _, one := range r.values(role, value) {
		next := base
		next.ToName = one
		if named := r.Name(one); kind != "" || explicit || !r.vocabulary.Knows(attribute) && proper(one) {
			named.Node = r.circle(subject.Node, role, named.Node)
			next.To, next.ToKind = named.Node, kind
			if kind == "" {
				next.ToKind = named.Kind
			}
			out.add(named.Says...)
		}
		out.add(next)
	}
	return out.list
}

// personal are attributes of people.
func personal(role string) bool {
	return slices.Contains([]string{"employer", "occupation", "age", "birthday", "gender", "marital_status", "height", "weight", "blood_type",
		"native_language", "hometown", "birthplace", "school", "likes", "dislikes", "allergy", "skill", "works_on"}, role)
}

// statements gathers, each once.
type statements struct{ list []Statement }

func (s *statements) add(more ...Statement) *statements {
	for _, m := range more {
		if m.From.Name != "" && len(s.list) < mostStatements && !slices.Contains(s.list, m) {
			s.list = append(s.list, m)
		}
	}
	return s
}

func written(m Mention) *statements { return new(statements).add(m.Says...) }

// values cuts a list of people or things, where the relation may lead to many.
func (r Reader) values(role, value string) []string {
	if r.vocabulary.Of(role) == "" || r.vocabulary.Single(role) {
		return []string{value}
	}
	var out []string
	for _, piece := range between.Split(value, -1) {
		if pair := together.FindStringSubmatch(piece); pair != nil && r.vocabulary.Of(role) == yiku.EntityPerson {
			out = append(out, pair[1], pair[2])
		} else if piece = strings.TrimSpace(piece); piece != "" {
			out = append(out, piece)
		}
	}
	return out
}

var (
	han      = regexp.MustCompile(`^\p{Han}{2,6}$`)
	between  = regexp.MustCompile(`\s*(?:,|，|、|;|；|\band\b|以及)\s*`)
	together = regexp.MustCompile(`^(\p{Han}{2,4})[和与跟](\p{Han}{2,4})$`)
)

// proper reports whether a text looks like the name of something: Latin words
// that begin with capitals, but not a whole clause, or a few Han characters.
func proper(s string) bool {
	if han.MatchString(s) {
		return true
	}
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > 5 || utf8.RuneCountInString(s) > longestName {
		return false
	}
	for _, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsUpper(first) && !slices.Contains([]string{"of", "the", "and", "de", "van", "von", "for"}, w) {
			return false
		}
	}
	return true
}
