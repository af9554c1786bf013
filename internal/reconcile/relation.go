package reconcile

import (
	"maps"
	"slices"

	"github.com/yiku-ai/yiku"
)

// Broader returns what an attribute is a kind of, the nearest first: a sister
// is a sibling. Most are of none.
func (v *Vocabulary) Broader(name string) []string {
	var list []string
	for b := v.known[v.Canonical(name)].broader; b != ""; b = v.known[b].broader {
		list = append(list, b)
	}
	return list
}

// Inverse returns what a relation is called from its other end; "" where it has
// no name.
func (v *Vocabulary) Inverse(name string) string { return v.known[v.Canonical(name)].inverse }

// Of returns what the values of an attribute are, where they are somebody or
// something that can be spoken of; "" where they are plain values, or nobody knows.
func (v *Vocabulary) Of(name string) yiku.EntityKind { return v.known[v.Canonical(name)].to }

// Saying lists the attributes that say a relation: it and the narrower ones,
// and those that say it from the other end.
func (v *Vocabulary) Saying(relation string) []string {
	relation = v.Canonical(relation)
	list := []string{relation}
	for _, name := range slices.Sorted(maps.Keys(v.known)) {
		narrower := slices.Contains(v.Broader(name), relation)
		from := v.known[name].inverse
		if name != relation && (narrower || from != "" && (from == relation || slices.Contains(v.Broader(from), relation))) {
			list = append(list, name)
		}
	}
	return list
}

// Names reports whether an attribute's values are names of its subject.
func (v *Vocabulary) Names(name string) bool {
	switch v.Canonical(name) {
	case "name", "nickname", "alias":
		return true
	}
	return false
}

