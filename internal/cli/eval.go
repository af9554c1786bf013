package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
)

func (t *tool) evalCommand() *cobra.Command {
	var dir, out string
	var names []string
	var questions int
	cmd := &cobra.Command{
		Use:   "eval --from DIR",
		Short: t.say(phrase{"Measure how well what was said is found again", "衡量说过的话能否被找回"}),
		Long: t.say(phrase{
			"Measure how well what was said is found again, on sets of conversations and questions: each folder of DIR with conversations.jsonl and questions.jsonl is one. Every set gets a fresh service of its own in this process.",
			"在由对话和问题组成的数据集上，衡量说过的话能否被找回：DIR 中每个含有 conversations.jsonl 和 questions.jsonl 的文件夹是一个数据集。每个数据集都在本进程内使用一个全新的服务。",
		}),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.settings(nil)
			if err != nil {
				return err
			}
			sets, err := t.loadSets(dir, names)
			if err != nil {
				return err
			}
			report, err := eval.Run(cmd.Context(), sets, func() (eval.Searcher, error) { return t.fresh(cmd.Context(), cfg) },
				&eval.Options{MaxQuestions: questions, Now: t.env.Now, Progress: t.progress})
			if err != nil {
				return err
			}
			show := report.WriteTable
			if t.flags.json {
				show = report.WriteJSON
			}
			if err := show(t.env.Stdout); err != nil || out == "" {
				return err
			}
			return writeFile(out, report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "from", "", t.say(phrase{"`DIR` that holds the sets (required)", "存放数据集的目录 `DIR`（必填）"}))
	f.StringVar(&out, "report", "", t.say(phrase{"`FILE` for the report as JSON", "报告（JSON）写入 `FILE`"}))
	f.StringSliceVar(&names, "sets", nil, t.say(phrase{"`NAMES` of the sets; all where absent", "数据集名称 `NAMES`；默认全部"}))
	f.IntVar(&questions, "questions", 0, t.say(phrase{"at most this many of each set", "每个数据集最多多少个问题"}))
	_ = cmd.MarkFlagRequired("from")
	return cmd
}

// loadSets reads the named sets of a folder, or all.
func (t *tool) loadSets(dir string, names []string) ([]*eval.Set, error) {
	if len(names) == 0 {
		found, err := filepath.Glob(filepath.Join(dir, "*", "questions.jsonl"))
		if err != nil {
			return nil, usagef("--from: %v", err)
		}
		for _, path := range found {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return nil, yiku.Errorf(yiku.ErrNotFound, "there is no set in %s", dir)
	}
	var sets []*eval.Set
	for _, name := range names {
		set, err := eval.Load(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// scratch is a service in a directory that goes with it.
type scratch struct {
	yiku.Service
	core    *app.Core
	dir     string
	vectors *eval.Vectors // nil without an embedder
}

func (t *tool) fresh(ctx context.Context, cfg config.Config) (_ *scratch, err error) {
	s := &scratch{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	models, err := cfg.Embed.Directory()
	if err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "yiku-eval-*"); err != nil {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "cannot make a temporary directory")
	}
	cfg.DataDir = s.dir
	s.core, err = app.Open(ctx, cfg, &app.Options{Version: t.env.Version, Embedder: func(e embed.Embedder) (embed.Embedder, error) {
		if e == nil {
			return nil, nil
		}
		s.vectors, err = eval.KeepVectors(e, filepath.Join(models, "vectors"))
		return s.vectors, err
	}})
	if err != nil {
		return nil, err
	}
	s.Service = s.core.Service()
	return s, nil
}

// Settle waits until what was appended has its vectors.
func (s *scratch) Settle(ctx context.Context) error { return s.core.Engine.EmbedPending(ctx) }

// Close implements io.Closer.
func (s *scratch) Close() error {
	var all []error
	if s.core != nil {
		all = append(all, s.core.Close())
	}
	if s.vectors != nil {
		all = append(all, s.vectors.Close())
	}
	return errors.Join(append(all, os.RemoveAll(s.dir))...)
}

func (t *tool) progress(set string, done, of int) {
	fmt.Fprintf(t.env.Stderr, "\r%s", pad(strings.TrimSpace(fmt.Sprintf("%s %d/%d", set, done, of)), 40))
	if done == of {
		fmt.Fprintln(t.env.Stderr)
	}
}
