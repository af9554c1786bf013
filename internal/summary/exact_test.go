package summary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// monday is the day of the tests: 2026-03-09, a Monday.
func monday() time.Time { return time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC) }

// TestB2_FindsExactData: each kind in both languages, word for word, and by one
// meaning however it is written.
func TestB2_FindsExactData(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"我的电话是 138-0013-8000，请记下。", "phone 138-0013-8000 = 13800138000"},
		{"call me on +1 415-555-0100 ok", "phone +1 415-555-0100 = 14155550100"},
		{"手机13800138000", "phone 13800138000 = 13800138000"},
		{"订单号 A-20931 已发货", "id A-20931 = A-20931"},
		{"ticket #4711 is open", "id #4711 = #4711"},
		{"写信到 wang.xm@example.com.cn。", "email wang.xm@example.com.cn = wang.xm@example.com.cn"},
		{"见 https://a.example/x?y=1#z，谢谢", "url https://a.example/x?y=1#z = https://a.example/x?y=1#z"},
		{"It is in /etc/yiku/config.yaml.", "path /etc/yiku/config.yaml = /etc/yiku/config.yaml"},
		{"改 main.go 和 ~/数据/表.csv", "path main.go = main.go | path ~/数据/表.csv = ~/数据/表.csv"},
		{`open C:\data\a.txt now`, `path C:\data\a.txt = C:\data\a.txt`},
		{"2026年3月4日交", "date 2026年3月4日 = 2026-03-04"},
		{"二〇二六年三月四日交", "date 二〇二六年三月四日 = 2026-03-04"},
		{"二〇二六年开工", "date 二〇二六年 = 2026"},
		{"3月4日交", "date 3月4日 = --03-04"},
		{"due 2026-03-04.", "date 2026-03-04 = 2026-03-04"},
		{"due March 4, 2026.", "date March 4, 2026 = 2026-03-04"},
		{"下周五开会", "date 下周五 = 下周五 (2026-03-20)"},
		{"we meet next Friday", "date next Friday = next friday (2026-03-20)"},
		{"下午三点半见", "time 下午三点半 = 15:30"},
		{"at 3:30 pm", "time 3:30 pm = 15:30"},
		{"预算 3.5 万元", "amount 3.5 万元 = CNY 35000"},
		{"it costs $1,200.50 now", "amount $1,200.50 = USD 1200.5"},
		{"三百五十块", "amount 三百五十块 = CNY 350"},
		{"用户有１２００万", "number １２００万 = 12000000"},
		{"增长百分之三十", "number 百分之三十 = 30%"},
		{"up 30% this year", "number 30% = 30% | date this year = this year"},
		{"服务器 10.0.0.12 版本 v1.2.3", "id 10.0.0.12 = 10.0.0.12 | id v1.2.3 = v1.2.3"},
		{"三个人要 12 张票", "number 三 = 3 | number 12 = 12"},
		{"万一下雨，千万别去，一个人也别去", ""},
		{"two adults and 3 children", "number two = 2 | number 3 = 3"},
		{"nothing exact in here", ""},
	} {
		var got []string
		for _, d := range Find(c.text, monday()) {
			s := string(d.Kind) + " " + d.Text + " = " + d.Means[0]
			if d.Day != "" {
				s += " (" + d.Day + ")"
			}
			got = append(got, s)
			if c.text[d.Start:d.End] != d.Text {
				t.Errorf("%q: %q does not stand at its place", c.text, d.Text)
			}
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, strings.Join(got, " | "), c.want)
		}
	}
}

// TestB2_GuardNeverLetsChangedDataPass: a datum passes however it is written
// anew, and not where it is another one.
func TestB2_GuardNeverLetsChangedDataPass(t *testing.T) {
	known := Known{}
	known.Add("电话 138-0013-8000，2026年3月4日交付，预算三万五千元，见 https://a.example/x，单号 A-20931，共 1,200 台，下周五评审。", monday())
	for _, same := range []string{"打 13800138000。", "2026-03-04 交付。", "预算 35000 元。", "1200 台。", "3月4日交付。", "2026 年交付。", "下周五评审。", "March 4, 2026.", "没有数据的一句。", "见 https://a.example/x。"} {
		if !known.Holds(same, monday()) {
			t.Errorf("%q was held back", same)
		}
	}
	for _, other := range []string{"打 13800138001。", "2026-03-05 交付。", "预算 35001 元。", "预算 $35000。", "1210 台。", "4月4日交付。", "2027 年交付。", "下周四评审。", "单号 A-20932。", "见 https://a.example/y。", "约 1200% 。"} {
		if known.Holds(other, monday()) {
			t.Errorf("%q passed", other)
		}
	}
}

// TestB2_FullWidthKeepsPlaces: places are those of the text as it came.
func TestB2_FullWidthKeepsPlaces(t *testing.T) {
	text := "房间１２０３号，ｉｄ　ＡＢ１２\xffcd 34"
	var got []string
	for _, d := range Find(text, monday()) {
		got = append(got, text[d.Start:d.End])
	}
	if want := []string{"１２０３", "ＡＢ１２", "34"}; !slices.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// FuzzFind: whatever the text, data stand apart and in order.
func FuzzFind(f *testing.F) {
	f.Add("二〇二六年下周五 138-0013-8000 ￥３００ a/b.go")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, d := range Find(text, monday()) {
			if d.Start < end || d.End <= d.Start || text[d.Start:d.End] != d.Text || len(d.Means) == 0 {
				t.Fatalf("%q: %+v", text, d)
			}
			end = d.End
		}
	})
}
