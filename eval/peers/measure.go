package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
	"github.com/yiku-ai/yiku/internal/recall"
)

// timedK is how many results a timed search asks for.
const timedK = 10

// timeLimit is how long a peer may take for a set.
const timeLimit = 20 * time.Minute

// report is what a run found.
type report struct {
	Command string       `json:"command"`
	Machine string       `json:"machine"`
	Sets    []*setReport `json:"sets"`
}

type setReport struct {
	Name          string  `json:"name"`
	Conversations int     `json:"conversations"`
	Turns         int     `json:"turns"`
	Questions     int     `json:"questions"`
	HistoryTokens float64 `json:"history_tokens"`
	Peers         []*row  `json:"peers"`
}

// row is one peer on one set.
type row struct {
	Name string `json:"name"`
	*protocol.About
	Error    string  `json:"error,omitempty"`
	Recall10 float64 `json:"recall_10"`
	Within   float64 `json:"evidence_within_1024"`
	Tokens10 float64 `json:"tokens_10"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	CPU50    float64 `json:"cpu_p50_ms"` // processor time; over HTTP the mean, of server and client together
	Searches int     `json:"searches"`
	Ingest   float64 `json:"ingest_seconds"`
	Empty    float64 `json:"rss_empty_mb"`
	Full     float64 `json:"rss_mb"`
	Ratios   *ratios `json:"to_yiku,omitempty"`
}

// ratios are a peer's figures over Yiku's that does the same over the same:
// times above 1 are slower than Yiku, recall below 1 finds less.
type ratios struct {
	Recall10 float64 `json:"recall_10"`
	Within   float64 `json:"evidence_within_1024"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	CPU50    float64 `json:"cpu_p50,omitempty"`
	Index    float64 `json:"cpu_p50_to_index,omitempty"` // to yiku-index, for those that find by vectors in process
	Ingest   float64 `json:"ingest"`
	RSS      float64 `json:"rss"`
}

func (f flags) measure(ctx context.Context, v embed.Embedder) error {
	sets, err := f.loadSets()
	if err != nil {
		return err
	}
	names, commands, err := f.commands()
	if err != nil {
		return err
	}
	out := &report{Command: f.command(), Machine: fmt.Sprintf("%d %s cores, %s", runtime.NumCPU(), runtime.GOARCH, runtime.GOOS)}
	for _, set := range sets {
		begun := time.Now()
		if err := warm(ctx, v, set); err != nil {
			return fmt.Errorf("vectors of %s: %w", set.Name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: vectors in %.1f s\n", set.Name, time.Since(begun).Seconds())
		s := &setReport{Name: set.Name, Conversations: len(set.Conversations), Questions: len(set.Questions)}
		out.Sets = append(out.Sets, s)
		for _, name := range names {
			r := &row{Name: name}
			if err := f.one(ctx, v, set, commands[name], s, r); err != nil {
				r.Error = err.Error()
			}
			s.Peers = append(s.Peers, r)
			fmt.Fprintf(os.Stderr, "%s: %s: R@10 %.3f, p50 %.3f ms %s\n", set.Name, name, r.Recall10, r.P50, r.Error)
		}
		s.compare()
		s.table(os.Stdout)
		if err := out.write(f.report); err != nil {
			return err
		}
	}
	return nil
}

// write writes what there is so far; nothing where no file is named.
func (r *report) write(path string) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o600)
}

// command is how to run this again.
func (f flags) command() string {
	line := fmt.Sprintf("make peers PEERFLAGS='-sets %s -questions %d -searches %d", f.sets, f.questions, f.searches)
	if f.peers != "" {
		line += " -peers " + f.peers
	}
	return line + "'"
}

// one measures a peer on a set: first what it finds, then, warm, how fast.
func (f flags) one(ctx context.Context, v embed.Embedder, set *eval.Set, command []string, s *setReport, r *row) (err error) {
	if len(command) == 0 {
		return errors.New("there is no such peer")
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "peers-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := start(ctx, command, dir, v)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if r.About = &p.about; r.Version == "" {
		r.Version = f.commit
	}
	found, err := eval.Run(ctx, []*eval.Set{set}, func() (eval.Searcher, error) { return p, nil }, &eval.Options{Foreign: -1})
	if err != nil {
		return err
	}
	all := found.Sets[0].All
	s.Turns, s.HistoryTokens = found.Sets[0].Turns, found.Sets[0].HistoryTokens
	r.Recall10, r.Within, r.Tokens10 = all.Recall[2], all.Within[1], all.Injected[2]
	before := p.hold().cpu
	took, cpu, err := timed(ctx, p, set, f.searches)
	if err != nil {
		return err
	}
	r.P50, r.P99, r.Searches = quantile(took, .5), quantile(took, .99), len(took)
	if r.CPU50 = quantile(cpu, .5); r.Over == "http" {
		r.CPU50 = float64((p.hold().cpu - before).Microseconds()) / 1000 / float64(len(took))
	}
	r.Ingest, r.Empty, r.Full = p.ingest.Seconds(), megabytes(p.empty), megabytes(p.memory())
	return nil
}

