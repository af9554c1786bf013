package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
	"github.com/yiku-ai/yiku/internal/recall"
)

// queryCharacters are how many of a question, its last ones, Yiku embeds.
const queryCharacters = 800

// peer is a running system, as eval.Run asks it.
type peer struct {
	about   protocol.About
	vectors embed.Embedder
	command *exec.Cmd
	in      io.WriteCloser
	lines   *json.Encoder
	answers *json.Decoder
	ingest  time.Duration // what adding and settling took
	took    time.Duration // what the last search took
	cpu     time.Duration // how long the peer computed for it
	empty   int64         // bytes in memory before anything was added
}

// oneThread is the beginning of a command that is to use one thread.
func oneThread() []string {
	return []string{"env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "RAYON_NUM_THREADS=1", "TOKIO_WORKER_THREADS=1", "LANCE_CPU_THREADS=1", "GOMAXPROCS=1", "PYTHONDONTWRITEBYTECODE=1"}
}

// start runs a peer's command, which speaks the protocol, with one thread.
func start(ctx context.Context, command []string, dir string, v embed.Embedder) (*peer, error) {
	line := append(oneThread(), command...)
	p := &peer{vectors: v, command: exec.CommandContext(ctx, line[0], line[1:]...)}
	p.command.Stderr = os.Stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	p.in, p.lines, p.answers = in, json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	a, err := p.ask(protocol.Request{Op: "open", Dir: dir})
	if err == nil && a.About == nil {
		err = errors.New("it says nothing about itself")
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.about = *a.About
	p.empty = p.memory()
	return p, nil
}

func (p *peer) ask(r protocol.Request) (protocol.Answer, error) {
	if err := p.lines.Encode(r); err != nil {
		return protocol.Answer{}, err
	}
	var a protocol.Answer
	if err := p.answers.Decode(&a); err != nil {
		return protocol.Answer{}, fmt.Errorf("%s: %w", r.Op, err)
	}
	if a.Error != "" {
		return protocol.Answer{}, fmt.Errorf("%s: %s", r.Op, a.Error)
	}
	return a, nil
}

// AppendMessages implements eval.Searcher.
func (p *peer) AppendMessages(ctx context.Context, r yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = recall.MessageText(m)
	}
	made, err := p.vectors.Embed(ctx, texts, embed.Passage)
	if err != nil {
		return yiku.AppendMessagesResponse{}, err
	}
	req := protocol.Request{Op: "add", User: r.UserID}
	for i, m := range r.Messages {
		req.Items = append(req.Items, protocol.Item{ID: m.ID, Session: r.SessionID, Role: string(m.Role), Name: m.Name,
			Content: m.Content.PlainText(), Time: m.CreatedAt, Text: texts[i], Vector: made[i]})
	}
	a, err := p.ask(req)
	p.ingest += time.Duration(a.NS)
	return yiku.AppendMessagesResponse{}, err
}

// Settle returns when what was appended is found.
func (p *peer) Settle(context.Context) error {
	a, err := p.ask(protocol.Request{Op: "settle"})
	p.ingest += time.Duration(a.NS)
	return err
}

// SearchMemory implements eval.Searcher. No peer has Yiku's threshold, so that
// what would pass it is not asked.
func (p *peer) SearchMemory(ctx context.Context, r yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	var out yiku.SearchMemoryResponse
	if *r.MinRelevance > 0 {
		return out, nil
	}
	v, err := p.vectors.Embed(ctx, []string{ending(r.Query)}, embed.Query)
	if err != nil {
		return out, err
	}
	a, err := p.ask(protocol.Request{Op: "search", User: r.UserID, Query: r.Query, Vector: v[0], K: r.Limit})
	p.took, p.cpu = time.Duration(a.NS), time.Duration(a.CPU)
	for _, id := range a.IDs {
		out.Items = append(out.Items, yiku.SearchItem{Message: &yiku.Message{ID: id}})
	}
	return out, err
}

// ending is the part of a question that is embedded.
func ending(query string) string {
	r := []rune(query)
	return string(r[max(0, len(r)-queryCharacters):])
}

// close ends the peer's input and waits for it.
func (p *peer) close() error { return errors.Join(p.in.Close(), p.command.Wait()) }

// hold is what the peer and its children hold and have used.
type hold struct {
	bytes int64         // of the machine's memory
	cpu   time.Duration // in hundredths of a second
}

// memory is how much of the machine's memory the peer and its children hold.
func (p *peer) memory() int64 { return p.hold().bytes }

func (p *peer) hold() hold {
	parents, all := map[int]int{}, map[int]hold{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		all[pid] = hold{pages * int64(os.Getpagesize()), time.Duration(user+system) * tick}
	}
	var sum hold
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == p.command.Process.Pid {
				sum.bytes += all[pid].bytes
				sum.cpu += all[pid].cpu
				break
			}
		}
	}
	return sum
}

// tick is Linux's unit of processor time.
const tick = 10 * time.Millisecond
