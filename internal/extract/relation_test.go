package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/extract"
)

// shown writes relations as texts.
func shown(list []extract.Relation) string {
	var out []string
	for _, r := range list {
		out = append(out, strings.Join(strings.Fields(strings.Join([]string{r.From, r.Type, r.To, string(r.Kind)}, " ")), " "))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// TestC14_RulesRelate: how people, animals and projects belong together is
// heard by the way, in both languages; what names nobody relates nobody.
func TestC14_RulesRelate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"My wife Anna works at Acme.":               "user wife Anna",
		"My colleague Bob Smith lives in Oslo.":     "user colleague Bob Smith",
		"My older sister is called Eva.":            "user sister Eva",
		"I have a dog named Rex and I love him.":    "user dog Rex",
		"I work on the Apollo project.":             "user works_on Apollo",
		"My wife works at Acme.":                    "",
		"我老婆王小红在谷歌工作。":                              "user 老婆 王小红",
		"我妹妹叫李娜。":                                   "user 妹妹 李娜",
		"我的同事王伟住在杭州。":                               "user 同事 王伟",
		"我负责阿波罗项目。":                                 "user works_on 阿波罗",
		"我老婆在谷歌工作。":                                 "",
		"I live in Bergen and I like long walks.":   "",
		"My friend said that Anna is my colleague.": "",
	} {
		var got []extract.Relation
		for _, c := range read(t, nil, text) {
			got = append(got, c.Relations...)
		}
		if s := shown(got); s != want {
			t.Errorf("%q relates %q, want %q", text, s, want)
		}
	}
}

// TestC9_RulesRest: a fact whose reason names what is known rests on it.
func TestC9_RulesRest(t *testing.T) {
	t.Parallel()
	known := []extract.Neighbour{{Content: "I love jazz", Value: "jazz"}, {Content: "I live in Bergen", Subject: "user", Attribute: "residence", Value: "Bergen"}, {Content: "我住在杭州", Value: "杭州"}}
	for text, want := range map[string][]int{
		"Please remember that I take the light rail because I live in Bergen.": {2},
		"请记住：因为我住在杭州，我每天骑车上班。":                                                 {3},
		"Please remember that I take the light rail in Bergen.":                nil,
	} {
		var got []int
		for _, c := range read(t, known, text) {
			got = append(got, c.From...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q rests on %v, want %v", text, got, want)
		}
	}
}

// TestC14_ModelsRelate: what a model says of relations and entities is read in
// the forms in which models say it; what cannot be read is parked, and the
// fact stays.
func TestC14_ModelsRelate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more, want string
		parked     int
	}{
		"as asked":     {`"relations":[{"from":"user","relation":"sister","to":"Eva"}],"entities":[{"name":"Eva","kind":"person","aliases":["小娃"]}]`, "Eva alias 小娃 person; Eva person; user sister Eva", 0},
		"other names":  {`"relations":{"subject":"Eva","predicate":"works at","object":"Acme"},"entities":["Acme"]`, "Acme; Eva works at Acme", 0},
		"half":         {`"relations":[{"from":"user","to":"Eva"},{"relation":"sister"},"sister",{"from":"user","relation":"boss","to":"Ida"}]`, "user boss Ida", 3},
		"wrong types":  {`"relations":17,"entities":[{"kind":"person"},null,[]]`, "", 4},
		"unknown kind": {`"entities":[{"name":"Acme","kind":"company"},{"name":"X","kind":"zeppelin"}]`, "Acme organisation; X", 0},
		"none":         {`"relations":[],"entities":null`, "", 0},
	} {
		candidates, parked := extract.ParseAnswer(`{"operations":[{"op":"create","content":"A fact",`+c.more+`}]}`, 1, 0)
		if len(candidates) != 1 || candidates[0].Content != "A fact" {
			t.Errorf("%s: the fact is lost: %+v", name, candidates)
			continue
		}
		if got := shown(candidates[0].Relations); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		bad := slices.DeleteFunc(parked, func(p extract.Parked) bool { return p.Reason != extract.BadRelation })
		if len(bad) != c.parked {
			t.Errorf("%s: %d parked, want %d: %+v", name, len(bad), c.parked, parked)
		}
	}
}
