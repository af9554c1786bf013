package extract

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// said reads one conversation by the rules; roles alternate from the user.
func said(t *testing.T, messages ...string) []Candidate {
	t.Helper()
	w := Window{}
	for i, m := range messages {
		role := []yiku.Role{yiku.RoleUser, yiku.RoleAssistant}[i%2]
		w.Messages = append(w.Messages, Message{Role: role, Content: m, At: time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC)})
	}
	res, err := NewRules(reconcile.NewVocabulary()).Extract(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return res.Candidates
}

// TestC15_RulesReadSkills: what the user states of how something is done is one
// skill with its name and its steps, in both languages.
func TestC15_RulesReadSkills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, name, steps string }{
		{"以后发版：先打标签，再构建镜像，然后推到仓库，最后通知群里。", "发版", "打标签|构建镜像|推到仓库|通知群里"},
		{"以后遇到磁盘报警，先清日志，再扩容", "磁盘报警", "清日志|扩容"},
		{"我们上线的流程是：合并代码，跑回归，灰度一成，全量", "上线", "合并代码|跑回归|灰度一成|全量"},
		{"以后换轮胎：先松螺丝；再顶起来；最后换胎。", "换轮胎", "松螺丝|顶起来|换胎"},
		{"泡茶的诀窍：先温杯，水温85度，第一泡倒掉", "泡茶", "温杯|水温85度|第一泡倒掉"},
		{"巡检步骤：\n1. 看温度\n2、查电源\n3. 记台账\n做完告诉我。", "巡检", "看温度|查电源|记台账"},
		{"To deploy the site: first run the tests, then build the image, and finally push it.", "deploy the site", "run the tests|build the image|push it"},
		{"To rotate the keys, first make a new one, then switch over, finally revoke the old one", "rotate the keys", "make a new one|switch over|revoke the old one"},
		{"Whenever the printer jams: open the tray, pull the sheet, then close it.", "printer jams", "open the tray|pull the sheet|close it"},
		{"My trick for crisp roast potatoes: parboil, rough them up, hot fat, 50 minutes", "crisp roast potatoes", "parboil|rough them up|hot fat|50 minutes"},
		{"Steps for closing the books:\n- lock the period\n- post accruals\n- run the report", "closing the books", "lock the period|post accruals|run the report"},
	} {
		got := said(t, c.said)
		i := slices.IndexFunc(got, func(c Candidate) bool { return c.Type == yiku.TypeSkill })
		if i < 0 || got[i].Skill == nil {
			t.Errorf("%q: no skill in %+v", c.said, got)
			continue
		}
		if s := got[i].Skill; s.Name != c.name || strings.Join(s.Steps, "|") != c.steps {
			t.Errorf("%q: %q: %s", c.said, s.Name, strings.Join(s.Steps, "|"))
		}
		if len(got) > 1 {
			t.Errorf("%q: beside the skill %+v", c.said, got)
		}
	}
}

// TestC15_RulesReadNoSkill: requests, stories, plans, questions, one-offs and
// what others say are no skills.
func TestC15_RulesReadNoSkill(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"先帮我查一下天气，再订个闹钟", "昨天我先去了超市，再去了医院，最后回家了", "以后我先去上海，再去北京", "这次先重启，再看日志，最后升级",
		"以后应该先打标签再构建吗？", "老王说以后发版先打标签，再构建", "你好，先生，然后呢", "王先生以后再联系你，然后再说",
		"First open the file, then read it to me.", "To be honest, first I went home, then I slept.", "When I was young, first we lived in Leeds, then in York.",
		"Should I first build and then test?", "Just this once, to deploy: first build, then push.", "She said to deploy first build, then push.",
		"Translate the following: To deploy, first build, then push.", "The password steps: 1. abc 2. def",
	} {
		for _, c := range said(t, text) {
			if c.Type == yiku.TypeSkill {
				t.Errorf("%q: %+v", text, c.Skill)
			}
		}
	}
}

