package cli

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/store"
)

// verifyStore reads every row and page of the data directory, and says how
// many there were. It needs the directory for itself: where a server has it,
// or another machine, it only says so.
func (t *tool) verifyStore(ctx context.Context) error {
	cfg, err := t.settings(nil)
	if err != nil {
		return err
	}
	_, served := running(ctx, cfg.DataDir)
	if served || cfg.URL != "" {
		if !t.flags.json {
			t.println(t.say(phrase{"the stored rows and pages were not read: stop the server and verify its data directory", "没有检查存储的行和页：请停止服务，再对其数据目录运行 verify"}))
		}
		return nil
	}
	s, err := drivers.Store(ctx, cfg.Store, drivers.Options{Dir: cfg.DataDir, Now: t.env.Now, Log: app.NewLog(t.env.Stderr, cfg.Log)})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	examiner, ok := s.(store.Examiner)
	if !ok {
		return nil
	}
	e, err := examiner.Examine(ctx)
	if err != nil {
		return err
	}
	rows := 0
	for _, n := range e.Rows {
		rows += n
	}
	if t.flags.json {
		if err := writeJSON(t.env.Stdout, e); err != nil {
			return err
		}
	} else {
		t.println(t.say(phrase{
			"looked at %s, %s of the database and %d of its log",
			"检查了 %s、数据库的 %s和日志的 %d 页",
		}, t.count(rows, noun{"row", "rows", "行"}), t.count(e.Pages, noun{"page", "pages", "页"}), e.Frames))
		for _, fault := range e.Faults {
			t.println("  " + fault)
		}
	}
	if len(e.Faults) > 0 {
		return errNotClean
	}
	if !t.flags.json {
		t.println(t.say(phrase{"the store is whole", "存储完好"}))
	}
	return nil
}

// shownFaults is how many things that differ are named; --json names more.
const shownFaults = 20

// verifyIndex says how what the index holds differs from the store. What was
// put right is no fault any more.
func (t *tool) verifyIndex(ctx context.Context, service yiku.Service, rebuild bool) error {
	res, err := service.VerifyIndex(ctx, yiku.VerifyIndexRequest{Rebuild: rebuild})
	switch {
	case errors.Is(err, yiku.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case t.flags.json:
		err = writeJSON(t.env.Stdout, res)
	default:
		t.showIndex(res)
	}
	if !res.Clean && !rebuild {
		err = errors.Join(err, errNotClean)
	}
	return err
}

func (t *tool) showIndex(res yiku.VerifyIndexResponse) {
	users := t.count(res.Users, noun{"user", "users", "个用户"})
	switch {
	case res.Users == 0:
		t.println(t.say(phrase{"the index holds nobody now: it is read from the store when it is asked", "索引当前没有载入任何用户：查询时会从存储读取"}))
		return
	case res.Clean:
		t.println(t.say(phrase{"the index agrees with the store: %s, %s", "索引与存储一致：%s，%s"}, users, t.count(res.Documents, noun{"item", "items", "项"})))
		return
	}
	t.println(t.say(phrase{"the index differs from the store: %d missing, %d extra, %d stale, %d with another vector; of %s", "索引与存储不一致：缺少 %d 项，多余 %d 项，过时 %d 项，向量不符 %d 项；检查了 %s"},
		res.Faults.Missing, res.Faults.Extra, res.Faults.Stale, res.Faults.Vector, users))
	for _, item := range res.Items[:min(shownFaults, len(res.Items))] {
		t.println("  " + t.faultLine(item))
	}
	if rest := len(res.Items) - shownFaults; rest > 0 {
		t.println("  " + t.say(phrase{"and %d more (--json names them)", "还有 %d 项（--json 会列出）"}, rest))
	}
	if res.Rebuilt > 0 {
		t.println(t.say(phrase{"rebuilt: %s", "已重建：%s"}, t.count(res.Rebuilt, noun{"user", "users", "个用户"})))
	} else {
		t.println(t.say(phrase{"`yiku verify --rebuild` puts it right", "yiku verify --rebuild 可以修复"}))
	}
}

// faultLine names one thing that differs: the user, the fault, and what it is.
func (t *tool) faultLine(f yiku.IndexFault) string {
	faults := map[string]phrase{"missing": {"missing", "缺少"}, "extra": {"extra", "多余"}, "stale": {"stale", "过时"}, "vector": {"another vector", "向量不符"},
		"position": {"ahead of the store", "超前于存储"}, "sums": {"wrong sums", "统计不符"}}
	line := f.UserID + ": " + t.say(faults[f.Fault])
	if f.Kind == "" {
		return line
	}
	kinds := map[string]phrase{"memory": {"memory", "记忆"}, "message": {"message", "消息"}}
	id := f.ID
	if id == "" {
		id = t.say(phrase{"in row %d", "第 %d 行"}, f.Row)
	}
	if f.SessionID != "" {
		id += t.say(phrase{" of session %s", "（会话 %s）"}, f.SessionID)
	}
	return line + " " + t.say(kinds[f.Kind]) + " " + id
}
