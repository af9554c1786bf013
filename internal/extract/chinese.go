package extract

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yiku-ai/yiku"
)

// chinese is the grammar of Chinese.
var chinese = sync.OnceValue(func() *grammar {
	return filtered(&grammar{
		plain: plainChinese, clauses: chineseClauses, subject: chineseSubject, stands: chineseStands, judges: zhJudging.MatchString, rules: append(chineseRules(), generalChinese()...), passing: &pattern{Regexp: zhPassing}, comma: "，", own: pat(`^(?:我|咱|你|您|请|别|不要|帮|给|先|再|来|让|把|嗯|哈|记)`), follows: pat(`^(?:所以|因此|于是)`), milestone: pat(`领证|结婚|离婚|订婚|入职|毕业|买了|出生|生了|搬到?|退休|去世|开业|升职|手术|拿到|考上|转正|辞职|离职|退伍|创业|买房`),
		person: pat(`我?(?:的|家的?)?` + kin), pronoun: pat(`^[他她]` + `(?:们)?`), object: pat(`^((?:我们?的?|这个|那个)?[\p{Han}\w-]{1,8}(?:项目|系统|服务|服务器|网站|平台|应用|模块|产品|店|公司))(?:是|叫|用|在|有|跑)`), neuter: pat(`^它(?:的)?`),
		changes: chineseChanges(), current: pat(`现在|如今|目前|改[成为到在]|换|变[成为更]|不再|都.{1,12}才`), more: pat(`也|还[有会养喜爱在要]|另外|又[有养买加]|再加|同时|除了`),
		mind: pat(`改主意|^(?:呃|嗯|唉|哎)?[….，,]*算了|想了想|我变卦|还是.{1,14}(?:吧|好了?|了)[。!！]*$`), frame: chineseFrame, lead: opening,
		bare:     pat(`^(?:应该|应|就|用的)?(?:是|为|改成)(?P<v>[^，,。；;]{1,40})$`),
		task:     word(`^(?:你好[，,]?|请|请你|麻烦你?|帮我|帮忙|能不能|可以|你来)*(?:把)?(?:下面|以下|这段|这句|这篇|这封|下列)?(?:的|话|文字|内容|句子)*(?:翻译|润色|改写|总结|概括|校对|修改|纠正|检查|解释|缩写|扩写|续写|写|起草|改|分析|归纳|提取|朗读|背诵|复述)[^：:]*[：:]|^(?:假装|扮演|想象|你现在是|角色扮演|模拟)|^(?:歌词|原文|摘录|引用|故事|邮件|短信|文章|台词|例句)[：:]`),
		question: word(`[？?][”"』」)）]*$|(?:吗|么|吧|呢[？?])[？?。!！~～…]*$|^(?:什么|谁|哪|怎么|怎样|如何|为什么|为何|多少|几|是不是|有没有|能不能|可不可以|会不会|请问|你知道|你觉得|你记得|还记得)|(?:什么|哪个|哪里|哪儿|哪些|怎么样|多少钱|是不是|有没有|能不能|可不可以|会不会)[^，,]{0,8}$`),
		request:  word(`^(?:请|麻烦|劳驾|那|好|那么|现在)*(?:帮我|帮忙|给我|替我|为我|告诉我|推荐|介绍|列出|列个|查一?下|搜一?下|找一?下|写一?[个篇段封首]|做一?个|生成|解释|翻译|总结|分析|设计|安排|订|提醒|说说|讲讲|看看|来一?[个首段份])`),
		once: word(`这次|这一次|这回|就这一|仅此一次|只此一次|今天先|今晚先|暂时|临时|先这样|目前先|这两天先|这会儿|下不为例|破例` +
			`|^(?:如果|要是|假如|假设|万一|倘若|若是|比如|比方|譬如)|想象一下|的话[，,]|我要是|我如果|开玩笑|逗你|随便说说|打个比方`),
		idle: word(`(?:现在|今天|此刻|真)(?:真|特别|好|很|是|的)*(?:讨厌|恨|烦)|(?:我|我们)(?:们)?(?:真|好|很|太|非常|有点|有些|特别|都|实在|快|要|真是)*(?:想要?|希望|打算|准备|考虑|计划|应该|可以|能|愿意|觉得|感觉)` +
			`|(?:好累|很累|太累|累死|累坏|好困|很困|困死|好饿|饿了|饿死|无聊|郁闷|烦死|好烦|很烦|烦躁|心烦|开心|高兴|难过|伤心|生气|郁郁|心情|激动|紧张|焦虑|崩溃|压力|失落|沮丧|孤独|幸福|哈哈|呵呵|嘿嘿|唉|哎|谢谢|感谢|辛苦了|晚安|早安)`),
		reported: word(`(?:他|她|他们|她们|老板|同事|朋友|医生|老师|妈妈|爸爸|妈|爸|邻居|客户|领导|经理|别人|有人|人家|大家|网上|新闻|书上|书里|电影里?|小说里?|剧里|文章里?|广告|专家|[小老阿大][^是在想爱家说\P{Han}]|` + zhFamily + `\p{Han}{1,2})(?:们|总|经常|老是|老|常|都|刚|刚才|又)?(?:跟我|对我|告诉我|和我)?(?:说|讲[^究]|认为|觉得|以为|声称|提到|表示|写道|问|要求|建议|告诉|抱怨|吐槽)|据说|听说|传说|据报道|传言|谣言|(?:台词|歌词)|^[“"「『].*[”"」』][。.]?$|(?:写着|上面写)`),
		hedge:    word(`好像|可能|也许|或许|大概[^\d]|大约是|估计|似乎|说不定|没准|不确定|不太确定|不一定|我猜|我想是|貌似|恐怕|记不清|不太记得|记得好像|差不多是|未必|说不准|大概率|拿不准|不好说|看情况|再说吧|八成`),
		secret:   word(`助记词|恢复码|备用码|密码|口令|暗号|验证码|密钥|私钥|令牌|api ?key|access ?key|secret|token|身份证|护照号|银行卡|信用卡|卡号|账号密码|社保号|安全码|pin ?码|\bsk-[\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bgh[pousr]_\w{20,}|(?:\d[ -]?){13,19}`),
		remember: word(`^(?:[^，,：:]{2,10}[，,])?(?:另外|还有|对了|好的?|嗯|那|那么|顺便|也)*[，,]?(?:烦?请你?|烦请您?|请您|麻烦你?|帮我|你|你要|你得|你可以|一定要|务必|千万)*(?:记住|记一下|记下来?|记着|牢记|记好|别忘了|不要忘了|别忘记|不要忘记|备注一下|备忘|保存一下|存一下|记录一下)(?:这[一几]?[点件条个句]?(?:事|话)?|以下|下面|几[件点]事)?(?:了|啊|哦|哈|喽)?[：:，,\s]*(.+)$`),
		noted:    word(`^(.{4,}?)[，,。；;\s]*(?:请|麻烦|你)*(?:帮我|给我|替我)?(?:记住|记一下|记下来|记下|记好|记着|存着|存一下|存下来|备注一下|记牢)(?:了|哈|吧|啊|哦|一下)*[。.！!~～]*$`),
		alone:    word(`^(?:请|麻烦|你|好|那)*(?:帮我|给我|替我)?(?:都)?(?:记住|记一下|记下来?|记好|记着|存一下|存着|备注一下)(?:这[一几]?[点件条个些]?(?:事|话)?)?(?:了|吧|哈|啊|哦|呗)*[。.！!~～]*$`),
		joke:     word(`^(?:哈+[，,]?)?(?:我)?(?:开玩笑|逗你|说着玩|闹着玩|瞎说)(?:的|玩|呢|啦|你)*[。.！!~～]*$`),
		listing:  word(`(?:记|存|保存|我的(?:个人)?(?:信息|资料|情况)|关于我)[^：:]{0,16}[：:]$`),
		reminder: word(`^(?:请|帮我|麻烦你?|到时候?|明天|后天|今晚|下午|早上|晚上|[\p{Han}\d]{1,6}点)*(?:提醒我|叫我|设个?(?:闹钟|提醒))|^(?:记得|别忘了|不要忘了|别忘记)(?:要|去|帮我|给|把|买|带|交|寄|还|拿|取|打|发|订|关|锁|喂|浇|吃药|开会|接|叫)`),
		forget:   word(`^(?:算了|不|不对|哦|那个|等等|好吧|对了|请你?|麻烦你?|还是|你)*[，,]?(?:(?:把)?(?:我)?(?:刚才|刚刚|之前|以前|上面)?(?:说的?|讲的?|提到的?)?(?:关于)?([^，,]{0,30}?)(?:的(?:事情?|内容|信息|记忆|话|那些)(?:请|麻烦|帮我|你)*)?(?:都|全部?|统统)?(?:给)?(?:忘掉|忘了吧?|忘记吧?|删掉|删了吧?|删除|抹掉|清除|清掉)|(?:忘掉|忘了|忘记|删掉|删除|抹掉|清除)(?:我)?(?:刚才|刚刚|之前|以前)?(?:说的?|讲的?|提到的?)?(?:关于)?([^，,]{0,30}?)(?:的(?:事情?|内容|信息|记忆|话|那些))?|(?:别|不要|不用|无需|不必|别再)(?:记|记住|记录|保存|存|记下来?)(这个|这条|这些|这件事|这句话?|这|它|了)?)[。.！!~～]*$`),
		erase:    word(`^(?:[^，,]{0,6}[，,])?(?P<w>[^，,。]{2,20}?)(?:那个|这个|属于|是|的)?[^，,。]{0,8}[，,]?(?:请|麻烦|你|都|就|帮我|把它|全部?)*(?:从你?的?记忆[里中]?)?(?:删除|删掉|忘掉|忘了吧|抹掉|清掉)|^(?P<y>[^，,。]{2,20}?)(?:那个|这个|那事|这事|的事|那条|这条|那句|的话)+(?:就|你就|都)?当我没(?:说|提|讲)过?|^(?:请|麻烦|你|帮我|都)*(?:忘掉|忘了|忘记|删掉|删了|删除)(?P<z>我?[^，,。]{2,20}?)(?:这|那)(?:件事情?|个|条|回事)|^(?:请|麻烦|你|帮我)*把(?P<u>[^，,。]{2,20}?)(?:都|给|也|全部?)*(?:忘掉|忘了|忘记|删掉|删了|删除|去掉|抹掉)|(?:不用|不要|别|不必)(?:记住?|保存|存|记录)(?:我的?|我)?(?P<x>[^，,。]{2,12}?)(?:哈|了|吧|啊)?(?:[，,].*)?[。！!]*$`),
		durable:  word(`^(?:还是|照)?老规矩[，,：:].{2,}|^(?:.{0,6}[，,])?(?:请|你|以后|今后|从今|从现在|从此|往后|将来|之后|今后都|以后都)*(?:以后|今后|从今以后|从今往后|从现在开始|从现在起|从此以后|往后|从此)(?:你|请|都|就|也|所有|凡是|每次|一律|不要|别|不许|必须|务必|要|再|给我|跟我|我|遇到|有|如果|只|尽量|统一|回答|回复|发|用).*|^(?:请|你|记住|务必|所有|凡是|任何|每次|每当)*(?:永远|一律|务必|必须|千万|绝对|绝不|每次|凡是|任何时候|无论如何)(?:不要|别|不能|不许|不得|不准|要|都|用|先|把|给|使用|保持|遵守|按|以)?.{2,}|^(?:请|你)*(?:不要|别|不许|禁止|不准|不得|严禁)再.{2,}|^我(?:比较|更|不太?|很|最)?(?:喜欢|讨厌|希望|受不了|烦)你(?:能|每次|总|老|都|直接|先|用|给|把|别|不要|一上来|回答|说|写|讲).{2,}|^(?:[^，,：:我]{0,8}[，,：:]){0,2}以后.{2,}(?:不|别|都|就|一律|统一|用|要|只|先).+|^(?:给我|写|回|发|回答|回复|推荐|翻译|安排|点|订|做|对外)[^，,。]{0,12}?(?:别|不要|一律|统一|都要|都得|只要|必须).{2,}|^(?:请)?(?:别|不要)在[^，,。]{2,14}(?:之?[前后]|以[前后]|时候?|里|上)(?:给我|跟我|发|打|联系|安排|叫|约|推).*|.{2,}一律.{2,}|.{2,}(?:都得|都要|都必须)(?:先|用|换|按|走|经|写|发|让|是|放|带|含).+|.{2,}(?:必须|务必|绝不能|严禁|禁止)(?:不|要|用|发|走|先|使用|通过|由|按|在|都|给|把|加|写).+`),
		telling:  word(`你(?:都|也|就)?(?:可以|能)|(?:我们|人)(?:都|也)?(?:需要|应该|要|会|能)|以后我?(?:也|可以|会|想|要是|再说|再聊|慢慢|有机会|还)|^(?:我|我们)(?:知道|明白|会|也)|必须(?:离开|走了|去|承认|说)|^(?:我|他|她|它|这|那|人生|生活|爱|心)[^，,]{0,6}(?:永远|每次|千万|绝对)|祝|加油`),
		replaced: []*pattern{
			word(`(?:不是|不叫|不在|不住|不用|没有用|没在用)(?P<o>[^，,。；;]{1,40}?)(?:了)?[，,。；;\s]*(?:而)?(?:是|应该是|是用|叫|在|住在?|用的?是|用|改用了?|现在是|换成了?)(?P<v>[^，,。；;]{1,60})`),
			word(`(?:把|将)?(?P<o>[^，,。；;把将从]{1,40}?)(?:写|说|记|弄|搞|拼|打)错了[，,。；;\s]*(?:应该|其实|正确的?)?(?:是|叫|为)?(?P<v>[^，,。；;]{1,60})`),
			word(`(?:是|叫|用|应该是)(?P<v>[^，,。；;]{1,60}?)[，,]?(?:而?不是|不叫|并非)(?P<o>[^，,。；;]{1,40})`),
		},
		correct: word(`不对|[说记写搞弄打看报算]错|错了|口误|说混|更正|纠正|其实(?:是|叫|在|应该|改)|改口|应该是|不是.{1,30}(?:，|,)?(?:而)?是|我的意思是`),
	})
})

