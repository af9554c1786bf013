package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

// Relation is what a candidate says of one somebody or something and another,
// beside its own subject, attribute and value (C14). Without Type it only
// names From.
type Relation struct {
	From, Type, To string
	Kind           yiku.EntityKind // of From, where it is known
}

// mostRelations is how many one candidate says.
const mostRelations = 12

// relatedIn reads the relations and entities of an operation of a model's; what
// cannot be read is given back.
func relatedIn(v any) (list []Relation, bad []Parked) {
	m, _ := v.(map[string]any)
	add := func(r Relation, of any) {
		switch {
		case r.From == "" || (r.Type == "") != (r.To == "") || len(list) >= mostRelations:
			bad = append(bad, Parked{BadRelation, clip(text(of))})
		case !slices.Contains(list, r):
			list = append(list, r)
		}
	}
	for _, v := range listOf(m["relations"]) {
		o, _ := v.(map[string]any)
		r := Relation{From: short(str(first(o, []string{"from", "subject", "source"})), 512),
			Type: short(str(first(o, []string{"relation", "type", "predicate", "attribute"})), 512), To: short(str(first(o, []string{"to", "object", "target", "value"})), 512)}
		if r.Type == "" || r.To == "" {
			r.From = ""
		}
		add(r, v)
	}
	for _, v := range listOf(m["entities"]) {
		o, _ := v.(map[string]any)
		if o == nil {
			o = map[string]any{"name": v}
		}
		e := Relation{From: short(str(first(o, []string{"name", "entity"})), 512), Kind: kindOf(str(first(o, []string{"kind", "type"})))}
		add(e, v)
		for _, alias := range listOf(first(o, []string{"aliases", "alias"})) {
			if name := short(str(alias), 512); name != "" && e.From != "" && name != e.From {
				add(Relation{From: e.From, Type: "alias", To: name, Kind: e.Kind}, alias)
			}
		}
	}
	return list, bad
}

// listOf is a value as a list: one that is none is a list of one.
func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func kindOf(s string) yiku.EntityKind {
	switch k := yiku.EntityKind(strings.ToLower(strings.TrimSpace(s))); k {
	case yiku.EntityPerson, yiku.EntityAnimal, yiku.EntityPlace, yiku.EntityOrganisation, yiku.EntityProject, yiku.EntityThing:
		return k
	case "organization", "company":
		return yiku.EntityOrganisation
	case "location", "city", "country":
		return yiku.EntityPlace
	}
	return ""
}

// stating are the forms in which a clause says how people, animals and projects
// belong together, by the way. Their groups: r the relation, n who it is, o to
// whom where that is not the user; role is the relation where no group says it.
type stating struct {
	form *regexp.Regexp
	role string
}

const (
	enName  = `(?P<n>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}-]+)?)`
	zhNamed = `(?P<n>` + zhSurname + `\p{Han}{1,2}?|[A-Z][a-z]+)`
)

var statings = []stating{
	{regexp.MustCompile(`\b[Mm]y (?:\w+ )?(?P<r>` + relation + `)(?:,| is| is called| is named|'s name is| name is)? ` + enName), ""},
	{regexp.MustCompile(`\b` + enName + `,? (?:is|was) my (?:\w+ )?(?P<r>` + relation + `)\b`), ""},
	{regexp.MustCompile(`\b(?P<o>\p{Lu}[\p{L}-]+)'s (?P<r>` + relation + `)(?:,| is| is called| is named)? ` + enName), ""},
	{regexp.MustCompile(`\b(?:have|has|own|owns|adopted|got) (?:an?|one) (?:\w+ )?(?P<r>dog|cat|puppy|kitten|horse|rabbit|parrot)(?:,? (?:called|named|whose name is))? ` + enName), ""},
	{regexp.MustCompile(`\b(?:[Ww]orks? on|[Ll]eads?|[Ii]s on|[Aa]m on|[Jj]oined) (?:the )?` + enName + ` (?:project|team)\b`), "works_on"},
	{regexp.MustCompile(`我(?:的|家的?|们家的?)?(?P<r>` + kin + `)(?:的名字)?(?:叫做?|名叫|名字是|是)?` + zhNamed + `(?:$|[，,。、在是住也和跟喜爱对有从的做今]|\d)`), ""},
	{regexp.MustCompile(`(?P<n>` + zhSurname + `\p{Han}{1,2}?)是我(?:的|家的?)?(?P<r>` + kin + `)`), ""},
	{regexp.MustCompile(`(?P<o>` + zhSurname + `\p{Han}{1,2}?)的(?P<r>` + kin + `)(?:叫做?|名叫|是)` + zhNamed + `(?:$|[，,。、在住])`), ""},
	{regexp.MustCompile(`(?:养了?|有)(?:一|1)[只条匹个](?:名?叫)(?P<n>[\p{Han}A-Za-z]{1,8}?)的[\p{Han}]{0,4}?(?P<r>狗|猫|兔子|鹦鹉)`), ""},
	{regexp.MustCompile(`(?:负责|参与|加入)了?(?P<n>[\p{Han}\w]{2,12}?)项目`), "works_on"},
}

// belonging tells how those whom a text names belong together. Whom it is about
// apart from the user it says itself.
func belonging(text string) []Relation {
	var out []Relation
	for _, s := range statings {
		for _, m := range s.form.FindAllStringSubmatch(text, mostRelations) {
			group := func(name string) string {
				if i := s.form.SubexpIndex(name); i >= 0 {
					return m[i]
				}
				return ""
			}
			r := Relation{From: user, Type: s.role, To: group("n")}
			if r.Type == "" {
				r.Type = strings.ToLower(group("r"))
			}
			if o := group("o"); o != "" {
				r.From = o
			}
			if len(out) < mostRelations && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// reasons are where a clause says on what it rests.
var reasons = regexp.MustCompile(`(?i)\b(?:because|since)\b(.+)$|(?:因为|由于|既然)(.+?)(?:所以|因此|就|，|,|$)`)

// restsOn are the numbers of the neighbours on which what a sentence says
// rests: whose values its reason names. The reason itself rests on nothing.
func (r *reading) restsOn(sentence, content string) []int {
	m := reasons.FindStringSubmatch(sentence)
	if m == nil {
		return nil
	}
	var out []int
	why := strings.ToLower(strings.Join(m[1:], ""))
	if strings.Contains(why, strings.ToLower(content)) {
		return nil
	}
	for i, n := range r.window.Neighbours {
		if value := strings.ToLower(n.Value); utf8.RuneCountInString(value) >= 2 && strings.Contains(why, value) {
			out = append(out, i+1)
		}
	}
	return out
}
