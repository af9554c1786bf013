package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// said is a source over what some memories say.
type said []graph.Edge

// saying reads memories, each "subject | attribute | value".
func saying(memories ...string) said {
	r := graph.NewReader(reconcile.NewVocabulary())
	var s said
	for i, m := range memories {
		parts := append(strings.Split(m, " | "), "", "")
		for _, st := range r.Statements(yiku.Memory{Subject: parts[0], Attribute: parts[1], Value: parts[2]}) {
			s = append(s, graph.Edge{Statement: st, Key: int64(len(s)), Memory: fmt.Sprint(i)})
		}
	}
	return s
}

func (s said) Around(names, types []string) ([]graph.Edge, error) {
	var out []graph.Edge
	for _, e := range s {
		if (slices.Contains(names, e.From.Name) || e.To.Name != "" && slices.Contains(names, e.To.Name)) && (types == nil || slices.Contains(types, e.Type)) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (s said) nodes(fits func(graph.Node) bool) (out []graph.Node) {
	for _, e := range s {
		for _, n := range []graph.Node{e.From, e.To} {
			if n.Name != "" && fits(n) && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func (s said) Called(text string) ([]graph.Node, error) {
	return s.nodes(func(n graph.Node) bool { return n.Base == text || n.Given == text }), nil
}

func (s said) Family(name string) ([]graph.Node, error) {
	return s.nodes(func(n graph.Node) bool { return n.Family == name }), nil
}

func (s said) resolver() *graph.Resolver {
	return graph.NewResolver(reconcile.NewVocabulary(), s)
}

func node(text string) graph.Node {
	return graph.NewReader(reconcile.NewVocabulary()).Name(text).Node
}

// group is all names of an entity, in order.
func (s said) group(t testing.TB, text string) []string {
	t.Helper()
	g, err := s.resolver().Resolve(node(text))
	if err != nil {
		t.Fatal(err)
	}
	names := g.Names()
	slices.Sort(names)
	return names
}

// TestC14_Names: the ways to name somebody in both languages.
// Lessons: L44, L91.
func TestC14_Names(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"I", "me", "the user", "User", "我", "用户", "本人", "ＵＳＥＲ"},
		{"Anna Berg", "anna  berg", "ＡＮＮＡ Ｂｅｒｇ", "Anna Berg."},
		{"张小华", "張小華", " 张小华。"},
		{"my wife", "wife", "My Wife", "the user's wife", "我老婆", "我的妻子", "用户的太太", "老婆"},
		{"my sister", "sister", "my older sister", "我妹妹", "我姐姐", "my 妹妹"},
		{"my sister's husband", "the user's sister's husband", "我妹妹的老公", "我的姐姐的丈夫"},
		{"my colleague Bob", "Bob (my colleague)", "Bob (colleague)"},
		{"同事王伟", "我同事王伟", "我的同事王伟", "王伟（同事）", "王偉（同事）"},
		{"Anna's husband", "husband of Anna"},
		{"Dr. Smith", "dr smith", "DR SMITH"},
		{"Mr. John Smith", "John Smith", "Dr. John Smith"},
		{"王建国老师", "王建国", "王建国先生"},
		{"Google", "the Google", "google"},
		{"my boss", "老板", "我领导", "my manager"},
	} {
		for _, text := range same[1:] {
			if got, want := node(text), node(same[0]); got.Name != want.Name || want.Name == "" {
				t.Errorf("%q is %q, and %q is %q", text, got.Name, same[0], want.Name)
			}
		}
	}
	for _, apart := range [][2]string{
		{"my colleague Bob", "my cousin Bob"}, {"同事王伟", "邻居王伟"}, {"王伟", "另一个王伟"}, {"Bob", "another Bob"}, {"Bob", "Bob from accounting"},
		{"张总", "张伟"}, {"小李", "李明"}, {"老王", "王老师"}, {"Dr. Smith", "Mr. Smith"}, {"my wife", "my sister"}, {"Bob", "Bob Smith"}, {"Anna", "Hanna"},
		{"我妈", "我爸"}, {"my sister's husband", "my brother's husband"}, {"王伟", "王维"},
	} {
		if node(apart[0]).Name == node(apart[1]).Name {
			t.Errorf("%q and %q are one name", apart[0], apart[1])
		}
	}
	for _, none := range []string{"", "he", "她", "it", "They", "大家", "what I said, and more", "这是一句话。还有一句"} {
		if n := node(none); n.Name != "" {
			t.Errorf("%q names %q", none, n.Name)
		}
	}
}

// TestC14_Same: which names are one entity, and which are not.
// Lessons: L44.
func TestC14_Same(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memories  []string
		is, isNot string // a name, and another
	}{
		"told by a nickname":     {[]string{"user | nickname | 阿明"}, "我 = 阿明", ""},
		"told by a name":         {[]string{"user | name | Robert Lee", "Robert Lee | employer | Acme"}, "I = Robert Lee", ""},
		"another's alias":        {[]string{"Robert Lee | alias | Bobby"}, "Bobby = Robert Lee", "Bobby ≠ I"},
		"a given name":           {[]string{"Bob Smith | employer | Acme", "Bob | residence | Oslo"}, "Bob = Bob Smith", ""},
		"of two":                 {[]string{"Bob Smith | employer | Acme", "Bob Jones | employer | Acme", "Bob | residence | Oslo"}, "", "Bob ≠ Bob Smith"},
		"a Chinese given name":   {[]string{"王建国 | 雇主 | 谷歌", "建国 | 居住地 | 杭州"}, "建国 = 王建国", ""},
		"of two in Chinese":      {[]string{"王建国 | 雇主 | 谷歌", "李建国 | 雇主 | 百度", "建国 | 居住地 | 杭州"}, "", "建国 ≠ 李建国"},
		"a title":                {[]string{"王建国老师 | 居住地 | 杭州", "王老师 | 年龄 | 50"}, "王老师 = 王建国", ""},
		"a title of two":         {[]string{"王建国老师 | 居住地 | 杭州", "王建军老师 | 居住地 | 上海", "王老师 | 年龄 | 50"}, "", "王老师 ≠ 王建国"},
		"an English title":       {[]string{"Dr. John Smith | residence | Oslo", "Dr. Smith | age | 50"}, "Dr. Smith = John Smith", "Mr. Smith ≠ John Smith"},
		"a family name only":     {[]string{"张伟 | 雇主 | 谷歌", "张总 | 居住地 | 杭州"}, "", "张总 ≠ 张伟"},
		"small Li":               {[]string{"李明 | 雇主 | 谷歌", "小李 | 居住地 | 杭州"}, "", "小李 ≠ 李明"},
		"a wife":                 {[]string{"my wife | employer | Acme", "user | wife | Anna"}, "my wife = my wife Anna", ""},
		"a wife by her name":     {[]string{"my wife Anna | residence | Oslo", "Anna | employer | Acme"}, "Anna = my wife Anna", ""},
		"a wife's name":          {[]string{"my 老婆 | name | 安娜", "安娜 | 雇主 | 谷歌"}, "我老婆 = 安娜", ""},
		"a sister's husband":     {[]string{"user | sister | Eva", "my sister | residence | Oslo", "Eva | husband | Tom", "my sister's husband | age | 40"}, "my sister's husband = Tom", ""},
		"two sisters":            {[]string{"user | sister | Eva", "user | sister | Ida", "my sister | residence | Oslo"}, "", "my sister ≠ Eva"},
		"a friend is any":        {[]string{"user | friend | Bob", "my friend | residence | Oslo"}, "", "my friend ≠ Bob"},
		"told apart":             {[]string{"my colleague Bob | residence | Oslo", "my cousin Bob | residence | Rome", "Bob | age | 40"}, "", "Bob ≠ my colleague Bob"},
		"told apart in Chinese":  {[]string{"同事王伟 | 居住地 | 杭州", "邻居王伟 | 居住地 | 上海"}, "", "同事王伟 ≠ 邻居王伟"},
		"only one of the circle": {[]string{"my colleague Bob | residence | Oslo", "Bob | age | 40"}, "Bob = my colleague Bob", ""},
		"no person":              {[]string{"user | employer | Google Cloud", "user | employer | Google"}, "", "Google ≠ Google Cloud"},
		"a dog":                  {[]string{"my dog | name | Rex"}, "Rex = my dog", ""},
		"similar is not same":    {[]string{"Anna | residence | Oslo", "Ana | residence | Oslo", "Anne | age | 3"}, "", "Anna ≠ Ana"},
	} {
		s := saying(c.memories...)
		if a, b, ok := strings.Cut(c.is, " = "); ok && !slices.Contains(s.group(t, a), node(b).Name) {
			t.Errorf("%s: %q is not %q: %q", name, a, b, s.group(t, a))
		}
		if a, b, ok := strings.Cut(c.isNot, " ≠ "); ok && slices.Contains(s.group(t, a), node(b).Name) {
			t.Errorf("%s: %q is %q: %q", name, a, b, s.group(t, a))
		}
	}
}

// TestC14_Candidates: who a short name may be is said where it is not certain.
func TestC14_Candidates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memories []string
		of       string
		want     string
	}{
		"two given names": {[]string{"Bob Smith | employer | Acme", "Bob Jones | employer | Acme", "Bob | residence | Oslo"}, "Bob", "bob jones, bob smith"},
		"one family name": {[]string{"张伟 | 雇主 | 谷歌", "张总 | 居住地 | 杭州"}, "张总", "张伟"},
		"a full name":     {[]string{"张伟 | 雇主 | 谷歌", "张总 | 居住地 | 杭州"}, "王五", ""},
		"certain":         {[]string{"Bob Smith | employer | Acme", "Bob | residence | Oslo"}, "Bob", ""},
		"the user":        {[]string{"user | name | Bob"}, "I", ""},
	} {
		s := saying(c.memories...)
		r := s.resolver()
		g, err := r.Resolve(node(c.of))
		if err != nil {
			t.Fatal(err)
		}
		list, err := r.Candidates(g)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range list {
			got = append(got, n.Name)
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: candidates of %s are %q, want %q", name, c.of, got, c.want)
		}
	}
}

