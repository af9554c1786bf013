package graph

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// Node is a name as it is stored; see store.Entity. The zero value is none.
type Node struct{ Name, Base, Given, Family string }

// Self is the user's own name, under which they stand in any language.
func Self() Node { return Node{Name: "user", Base: "user"} }

// parted is between a name and what tells it from another of that name, and
// between the owner of a place and the place.
const parted = "\x00"

// Display is a name for people, where nobody has written it.
func (n Node) Display() string {
	owner, role, ok := ofPlace(n)
	switch {
	case ok && owner == Self().Name:
		return "the user's " + strings.ReplaceAll(role, "_", " ")
	case ok:
		base, _, _ := strings.Cut(owner, parted)
		return Node{Name: owner, Base: base}.Display() + "'s " + strings.ReplaceAll(role, "_", " ")
	case n.Name == Self().Name:
		return "the user"
	}
	return n.Base
}

// placeOf begins the names of those who are known by their place.
const placeOf = "@"

// longestName is how many characters a name may have.
const longestName = 64

// place is the name of whoever stands in a relation to an owner.
func place(owner Node, role string) Node {
	return Node{Name: placeOf + owner.Name + parted + role}
}

// ofPlace tells whose place a name is, and which; ok is false for other names.
func ofPlace(n Node) (owner, role string, ok bool) {
	rest, ok := strings.CutPrefix(n.Name, placeOf)
	if !ok {
		return "", "", false
	}
	at := strings.LastIndex(rest, parted)
	return rest[:max(at, 0)], rest[at+1:], at > 0
}

// Reader reads names and memories by a vocabulary. It is stateless.
type Reader struct{ vocabulary *reconcile.Vocabulary }

// NewReader returns a reader.
func NewReader(v *reconcile.Vocabulary) Reader { return Reader{v} }

// Mention is somebody or something that a text names.
type Mention struct {
	Node
	Written string
	Kind    yiku.EntityKind // what the way of naming says; "" nothing
	Says    []Statement     // what it says by the way: "my wife Anna" that Anna is the user's wife
}

// Name reads a text that names somebody or something. A text that names nobody
// (a pronoun, a sentence) gives the zero node.
func (r Reader) Name(text string) Mention {
	written := strings.TrimSpace(lang.Simplify(lang.Unify(text)))
	written = strings.Trim(written, `"“”'‘’「」.,，。!！?？:：;； `)
	m := r.name(written)
	m.Written = strings.TrimSpace(text)
	return m
}

func (r Reader) name(s string) Mention {
	key := strings.ToLower(article.ReplaceAllString(s, ""))
	switch {
	case key == "" || utf8.RuneCountInString(key) > longestName || sentence.MatchString(key) || nobody.MatchString(key):
		return Mention{}
	case self.MatchString(strings.ToLower(s)):
		return Mention{Node: Self(), Kind: yiku.EntityPerson}
	}
	if role, ok := r.kin(key); ok {
		return r.at(Mention{Node: Self()}, role, "")
	}
	for _, read := range []func(string) (Mention, bool){r.told, r.owned, r.ownedChinese, r.introduced, r.titled, r.titledChinese} {
		if m, ok := read(s); ok {
			return m
		}
	}
	return Mention{Node: plain(article.ReplaceAllString(s, ""))}
}

var (
	article  = regexp.MustCompile(`(?i)^(?:the|an?)\s+`)
	sentence = regexp.MustCompile(`[,，。;；!！?？\n]|\p{L}{5,}\.\s`)
	nobody   = regexp.MustCompile(`^(?:he|she|it|they|we|us|him|her|them|this|that|these|those|there|you|your|who|someone|somebody|nobody|everyone|people|他|她|它|他们|她们|我们|咱们|你|您|你们|这|那|这个|那个|大家|别人|有人|谁|某人)$`)
	self     = regexp.MustCompile(`^(?:i|me|myself|user|the user|我|本人|俺|我自己|用户|使用者)$`)
)

