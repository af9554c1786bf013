package cli

import (
	"context"

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
