package extract

import "regexp"

// idiom tells, of attributes whose verbs say other things too, a value that is
// none: what is called for, what a negation belongs to, a state one lives in.
var idiom = map[string]func(r *reading, value string) bool{
	"name": func(_ *reading, v string) bool { return calledFor.MatchString(v) },
	"过敏":   func(_ *reading, v string) bool { return negated.MatchString(v) },
	"residence": func(r *reading, v string) bool {
		return lowerWord.MatchString(v) && !casual.MatchString(r.window.Messages[r.at-1].Content)
	},
}

var (
	calledFor = regexp.MustCompile(`^(?:[了过着]|[他她它你您我]|大家|别人|[一两二三四五六七八九十几\d]*[个份辆台桌杯些]|人|车|外卖|快递|代驾|救护车|出租|来了|不|别|停|苦|好|醒|什么|谁)`)
	negated   = regexp.MustCompile(`(?:不|不会|没|没有|不再)$`)
	// lowerWord is a word without an article that is no name as it is written,
	// unless its writer writes all in small letters.
	lowerWord = regexp.MustCompile(`^[a-z]+(?: and [a-z]+)?$`)
	casual    = regexp.MustCompile(`(?:^|[^\w.])i(?: |['’])`)
)