// chineseChanges are the forms in which something is said to have changed.
func chineseChanges() []change {
	const (
		moved = `(?:推迟|提前|延期|延后|延|改期|改|换|迁|调|调整|降|升|涨|变更|变|更名|改名|挪|移|搬)`
		ended = `(?:卖|停用|停|关停|关|取消|退|戒|辞|拆|扔|送人|作废|下线|停产|解散|断供|注销)`
		value = `(?P<v>[^，,。；;]{1,30})`
	)
	return []change{
		{form: pat(`(?P<t>[\p{Han}A-Za-z\d]{2,12}?)(?:已经|现在|又|都|要)*` + moved + `(?:到|成|为|至|在|发|用|走)了?` + value)},
		{form: pat(`(?P<t>[\p{Han}A-Za-z\d]{2,12}?)(?:已经|现在|又|都)*` + moved + `了[，,]?(?:现在|改)*(?:是|成|到|为|在)` + value)},
		{form: pat(`(?P<t>[\p{Han}A-Za-z\d]{2,12}?)(?:其实|应该|应当)(?:是|为|在)` + value)},
		{form: pat(`换(?P<t>[\p{Han}]{2,8})了[，,]?(?:现在)?(?:是|叫|用)?` + value)},
		{form: pat(`(?:从|由)(?P<o>[\p{Han}A-Za-z\d]{2,12}?)(?:搬|迁|换|改|转|调|跳槽)(?:到|成|去|为|至)`)},
		{form: pat(`(?P<o>[\p{Han}A-Za-z\d]{2,10}?)(?:我|我们|都|已经|也|早就|就|给|那边|那个|的卡|的号|账号)*` + ended + `掉?了`), gone: true},
		{form: pat(ended + `(?:掉了?|了)(?P<o>[\p{Han}A-Za-z\d]{2,10}?)(?:了|的?账号|$|[，,。])`), gone: true},
		{form: pat(`从(?P<o>[\p{Han}A-Za-z\d]{2,10}?)(?:离职|辞职|退出|搬走|搬出)`), gone: true},
		{form: pat(`(?P<o>[\p{Han}A-Za-z\d]{2,8}?)那边(?:的(?:工作|活儿?|事|房子?))?(?:已经|也|都|就)*(?:交接|退|辞|搬|收尾|了结|结束)[完掉了]`), gone: true},
		{form: pat(`(?P<o>[\p{Han}A-Za-z\d]{2,8}?)(?:我|我们|就|也|都|早)*(?:不|没再)[\p{Han}]{1,2}了(?:$|[，,。！])`), gone: true},
		{form: pat(`(?P<p>\p{Han}{2,8}?)[\p{Han}]{1,2}不下去了`)},
		{form: pat(`不再?(?P<p>[^，,。；了]{2,14}?)了?(?:$|[，,。！])`)},
	}
}