// told reads a name with what tells it from another one: "Bob (my cousin)",
// "another Bob", "Bob from accounting", 王伟（同事）, 另一个王伟.
func (r Reader) told(s string) (Mention, bool) {
	for _, form := range toldApart {
		g := form.FindStringSubmatch(s)
		if g == nil {
			continue
		}
		name, by := g[form.SubexpIndex("n")], "other"
		if i := form.SubexpIndex("q"); i >= 0 {
			by = strings.ToLower(own.ReplaceAllString(g[i], ""))
			if role := r.vocabulary.Canonical(by); r.vocabulary.Of(role) == yiku.EntityPerson {
				m := r.name(name)
				if m.Base == "" {
					return m, true
				}
				return r.at(Mention{Node: Self()}, role, name), true
			}
		}
		m := r.name(name)
		if m.Base != "" && m.Name != Self().Name {
			m.Node = tell(m.Node, by)
		}
		return m, true
	}
	return Mention{}, false
}

var (
	toldApart = []*regexp.Regexp{
		regexp.MustCompile(`^(?P<n>[^()（）]+?)\s*[(（](?P<q>[^()（）]+)[)）]$`),
		regexp.MustCompile(`(?i)^(?:another|the other|a different|a second)\s+(?P<n>\p{Lu}.*)$`),
		regexp.MustCompile(`^(?:另一个|另外一个|另一位|另外那个|第二个)(?P<n>\p{Han}{2,4})$`),
		regexp.MustCompile(`^(?P<n>\p{Lu}[\p{L}'-]+) (?P<q>from [\p{L}\d &'-]+)$`),
	}
	own = regexp.MustCompile(`(?i)^(?:my|the user's|user's|我的|我|用户的)\s*`)
)

// tell is a name with what tells it from others.
func tell(n Node, by string) Node {
	n.Name = n.Base + parted + by
	return n
}

// owned reads whose somebody is, in English: "my wife", "my colleague Bob Smith",
// "my sister's husband", "the user's dog", "sister of Anna".
func (r Reader) owned(s string) (Mention, bool) {
	if g := ofSomebody.FindStringSubmatch(s); g != nil {
		if role := r.vocabulary.Canonical(g[1]); r.vocabulary.Of(role) != "" {
			return r.at(r.name(g[2]), role, ""), true
		}
	}
	if at := possessive.FindAllStringIndex(s, -1); at != nil {
		last := at[len(at)-1]
		owner := r.name(s[:last[0]])
		if owner.Name == "" {
			return Mention{}, false
		}
		return r.part(owner, s[last[1]:]), true
	}
	if g := mine.FindStringSubmatch(s); g != nil {
		return r.part(Mention{Node: Self()}, g[1]), true
	}
	return Mention{}, false
}

var (
	mine       = regexp.MustCompile(`(?i)^my (.+)$`)
	possessive = regexp.MustCompile(`(?:'s|’s|s'|s’)\s+`)
	ofSomebody = regexp.MustCompile(`(?i)^(?:the )?([\p{L}-]+) of (.+)$`)
	epithet    = regexp.MustCompile(`(?i)^(?:older|younger|elder|little|big|oldest|youngest|eldest|only|best|dear|beloved|good|close|old|new|current|first|second) `)
)

// part reads what stands behind an owner: a relation, and perhaps a name.
func (r Reader) part(owner Mention, s string) Mention {
	words := strings.Fields(epithet.ReplaceAllString(s, ""))
	for n := min(len(words), 3); n > 0; n-- {
		if role := r.vocabulary.Canonical(strings.Join(words[:n], " ")); r.vocabulary.Of(role) != "" {
			return r.at(owner, role, strings.Join(words[n:], " "))
		}
	}
	n := 0
	for n < len(words) && !capital(words[n]) { // an unknown relation, such as landlord
		n++
	}
	if n == 0 {
		n = len(words)
	}
	return r.at(owner, r.vocabulary.Canonical(strings.Join(words[:n], " ")), strings.Join(words[n:], " "))
}

func capital(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) || unicode.Is(unicode.Han, first)
}

