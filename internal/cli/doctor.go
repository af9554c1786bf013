package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/store"
)

// finding is what one check says.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Text   string `json:"text"`
}

// The statuses of a finding.
const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// The least free space, and the least that lets one sleep.
const (
	diskFail = 64 << 20
	diskWarn = 1 << 30
)

func (t *tool) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: t.say(phrase{"Look for what is wrong, and say it in plain words", "检查哪里有问题，并用大白话说明"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.settings(nil)
			if err != nil {
				return err
			}
			findings := t.examine(cmd.Context(), cfg)
			return t.showFindings(findings)
		},
	}
}

func (t *tool) showFindings(findings []finding) error {
	failed := false
	for _, f := range findings {
		failed = failed || f.Status == statusFail
	}
	if t.flags.json {
		if err := writeJSON(t.env.Stdout, findings); err != nil {
			return err
		}
	} else {
		marks := map[string]phrase{statusOK: {"ok", "正常"}, statusWarn: {"note", "注意"}, statusFail: {"WRONG", "有误"}}
		for _, f := range findings {
			indentFirst(t.env.Stdout, pad(t.say(marks[f.Status]), 8), f.Text)
		}
	}
	if failed {
		return errSilent
	}
	return nil
}

// examine runs the checks that need nothing from each other, then those of
// the store, which need the directory.
func (t *tool) examine(ctx context.Context, cfg config.Config) []finding {
	all := []finding{t.checkClock(cfg.DataDir), t.checkDirectory(cfg.DataDir)}
	if all[1].Status == statusFail {
		return all
	}
	all = append(all, t.checkDisk(cfg.DataDir))
	if _, err := os.Stat(cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		return all
	}
	all = append(all, t.checkPermissions(cfg.DataDir))
	if server, ok := running(ctx, cfg.DataDir); ok {
		return append(all, t.checkServer(ctx, server.Address), t.checkServed(ctx), t.checkIndex(ctx, server.Address, t.bearer(cfg, server)))
	}
	return append(all, t.checkStore(ctx, cfg)...)
}

func (t *tool) found(check, status string, p phrase, args ...any) finding {
	return finding{Check: check, Status: status, Text: t.say(p, args...)}
}

// checkDirectory looks at the data directory, or where it would be made.
func (t *tool) checkDirectory(dir string) finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.found("directory", statusWarn, phrase{"There is no data directory %s yet; `yiku serve` makes it.", "还没有数据目录 %s；运行 yiku serve 时会自动创建。"}, show(dir))
	case err != nil:
		return t.found("directory", statusFail, phrase{"The data directory %s cannot be looked at: %s.", "无法查看数据目录 %s：%s。"}, show(dir), t.errText(err))
	case !info.IsDir():
		return t.found("directory", statusFail, phrase{"%s is a file, not a directory.", "%s 是文件，不是目录。"}, show(dir))
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return t.found("directory", statusFail, phrase{"Nothing can be written into the data directory %s: %s.", "无法写入数据目录 %s：%s。"}, show(dir), t.errText(err))
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return t.found("directory", statusOK, phrase{"The data directory is %s and can be written.", "数据目录是 %s，可以写入。"}, show(dir))
}

// checkPermissions tells whether others can get at the data (H1). What lies in
// a directory that is closed to them is out of their reach whatever its mode.
func (t *tool) checkPermissions(dir string) finding {
	info, err := os.Stat(dir)
	if err != nil {
		return t.found("permissions", statusFail, phrase{"The data directory cannot be looked at: %s.", "无法查看数据目录：%s。"}, t.errText(err))
	}
	if info.Mode().Perm()&0o077 != 0 {
		return t.found("permissions", statusWarn, phrase{
			"Other users of this machine can get at the data directory (mode %04o); the server takes that away when it starts.",
			"本机其他用户可以访问数据目录（权限 %04o）；服务启动时会收回。",
		}, info.Mode().Perm())
	}
	return t.found("permissions", statusOK, phrase{"Only you can read the data.", "数据只有您自己能读。"})
}

// checkDisk looks at the free space where the data lies or would lie.
func (t *tool) checkDisk(dir string) finding {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, ok := freeBytes(dir)
	if !ok {
		return t.found("disk", statusWarn, phrase{"The free space cannot be told on this system.", "无法得知本系统的剩余空间。"})
	}
	text := fmt.Sprintf("%.1f GB", float64(free)/1e9)
	if free < 1e9 {
		text = fmt.Sprintf("%d MB", free/1e6)
	}
	switch {
	case free < diskFail:
		return t.found("disk", statusFail, phrase{"Only %s are free on the disk; nothing can be stored soon.", "磁盘只剩 %s，很快就无法保存数据。"}, text)
	case free < diskWarn:
		return t.found("disk", statusWarn, phrase{"Only %s are free on the disk.", "磁盘只剩 %s。"}, text)
	}
	return t.found("disk", statusOK, phrase{"%s are free on the disk.", "磁盘剩余 %s。"}, text)
}