// diagnosis is what is as true as what the user says of themselves.
var diagnosis = regexp.MustCompile(`(?:医生|大夫)(?:跟我|告诉我)?(?:诊断)?说`)

// zhSelf is how users begin to speak of themselves: "我这人吧，……".
var zhSelf = regexp.MustCompile(`^我这个?人(?:吧|呢|嘛|啊)?[，,]?`)

// zhRole is what users say they are by the way: "作为一个两岁娃的妈，我……".
var zhRole = regexp.MustCompile(`^(?:身为|作为)([^，,。]{2,14}?)[，,]?我`)

func plainChinese(s string) string {
	s = strings.Replace(strings.Replace(s, "我这边", "我", 1), "我这儿", "我", 1)
	s = zhSelf.ReplaceAllString(s, "我")
	return zhRole.ReplaceAllString(diagnosis.ReplaceAllString(strings.TrimSpace(s), ""), "我是$1，我")
}

// opening is what leads over to a statement and says nothing.
var opening = regexp.MustCompile(`(?i)^(?:你好|您好|嗨|哈喽|大家好|早上好|下午好|晚上好|嗯+|哦+|啊|好的?|对了|对|是的|不|不对|另外|还有|而且|然后|所以|但是|不过|可是|其实|顺便说?一?下?|说起来|话说|总之|反正|也就是说|首先|其次|最后|第[一二三]|一是|二是|因为|由于|现在|目前|如今|最近|更正一?下?|说错了|记错了|先说两件事|自我介绍一下|跟你说|告诉你|你知道|很高兴认识你|言归正传|医生说|大夫说|等等|哦对了|反正|就是|更正|哈哈|[\p{Han}]{2,4}有误|(?:我|你)?(?:刚才?|刚刚|之前|前面|上面)?(?:说|记|写|看|搞|弄|算)错了?)(?:[，,、：:！!~\s]+|$)`)

