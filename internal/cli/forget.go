package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

// forgetFlags are the ways of selecting, as flags.
type forgetFlags struct {
	user, project, keyword, filter, origin, session, message string
	from, to                                                 string
	all, keepSources, archive, dryRun                        bool
	ids                                                      []string
	reason                                                   string
}

func (t *tool) forgetCommand() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget",
		Short: t.say(phrase{"Forget everywhere what is selected, and give a receipt", "彻底遗忘选中的内容，并给出凭据"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.ways() != 1 {
				return usagef("%s", t.say(phrase{
					"forget needs exactly one selector: --all, --keyword, --id, --filter, --from and --to, --origin, or --session (with --message for one message)",
					"forget 需要且只能有一种选择方式：--all、--keyword、--id、--filter、--from 和 --to、--origin 或 --session（加 --message 只选一条消息）",
				}))
			}
			req, err := t.forgetRequest(f)
			if err != nil {
				return err
			}
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				res, err := service.Forget(ctx, req)
				if err != nil {
					return missing(err, fmt.Sprintf("user %s has nothing of that name: no such memory, session or message", f.user))
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.showForgotten(res)
				return nil
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.user, "user", "", t.say(phrase{"`USER` whose memory it is (required)", "记忆属于哪个用户 `USER`（必填）"}))
	flags.StringVar(&f.project, "project", "", t.say(phrase{"only in `PROJECT`", "只在项目 `PROJECT` 里"}))
	flags.BoolVar(&f.all, "all", false, t.say(phrase{"everything", "全部"}))
	flags.StringVar(&f.keyword, "keyword", "", t.say(phrase{"all that says `WORD`", "所有提到 `WORD` 的内容"}))
	flags.StringArrayVar(&f.ids, "id", nil, t.say(phrase{"the memory `ID`; may be repeated", "记忆 `ID`；可重复"}))
	flags.StringVar(&f.filter, "filter", "", t.say(phrase{"a filter as `JSON`", "过滤条件 `JSON`"}))
	flags.StringVar(&f.from, "from", "", t.say(phrase{"all of a time on or after `TIME`: 2026-11-30 (UTC) or 2026-11-30T08:00:00+08:00", "从时间 `TIME` 起的全部内容：2026-11-30（UTC）或 2026-11-30T08:00:00+08:00"}))
	flags.StringVar(&f.to, "to", "", t.say(phrase{"with --from or alone: all before `TIME`", "与 --from 一起或单独使用：时间 `TIME` 之前的全部内容"}))
	flags.StringVar(&f.origin, "origin", "", t.say(phrase{"all from an `ORIGIN`: user, import, agent, tool, web", "来自 `ORIGIN` 的全部内容：user、import、agent、tool、web"}))
	flags.StringVar(&f.session, "session", "", t.say(phrase{"all from a `SESSION`", "来自会话 `SESSION` 的全部内容"}))
	flags.StringVar(&f.message, "message", "", t.say(phrase{"with --session: what came of one `MESSAGE`", "与 --session 一起：只针对一条消息 `MESSAGE`"}))
	flags.BoolVar(&f.keepSources, "keep-sources", false, t.say(phrase{"leave the messages behind it", "保留背后的消息"}))
	flags.BoolVar(&f.archive, "archive", false, t.say(phrase{"only take it out of retrieval", "只退出检索，不删除"}))
	flags.BoolVar(&f.dryRun, "dry-run", false, t.say(phrase{"say what would go, and change nothing", "只说明会删除什么，不做改动"}))
	flags.StringVar(&f.reason, "reason", "asked on the command line", t.say(phrase{"`REASON`, kept with the receipt", "原因 `REASON`，保存在凭据里"}))
	_ = cmd.MarkFlagRequired("user")
	return cmd
}

// ways is in how many ways the flags select.
func (f forgetFlags) ways() int {
	n := 0
	for _, given := range []bool{f.all, f.keyword != "", len(f.ids) > 0, f.filter != "", f.from != "" || f.to != "", f.origin != "", f.session != "" || f.message != ""} {
		if given {
			n++
		}
	}
	return n
}

func (t *tool) forgetRequest(f forgetFlags) (yiku.ForgetRequest, error) {
	req := yiku.ForgetRequest{UserID: f.user, ProjectID: f.project, Reason: f.reason, DryRun: f.dryRun, Trigger: yiku.TriggerOperator,
		Selector: yiku.Selector{All: f.all, Keyword: f.keyword, IDs: f.ids}}
	if f.filter != "" {
		req.Selector.Filter = &yiku.Filter{}
		if err := decode([]byte(f.filter), req.Selector.Filter); err != nil {
			return req, usagef("--filter: %s", t.describe(err))
		}
	}
	for _, at := range []struct {
		flag, text string
		to         *time.Time
	}{{"--from", f.from, &req.Selector.From}, {"--to", f.to, &req.Selector.To}} {
		if at.text == "" {
			continue
		}
		var err error
		if *at.to, err = instant(at.text); err != nil {
			return req, usagef("%s", t.say(phrase{"%s: %q is no time: 2026-11-30 or 2026-11-30T08:00:00+08:00", "%s：%q 不是时间，应如 2026-11-30 或 2026-11-30T08:00:00+08:00"}, at.flag, at.text))
		}
	}
	if f.origin != "" || f.session != "" || f.message != "" {
		req.Selector.Source = &yiku.SourceSelector{Origin: yiku.Origin(f.origin), SessionID: f.session, MessageID: f.message}
	}
	if f.keepSources {
		req.Sources = yiku.SourcesKeep
	}
	if f.archive {
		req.Mode = yiku.ForgetArchive
	}
	return req, nil
}

// instant reads a time, or a date, which is its first instant in UTC.
func instant(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	return at, err
}

func (t *tool) showForgotten(res yiku.ForgetResponse) {
	r := res.Removed
	head := phrase{"forgotten:", "已遗忘："}
	if res.DryRun {
		head = phrase{"would be forgotten:", "将会遗忘："}
	}
	var lines []string
	for _, line := range []struct {
		of noun
		n  int
	}{
		{memories(), r.Memories}, {noun{"archived", "archived", "条归档"}, r.Archived}, {noun{"version", "versions", "个历史版本"}, r.Versions},
		{messages(), r.Messages}, {noun{"session", "sessions", "个会话"}, r.Sessions}, {noun{"working memory", "working memories", "份工作记忆"}, r.Working},
		{noun{"snapshot", "snapshots", "个快照"}, r.Snapshots}, {noun{"job", "jobs", "个任务"}, r.Jobs},
	} {
		if line.n > 0 {
			lines = append(lines, "  "+t.count(line.n, line.of))
		}
	}
	if len(lines) == 0 {
		head = phrase{"nothing is selected; there was nothing to forget", "没有选中任何内容，无可遗忘"}
	}
	t.println(append([]string{t.say(head)}, lines...)...)
	if res.ReceiptID == "" {
		return
	}
	verified := phrase{"a second look found nothing left", "复查没有发现残留"}
	if !res.Verified {
		verified = phrase{"a second look found something left", "复查发现仍有残留"}
	}
	t.printf("%s %s\n%s\n", t.say(phrase{"receipt", "凭据"}), res.ReceiptID, t.say(verified))
}

func (t *tool) verifyCommand() *cobra.Command {
	var user, receipt string
	var rebuild bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: t.say(phrase{"Check the audit log, the index and every stored row and page, or with --receipt that what was forgotten is gone", "检查审计日志、索引和存储中的每一行、每一页；带 --receipt 时检查遗忘的内容确已删除"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (user == "") != (receipt == "") {
				return usagef("--user and --receipt go together")
			}
			if rebuild && receipt != "" {
				return usagef("%s", t.say(phrase{"--rebuild and --receipt exclude each other", "--rebuild 和 --receipt 不能同时使用"}))
			}
			if err := t.mayBeginJournal(cmd.Context()); err != nil {
				return err
			}
			err := t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				if receipt != "" {
					return t.verifyReceipt(ctx, service, user, receipt)
				}
				return errors.Join(t.verifyAudit(ctx, service), t.verifyIndex(ctx, service, rebuild))
			})
			if err != nil || receipt != "" {
				return err
			}
			return t.verifyStore(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&user, "user", "", t.say(phrase{"`USER` whose receipt it is", "凭据属于哪个用户 `USER`"}))
	cmd.Flags().StringVar(&receipt, "receipt", "", t.say(phrase{"the receipt's `ID`", "凭据的 `ID`"}))
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, t.say(phrase{"replace the parts of the index that differ from the store; reads go on meanwhile", "把与存储不一致的索引部分换成新建的；期间读取照常"}))
	cmd.Flags().BoolVar(&t.newJournal, "new-journal", false, t.say(phrase{"begin a new forget journal where the old one is lost: what was forgotten before comes back with older backups", "遗忘日志丢失时另起新的：恢复更早的备份会使之前遗忘的内容回来"}))
	return cmd
}

