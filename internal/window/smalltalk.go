package window

import (
	"strings"
	"unicode"

	"github.com/yiku-ai/yiku"
)

// longestSmallTalk is the length, in characters, from which a message is not
// small talk whatever it says.
const longestSmallTalk = 160

// SmallTalk recognises an assistant's message that greets, thanks, agrees or
// offers help and says nothing else, in Chinese or English. Every clause of it
// must be such a phrase, and it holds no digit: in doubt the message is not
// small talk.
func SmallTalk(m yiku.Message) bool {
	if m.Role != yiku.RoleAssistant || len(m.ToolCalls) > 0 {
		return false
	}
	for _, p := range m.Content.Parts {
		if p.Type != "text" {
			return false
		}
	}
	text := m.Content.PlainText()
	if len(text) > longestSmallTalk*4 || len([]rune(text)) > longestSmallTalk {
		return false
	}
	clauses := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return r != '\'' && r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	})
	said := false
	for _, c := range clauses {
		if c = strings.Join(strings.Fields(c), " "); c == "" {
			continue
		}
		if !phrase(c) && !opening(c) {
			return false
		}
		said = true
	}
	return said
}

// phrase reports whether a clause is one of the fixed phrases.
func phrase(c string) bool {
	switch c {
	case "你好", "您好", "你好呀", "你好啊", "嗨", "哈喽", "早", "早上好", "上午好", "中午好", "下午好", "晚上好", "大家好", "欢迎", "欢迎回来",
		"好", "好的", "好的呢", "好呀", "好哒", "好嘞", "嗯", "嗯嗯", "是的", "对", "对的", "没错", "行", "可以", "当然", "当然可以", "没问题", "没关系", "不要紧",
		"收到", "明白", "明白了", "了解", "了解了", "知道了", "我知道了", "我明白了", "我了解了", "懂了", "记住了", "我记住了", "已记住", "好的我记住了",
		"谢谢", "谢谢你", "谢谢您", "多谢", "感谢", "非常感谢", "不客气", "不用谢", "不用客气", "客气了", "应该的", "很高兴能帮到你", "很高兴能帮到您",
		"太好了", "太棒了", "真棒", "不错", "很好", "哈哈", "哈哈哈", "呵呵", "抱歉", "对不起", "不好意思", "请稍等", "稍等", "稍等一下", "马上", "我来看看", "我看看",
		"再见", "拜拜", "晚安", "回头见", "明天见", "下次见", "随时找我", "有需要随时找我", "有问题随时问我", "随时叫我", "加油", "辛苦了":
		return true
	case "hi", "hello", "hey", "hi there", "hello there", "hey there", "welcome", "welcome back", "good morning", "good afternoon", "good evening", "good night",
		"ok", "okay", "k", "sure", "sure thing", "of course", "certainly", "absolutely", "definitely", "yes", "yep", "yeah", "right", "alright", "all right", "fine",
		"got it", "understood", "noted", "i see", "i understand", "makes sense", "sounds good", "will do", "no problem", "no worries", "not a problem",
		"thanks", "thank you", "thanks a lot", "thank you so much", "thank you very much", "many thanks", "you're welcome", "you are welcome", "my pleasure", "anytime", "any time",
		"great", "perfect", "awesome", "excellent", "wonderful", "nice", "cool", "good", "very good", "haha", "sorry", "i'm sorry", "my apologies", "one moment", "one moment please", "just a moment",
		"please", "let me see", "let me check", "bye", "goodbye", "bye bye", "see you", "see you later", "see you soon", "take care", "cheers", "i'm here to help", "i'm here if you need me", "glad to help", "happy to help", "i'm happy to help", "i'd be happy to help":
		return true
	}
	return false
}

// opening reports whether a short clause begins as an offer, a wish or a
// greeting does.
func opening(c string) bool {
	if len([]rune(c)) > 60 {
		return false
	}
	for _, r := range c {
		if unicode.IsDigit(r) {
			return false
		}
	}
	for _, start := range []string{
		"有什么可以帮", "有什么我可以帮", "有什么能帮", "我能为你做什么", "我能为您做什么", "我能帮你什么", "我能帮您什么", "请问有什么", "请问还有什么", "还有什么可以帮", "还有什么需要", "还需要我", "还有其他需要", "还有别的需要", "需要我帮你什么", "如果还有其他问题", "如果还有问题", "如有其他问题", "如有问题", "有任何问题", "欢迎随时", "请随时", "随时告诉我", "祝你", "祝您", "很高兴为你服务", "很高兴为您服务", "很高兴认识", "很高兴见到",
		"how can i help", "how may i help", "how can i assist", "how may i assist", "what can i do for you", "what can i help you with", "is there anything else", "anything else", "let me know if you need", "let me know if you have", "let me know if there's anything", "feel free to ask", "feel free to reach", "have a nice", "have a great", "have a good", "nice to meet you", "glad i could help", "happy i could help", "i'm glad i could help", "don't hesitate to", "if you have any other questions", "if you have any questions", "if you need anything",
	} {
		if strings.HasPrefix(c, start) {
			return true
		}
	}
	return false
}
