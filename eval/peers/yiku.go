package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
)

const licence = "Apache-2.0"

// settings are Yiku's defaults, but that nothing is extracted or summarised
// while searches of messages are timed, as no peer does either.
func settings(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir, cfg.Addr, cfg.Embed.Driver = dir, "127.0.0.1:0", "none" // given, see options
	cfg.Extract.Idle, cfg.Extract.Tokens, cfg.Extract.AtOnce, cfg.Extract.Commands = 1000*time.Hour, 1<<30, false, "off"
	cfg.Summary.Turns, cfg.Summary.Tokens = 1<<20, 1<<30
	return cfg
}

// options give Yiku the vectors that the peers are given.
func options(v embed.Embedder) *app.Options {
	return &app.Options{Embedder: func(embed.Embedder) (embed.Embedder, error) { return v, nil }}
}

// inProcess is the whole of Yiku in the peer's process: store on disk, index,
// engine.
type inProcess struct {
	vectors embed.Embedder
	core    *app.Core
}

// Open implements protocol.System.
func (p *inProcess) Open(dir string) (protocol.About, error) {
	core, err := app.Open(context.Background(), settings(dir), options(p.vectors))
	p.core = core
	return protocol.About{Licence: licence, Over: "process", Arms: "both", Threads: 1,
		What: "the service in one process: every search reads its hits again from the store on disk"}, err
}

// Add implements protocol.System.
func (p *inProcess) Add(user string, items []protocol.Item) error {
	_, err := p.core.Service().AppendMessages(context.Background(), appends(user, items))
	return err
}

// appends makes of items of one session the request that they came from.
func appends(user string, items []protocol.Item) yiku.AppendMessagesRequest {
	req := yiku.AppendMessagesRequest{UserID: user, SessionID: items[0].Session}
	for _, i := range items {
		req.Messages = append(req.Messages, yiku.Message{ID: i.ID, Role: yiku.Role(i.Role), Name: i.Name, Content: yiku.Text(i.Content), CreatedAt: i.Time})
	}
	return req
}

// Settle implements protocol.System.
func (p *inProcess) Settle() error { return p.core.Engine.EmbedPending(context.Background()) }

// Search implements protocol.System.
func (p *inProcess) Search(user, query string, _ protocol.Vector, k int) ([]string, error) {
	zero := 0.0
	res, err := p.core.Service().SearchMemory(context.Background(), yiku.SearchMemoryRequest{UserID: user, Query: query, Limit: k, MinRelevance: &zero, IncludeMessages: true})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(res.Items))
	for i, found := range res.Items {
		if found.Message != nil {
			ids[i] = found.Message.ID
		}
	}
	return ids, nil
}

// Close implements protocol.System.
func (p *inProcess) Close() error {
	if p.core == nil {
		return nil
	}
	return p.core.Close()
}

// vectorIndex is Yiku's index alone, asked for vectors only: what a vector
// store does.
type vectorIndex struct {
	index *memindex.Index
	ids   map[string][]string // of a user, by key
}

// Open implements protocol.System.
func (p *vectorIndex) Open(string) (protocol.About, error) {
	p.index, p.ids = memindex.New(nil), map[string][]string{}
	return protocol.About{Licence: licence, Over: "process", Arms: "vectors", Threads: 1,
		What: "the index of Yiku alone, asked for vectors only; exact scan, its words are indexed beside"}, nil
}

// Add implements protocol.System.
func (p *vectorIndex) Add(user string, items []protocol.Item) error {
	ctx, owner, err := owned(user)
	if err != nil {
		return err
	}
	from, err := p.index.Position(ctx, owner)
	if err != nil {
		return err
	}
	batch := index.Batch{From: from, To: index.Position{Generation: "g", Seq: from.Seq + 1}}
	for _, i := range items {
		batch.Upserts = append(batch.Upserts, index.Doc{Ref: index.Ref{Kind: index.Message, Key: int64(len(p.ids[user]))}, Text: i.Text, Vector: i.Vector})
		p.ids[user] = append(p.ids[user], i.ID)
	}
	return p.index.Apply(ctx, owner, batch)
}

func owned(user string) (context.Context, yiku.Owner, error) {
	owner, err := yiku.NewOwner("peers", user)
	return context.Background(), owner, err
}

// Settle implements protocol.System.
func (p *vectorIndex) Settle() error { return nil }

// Search implements protocol.System.
func (p *vectorIndex) Search(user, _ string, v protocol.Vector, k int) ([]string, error) {
	ctx, owner, err := owned(user)
	if err != nil {
		return nil, err
	}
	found, err := p.index.Search(ctx, owner, index.Query{Vector: v, K: k})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Candidates, func(a, b index.Candidate) int {
		if a.Dense > b.Dense {
			return -1
		}
		return 1
	})
	ids := make([]string, min(k, len(found.Candidates)))
	for i := range ids {
		ids[i] = p.ids[user][found.Candidates[i].Key]
	}
	return ids, nil
}

// Close implements protocol.System.
func (p *vectorIndex) Close() error { return nil }

// server runs Yiku's own HTTP server until it is told to end, and writes its
// address.
func server(dir string, v embed.Embedder, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := app.Start(ctx, settings(dir), options(v))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, s.URL()); err != nil {
		return errors.Join(err, s.Stop(context.Background()))
	}
	<-ctx.Done()
	return s.Stop(context.WithoutCancel(ctx))
}