// TestC15_EndorsedSteps: what the assistant did is a skill once the user says
// that it is to be done so again; the control says nothing of the kind.
func TestC15_EndorsedSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, did, said, name, steps string }{
		{"缓存又炸了", "先清缓存，再重启服务，然后看监控。", "好了，下次再遇到缓存问题就照这个来", "缓存问题", "清缓存|重启服务|看监控"},
		{"the queue is stuck", "1. drain it 2. restart the consumer 3. replay the dead letters", "works. let's handle every stuck queue like that", "stuck queue", "drain it|restart the consumer|replay the dead letters"},
	} {
		got := said(t, c.asked, c.did, c.said)
		if len(got) != 1 || got[0].Skill == nil || got[0].Skill.Name != c.name || strings.Join(got[0].Skill.Steps, "|") != c.steps || !slices.Equal(got[0].Messages, []int{2, 3}) {
			t.Errorf("%q: %+v", c.said, got)
			if len(got) > 0 && got[0].Skill != nil {
				t.Logf("%+v", got[0].Skill)
			}
		}
		if got := said(t, c.asked, c.did, "好了，谢谢 thanks"); len(got) != 0 {
			t.Errorf("the control: %+v", got)
		}
	}
}

// TestC15_Steps: lists are read as they were written, and only lists.
func TestC15_Steps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1. replay with trace 2. find the request 3. wait on it":   "replay with trace|find the request|wait on it",
		"Step 1: mount it.\nStep 2: copy.\nDone.":                  "mount it|copy",
		"第一步：断电，第二步：拆盖":                                            "断电|拆盖",
		"1、查余额；2、转账":                                               "查余额|转账",
		"Then it rained.":                                          "",
		"1. one":                                                   "",
		"It cost 3. 4. were sold":                                  "",
		"First I went home, then I slept":                          "",
		"版本 1.2 发布了":                                               "",
		"First, drain it; then restart. Afterwards all was quiet.": "drain it|restart",
	} {
		if got := strings.Join(Steps(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for content, want := range map[string]string{
		"发版：先打标签，再推送":                   "发版: 打标签|推送",
		"Water the plants. Then leave.": "Water the plants: Water the plants.|Then leave.",
	} {
		s := SkillOf(content)
		if got := s.Name + ": " + strings.Join(s.Steps, "|"); got != want {
			t.Errorf("SkillOf(%q) = %q, want %q", content, got, want)
		}
	}
}

// TestC15_ModelGivesSkills: what a model says of a skill or of what happened is
// read in the forms that models give it, and what it leaves out from the content.
func TestC15_ModelGivesSkills(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"op":"create","type":"skill","content":"To deploy: first build, then push.","skill":{"name":"Deploy","situation":"releases","steps":["build","push"]}}`: "Deploy/releases/build|push",
		`{"op":"create","type":"skill","content":"发版：先打标签，再推送","skill":{"name":7,"steps":"1. 打标签 2. 推送"}}`:                                                        "7//打标签|推送",
		`{"op":"create","type":"skill","content":"以后发版：先打标签，再推送"}`:                                                                                                "发版/发版/打标签|推送",
		`{"op":"create","type":"skill","content":"Restart it.","skill":"nonsense"}`:                                                                               "Restart it//Restart it.",
	} {
		got, parked := ParseAnswer(answer, 1, 0)
		if len(got) != 1 || got[0].Skill == nil || len(parked) > 0 {
			t.Errorf("%s: %+v, %+v", answer, got, parked)
			continue
		}
		if s := got[0].Skill; s.Name+"/"+s.Situation+"/"+strings.Join(s.Steps, "|") != want {
			t.Errorf("%s: %+v", answer, s)
		}
	}
	got, _ := ParseAnswer(`[{"op":"create","type":"event","content":"Met Ann","episode":{"from":"2026-03-01","to":"2026-02-01","participants":["Ann",3],"outcome":"失败"}},
		{"op":"create","type":"fact","content":"x","skill":{"name":"y"},"episode":"no"}]`, 1, 0)
	if len(got) != 2 || got[0].Episode == nil || got[0].Episode.Outcome != yiku.TaskFailure || !slices.Equal(got[0].Episode.Participants, []string{"Ann", "3"}) ||
		got[0].Episode.To.Before(got[0].Episode.From) || got[1].Skill != nil || got[1].Episode != nil {
		t.Errorf("episodes: %+v", got)
	}
}