// chineseClauses cuts a sentence at its commas and gives the pieces without a
// subject that of the piece before.
func chineseClauses(s string) []string {
	var out []string
	carry := ""
	pieces := pause.Split(s, -1)
	for i, piece := range pieces {
		if i+1 < len(pieces) && denied.MatchString(piece) && affirmed.MatchString(pieces[i+1]) {
			continue // what is said next takes its place
		}
		piece = trim(opening.ReplaceAllString(trim(piece)+"，", ""))
		if bare := led.ReplaceAllString(piece, ""); who.MatchString(bare) || carry != "" && predicate.MatchString(bare) {
			piece = bare
		}
		if piece == "" {
			continue
		}
		switch m := who.FindString(piece); {
		case m != "":
			carry = carried(m, piece[len(m):])
		case strings.HasPrefix(piece, "所以"), strings.HasPrefix(piece, "因此"), strings.HasPrefix(piece, "于是"):
		case strings.HasPrefix(piece, "叫我"):
		case len(out) > 0 && contrasted.MatchString(piece):
			out[len(out)-1] += "，" + piece
			continue
		case carry != "" && predicate.MatchString(piece) && !(len(out) > 0 && cleft.MatchString(piece)):
			piece = carry + piece
		case len(out) > 0 && attached.MatchString(piece):
			out[len(out)-1] += "，" + piece
			continue
		default:
			carry = "" // it has a subject of its own
		}
		out = append(out, piece)
	}
	return out
}

// carried is the subject that a clause hands on to the next: of "我的车" it is
// not the speaker, and which words name it is not known.
func carried(subject, rest string) string {
	switch {
	case strings.HasPrefix(rest, "的"):
		return ""
	case strings.HasPrefix(rest, "家") && strings.HasPrefix(subject, "我"):
		return subject + "家"
	}
	return strings.TrimSuffix(subject, "叫")
}

// denied is what somebody is not, affirmed what they are instead.
var (
	denied   = regexp.MustCompile(`^(?:我|我们)?(?:可|并)?不是[^，,]{1,12}$`)
	affirmed = regexp.MustCompile(`^(?:我|我们|而)?是`)
)

// cleft says how what was said came about.
var cleft = regexp.MustCompile(`^是(?:给|看|跟|用|为|从)[\p{Han}\w]{1,16}`)

// contrasted says what the thing before is not.
var contrasted = regexp.MustCompile(`^而?(?:并)?不是[^，,]{1,20}$`)

// led stands before a statement without a pause.
var led = regexp.MustCompile(`^(?:说起来|话说|因为|但是?|不过|而且|可是|然后|另外|对了|哦对了|其实|反正|结果|就是|先说|顺便)`)

var pause = regexp.MustCompile(`[，,；;：\n]|:\s|\s{2,}|——`)

// kin are the words for people and animals of the user.
const kin = `(?:前|亲|干|大|小|二|三|老|远房)?(?:丈母娘|岳父|岳母|公公|婆婆|嫂子|弟媳|姐夫|妹夫|弟妹|孙子|孙女|外孙女?|老丈人|发小|大学同学|老婆|老公|妻子|丈夫|爱人|太太|先生|女朋友|男朋友|女友|男友|对象|未婚妻|未婚夫|儿子|女儿|孩子|宝宝|大女儿|小女儿|大儿子|小儿子|妈妈|爸爸|母亲|父亲|老妈|老爸|妈|爸|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|哥|姐|弟|妹|表哥|表姐|表弟|表妹|堂哥|堂姐|堂弟|堂妹|舅舅|姑姑|叔叔|阿姨|侄子|侄女|外甥|外甥女|闺蜜|朋友|好朋友|室友|邻居|同事|老板|领导|上司|经理|主管|导师|老师|同学|合伙人|助理|秘书|姨妈|姨|姑妈|大伯|伯父|伯母|伯伯|婶婶|舅妈|小舅子|小姨子|前夫|前妻|前任|房东|教练|师傅|师父|徒弟|学生|客户|下属|队友|搭档|保姆|月嫂|主治医生|狗狗|狗|猫咪|猫|宠物)`

// family are the words for kin that need no "my".
const family = `(?:老婆|老公|女朋友|男朋友|对象|儿子|女儿|大儿子|小儿子|大女儿|小女儿|老妈|老爸|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|表哥|表姐|表弟|表妹|堂哥|堂姐|堂弟|堂妹|丈母娘|岳父|岳母|婆婆|公公|室友|闺蜜)`

