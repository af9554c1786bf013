package reconcile

import (
	"strings"

	"github.com/yiku-ai/yiku/internal/lang"
)

// Vocabulary knows the names that an attribute goes by, in both languages, and
// whether it has one value at a time. It is small and open: a name that it
// does not know stands for itself and has many values, because only what can
// have one value may retire another (C8).
type Vocabulary struct {
	canonical map[string]string // any known name, folded → the canonical one
	single    map[string]bool   // canonical name → one value at a time
}

// attribute is one entry of the vocabulary: the canonical name first.
type attribute struct {
	single bool
	names  []string
}

// NewVocabulary returns the vocabulary that Yiku starts with.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{canonical: map[string]string{}, single: map[string]bool{}}
	for _, a := range attributes() {
		v.single[a.names[0]] = a.single
		for _, name := range a.names {
			v.canonical[attributeKey(name)] = a.names[0]
		}
	}
	return v
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
func (v *Vocabulary) Single(name string) bool { return v.single[v.Canonical(name)] }

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
		{one, []string{"name", "full_name", "名字", "姓名", "全名"}},
		{one, []string{"nickname", "preferred_name", "called", "昵称", "称呼"}},
		{one, []string{"residence", "lives_in", "location", "home", "city", "home_city", "current_city", "居住地", "住址", "住在", "所在地", "所在城市", "现居", "现居地", "城市"}},
		{one, []string{"address", "home_address", "地址", "家庭地址", "家庭住址"}},
		{one, []string{"employer", "works_at", "works_for", "company", "雇主", "公司", "单位", "就职", "任职", "工作单位"}},
		{one, []string{"occupation", "job", "job_title", "profession", "position", "职业", "职位", "职务", "岗位", "工作"}},
		{one, []string{"age", "年龄", "岁数"}},
		{one, []string{"birthday", "birth_date", "date_of_birth", "生日", "出生日期"}},
		{one, []string{"gender", "sex", "性别"}},
		{one, []string{"marital_status", "婚姻状况", "婚姻状态"}},
		{one, []string{"phone", "phone_number", "mobile", "电话", "手机", "手机号", "电话号码"}},
		{one, []string{"email", "email_address", "邮箱", "邮件地址", "电子邮箱"}},
		{one, []string{"timezone", "time_zone", "时区"}},
		{one, []string{"native_language", "mother_tongue", "母语"}},
		{one, []string{"preferred_language", "reply_language", "answer_language", "首选语言", "回复语言", "回答语言"}},
		{one, []string{"height", "身高"}},
		{one, []string{"weight", "体重"}},
		{one, []string{"blood_type", "血型"}},
		{one, []string{"deadline", "due_date", "due", "截止日期", "截止时间", "期限", "交付日期"}},
		{one, []string{"start_date", "开始日期", "开始时间"}},
		{one, []string{"status", "state", "状态", "进度"}},
		{one, []string{"budget", "预算"}},
		{one, []string{"owner", "负责人"}},
		{one, []string{"database", "db", "database_engine", "engine", "数据库", "数据库引擎", "引擎"}},
		{one, []string{"version", "版本", "版本号"}},
		{one, []string{"port", "端口", "端口号"}},
		{one, []string{"price", "价格", "单价"}},
		{one, []string{"manager", "boss", "上司", "经理", "领导"}},
		{one, []string{"spouse", "wife", "husband", "配偶", "妻子", "丈夫", "老婆", "老公"}},
		{many, []string{"likes", "like", "enjoys", "喜欢", "爱好", "兴趣", "hobby", "hobbies", "interest", "interests"}},
		{many, []string{"dislikes", "dislike", "hates", "不喜欢", "讨厌"}},
		{many, []string{"allergy", "allergies", "allergic_to", "过敏", "过敏原"}},
		{many, []string{"friend", "friends", "朋友"}},
		{many, []string{"child", "children", "孩子", "子女"}},
		{many, []string{"pet", "pets", "宠物"}},
		{many, []string{"skill", "skills", "技能", "speaks", "languages", "会说"}},
		{many, []string{"food", "favorite_food", "favourite_food", "爱吃", "喜欢的食物"}},
	}
}