// statements are pieces of which laws make conversations.
func statements() []string {
	return []string{
		"user | name | Robert Lee", "user | nickname | Bob", "user | nickname | 阿明", "Bob Smith | employer | Acme", "Bob Jones | residence | Oslo", "Bob | age | 40",
		"my colleague Bob | residence | Rome", "my cousin Bob | age | 12", "user | wife | Anna", "my wife | employer | 谷歌", "my wife Anna Berg | residence | Oslo", "Anna | age | 41",
		"王建国老师 | 居住地 | 杭州", "王老师 | 年龄 | 50", "建国 | 雇主 | 谷歌", "李建国 | 雇主 | 百度", "王伟（同事） | 年龄 | 30", "王伟 | 居住地 | 上海", "user | sister | Eva and Ida",
		"my sister | residence | Rome", "my sister's husband | employer | Acme", "Eva | husband | Tom", "Tom | alias | Tommy", "my dog | name | Rex", "Acme | located_in | Oslo",
	}
}

// TestC14_Laws: whose name is whose does not depend on the order in which it
// was said, nor on which name one asks for, nor on how often it was said; and
// what is forgotten takes no part: without a memory all is as if it had never
// been said.
func TestC14_Laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(statements()), 1, 6, rapid.ID).Draw(rt, "said")
		s := saying(some...)
		names := s.nodes(func(graph.Node) bool { return true })
		again := saying(rapid.Permutation(append(slices.Clone(some), some...)).Draw(rt, "again")...)
		for _, n := range names {
			of := func(s said, n graph.Node) []string {
				g, err := s.resolver().Resolve(n)
				if err != nil {
					rt.Fatal(err)
				}
				names := g.Names()
				slices.Sort(names)
				return names
			}
			group := of(s, n)
			if other := of(again, n); !slices.Equal(group, other) {
				rt.Fatalf("%q: %q, said in another order and twice %q", n.Name, group, other)
			}
			for _, m := range names {
				if slices.Contains(group, m.Name) && !slices.Equal(of(s, m), group) {
					rt.Fatalf("%q: %q, asked by %q: %q", n.Name, group, m.Name, of(s, m))
				}
			}
		}
	})
}