var (
	who       = regexp.MustCompile(`(?i)^(?:我(?:的|家的?|们家的?)?` + kin + `(?:叫)?|` + family + `|我们公司|我们团队|我们项目|我们|我|咱们|本人|俺|这个项目|本项目|项目)`)
	predicate = regexp.MustCompile(`(?i)^(?:也|还|都|又|现在|目前|平时|一直|从小|今年|已经|刚|常|经常|最|特别|非常|很|更|比较|不太|不|从不|从来不|只)*(?:是|叫|住|在|喜欢|爱|讨厌|不喜欢|不爱|不吃|不喝|不能|对|有|养|做|当|从事|毕业|来自|出生|今年|姓|患|会说|会|习惯|偏好|偏爱|更喜欢|戒|吃素|属|用|使用|采用|部署|跑在|搬)`)
	attached  = regexp.MustCompile(`(?i)^(?:是(?:给|看|跟|用|为|从)[\p{Han}\w]{1,12}(?:的|学|做|买|写)|一[只个条位家辆匹台间套份]|[\p{Han}\w]{1,10}、|不加|不放|不要|加|少|多|只|特别是|尤其是|包括|比如|例如|大概|每|也不|还要|先|再|结论|就是)`)

	kinNamed   = regexp.MustCompile(`^我(?:的|家的?|们家的?)?` + kin + `(` + zhSurname + `\p{Han}{1,2}?|[A-Z][a-z]+)(?:也|现在|今年|一直|还|都|最近|目前)*((?:在|是|住|做|当|喜欢|爱|讨厌|对|从|有|会|养|不|\d).+)$`)
	kinSubject = regexp.MustCompile(`(?i)^(?:我(?:的|家的?|们家的?)?(` + kin + `)|(` + family + `))(?:也|现在|今年|一直|还|都|最近|目前)*(.+)$`)
	zhOwned    = regexp.MustCompile(`^我(?:家|们)?的?([\p{Han}\w]{0,8}(?:` + zhHeld + `)(?:是|叫|为|[:：]).+)$`)
	lately     = regexp.MustCompile(`^(?:现在|目前|如今|最近|眼下|今年|去年)(我|本人)`)
	iTopic     = regexp.MustCompile(`^([\p{Han}\w]{1,8}?[^给跟对让叫帮说和与替为找问告诉比等约陪教请怪骂你他她它是像\pP\s])我((?:都|只|偏好|偏爱|爱|不|从|会|用|一般|一向|从来|从不|习惯|喜欢|更喜欢|都是).+)$`)
	iSubject   = regexp.MustCompile(`(?i)^(?:周[一二三四五六日末]|每[天周月年晚]|平时|平常|一般|早上|晚上|下午|上午|中午|以前|后来|工作日|周末|睡前|饭后|[\p{Han}]{1,4}里)*(?:我|本人|俺)(?:自己|个人|这个人)?(?:也|现在|目前|一直|还|都|最近|已经|从小|其实|刚|就|今年|真的|确实|是真的)*(.+)$`)
	weSubject  = regexp.MustCompile(`(?i)^(?:(?:我们|咱们?)(?:的|这个?)?(?:公司|店里?|家|学校|班|团队|项目|组|部门|系统|产品|仓库|工作室|办公室|小区)?|这个项目|本项目|项目(?:组)?)(?:现在|目前|一直|都|已经|也|统一|最终|决定)*(.+)$`)
	itSubject  = regexp.MustCompile(`(?i)^((?:[\w-]+|\p{Han}{2,8}?)(?:项目|系统|服务|服务器|接口|数据库|网站|平台|应用|模块|前端|后端|团队|公司|仓库|版本|集群|产品|脚本|流程|合同|方案|活动|会议|比赛|课程|考试))(.+)$`)
)

// zhSurname begins the names of people.
const zhSurname = `(?:[小老阿大]|` + zhFamily + `)`

// zhFamily are family names.
const zhFamily = `[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜柯裴]`

var zhName = regexp.MustCompile(`^(` + zhSurname + `\p{Han}{1,2}?)((?:也|都|现在|一直|今年)?(?:\d+岁|在|是|管|负责|归|属|喜欢|爱吃|讨厌|做|对|住|叫|姓|带|从|会|不|有|开|教|养).+)$`)

var zhDay = regexp.MustCompile(`^(?:周[一二三四五六日天末]|大家|老是|小时|大概|小心|方便|高中|万一|任何|常常|毛病|史上|时[间候]|温[度馨]|安[全排]|平[时常]|高[铁兴]|方[法案面]|马[上路]|黄金|金[额融]|白[天色]|严格|常见|万事|许多|何[时况]|于是|程[序度]|周[会报]|江边|成本|段落|叶子|牛[奶肉]|石头|施工|武器|齐全|路[上由]|余[额下]|包[括装]|童年|关于|车[子上]|钱包|小说|大[概约部多]|老[师板家]|阿姨|向来|管理|祝|毕竟|易|单|顾客|段|康复|明|任务|伍)`)

// zhPassing is what a statement of the general forms must not be.
var zhPassing = regexp.MustCompile(`今天|今晚|刚才|刚刚|这个[^月季周星年]|那个|这段|这版|这份|这句|这次|第.{1,3}段|想|觉得|看看|帮我|帮忙|你|您|吧$|一下|是不是|没什么|还可以|不错|挺好|真的|好了$|再[说聊看来]|见$|天气|下雨|继续|放假|昨天|昨晚|前天|^我.{0,4}(?:吃|喝|去|看|打|坐|跑|做|拿|听)了|^我?在(?:家|公司|路上|地铁上?|外面|医院|等.*|忙.*|开会|加班|排队|上班)$|没人|[老总]有人|所有人|全世界|人生|没意思|绝望|哭|倒霉|气死|没用|完蛋|受够|笨蛋|傻瓜|白痴|失败者|垃圾|知道|怎么|什么|不好意思|没事|没问题|没有$|^(?:我|我们)?(?:就是|是说|也是|都是|在想|在看|在等|在[写做改](?:$|[^一个本])|有点|有个问题|要是|不知道|不太|去)`)

// zhExact is what is worth keeping to the letter.
const zhExact = `(?:` + exact + `|[A-Za-z][\w.+#-]+(?: \d[\d.]*)?|\d+(?:\.\d+)?(?:万|亿|元|块|人|台|个|点|%|％|号|月|年|天|周|小时|分钟|克|g|kg|mm|cm|m)?)`

