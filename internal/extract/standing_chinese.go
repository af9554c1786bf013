package extract

import (
	"regexp"
	"strings"

	"github.com/yiku-ai/yiku"
)

// What keeps a Chinese clause from standing by itself; see englishStands.
var (
	zhConcrete  = regexp.MustCompile(`[A-Za-z\d]`)
	zhVerbal    = regexp.MustCompile(`^(?:也|还|都|可以|尽量|最好)*(?:用|使用|采用|选用|选择|基于|依赖)`)
	zhAbstract  = regexp.MustCompile(`能力|过程|价值|人生|生活|社会|未来|人类|人们|自己|精神|知识|经验|情感|文化|艺术|健康|幸福|朋友之间|心态|梦想|成长|机会|关系|意义|态度|信心|耐心|习惯的养成`)
	zhAddressed = regexp.MustCompile(`[你您]|咱俩`)
	zhPointing  = regexp.MustCompile(`[这那]|它|^(?:他|她)|上面|下面|以下|如下|前者|后者`)
	zhPeriod    = regexp.MustCompile(`[这那](?:个?(?:项目|月|季度?|学期|仓库|团队|公司)|周|边|里|人)`)
	zhJudging   = regexp.MustCompile(`(?:很|非常|特别|超级|太|真|好|挺|超|蛮|十分|相当|有点|有些|比较|最|越来越|不够|不太)(?:的)?(?:开心|高兴|难过|伤心|难|累|忙|烦|苦|好|棒|美|漂亮|好看|好吃|有趣|有意思|无聊|稳定|重要|不错|感人|精彩|温馨|舒服|舒适|享受|满意|满足|幸福|快乐|愉快|紧张|焦虑|担心|害怕|失落|沮丧|孤独|迷茫|困惑|难懂|简单|复杂|够用|适合|相似|深刻|感动|期待|羡慕|骄傲|自豪|尴尬|无奈|生气|委屈|压抑|疲惫|疲劳|辛苦|糟糕|可怕|奇怪|神奇|惊喜|可爱|温柔|善良|努力|满|强|差|慢|快|多|少|大|小|高|低)|(?:简直|居然|竟然|果然|终于|实在)`)
	zhFleeting  = regexp.MustCompile(`正在|在(?:想|看|等|考虑|思考|准备|听|寻找|找|努力|尝试|忙|纠结|犹豫|追|玩)|一直(?:在)?(?:想|考虑|思考|寻找)|打算|计划|希望|感觉|感到|觉得|感受|有时候?|总觉|似乎|刚刚|刚才|刚(?:吃|喝|看|做|到|下|睡|醒|开|写|说|洗|跑|打|买)|学到|了解到|意识到|收获|受益|困难|烦恼|想法|有(?:一?个|些|点)?问题|疑问|难以|不敢|有[些点]\p{Han}{1,3}$|力不从心|不知所措|心情|情绪|关于|还没[得收看想去有开决来]|买了|(?:^|[^下上进出过回])去了|[吃喝看写做忙洗开聊]完|[\p{Han}]了一[件本部场次首顿杯盘碗段句]|时间不`)
	zhHeadless  = regexp.MustCompile(`^(?:叫|姓|归|全称|是|买|写|改|列|放|把)`)
	zhLabel     = regexp.MustCompile(`^(?:就|也|真|还)?是(?:一?个)?[\p{Han}]{2,8}$`)
	zhKinds     = regexp.MustCompile(`(?:人|者|员|师|生|手|长|工|家|民|士|匠|商|主|妈|爸|娃|族|控|党|粉|迷|型|血|级|届|后|籍|岁|座|子女|户|肌|体质|过敏|孕妇|撇子|护士|司机|会计|医生|大夫|老板|素食者|法务|财务|运营|产品|测试|前端|后端|设计|销售|采购|客服|行政|人事|的|\d|[A-Za-z])$`)
)

// chineseStands reports whether a clause stands: it points at nothing outside
// of it, is said to nobody, judges nothing, and is of more than the moment.
func chineseStands(clause, subject, rest string, rule rule) bool {
	order := rule.kind == yiku.TypeConstraint
	if !order && zhAddressed.MatchString(clause) {
		return false
	}
	if zhPointing.MatchString(zhPeriod.ReplaceAllString(clause, "")) {
		return false
	}
	if subject == thing && zhHeadless.MatchString(clause) {
		return false
	}
	if subject == thing && !rule.general && rule.kind == yiku.TypeProject && rest == clause && !zhConcrete.MatchString(clause) && rule.attribute == "" && zhVerbal.MatchString(clause) {
		return false // who does it is not said
	}
	if subject == thing && zhAbstract.MatchString(clause) && !zhConcrete.MatchString(clause) {
		return false
	}
	if !rule.general {
		return !zhFleeting.MatchString(clause) || rule.attribute != "" && !soft[rule.attribute]
	}
	if zhJudging.MatchString(rest) || !order && zhFleeting.MatchString(clause) {
		return false
	}
	if zhLabel.MatchString(rest) && personal(subject) && !strings.HasPrefix(subject, theirs) {
		return zhKinds.MatchString(strings.TrimRight(rest, "了啊呀呢吧")) || rule.attribute == "name"
	}
	return true
}