// mayBeginJournal refuses --new-journal where somebody else has the journal.
func (t *tool) mayBeginJournal(ctx context.Context) error {
	if !t.newJournal {
		return nil
	}
	cfg, err := t.directory("verify --new-journal")
	if _, served := running(ctx, cfg.DataDir); err == nil && (served || cfg.URL != "") {
		err = usagef("--new-journal works on a data directory on which no server runs")
	}
	return err
}

// errNotClean ends a check that found something, with exit code 1.
var errNotClean = errors.New("not clean")

func (t *tool) verifyReceipt(ctx context.Context, service yiku.Service, user, receipt string) error {
	res, err := service.VerifyReceipt(ctx, yiku.VerifyReceiptRequest{UserID: user, ID: receipt})
	if err != nil {
		return missing(err, fmt.Sprintf("there is no receipt %s of user %s", receipt, user))
	}
	if t.flags.json {
		if err := writeJSON(t.env.Stdout, res); err != nil {
			return err
		}
	} else {
		t.printf("%s\n", t.say(phrase{"looked in %s", "检查了 %s"}, t.count(len(res.LookedAt), noun{"place", "places", "处"})))
		for place, n := range res.Found {
			t.printf("  %s: %d\n", place, n)
		}
	}
	if !res.Clean {
		return errNotClean
	}
	if !t.flags.json {
		t.println(t.say(phrase{"clean", "没有残留"}))
	}
	return nil
}