// generalChinese are the general forms, tried after the others.
func generalChinese() []rule {
	form := func(e string) *pattern { return word(`^(?:` + e + `)(?:了|的|呀|啊|哦|哈|嘛|啦)*$`) }
	return []rule{
		{form: form(`.{0,10}?(?:固定|每[天周月年晚早个]|通常|一般).{2,40}|(?:.{0,10}?(?:固定|每|通常|一般)|也|还|就|都|又|一向|一直|现在|固定|平时|老|每.|从.{1,12})*(?:(?:是|有|养|带|管|开|住|信|投了|卖|教|学|读|姓|属|归|负责|习惯|固定|一向|从不|从来|只|每|恢复|改[成用做为]|换[了成到用]|坐|吃|喝|打|游|转业|毕业|签|租|买了|考|骑|练|跑|弹|参加|入|领|退|升|装|干|当|叫|做过|会(?:吹|拉|跳|画|修|弹|唱|做|游|滑|打|织|下|手语)|没(?:有|[结养买学吃喝坐])|膝盖|腰|胃|血压|人在|晕).{1,60}|不[^\p{P}]{2,20}|在.{1,24}(?:上班|工作|[做当读教任带管跑开待住学守陪]|部|组|科|院|校|厂|店|公司|部队|总部).{0,30}|[\p{Han}]{1,8}(?:比较|更|最|都|一般)?(?:喜欢|习惯|偏好|偏爱|最烦|最怕|讨厌).{1,60}|在(?:做|写|开发|搭|弄|搞|筹备|研究|学)[\p{Han}\w]{2,40}|用.{0,10}(?:[A-Za-z\d].{0,40}|手机|电脑|相机|车|笔|软件|系统)|做.{1,30}(?:的|生意|行业|工作|[A-Za-z\d].{0,20}|年.{0,20})|写(?:专栏|小说|代码|博客|公众号|剧本|书法|论文).{0,30})|[一二三四五六七八九十两\d]+点.{1,40}|从.{2,12}(?:开始|起).{2,40}`), kind: yiku.TypeProfile, about: speakers, importance: 0.5, general: true},
		{form: form(`[\p{Han}]{0,6}?(?:基本上?|大多|多半|向来|历来|十有八九)(?:都|会|是|只|不).{2,40}`), kind: yiku.TypePreference, about: speakers, importance: 0.5, general: true},
		{form: form(`(?:是)?(?P<v>` + zhSurname + `\p{Han}{1,2})`), kind: yiku.TypeProfile, attribute: "name", about: speakers, importance: 0.9, general: true},
		{form: form(`(?:从小|平时|一直)?(?:口味|肠胃|英语|日语|普通话|数学|胃|血压|血糖|睡眠|视力|听力|腿脚|膝盖|腰|皮肤|酒量|记性|家境|身高|体重|脚|血型|时差)[^，,]{1,16}|[吃睡起住穿走][^，,]{0,4}得[^，,]{1,8}`), kind: yiku.TypeProfile, about: persons, importance: 0.6, general: true},
		{form: form(`不(?:会|是|能|用|吃|喝|抽|打|做|收|看|穿|戴|碰|过|接|开|养|住)[^，,]{1,14}`), kind: yiku.TypeProfile, about: persons, importance: 0.6, general: true},
		{form: form(`(?:今年|快|刚)(?P<v>\d{2})`), kind: yiku.TypeProfile, attribute: "age", about: persons, importance: 0.7},
		{form: form(`(?:今年|明年|下学期|这学期|刚|马上|也|还|都|现在|一直|年底|已经)*(?:是|有|在|属|对|不能|晕|装|做过|喜欢|爱|住|叫|怕|不|管|负责|会|养|开|教|姓|做|当|上|读|考|学|得了|生于|嫁|娶|调|刚|去|膝|腰|有|血|\d+岁).{1,60}`), kind: yiku.TypeProfile, about: others, importance: 0.6, general: true},
		{form: form(`[\p{Han}\w ]{2,10}?(?:是|在|用|叫|有|归|走|做|为|\d).{1,60}`), kind: yiku.TypeProject, about: teams, importance: 0.6, general: true},
		{form: form(`的[\p{Han}\w ]{1,10}?(?:是|在|用|叫|为|\d).{1,50}`), kind: yiku.TypeProfile, about: speakers, importance: 0.5, general: true},
		{form: form(`(?:我们?)?的?(?P<a>[\p{Han}]{2,4}?)(?:(?:是|为|在|[:： ])(?P<v>[\p{Han}\w].{0,40})|(?:大概|约)?[\d$¥].{0,40}|(?:[\p{Han}]{1,6}[省市区县路街]).{1,40})`), kind: yiku.TypeFact, about: things, importance: 0.7, known: true, general: true},
		{form: form(`[\p{Han}\w /-]{2,16}?(?:是|在|归|叫|走|存在?|用|为|从|带|定在?|改成|改在|改到|换成|放在|等于|上限|门槛|最多|至少|大概|[ =：]).{0,24}?` + zhExact + `.{0,40}`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`(?:[\p{Han}\w]{0,8}?(?:` + zhHeld + `)(?:的|主要|目前|现在)?(?:是|叫|姓|为|用|定[在为]|放在?|归|走|跑在|[:：])|[\p{Han}\w]{2,8}(?:叫|姓|名叫|题为|定在|归|改(?:成|为|到|在|发|用|走|抄送)|换成|搬到)|(?:叫|姓|全称|归|定在|题为)).{1,40}`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`[\p{Han}]{1,8}?(?:一共|总共|共|人均|面积|每[天月周年人]|合计|有|大概|约)(?:有|大概|约)?(?:\d[\d.]*|[一二三四五六七八九十两百千万半]{1,5})\s?(?:张|平米?|亩|人|台|个|元|块|万|名|桌|间|家|辆|位|公斤|斤|米|层|套|户)?.{0,12}`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`(?:[\p{Han}]{0,6}寄到?)[\p{Han}\w]{4,30}(?:号|弄|室|楼|栋|单元)[\p{Han}\w]{0,12}`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`(?:[\p{Han}]{2,6}(?:约|大概|大约|至少|最多)?\d[\d.]*(?:万|亿|元|块|人|台|平米?|天|周|个月|年|%|％|级|岁).{0,10}|(?:负责人|联系人|导师|店长|班主任|主治医生|房东|甲方|对接人)` + zhSurname + `\p{Han}{1,2})`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`[\p{Han}]{2,6}不(?:看|吃|喝|用|买|听|玩|碰|考虑|沾)`), kind: yiku.TypePreference, about: things, importance: 0.6, general: true},
		{form: form(`[\p{Han}]{2,6}(?:都|全部?|统一)(?:走|用|发|放|存|找|按|保留|写成?|经)[\p{Han}\w].{1,30}`), kind: yiku.TypeConstraint, about: things, importance: 0.7, general: true},
		{form: form(`[\p{Han}]{2,8}(?:过敏|不耐受)`), kind: yiku.TypeConstraint, about: things, importance: 0.9, general: true},
		{form: form(`[\p{Han}\w ]{2,16}?\s?(?:` + exact + `)`), kind: yiku.TypeFact, about: things, importance: 0.6, general: true},
		{form: form(`[\p{Han}\w ]{2,16}?(?:必须|只能|不能|不得|不准|禁止|一律|严禁|不许|归|不碰|不吃|不考虑|要(?:抄送|经|先|走|用|写|按|报)|不(?:收|做|接|认|办|退|换)).{1,50}`), kind: yiku.TypeConstraint, about: things, importance: 0.7, general: true},
	}
}

// zhHeld ends the usual names of what a project or a household has: an open list.
const zhHeld = `题目|标题|主角|女主|男主|导师|课题|方向|框架|语言|后端|前端|数据库|系统|版本|格式|单位|地址|账号|编号|号码|电话|邮箱|负责人|联系人|甲方|客户|供应商|预算|周期|主题|口径|规则|流程|地点|目标|风格|端口|分支|环境|域名|代号|仓库|报表|数据|日志|能力|职业|缓存|消息队列|部署`