// ownedChinese reads the same in Chinese: 我老婆, 我的同事王伟, 安娜的老公.
func (r Reader) ownedChinese(s string) (Mention, bool) {
	if g := wo.FindStringSubmatch(s); g != nil {
		return r.partChinese(Mention{Node: Self()}, g[1])
	}
	at := strings.LastIndex(s, "的")
	if at <= 0 {
		return Mention{}, false
	}
	owner := r.name(s[:at])
	if owner.Name == "" {
		return Mention{}, false
	}
	return r.partChinese(owner, s[at+len("的"):])
}

var wo = regexp.MustCompile(`^(?:我|本人|用户|咱)(?:们家的?|家的?|们的?|的)?(\p{Han}.*)$`)

func (r Reader) partChinese(owner Mention, s string) (Mention, bool) {
	if strings.Contains(s, "的") {
		at := strings.Index(s, "的")
		next, ok := r.partChinese(owner, s[:at])
		if !ok {
			return Mention{}, false
		}
		return r.partChinese(next, s[at+len("的"):])
	}
	if role, rest, ok := r.roleIn(s); ok {
		return r.at(owner, role, rest), true
	}
	return r.at(owner, r.vocabulary.Canonical(s), ""), s != ""
}

// introduced reads a relation in front of a name, without an owner: 同事王伟.
func (r Reader) introduced(s string) (Mention, bool) {
	role, rest, ok := r.roleIn(s)
	if !ok || rest == "" || r.vocabulary.Of(role) != yiku.EntityPerson {
		return Mention{}, false
	}
	return r.at(Mention{Node: Self()}, role, rest), true
}

// roleIn finds the longest relation that a Chinese text begins with. What
// follows is empty or a name: two characters or more, or Latin letters.
func (r Reader) roleIn(s string) (role, rest string, ok bool) {
	runes := []rune(s)
	if len(runes) == 0 || !unicode.Is(unicode.Han, runes[0]) {
		return "", "", false
	}
	for n := min(len(runes), 5); n > 0; n-- {
		role, rest := r.vocabulary.Canonical(string(runes[:n])), strings.TrimSpace(string(runes[n:]))
		if r.vocabulary.Of(role) == "" || !r.vocabulary.Knows(string(runes[:n])) {
			continue
		}
		if rest == "" || utf8.RuneCountInString(rest) >= 2 && !r.vocabulary.Knows(rest) && (n > 1 || capital(rest) && !unicode.Is(unicode.Han, []rune(rest)[0])) {
			return role, rest, true
		}
	}
	return "", "", false
}

// kin tells the relation that a bare word of the family means: "mom", 老婆.
func (r Reader) kin(key string) (role string, ok bool) {
	role = r.vocabulary.Canonical(key)
	switch {
	case !r.vocabulary.Knows(key):
		return "", false
	case slices.Contains([]string{"spouse", "partner", "child", "parent", "sibling", "grandchild", "grandparent"}, r.vocabulary.Inverse(role)):
		return role, true
	}
	return role, role == "manager"
}

// at is whoever stands in a relation to an owner, with a name or without. A
// name within the user's own circle is told from others of that name by it.
func (r Reader) at(owner Mention, role, name string) Mention {
	m := Mention{Node: place(owner.Node, role), Kind: r.vocabulary.Of(role), Says: slices.Clone(owner.Says)}
	if name != "" {
		named := r.name(name)
		if named.Base == "" || named.Name == Self().Name {
			return Mention{}
		}
		m.Node, m.Says = named.Node, append(m.Says, named.Says...)
		m.Node = r.circle(owner.Node, role, named.Node)
	}
	m.Says = append(m.Says, Statement{Type: role, From: owner.Node, To: m.Node, FromKind: owner.Kind, ToKind: m.Kind})
	return m
}

// circle is a name as somebody of a relation bears it.
func (r Reader) circle(owner Node, role string, n Node) Node {
	if owner.Name == Self().Name && r.vocabulary.Of(role) == yiku.EntityPerson && n.Name == n.Base && n.Base != "" {
		return tell(n, role)
	}
	return n
}