func (t *tool) verifyAudit(ctx context.Context, service yiku.Service) error {
	res, err := service.VerifyAudit(ctx, yiku.VerifyAuditRequest{})
	if err != nil {
		return err
	}
	if t.flags.json {
		if err := writeJSON(t.env.Stdout, res); err != nil {
			return err
		}
	}
	switch {
	case !res.Valid:
		return fmt.Errorf("the audit log: %s: %w", res.Fault, errNotClean)
	case !t.flags.json:
		t.printf("%s\n%s %s\n", t.say(phrase{"the audit log is whole: %s", "审计日志完整：%s"}, t.count(int(res.Entries), entries())),
			t.say(phrase{"head", "末尾"}), res.Head)
		t.showJournal(res)
	}
	return nil
}

// showJournal says what the forget journal was found to hold, and what not.
func (t *tool) showJournal(res yiku.VerifyAuditResponse) {
	if res.JournalSince == nil {
		return
	}
	t.println(t.say(phrase{"the forget journal is whole: %s; it begins on %s", "遗忘日志完整：%s；始于 %s"}, t.count(int(res.Journal), entries()), res.JournalSince.Format("2006-01-02 15:04:05 MST")))
	if res.JournalBefore > 0 {
		t.println(t.say(phrase{
			"note: %d forgets of the audit log are older than it and not in it: a backup from before them would bring them back",
			"注意：审计日志中有 %d 次遗忘早于它，不在其中：恢复更早的备份会使那些内容回来",
		}, res.JournalBefore))
	}
	if res.JournalPending > 0 {
		t.println(t.pendingText(res.JournalPending))
	}
}

// pendingText says that forgets are not in the journal yet.
func (t *tool) pendingText(n int) string {
	return t.say(phrase{
		"note: %d forgets are not in the forget journal yet: a backup that is restored now would bring them back. Make room where the journal lies; they are completed at the next maintenance, start or forget",
		"注意：有 %d 次遗忘尚未写入遗忘日志：现在恢复备份会使那些内容回来。请在日志所在的磁盘上腾出空间；下次维护、启动或遗忘时会补全",
	}, n)
}
