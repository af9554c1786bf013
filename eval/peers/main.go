package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/weights"
)

// flags are those of the command line.
type flags struct {
	data, sets, peers, envs, cache, report, commit string
	questions, searches                            int
}

func main() {
	var f flags
	flag.StringVar(&f.data, "data", "", "`folder` of the sets")
	flag.StringVar(&f.sets, "sets", "madial_zh,locomo:2,lifebench_zh:1:1200,xquad_zh", "`sets`, of how many conversations each, and of about how many turns of each: those that are evidence, and others evenly chosen; 0 or nothing: of all")
	flag.StringVar(&f.peers, "peers", "", "`names` of the peers; all where empty")
	flag.StringVar(&f.envs, "envs", ".cache", "`folder` of the peers' environments, see install.sh")
	flag.StringVar(&f.cache, "vectors", "", "`folder` of vectors; the one beside the model where empty")
	flag.StringVar(&f.report, "report", "", "`file` that the figures are written to as JSON")
	flag.IntVar(&f.questions, "questions", 200, "`number` of questions of each set, evenly chosen; 0: all")
	flag.StringVar(&f.commit, "commit", "", "`commit` that this is built of")
	flag.IntVar(&f.searches, "searches", 400, "`number` of searches that are timed, at least; each question as often as another")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

// run measures, or is one of the processes that are measured: peer NAME is a
// peer that is written in Go, server DIR is Yiku's server.
func (f flags) run(ctx context.Context, args []string) error {
	if err := os.MkdirAll(f.envs, 0o750); err != nil {
		return err
	}
	model, err := config.Default().Embed.Directory()
	if err != nil {
		return err
	}
	if f.cache == "" {
		f.cache = filepath.Join(model, "vectors")
	}
	v, end, err := openVectors(f.cache, weights.Path(model, weights.Default))
	if err != nil {
		return err
	}
	defer end()
	switch {
	case len(args) == 2 && args[0] == "peer":
		s, ok := systems(v)[args[1]]
		if !ok {
			return fmt.Errorf("there is no peer %s", args[1])
		}
		return protocol.Serve(s, os.Stdin, os.Stdout)
	case len(args) == 2 && args[0] == "server":
		return server(args[1], v, os.Stdout)
	case len(args) > 0:
		return fmt.Errorf("unknown arguments %v", args)
	}
	return f.measure(ctx, v)
}

// systems are the peers that are written in Go.
func systems(v embed.Embedder) map[string]protocol.System {
	return map[string]protocol.System{"yiku": &inProcess{vectors: v}, "yiku-index": &vectorIndex{}}
}

// commands are how each peer is started, by its name: Yiku first.
func (f flags) commands() (names []string, commands map[string][]string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	names, commands = []string{"yiku", "yiku-index", "yiku-http"}, map[string][]string{}
	for name := range systems(nil) {
		commands[name] = []string{self, "-vectors", f.cache, "peer", name}
	}
	if built := filepath.Join(f.envs, "chromem-go"); exists(built) {
		names, commands["chromem-go"] = append(names, "chromem-go"), []string{built}
	}
	scripts, err := filepath.Glob("python/*.py")
	if err != nil {
		return nil, nil, err
	}
	for _, script := range scripts {
		file := strings.TrimSuffix(filepath.Base(script), ".py")
		if file == "protocol" || file == "wire" {
			continue
		}
		name := strings.ReplaceAll(file, "_", "-")
		commands[name] = []string{filepath.Join(f.envs, file, "bin", "python"), script, self, f.cache}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if f.peers != "" {
		names = strings.Split(f.peers, ",")
	}
	return names, commands, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// loadSets reads the sets, and of each as many conversations as it is to have.
func (f flags) loadSets() ([]*eval.Set, error) {
	if f.data == "" {
		return nil, fmt.Errorf("-data names no folder of evaluation sets")
	}
	var sets []*eval.Set
	for _, want := range strings.Split(f.sets, ",") {
		name, counts, _ := strings.Cut(want, ":")
		set, err := eval.Load(filepath.Join(f.data, name))
		if err != nil {
			return nil, err
		}
		var n [2]int
		for i, count := range strings.SplitN(counts, ":", 2) {
			if n[i], err = strconv.Atoi(count); err != nil && count != "" {
				return nil, fmt.Errorf("-sets: %w", err)
			}
		}
		set = first(set, n[0], n[1])
		set.Questions = some(set.Questions, f.questions)
		sets = append(sets, set)
	}
	return sets, nil
}

// first is the set with its first conversations only, all where 0, of about so
// many turns each, and with their questions that have evidence.
func first(set *eval.Set, conversations, turns int) *eval.Set {
	out := &eval.Set{Name: set.Name}
	evidence := map[[2]string]bool{}
	for _, q := range set.Questions {
		for _, id := range q.Evidence {
			evidence[[2]string{q.Conversation, id}] = true
		}
	}
	for i, c := range set.Conversations {
		if conversations > 0 && i == conversations {
			break
		}
		out.Conversations = append(out.Conversations, thinned(c, turns, evidence))
	}
	for _, q := range set.Questions {
		known := slices.ContainsFunc(out.Conversations, func(c eval.Conversation) bool { return c.ID == q.Conversation })
		if known && len(q.Evidence) > 0 {
			out.Questions = append(out.Questions, q)
		}
	}
	return out
}

// some are n questions, evenly chosen; all where n is 0.
func some(questions []eval.Question, n int) []eval.Question {
	if n <= 0 || n >= len(questions) {
		return questions
	}
	out := make([]eval.Question, n)
	for i := range out {
		out[i] = questions[i*len(questions)/n]
	}
	return out
}

// thinned is a conversation with the turns that are evidence and so many of the
// others, evenly chosen, that there are as many turns as asked for; 0: all.
func thinned(c eval.Conversation, turns int, evidence map[[2]string]bool) eval.Conversation {
	needed := 0
	for _, t := range c.Turns {
		if evidence[[2]string{c.ID, t.ID}] {
			needed++
		}
	}
	others := len(c.Turns) - needed
	keep := turns - needed
	if turns == 0 || keep >= others {
		return c
	}
	out := eval.Conversation{ID: c.ID}
	for n := 0; len(c.Turns) > 0; c.Turns = c.Turns[1:] {
		t := c.Turns[0]
		if !evidence[[2]string{c.ID, t.ID}] {
			n++
			if keep <= 0 || n*keep/others == (n-1)*keep/others {
				continue
			}
		}
		out.Turns = append(out.Turns, t)
	}
	return out
}

// warm makes the vectors that the peers will need, and those by which Yiku
// learns what unrelated texts have in common.
func warm(ctx context.Context, v embed.Embedder, set *eval.Set) error {
	if _, _, err := embed.Unrelated(ctx, v); err != nil {
		return err
	}
	_, err := eval.Run(ctx, []*eval.Set{set}, func() (eval.Searcher, error) { return dry{v}, nil }, &eval.Options{Foreign: -1})
	return err
}