// relations are the attributes whose values are people, places, organisations
// and things: what leads from one to another (C14).
func relations() []attribute {
	const one, many = true, false
	const person, animal, place, organisation, project, thing = yiku.EntityPerson, yiku.EntityAnimal, yiku.EntityPlace, yiku.EntityOrganisation, yiku.EntityProject, yiku.EntityThing
	kin := func(single bool, broader, inverse string, names ...string) attribute {
		return attribute{single: single, to: person, broader: broader, inverse: inverse, names: names}
	}
	return []attribute{
		kin(one, "", "spouse", "spouse", "wife", "husband", "married_to", "配偶", "妻子", "丈夫", "老婆", "老公", "爱人", "太太", "媳妇"),
		kin(one, "", "partner", "partner", "girlfriend", "boyfriend", "fiance", "fiancee", "fiancé", "fiancée", "女朋友", "男朋友", "女友", "男友", "对象", "未婚妻", "未婚夫"),
		kin(many, "", "child", "parent", "parents", "父母", "爸妈", "家长"),
		kin(one, "parent", "child", "mother", "mom", "mum", "mommy", "mama", "母亲", "妈妈", "妈", "老妈"),
		kin(one, "parent", "child", "father", "dad", "daddy", "papa", "父亲", "爸爸", "爸", "老爸"),
		kin(many, "", "parent", "child", "children", "kid", "kids", "baby", "孩子", "子女", "小孩", "宝宝"),
		kin(many, "child", "parent", "son", "sons", "儿子", "大儿子", "小儿子"),
		kin(many, "child", "parent", "daughter", "daughters", "女儿", "大女儿", "小女儿", "闺女"),
		kin(many, "", "sibling", "sibling", "siblings", "兄弟姐妹"),
		kin(many, "sibling", "sibling", "sister", "sisters", "姐姐", "妹妹", "姐", "妹", "姐妹"),
		kin(many, "sibling", "sibling", "brother", "brothers", "哥哥", "弟弟", "哥", "弟", "兄弟"),
		kin(many, "", "cousin", "cousin", "cousins", "表哥", "表姐", "表弟", "表妹", "堂哥", "堂姐", "堂弟", "堂妹"),
		kin(many, "", "grandchild", "grandparent", "grandparents"),
		kin(many, "grandparent", "grandchild", "grandmother", "grandma", "granny", "奶奶", "外婆", "姥姥", "祖母", "外祖母"),
		kin(many, "grandparent", "grandchild", "grandfather", "grandpa", "爷爷", "外公", "姥爷", "祖父", "外祖父"),
		kin(many, "", "grandparent", "grandchild", "grandchildren", "grandson", "granddaughter", "孙子", "孙女", "外孙", "外孙女"),
		kin(many, "", "", "aunt", "auntie", "aunts", "姑姑", "阿姨", "姨妈", "舅妈", "婶婶", "伯母"),
		kin(many, "", "", "uncle", "uncles", "舅舅", "叔叔", "伯伯", "姑父", "姨父"),
		kin(many, "", "", "nephew", "侄子", "外甥"),
		kin(many, "", "", "niece", "侄女", "外甥女"),
		kin(one, "", "", "mother_in_law", "婆婆", "岳母", "丈母娘"),
		kin(one, "", "", "father_in_law", "公公", "岳父", "老丈人"),
		kin(many, "", "friend", "friend", "friends", "best_friend", "朋友", "好朋友", "闺蜜", "好友"),
		kin(many, "", "colleague", "colleague", "colleagues", "coworker", "co_worker", "teammate", "works_with", "同事", "队友"),
		kin(many, "", "neighbour", "neighbour", "neighbor", "neighbours", "neighbors", "邻居"),
		kin(many, "", "classmate", "classmate", "classmates", "同学"),
		kin(many, "", "roommate", "roommate", "flatmate", "roommates", "室友", "舍友"),
		kin(many, "", "business_partner", "business_partner", "cofounder", "co_founder", "合伙人"),
		kin(one, "", "report", "manager", "boss", "supervisor", "reports_to", "上司", "经理", "领导", "老板", "主管", "汇报给"),
		kin(many, "", "manager", "report", "reports", "manages", "下属", "手下"),
		kin(many, "", "student", "teacher", "teachers", "mentor", "tutor", "advisor", "老师", "导师"),
		kin(many, "", "teacher", "student", "students", "mentee", "学生"),
		kin(many, "", "", "assistant", "secretary", "助理", "秘书"),
		kin(many, "", "", "doctor", "dentist", "therapist", "医生", "牙医"),
		kin(one, "", "owns", "owner", "owned_by", "负责人", "主人", "所有者"),
		kin(many, "", "works_on", "member", "members", "成员"),
		kin(many, "", "founder_of", "founder", "founders", "创始人"),
		{single: many, to: organisation, inverse: "founder", names: []string{"founder_of", "founded", "创办", "创立"}},
		{single: many, to: animal, inverse: "owner", names: []string{"pet", "pets", "宠物"}},
		{single: many, to: animal, broader: "pet", inverse: "owner", names: []string{"dog", "dogs", "puppy", "狗", "狗狗", "小狗"}},
		{single: many, to: animal, broader: "pet", inverse: "owner", names: []string{"cat", "cats", "kitten", "猫", "猫咪", "小猫"}},
		{single: one, to: place, inverse: "resident", names: []string{"residence", "lives_in", "location", "home", "city", "home_city", "current_city", "居住地", "住址", "住在", "所在地", "所在城市", "现居", "现居地", "城市"}},
		{single: one, to: place, names: []string{"hometown", "home_town", "comes_from", "来自", "家乡", "老家", "籍贯"}},
		{single: one, to: place, names: []string{"birthplace", "place_of_birth", "born_in", "出生地"}},
		{single: one, to: place, inverse: "contains", names: []string{"located_in", "headquarters", "headquartered_in", "based_in", "位于", "坐落于", "总部"}},
		{single: one, to: organisation, inverse: "employee", names: []string{"employer", "works_at", "works_for", "company", "雇主", "公司", "单位", "就职", "任职", "工作单位"}},
		{single: many, to: organisation, inverse: "pupil", names: []string{"school", "university", "college", "alma_mater", "studies_at", "studied_at", "学校", "母校", "大学", "就读于", "毕业于", "毕业院校"}},
		{single: many, to: organisation, inverse: "member", names: []string{"member_of", "club", "team", "belongs_to", "团队", "小组", "俱乐部", "所属"}},
		{single: many, to: project, inverse: "member", names: []string{"works_on", "project", "projects", "involved_in", "参与", "参加", "项目", "负责"}},
		{single: many, to: thing, inverse: "owner", names: []string{"owns", "has", "拥有"}},
		{single: many, to: thing, names: []string{"uses", "depends_on", "使用", "依赖"}},
		{single: many, names: []string{"alias", "also_known_as", "aka", "别名", "外号", "绰号", "小名"}},
	}
}