// timed asks every question in turn, until there were so many searches, and
// gives what each took and how long the peer computed.
func timed(ctx context.Context, p *peer, set *eval.Set, searches int) (took, cpu []time.Duration, err error) {
	zero := 0.0
	for len(took) < searches {
		for _, q := range set.Questions {
			user := q.Conversation
			if user == eval.Everything {
				user = "everything"
			}
			if _, err := p.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: user, Query: q.Text, Limit: timedK, MinRelevance: &zero}); err != nil {
				return nil, nil, err
			}
			took, cpu = append(took, p.took), append(cpu, p.cpu)
		}
	}
	return took, cpu, nil
}

// quantile is in milliseconds, nearest rank.
func quantile(d []time.Duration, p float64) float64 {
	slices.Sort(d)
	return float64(d[max(0, int(math.Ceil(p*float64(len(d))))-1)].Nanoseconds()) / 1e6
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }

func (s *setReport) row(name string) *row {
	for _, r := range s.Peers {
		if r.Name == name && r.Error == "" {
			return r
		}
	}
	return nil
}

// compare gives each peer its ratios to the Yiku that is reached as it is.
func (s *setReport) compare() {
	for _, r := range s.Peers {
		if r.Error != "" || strings.HasPrefix(r.Name, "yiku") {
			continue
		}
		base := s.row("yiku")
		if r.Over == "http" {
			base = s.row("yiku-http")
		}
		if base == nil {
			continue
		}
		r.Ratios = &ratios{Recall10: r.Recall10 / base.Recall10, Within: r.Within / base.Within, P50: r.P50 / base.P50, P99: r.P99 / base.P99,
			Ingest: r.Ingest / base.Ingest, RSS: r.Full / base.Full}
		r.Ratios.CPU50 = r.CPU50 / base.CPU50
		if index := s.row("yiku-index"); index != nil && r.Arms == "vectors" && r.Over == "process" {
			r.Ratios.Index = r.CPU50 / index.CPU50
		}
	}
}

// table writes the rows as Markdown.
func (s *setReport) table(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d turns in %d conversations, %d questions, whole history %.0f tokens\n\n", s.Name, s.Turns, s.Conversations, s.Questions, s.HistoryTokens)
	fmt.Fprintln(w, "| peer | version | over | R@10 | within 1,024 | tokens of 10 | p50 ms | p99 ms | CPU p50 ms | p50 to Yiku's | CPU to Yiku's | CPU to its index's | ingest s | RSS MB (empty) |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range s.Peers {
		if r.Error != "" {
			fmt.Fprintf(w, "| %s | did not run: %s |\n", r.Name, r.Error)
			continue
		}
		var to ratios
		if r.Ratios != nil {
			to = *r.Ratios
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.3f | %.3f | %.0f | %.3f | %.3f | %s | %s | %s | %s | %.2f | %.0f (%.0f) |\n", r.Name, r.Version, r.Over,
			r.Recall10, r.Within, r.Tokens10, r.P50, r.P99, dash(r.CPU50), dash(to.P50), dash(to.CPU50), dash(to.Index), r.Ingest, r.Full, r.Empty)
	}
}

// dash is a figure, or a dash where there is none.
func dash(x float64) string {
	if x == 0 {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// dry is a peer that finds nothing: asking it makes the vectors.
type dry struct{ vectors embed.Embedder }

func (d dry) AppendMessages(ctx context.Context, r yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = recall.MessageText(m)
	}
	_, err := d.vectors.Embed(ctx, texts, embed.Passage)
	return yiku.AppendMessagesResponse{}, err
}

func (d dry) SearchMemory(ctx context.Context, r yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	_, err := d.vectors.Embed(ctx, []string{ending(r.Query)}, embed.Query)
	return yiku.SearchMemoryResponse{}, err
}