// TestC14_Walk: what lies several hops away is found with what proves it, over
// both directions, in a cycle too, and no further than asked.
func TestC14_Walk(t *testing.T) {
	t.Parallel()
	family := saying("my sister | name | Eva", "Eva | husband | Tom", "Tom | employer | Acme", "Acme | headquarters | Oslo", "user | employer | Acme",
		"Tom | friend | Eva", "我弟弟 | 妻子 | 小红", "小红 | 雇主 | 谷歌", "user | daughter | Lily", "user | likes | tea")
	for name, c := range map[string]struct {
		start     string
		relations []string
		hops      int
		want      string
	}{
		"one hop":          {"I", []string{"employer"}, 1, "acme"},
		"the husband":      {"I", []string{"sister", "spouse"}, 2, "tom"},
		"works for":        {"I", []string{"sister", "spouse", "employer"}, 3, "acme"},
		"in Chinese":       {"我", []string{"brother", "spouse", "employer"}, 3, "谷歌"},
		"a broader one":    {"I", []string{"sibling", "spouse"}, 2, "tom, 小红"},
		"from another end": {"Tom", []string{"spouse"}, 1, "eva"},
		"the parent":       {"Lily", []string{"parent"}, 1, "user"},
		"who works there":  {"Acme", []string{"employee"}, 1, "tom, user"},
		"any, by the last": {"my sister's husband", []string{"employer"}, 1, "acme"},
		"nothing":          {"I", []string{"owns"}, 4, ""},
		"too far":          {"I", []string{"located_in"}, 1, ""},
		"far enough":       {"I", []string{"located_in"}, 2, "oslo"},
	} {
		r := family.resolver()
		paths, cut, err := r.Walk(graph.Question{Start: node(c.start), Relations: c.relations, Hops: c.hops, Limit: 50})
		if err != nil || cut {
			t.Fatal(name, cut, err)
		}
		got := []string{}
		for _, p := range paths {
			last := p[len(p)-1]
			base := last.To.Nodes[0].Base
			for _, n := range last.To.Nodes {
				base = max(base, n.Base)
			}
			if got = append(got, base); len(last.Edges) == 0 || len(p) > c.hops {
				t.Errorf("%s: %d steps, %d proofs", name, len(p), len(last.Edges))
			}
		}
		slices.Sort(got)
		if strings.Join(slices.Compact(got), ", ") != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
}

// TestR25_WalkIsBounded: a large and dense graph ends at the bounds, and says so.
func TestR25_WalkIsBounded(t *testing.T) {
	t.Parallel()
	var memories []string
	for i := range 40 {
		for j := range 10 {
			memories = append(memories, fmt.Sprintf("Person%d | friend | Person%d", i, (i*7+j)%40))
		}
	}
	counted := &counting{said: saying(memories...)}
	paths, cut, err := graph.NewResolver(reconcile.NewVocabulary(), counted).Walk(graph.Question{Start: node("Person1"), Hops: 4, Limit: 100})
	if err != nil || len(paths) != 100 || !cut || counted.reads > 2000 {
		t.Errorf("%d paths, cut %v, %d reads, %v", len(paths), cut, counted.reads, err)
	}
}

// counting counts the reads of a source.
type counting struct {
	said
	reads int
}

func (c *counting) Around(names, types []string) ([]graph.Edge, error) {
	c.reads++
	return c.said.Around(names, types)
}

func (c *counting) Called(text string) ([]graph.Node, error) {
	c.reads++
	return c.said.Called(text)
}
