package reconcile

import (
	"maps"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Vocabulary knows the names that an attribute goes by, in both languages, and
// whether it has one value at a time. It is small and open: a name that it
// does not know stands for itself and has many values, because only what can
// have one value may retire another (C8).
type Vocabulary struct {
	canonical map[string]string    // any known name, folded → the canonical one
	known     map[string]attribute // by canonical name
}

// attribute is one entry of the vocabulary: the canonical name first.
type attribute struct {
	single  bool
	names   []string
	to      yiku.EntityKind // what its values are, where they are somebody or something; "" where they are plain values
	broader string          // the canonical name of what it is a kind of: a sister is a sibling
	inverse string          // what it is called from the other end: a child's parent
}

// NewVocabulary returns the vocabulary that Yiku starts with.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{canonical: map[string]string{}, known: map[string]attribute{}}
	for _, a := range append(attributes(), relations()...) {
		v.known[a.names[0]] = a
		for _, name := range a.names {
			v.canonical[attributeKey(name)] = a.names[0]
		}
	}
	return v
}

// With returns the vocabulary with somebody's own entries, such as
// "car_plate! = plate, 车牌; team = squad": the canonical name, ! where there
// is one value at a time, and its other names. An entry for a name that is
// known adds to what stands there. A name may stand in one entry only.
func (v *Vocabulary) With(own string) (*Vocabulary, error) {
	more, err := parseAttributes(own)
	if err != nil {
		return nil, err
	}
	w := &Vocabulary{canonical: maps.Clone(v.canonical), known: maps.Clone(v.known)}
	for _, a := range more {
		name := w.Canonical(a.names[0])
		entry := w.known[name]
		entry.single = entry.single || a.single
		w.known[name] = entry
		for _, alias := range a.names {
			w.canonical[alias] = name
		}
	}
	return w, nil
}

// parseAttributes reads entries as With takes them.
func parseAttributes(text string) ([]attribute, error) {
	var list []attribute
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, aliases, others := strings.Cut(entry, "=")
		name, single := strings.CutSuffix(strings.TrimSpace(name), "!")
		names := []string{name}
		if others {
			names = append(names, strings.Split(aliases, ",")...)
		}
		for i, n := range names {
			if names[i] = attributeKey(n); names[i] == "" || seen[names[i]] {
				return nil, yiku.Invalid("attributes", "must be entries such as car_plate! = plate, 车牌; with semicolons between them and every name once")
			}
			seen[names[i]] = true
		}
		list = append(list, attribute{single: single, names: names})
	}
	return list, nil
}

// Canonical returns the one name for an attribute that all its names share.
func (v *Vocabulary) Canonical(name string) string {
	key := attributeKey(name)
	if canonical, ok := v.canonical[key]; ok {
		return canonical
	}
	return key
}

// Knows reports whether an attribute has an entry.
func (v *Vocabulary) Knows(name string) bool {
	_, ok := v.canonical[attributeKey(name)]
	return ok
}

// Single reports whether the vocabulary says that the attribute has one value
// at a time.
func (v *Vocabulary) Single(name string) bool { return v.known[v.Canonical(name)].single }

// attributeKey folds a name so that "Lives in", "lives_in" and "lives-in" are one.
func attributeKey(name string) string {
	return strings.Join(strings.FieldsFunc(lang.Fold(name), func(r rune) bool { return r == ' ' || r == '_' || r == '-' || r == '.' }), "_")
}

// attributes are things of which a person, a project or an organisation has
// one at a time in ordinary life, and a few of which they have many, named so
// that their synonyms meet.
func attributes() []attribute {
	const one, many = true, false
	return []attribute{
		{single: one, names: []string{"name", "full_name", "名字", "姓名", "全名"}},
		{single: one, names: []string{"nickname", "preferred_name", "called", "昵称", "称呼"}},
		{single: one, names: []string{"address", "home_address", "地址", "家庭地址", "家庭住址"}},
		{single: one, names: []string{"occupation", "job", "job_title", "profession", "position", "职业", "职位", "职务", "岗位", "工作"}},
		{single: one, names: []string{"age", "年龄", "岁数"}},
		{single: one, names: []string{"birthday", "birth_date", "date_of_birth", "生日", "出生日期"}},
		{single: one, names: []string{"gender", "sex", "性别"}},
		{single: one, names: []string{"marital_status", "婚姻状况", "婚姻状态"}},
		{single: one, names: []string{"phone", "phone_number", "mobile", "电话", "手机", "手机号", "电话号码"}},
		{single: one, names: []string{"email", "email_address", "邮箱", "邮件地址", "电子邮箱"}},
		{single: one, names: []string{"timezone", "time_zone", "时区"}},
		{single: one, names: []string{"native_language", "mother_tongue", "母语"}},
		{single: one, names: []string{"preferred_language", "reply_language", "answer_language", "首选语言", "回复语言", "回答语言"}},
		{single: one, names: []string{"height", "身高"}},
		{single: one, names: []string{"weight", "体重"}},
		{single: one, names: []string{"blood_type", "血型"}},
		{single: one, names: []string{"deadline", "due_date", "due", "截止日期", "截止时间", "期限", "交付日期"}},
		{single: one, names: []string{"start_date", "开始日期", "开始时间"}},
		{single: one, names: []string{"status", "state", "状态", "进度"}},
		{single: one, names: []string{"budget", "预算"}},
		{single: one, names: []string{"database", "db", "database_engine", "engine", "数据库", "数据库引擎", "引擎"}},
		{single: one, names: []string{"version", "版本", "版本号"}},
		{single: one, names: []string{"port", "端口", "端口号"}},
		{single: one, names: []string{"price", "价格", "单价"}},
		{single: many, names: []string{"likes", "like", "enjoys", "喜欢", "爱好", "兴趣", "hobby", "hobbies", "interest", "interests"}},
		{single: many, names: []string{"dislikes", "dislike", "hates", "不喜欢", "讨厌"}},
		{single: many, names: []string{"allergy", "allergies", "allergic_to", "过敏", "过敏原"}},
		{single: many, names: []string{"skill", "skills", "技能", "speaks", "languages", "会说"}},
		{single: many, names: []string{"food", "favorite_food", "favourite_food", "爱吃", "喜欢的食物"}},
	}
}
