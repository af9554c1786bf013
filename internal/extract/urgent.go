package extract

import "strings"

// MayBeUrgent reports whether a text may hold what cannot wait (C3): it has one
// of the words without which nothing is [Candidate.Urgent]. It costs little, so
// that most appends need not be read at all.
func MayBeUrgent(text string) bool {
	low := strings.ToLower(text)
	for _, w := range urgentWords {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// urgentWords are parts of the expressions remember, forget, durable, replaced
// and correct of the grammars.
var urgentWords = [...]string{
	"remember", "forget", "keep in mind", "bear in mind", "note", "memori", "save th", "for the record", "reference", "write th", "fyi", "just so you know",
	"delete", "erase", "remove", "drop", "scratch that", "off the record", "do not", "don't", "don’t", "never", "always", "from now on", "from here on", "going forward",
	"future", "henceforth", "at all times", "every time", "no matter what", "again", "any more", "anymore", "stop", " not ", "n't", "n’t", "actually", "correction", "wrong", "mistake",
	"misspoke", "meant", "i mean", "make that", "should be", "sorry", "oops", "instead", "no,", "wait", "changed", "moved", "switched", "migrated",
	"记", "备忘", "备注", "保存", "存一下", "忘", "删", "抹掉", "清除", "别", "不要", "以后", "今后", "从现在", "从今", "从此", "往后", "永远", "一律", "务必", "必须", "千万", "绝", "每次", "凡是", "任何", "无论如何",
	"不许", "禁止", "不准", "不得", "严禁", "不是", "不叫", "不在", "不住", "不用", "没有用", "没在用", "错", "不对", "更正", "纠正", "其实", "改口", "应该是", "我的意思是", "并非", "改用", "换成", "搬",
}