// titled reads English titles: "Dr. Smith", "Mr. John Smith".
func (r Reader) titled(s string) (Mention, bool) {
	g := title.FindStringSubmatch(s)
	if g == nil {
		return Mention{}, false
	}
	words := strings.Fields(strings.ToLower(g[2]))
	family := words[len(words)-1]
	short := Node{Name: strings.ToLower(g[1]) + " " + family, Family: family}
	short.Base = short.Name
	if len(words) == 1 {
		return Mention{Node: short, Kind: yiku.EntityPerson}, true
	}
	m := Mention{Node: plain(g[2]), Kind: yiku.EntityPerson}
	m.Says = []Statement{{Type: shortForm, From: m.Node, To: short, FromKind: m.Kind, ToKind: m.Kind}}
	return m, true
}

var title = regexp.MustCompile(`(?i)^(mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam)\b\.?\s+(\p{L}[\p{L}' -]*)$`)

// titledChinese reads Chinese titles and forms of address: 张总, 王建国老师, 老王, 小李.
func (r Reader) titledChinese(s string) (Mention, bool) {
	if g := nickname.FindStringSubmatch(s); g != nil {
		n := Node{Name: s, Base: s}
		if surname(g[1]) != "" {
			n.Family = g[1]
		}
		return Mention{Node: n, Kind: yiku.EntityPerson}, true
	}
	g := titleChinese.FindStringSubmatch(s)
	if g == nil {
		return Mention{}, false
	}
	family := surname(g[1])
	switch {
	case family == "":
		return Mention{}, false
	case family == g[1]:
		return Mention{Node: Node{Name: s, Base: s, Family: family}, Kind: yiku.EntityPerson}, true
	}
	short := Node{Name: family + g[2], Base: family + g[2], Family: family}
	m := Mention{Node: plain(g[1]), Kind: yiku.EntityPerson}
	m.Says = []Statement{{Type: shortForm, From: m.Node, To: short, FromKind: m.Kind, ToKind: m.Kind}}
	return m, true
}

var (
	nickname     = regexp.MustCompile(`^[老小阿大](\p{Han})$`)
	titleChinese = regexp.MustCompile(`^(\p{Han}{1,4}?)(总|总监|老师|医生|大夫|教授|博士|经理|主任|先生|女士|小姐|太太|校长|院长|部长|局长|处长|科长|书记|律师|师傅|工|哥|姐|叔|叔叔|阿姨|爷爷|奶奶|董|董事长|老板|导|教练|队长|同学)$`)
	compound     = regexp.MustCompile(`^(?:欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|长孙|宇文|司徒|夏侯|端木|南宫|独孤)`)
	surnames     = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧畅宫来嵺苟全褚廉简娄盖符奚木穆党燕郎邸冀谈姬屠连郜晏栾郁商蒙计喻揭窦迟宇敖糜鄢冷卓花仇艾蓝都巩稽井练仲乐虞卞封竺冼原官衣楚佟栗匡宗应台巫鞠僧桑荆谌银扬明沙薄伏岑习胥保和蔺"
)

// surname is the family name that a Chinese name begins with, "" where it
// begins with none.
func surname(name string) string {
	if f := compound.FindString(name); f != "" {
		return f
	}
	first, size := utf8.DecodeRuneInString(name)
	if size > 0 && strings.ContainsRune(surnames, first) {
		return name[:size]
	}
	return ""
}

// plain is a name without anything around it, with the parts by which somebody
// of that name may be called.
func plain(s string) Node {
	key := strings.ToLower(strings.TrimSpace(s))
	n := Node{Name: key, Base: key}
	words := strings.FieldsFunc(key, func(r rune) bool { return r == ' ' || r == '·' || r == '•' })
	runes := []rune(key)
	switch {
	case len(runes) == 0:
		return Node{}
	case len(words) >= 2 && len(words) <= 4 && !strings.ContainsFunc(key, unicode.IsDigit):
		n.Given, n.Family = words[0], words[len(words)-1]
	case len(words) == 1 && len(runes) >= 2 && len(runes) <= 4 && !strings.ContainsFunc(key, func(r rune) bool { return !unicode.Is(unicode.Han, r) }):
		n.Family = surname(key)
		if rest := key[len(n.Family):]; n.Family != "" && utf8.RuneCountInString(rest) == 2 {
			n.Given = rest
		}
	}
	return n
}
