package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
)

func (t *tool) backupCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "backup --to FILE|DIR",
		Short: t.say(phrase{"Back up a data directory, whether a server runs on it or not", "备份数据目录，服务运行时也可以"}),
		Long: t.say(phrase{
			"Back up a data directory into one file, whether a server runs on it or not. The backup holds everything that had been acknowledged when it began, and no keys: keep those elsewhere, together with copies of the forget journal.",
			"把数据目录备份成一个文件，服务运行时也可以。开始备份之前已确认的写入都在备份里；密钥不在里面，请另外保存密钥和遗忘日志的副本。",
		}),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.directory("backup")
			if err != nil {
				return err
			}
			if to == "" {
				return usagef("backup needs --to")
			}
			done, err := app.Backup(cmd.Context(), cfg, to, t.options(cfg))
			if err != nil {
				return err
			}
			if t.flags.json {
				return writeJSON(t.env.Stdout, done)
			}
			t.println(t.say(phrase{"backed up to %s (%s bytes)", "已备份到 %s（%s 字节）"}, clean(done.Path), thousands(int(done.Size))))
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", t.say(phrase{"new `FILE`, or a directory for one", "新文件 `FILE`，或存放它的目录"}))
	return cmd
}

func (t *tool) restoreCommand() *cobra.Command {
	var r app.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore --from FILE --data DIR",
		Short: t.say(phrase{"Put a backup in the place of a data directory's database", "用备份替换数据目录里的数据库"}),
		Long: t.say(phrase{
			"Put a backup in the place of a data directory's database, while no server runs on it. The backup is checked first, and what was forgotten since it was made is forgotten again, as the forget journal says; until all is done the old database stays.",
			"在没有服务运行时，用备份替换数据目录里的数据库。先检查备份，再按遗忘日志重新遗忘备份之后被遗忘的内容；全部完成之前，旧数据库保持不变。",
		}),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.directory("restore")
			if err != nil {
				return err
			}
			if r.From == "" {
				return usagef("restore needs --from")
			}
			done, err := app.Restore(cmd.Context(), cfg, r, t.options(cfg))
			if err != nil {
				return err
			}
			if r.WithoutJournal {
				fmt.Fprintln(t.env.Stderr, t.say(phrase{
					"warning: restored without a forget journal: what was forgotten after %s is back; forget it again",
					"警告：没有使用遗忘日志：%s 之后被遗忘的内容又回来了，请重新遗忘",
				}, done.Time.Format("2006-01-02 15:04 MST")))
			}
			if t.flags.json {
				return writeJSON(t.env.Stdout, done)
			}
			t.showRestored(done)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.From, "from", "", t.say(phrase{"the backup `FILE`", "备份文件 `FILE`"}))
	flags.BoolVar(&r.Replace, "replace", false, t.say(phrase{"take away the database that is there, once the new one is whole", "新数据库完整之后，删除原有的数据库"}))
	flags.StringVar(&r.Journal, "journal", "", t.say(phrase{"a copy of the forget journal, where the directory has none: `FILE`", "目录里没有遗忘日志时使用的副本 `FILE`"}))
	flags.BoolVar(&r.WithoutJournal, "without-journal", false, t.say(phrase{"restore although what was forgotten since comes back", "即使之后遗忘的内容会回来，也要恢复"}))
	return cmd
}

func (t *tool) showRestored(done app.Restored) {
	t.println(t.say(phrase{"restored the backup of %s", "已恢复 %s 的备份"}, done.Time.Format("2006-01-02 15:04:05 MST")))
	if done.Entries == 0 {
		return
	}
	t.println(t.say(phrase{
		"forgotten again: %s of the journal, of %s; %s, %s",
		"重新遗忘：日志 %s，涉及 %s；%s，%s",
	}, t.count(done.Entries, entries()), t.count(done.Owners+done.Held, noun{"person", "people", "人"}),
		t.count(done.Removed.Memories, memories()), t.count(done.Removed.Messages, messages())))
}

// directory is the configuration of a command that works on a data directory
// itself, as its owner.
func (t *tool) directory(command string) (config.Config, error) {
	cfg, err := t.settings(nil)
	if err == nil && t.flags.url != "" {
		err = usagef("%s works on a data directory (--data), on the machine where it lies", command)
	}
	if err == nil && cfg.APIKey != "" {
		err = usagef("%s", t.say(phrase{
			"%s is for the owner of the data directory and holds what all tenants have: leave out the API key (--key, YIKU_KEY, key in the configuration)",
			"%s 只供数据目录的所有者使用，涉及所有租户的内容：请不要提供 API 密钥（--key、YIKU_KEY、配置中的 key）",
		}, command))
	}
	return cfg, err
}