func chineseSubject(s string) (subject, rest string) {
	s = lately.ReplaceAllString(s, "$1")
	if m := zhOwned.FindStringSubmatch(s); m != nil {
		return thing, m[1]
	}
	if m := kinNamed.FindStringSubmatch(s); m != nil {
		return m[1], m[2]
	}
	if m := kinSubject.FindStringSubmatch(s); m != nil {
		return theirs + m[1] + m[2], m[3]
	}
	if m := weSubject.FindStringSubmatch(s); m != nil {
		return project, m[1]
	}
	if m := iSubject.FindStringSubmatch(s); m != nil {
		return user, m[1]
	}
	if m := iTopic.FindStringSubmatch(s); m != nil {
		return user, m[2]
	}
	if m := zhName.FindStringSubmatch(s); m != nil && !zhDay.MatchString(s) {
		return m[1], m[2]
	}
	if m := itSubject.FindStringSubmatch(s); m != nil {
		return thing + m[1], m[2]
	}
	return thing, s
}

// chineseRules are tried in this order.
func chineseRules() []rule {
	p, prefer, fact := yiku.TypeProfile, yiku.TypePreference, yiku.TypeProject
	form := func(e string) *pattern { return word(`^(?:` + e + `)(?:了|的|呀|啊|哦|呢|哈|嘛)?$`) }
	return []rule{
		{form: form(`(?:的)?(?:名字|姓名|全名|大名|小名|真名|本名|英文名)?(?:叫做?|是叫|名叫)(?P<v>[\p{Han}\w·. ]{1,20}?)`), kind: p, attribute: "name", about: persons, importance: 0.9},
		{form: form(`(?:的)?(?:名字|姓名|全名)是(?P<v>[\p{Han}\w·. ]{1,20}?)`), kind: p, attribute: "name", about: persons, importance: 0.9},
		{form: form(`(?:可以|请|就|以后)?(?:叫|称呼)我(?:为)?(?P<v>[\p{Han}\w]{1,12}?)(?:就行|就好|就可以|即可)?`), kind: p, attribute: "nickname", about: anyone, importance: 0.8},
		{form: form(`(?:常年|长期|平时|目前|现在)?(?:住在|居住在|定居在|家住|家在|住)(?P<v>[\p{Han}\w·]{2,24}?)`), kind: p, attribute: "residence", about: persons, importance: 0.8},
		{form: form(`(?:刚|已经|上周末?|上个?月|去年|今年|前阵子|最近|终于|前几天|\d+月)*(?:从(?P<o>[\p{Han}\w]{2,12}))?(?:搬家?|搬|迁|调)(?:家)?(?:到|去|来|回)了?(?P<v>[\p{Han}\w]{2,24}?)`), kind: p, attribute: "residence", about: persons, importance: 0.8, changed: true},
		{form: form(`(?:目前|现在)?(?:就职于|任职于|供职于|入职了?|跳槽到了?|跳槽去了?)(?P<v>[\p{Han}\w·]{2,24}?)(?:工作|上班)?`), kind: p, attribute: "employer", about: persons, importance: 0.8},
		{form: form(`(?:目前|现在)?在.{2,24}?(?:工作|上班|任职|就职|打工|做事|当.{1,12}|做.{1,12})`), kind: p, about: persons, importance: 0.7},
		{form: form(`(?:是|是一名|是一位|是一个|是个|当|做|从事|的职业是|的工作是|担任)(?:一名|一位|一个)?(?P<v>[\p{Han}\w]{0,12}` + zhProfession + `)(?:工作)?`), kind: p, attribute: "occupation", about: persons, importance: 0.8},
		{form: form(`(?:是)?(?:今年|已经|刚满|快)?(?P<v>\d{1,3}|[一二三四五六七八九十]{1,4}?)(?:周?岁|岁半)`), kind: p, attribute: "age", about: persons, importance: 0.7},
		{form: form(`(?:来自|老家(?:是|在)|的?(?:老家|家乡)(?:是|在)|出生(?:在|于)|生(?:在|于)|是)(?P<v>[^的一个比很特\P{Han}]{2,8}?)(?:人|长大)`), kind: p, attribute: "hometown", about: persons, importance: 0.6},
		{form: form(`(?:来自|老家(?:是|在)|的?(?:老家|家乡)(?:是|在))(?P<v>[\p{Han}]{2,12}?)`), kind: p, attribute: "hometown", about: persons, importance: 0.6},
		{form: form(`(?:的)?(?:生日|出生日期)(?:是|在)(?P<v>.{2,20}?)|(?:出生)(?:在|于)(?P<x>.{2,20})|生于.{2,20}`), kind: p, attribute: "birthday", about: persons, importance: 0.7},
		{form: form(`对(?P<v>[\p{Han}\w、和与 ]{1,30}?)(?:严重|重度|轻微|有点|有)?过敏`), kind: yiku.TypeConstraint, attribute: "过敏", about: persons, importance: 1},
		{form: form(`(?:有|患有?|得了|是)(?:严重的?|轻微的?|点|先天性|遗传性)?(?:[\p{Han}]{0,6})(?:过敏|糖尿病|高血压|哮喘|心脏病|乳糖不耐受?|胃病|痛风|癫痫|色盲|色弱|近视|偏头痛|失眠症|贫血|孕妇|左撇子|右撇子|素食者|素食主义者|独生子女?|单亲|聋哑人|盲人)`), kind: p, about: persons, importance: 0.8},
		{form: form(`(?:是)?(?:已婚|未婚|单身|离异|离婚|结婚|订婚)(?:了)?`), kind: p, about: persons, importance: 0.6},
		{form: form(`(?:从来?|一点都?|完全|坚决|基本|都)?(?:不能|不可以|不|没法|忌)(?:吃|喝|沾|碰)(?P<v>[\p{Han}\w、和]{1,20}?)`), kind: prefer, about: persons, importance: 0.7},
		{form: form(`(?:是)?(?:吃素|素食者|素食主义者|纯素)(?:的)?|戒(?:烟|酒|糖|咖啡)(?:了|.{0,6})`), kind: prefer, about: persons, importance: 0.7},
		{form: form(`(?:已经|早就|现在)?(?:不再|不)(?:喜欢|爱|吃|喝|用|住|做|抽|玩|养|去|在).{1,30}了|不再.{2,30}`), kind: yiku.TypeCorrection, about: persons, importance: 0.7},
		{form: form(`(?:真的|特别|非常|最|超级?|很|挺|比较|还是|也|一直|尤其|格外)*(?:更喜欢|更爱|偏好|偏爱|更倾向于?|倾向于|习惯|宁愿|宁可|更愿意|更乐意|偏向于?|离不开)(?P<v>.{1,40}?)`), kind: prefer, attribute: "preference", about: persons, importance: 0.6},
		{form: form(`(?:真的|特别|非常|最|超级?|很|挺|比较|就|也|一直|尤其|蛮|可|都|从小就?)*(?:喜欢|热爱|喜爱|爱吃|爱喝|爱看|爱听|爱玩|爱好(?:是)?|酷爱|迷上了?|着迷于|的爱好是|的兴趣是|爱)(?P<v>.{1,40}?)`), kind: prefer, attribute: "likes", about: persons, importance: 0.5},
		{form: form(`(?:真的|特别|非常|最|超级?|很|挺|比较|也|一直|都|从小就?)*(?:讨厌|不喜欢|不太喜欢|不爱|反感|受不了|接受不了|[吃喝用住看听]不惯|[闻见听看]不得|厌恶|最怕|害怕|怕)(?P<v>.{1,40}?)`), kind: prefer, attribute: "dislikes", about: persons, importance: 0.5},
		{form: form(`(?:最喜欢|最爱)的(?P<a>[\p{Han}]{1,8})是(?P<v>.{1,30}?)|的?(?P<x>最爱)是.{1,30}`), kind: prefer, single: true, about: persons, importance: 0.6},
		{form: form(`(?:家里?)?(?:养|有)了?(?:一|两|二|三|四|几|\d)(?:只|条|个|位|匹|对).{1,30}`), kind: p, about: persons, importance: 0.7},
		{form: form(`(?:毕业于|就读于|在读|在.{2,16}(?:读书|上学|读大学|读研|读博|上大学|念书)|是.{2,16}(?:毕业|专业|大学生|研究生|博士生|高中生|学生)|(?:大学|本科|研究生|硕士|博士)?学的?(?:是)?[\p{Han}]{2,10}|学的?是?.{2,16}专业|会说?.{1,20}(?:语|话|文)|正在学.{1,20}|在学.{1,20}|会弹.{1,10}|参加过.{2,20})(?:的)?`), kind: p, about: persons, importance: 0.6},
		{form: form(`(?:一般|通常|平时|平常|经常|总是|每天|每周|每个?月|每年|每逢|每到|周末|早上|晚上|睡前|饭后)(?:都|会|要|都会|都要|是)?.{1,40}[^了]|.{0,6}每(?:天|周|个?月|年|晚|早|个?周[一二三四五六日末]).{2,40}`), kind: prefer, about: persons, importance: 0.5},
		{form: form(`的(?P<a>[\p{Han}]{2,8})(?:现在|改)?(?:是|为|换成了?|改成了?)(?P<v>.{1,40}?)`), kind: p, known: true, about: persons, importance: 0.7},
		{form: form(`(?:是|是一名|是一位|是个|是一个)(?P<x>[\p{Han}\w]{2,20}(?:人|者|党|控|族|迷|粉|家长|爸爸|妈妈|父亲|母亲|会员|用户|队员|选手))`), kind: p, about: persons, importance: 0.5},

		{form: form(`(?:已经|刚|最近|刚刚|最终|决定|都)*(?:从(?P<o>[\w\p{Han}.+ -]{1,24}))?(?:改用|换成|切换到|迁移到|升级到|改成|换到|改为|搬到|搬进|迁到)了?(?P<v>[\w\p{Han}.+ -]{1,40}?)`), kind: fact, about: things, importance: 0.8, changed: true},
		{form: form(`(?:的)?(?P<a>[\p{Han}]{2,8}?)(?:现在|已经|已|最终|都|统一|定|改)?(?:是|为|用的?是?|采用|改成了?|改为了?|改到了?|定在了?|选了?|换成了?|推迟到了?|提前到了?)(?P<v>.{1,60}?)`), kind: fact, known: true, about: things, importance: 0.8},
		{form: form(`(?:统一|主要|全部|一直|现在)?(?:用|使用|采用|选用|选择了?|部署在|部署到|跑在|运行在|托管在|基于|依赖)(?:的)?(?:是)?.{1,60}`), kind: fact, about: things, importance: 0.7},
		{form: form(`(?:是)?(?:用|由).{1,30}(?:写|开发|实现|搭建|构建|负责)(?:的)?`), kind: fact, about: things, importance: 0.7},
		{form: form(`.{0,12}监听(?:在)?(?P<v>\d{2,5}?)(?:端口)?`), kind: fact, attribute: "端口", about: things, importance: 0.8},
		{form: form(`.{0,20}(?:已经|都|终于|今天|昨天)*(?:上线|发布|部署|完成|合并|修复|交付|通过|跑通|验收|做完|搞定|(?:项目|会议|活动|试用|考试|合同|迁移|测试).{0,4}结束)了?(?:.{0,20})了`), kind: yiku.TypeTaskResult, about: things, importance: 0.6},
		{form: form(`.{0,20}(?:不能超过|不得超过|不超过|至少|最多|控制在|上限(?:是|为)|不低于|不高于).{1,40}`), kind: fact, about: things, importance: 0.8},
	}
}

// zhProfession ends the usual names of occupations: an open list.
const zhProfession = `(?:工程师|程序员|开发者|设计师|老师|教师|护士|医生|大夫|律师|厨师|飞行员|学生|架构师|分析师|顾问|会计|审计师?|科学家|记者|经理|总监|研究员|教授|讲师|摄影师|木匠|电工|牙医|药剂师|翻译|编辑|作家|作者|音乐人|歌手|演员|农民|司机|技师|店员|秘书|兽医|经济学家|图书管理员|消防员|治疗师|咨询师|管理员|创始人|创业者|自由职业者?|实习生|技术员|销售|推销员|银行职员|交易员|艺术家|画家|插画师|舞者|教练|校长|军人|警察|侦探|法官|职员|服务员|面包师|裁缝|理发师|园丁|公务员|产品经理|项目经理|运营|主播|博主|博士|硕士|研究生|大学生)`