// checkClock compares the clock with what cannot be later: the release of this
// program's year, and the files that were written already.
func (t *tool) checkClock(dir string) finding {
	now := t.env.Now()
	if now.Year() < 2026 || now.Year() > 2100 {
		return t.found("clock", statusFail, phrase{"The clock says %s, which cannot be right; times of memories would be wrong.", "系统时钟显示 %s，不可能正确；记忆的时间会出错。"}, now.Format(time.DateTime))
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(now.Add(2*time.Minute)) {
			return t.found("clock", statusFail, phrase{
				"The clock says %s, but %s was written later, at %s: the clock has gone back.",
				"系统时钟显示 %s，但 %s 的写入时间更晚（%s）：时钟被调回过。",
			}, now.Format(time.DateTime), e.Name(), info.ModTime().Format(time.DateTime))
		}
	}
	return t.found("clock", statusOK, phrase{"The clock says %s.", "系统时钟：%s。"}, now.Format(time.DateTime+" MST"))
}

func (t *tool) checkServer(ctx context.Context, url string) finding {
	if err := get(ctx, url+"/readyz"); err != nil {
		return t.found("server", statusFail, phrase{"A server runs at %s but cannot serve now; its log says why.", "%s 上的服务正在运行，但现在无法提供服务；请看它的日志。"}, url)
	}
	return t.found("server", statusOK, phrase{
		"A server runs at %s and can serve. Stop it to have the store itself checked.",
		"%s 上的服务运行正常。要检查存储本身，请先停止服务。",
	}, url)
}

// checkServed asks the server how its forget journal is.
func (t *tool) checkServed(ctx context.Context) finding {
	var res yiku.VerifyAuditResponse
	err := t.with(ctx, false, func(ctx context.Context, s yiku.Service) (err error) {
		res, err = s.VerifyAudit(ctx, yiku.VerifyAuditRequest{})
		return err
	})
	switch {
	case err != nil:
		return t.found("journal", statusWarn, phrase{"The server does not say how its forget journal is: %s.", "服务未说明遗忘日志的状态：%s。"}, t.describe(err))
	case !res.Valid:
		return t.found("journal", statusFail, phrase{"The audit log or the forget journal: %s.", "审计日志或遗忘日志有误：%s。"}, res.Fault)
	}
	return t.pendingFinding(res.JournalPending)
}

func (t *tool) pendingFinding(n int) finding {
	if n > 0 {
		return finding{Check: "journal", Status: statusWarn, Text: t.pendingText(n)}
	}
	return t.found("journal", statusOK, phrase{"The forget journal has every forget that has begun.", "已开始的遗忘都已写入遗忘日志。"})
}

// checkJournal looks whether the store's forget journal is in its place, and
// counts what it lacks.
func (t *tool) checkJournal(ctx context.Context, cfg config.Config, s store.Store) finding {
	if kept := s.Meta().Journal; kept != "" {
		if _, err := app.FindJournal(cfg, kept); err != nil {
			return t.found("journal", statusFail, phrase{"The forget journal: %s.", "遗忘日志有误：%s。"}, t.describe(err))
		}
	}
	pending, err := s.Forgets(ctx)
	if err != nil {
		return t.found("journal", statusFail, phrase{"The store cannot say what is being forgotten: %s.", "存储无法说明正在遗忘什么：%s。"}, t.describe(err))
	}
	return t.pendingFinding(len(pending))
}

// checkStore opens the store and reads through it.
func (t *tool) checkStore(ctx context.Context, cfg config.Config) []finding {
	s, err := drivers.Store(ctx, cfg.Store, drivers.Options{Dir: cfg.DataDir, Now: t.env.Now, Log: app.NewLog(t.env.Stderr, cfg.Log)})
	if err != nil {
		return []finding{t.found("store", statusFail, phrase{"The store cannot be opened: %s.", "无法打开存储：%s。"}, t.describe(err))}
	}
	defer func() { _ = s.Close() }()
	all := []finding{t.found("lock", statusOK, phrase{"No other process uses the data directory.", "没有其他进程占用数据目录。"})}
	faults, err := s.Check(ctx)
	if err != nil {
		return append(all, t.found("store", statusFail, phrase{"The store cannot be checked: %s.", "无法检查存储：%s。"}, t.describe(err)))
	}
	for _, fault := range faults {
		all = append(all, t.found("store", statusFail, phrase{"In the store: %s.", "存储有误：%s。"}, fault))
	}
	if len(faults) == 0 {
		all = append(all, t.found("store", statusOK, phrase{"The store (%s, schema %d) is sound.", "存储（%s，结构版本 %d）完好。"}, storeName(cfg.Store, s), s.Meta().Schema))
	}
	return append(all, t.checkJournal(ctx, cfg, s), t.checkVectors(ctx, s))
}

// storeName is the driver's name with the version of what stands below it,
// where it tells one.
func storeName(name string, s any) string {
	if v, ok := s.(interface{ Version() string }); ok {
		return name + " " + v.Version()
	}
	return name
}

func (t *tool) errText(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return t.translate(pathErr.Err.Error())
	}
	var e *yiku.Error
	if errors.As(err, &e) {
		return t.describe(err)
	}
	return err.Error()
}
