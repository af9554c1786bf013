// Package cli is the command line. It does everything the API does, against a
// running server or a data directory of its own, in Chinese and English.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
)

// Env is what the tool takes from its process. Stdin is also what decides
// whether a person is asked: it is a terminal or it is not.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Now     func() time.Time
	Version string
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs the tool for the process and returns its exit code. The first
// SIGINT or SIGTERM asks for an orderly end, the second ends at once.
func Main() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // from now on a signal has its usual effect
		cancel()
	}()
	return Run(ctx, Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: config.Environ(), Now: time.Now, Version: buildVersion(),
	})
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// Run runs the tool in an environment and returns its exit code: 0, 1 for a
// failure, 2 for a wrong use. A failure is one line on standard error,
// or a problem document with --json.
func Run(ctx context.Context, env Env) int {
	t := &tool{env: env, lang: language(env)}
	root := t.root()
	root.SetArgs(env.Args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailed
	}
	usage := !t.started || errors.As(err, new(*usageError))
	t.fail(err, usage)
	if usage {
		return exitUsage
	}
	return exitFailed
}

// tool is one run of the command line.
type tool struct {
	env        Env
	lang       string
	started    bool // the command line was right: what fails from now on is no wrong use
	newJournal bool // begin a forget journal where the store has had another

	flags struct {
		config, data, url, key, tenant, lang string
		json                                 bool
		set                                  []string
	}
}

// language is the language of help texts and messages, known before flags are
// parsed.
func language(env Env) string {
	lang := config.Language(env.Environ)
	for _, entry := range env.Environ {
		if v, ok := strings.CutPrefix(entry, "YIKU_LANG="); ok && (v == "zh" || v == "en") {
			lang = v
		}
	}
	for i, arg := range env.Args {
		v, ok := strings.CutPrefix(arg, "--lang=")
		if !ok && arg == "--lang" && i+1 < len(env.Args) {
			v = env.Args[i+1]
		}
		if v == "zh" || v == "en" {
			lang = v
		}
	}
	return lang
}

func (t *tool) root() *cobra.Command {
	root := t.group("yiku", phrase{"Yiku, a memory service for AI agents", "忆库：给 AI 智能体用的记忆服务"})
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(t.env.Stdin)
	root.SetOut(t.env.Stdout)
	root.SetErr(t.env.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.StringVar(&t.flags.config, "config", "", t.say(phrase{"configuration `FILE` (YAML)", "配置文件 `FILE`（YAML）"}))
	f.StringVar(&t.flags.data, "data", "", t.say(phrase{"data `DIR`; ./yiku-data where absent", "数据目录 `DIR`；默认 ./yiku-data"}))
	f.StringVar(&t.flags.url, "url", "", t.say(phrase{"`URL` of a running server", "正在运行的服务的 `URL`"}))
	f.StringVar(&t.flags.key, "key", "", t.say(phrase{"API `KEY` or token; better in YIKU_KEY, which no list of processes shows", "API 密钥或令牌 `KEY`；放在 YIKU_KEY 里更好，进程列表看不到"}))
	f.StringVar(&t.flags.tenant, "tenant", "", t.say(phrase{"`TENANT` to act for on a data directory; default where absent", "操作数据目录时代表的租户 `TENANT`；默认 default"}))
	f.StringVar(&t.flags.lang, "lang", "", t.say(phrase{"zh or en; as LANG says where absent", "zh 或 en；默认按 LANG"}))
	f.BoolVar(&t.flags.json, "json", false, t.say(phrase{"JSON for machines", "输出 JSON，供程序读取"}))
	f.StringArrayVar(&t.flags.set, "set", nil, t.say(phrase{"any setting, as `KEY=VALUE`", "任意一项配置，写成 `KEY=VALUE`"}))
	root.AddCommand(
		t.serveCommand(), t.demoCommand(), t.chatCommand(), t.addCommand(), t.searchCommand(), t.contextCommand(), t.replayCommand(),
		t.forgetCommand(), t.verifyCommand(), t.backupCommand(), t.restoreCommand(), t.exportCommand(), t.importCommand(), t.callCommand(), t.costCommand(), t.doctorCommand(),
		t.keyCommand(), t.experimentCommand(), t.jobsCommand(), t.skillsCommand(), t.tokenCommand(), t.configCommand(), t.modelCommand(), t.evalCommand(), t.versionCommand(),
	)
	t.markStarts(root)
	t.help(root)
	return root
}

// markStarts notes when a command runs, in every command below one.
func (t *tool) markStarts(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		t.markStarts(cmd)
		run := cmd.RunE
		if run == nil {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if l := t.flags.lang; l != "" && l != "zh" && l != "en" {
				return usagef("%s", t.say(phrase{"--lang must be zh or en", "--lang 须为 zh 或 en"}))
			}
			t.started = true
			return run(cmd, args)
		}
	}
}

// settings reads the configuration; more are flags of the command by key.
func (t *tool) settings(more map[string]string) (config.Config, error) {
	flags, faults := t.setFlags()
	for key, value := range map[string]string{"config": t.flags.config, "data_dir": t.flags.data, "url": t.flags.url, "key": t.flags.key, "lang": t.flags.lang} {
		if value != "" {
			flags[key] = value
		}
	}
	for key, value := range more {
		if value != "" {
			flags[key] = value
		}
	}
	cfg, err := config.Load(t.env.Environ, flags)
	var e *yiku.Error
	if errors.As(err, &e) {
		faults = append(faults, e.Fields...)
	}
	switch {
	case len(faults) > 0:
		return config.Config{}, usagef("%s", t.describe(&yiku.Error{Sentinel: yiku.ErrInvalid, Detail: "configuration", Fields: faults}))
	case err != nil:
		return config.Config{}, err
	}
	return cfg, nil
}

// setFlags are the settings given with --set, and those that are none.
func (t *tool) setFlags() (map[string]string, []yiku.FieldError) {
	flags := map[string]string{}
	var faults []yiku.FieldError
	for _, entry := range t.flags.set {
		key, value, ok := strings.Cut(entry, "=")
		switch {
		case !known(key):
			faults = append(faults, yiku.FieldError{Field: "--set " + key, Message: "is not a key of the configuration"})
		case !ok:
			faults = append(faults, yiku.FieldError{Field: "--set " + key, Message: "needs KEY=VALUE"})
		default:
			flags[key] = value
		}
	}
	return flags, faults
}

func known(key string) bool {
	for _, k := range config.Keys() {
		if k.Name == key {
			return true
		}
	}
	return false
}

func (t *tool) printf(format string, args ...any) { fmt.Fprintf(t.env.Stdout, format, args...) }

func (t *tool) println(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t.env.Stdout, line)
	}
}
