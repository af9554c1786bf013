// Package app puts the parts together and starts and stops them in order:
// store, index, engine, maintenance, HTTP server; and back.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/internal/limit"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
)

// DefaultTenant is the tenant of a server without keys, and of the command
// line where it names none.
const DefaultTenant = "default"

// Options are what an app takes beside its configuration.
type Options struct {
	Version string
	Stderr  io.Writer        // for events to "-"; nowhere where nil
	Log     *slog.Logger     // nowhere where nil
	Now     func() time.Time // time.Now where nil
	NewID   func() string    // UUIDv7 where nil

	// Embedder takes the place of the embedder that was opened, nil where none
	// is configured, and may ask it; the caller closes it.
	Embedder func(embed.Embedder) (embed.Embedder, error)

	NewJournal bool // keep to the forget journal that is there, or begin one, although the store has had another
	replays    bool // the caller makes the store forget what the journal says
}

func (o *Options) orDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	if out.Stderr == nil {
		out.Stderr = io.Discard
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	return out
}

// Principal is who calls a server without keys: the operator of this machine.
func Principal() yiku.Principal {
	return yiku.Principal{Tenant: DefaultTenant, Access: yiku.AccessAdmin}
}

// Core is the engine with what it stands on, without a door.
type Core struct {
	Engine   *engine.Engine
	Metrics  *observe.Metrics
	Limits   *limit.Limiter
	store    store.Store
	timeouts config.Server
	journal  *journal.Journal
	dir      string // of the data
	chain    audit.Key
	log      *slog.Logger
	closers  []closer
}

// closer is one thing to close, with its name for the error.
type closer struct {
	name  string
	close func() error
}

// Open opens the store, the index and the engine. What was opened before a
// failure is closed again.
func Open(ctx context.Context, cfg config.Config, opts *Options) (_ *Core, err error) {
	o := opts.orDefaults()
	c := &Core{dir: cfg.DataDir, log: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	lines, err := c.openEvents(cfg.Events, o.Stderr)
	if err != nil {
		return nil, err
	}
	driver := drivers.Options{Dir: cfg.DataDir, Now: o.Now, NewID: o.NewID, Log: o.Log}
	c.store, err = drivers.Store(ctx, cfg.Store, driver)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	c.closers = append(c.closers, closer{"store", c.store.Close})
	index, err := drivers.Index(ctx, cfg.Index, driver)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	c.closers = append(c.closers, closer{"index", index.Close})
	c.Limits = newLimiter(cfg.Limits, o.Now)
	c.timeouts = cfg.Server
	c.Metrics = newMetrics(o.Version, drivers.Gauges(c.store, index), lines, c.Limits)
	sinks := observe.Sinks{c.Metrics}
	if lines != nil {
		sinks = append(sinks, lines)
	}
	chain, err := auditKey(cfg)
	if err != nil {
		return nil, err
	}
	c.chain = chain
	if err := c.openJournal(ctx, cfg, chain, o); err != nil {
		return nil, err
	}
	settings := Settings(cfg)
	model, err := OpenModel(cfg.Model)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	reranker, err := openReranker(cfg.Rerank, model)
	if err != nil {
		return nil, fmt.Errorf("open reranker: %w", err)
	}
	embedder, former, err := c.openEmbedders(ctx, cfg, o.Log)
	if err == nil && o.Embedder != nil {
		embedder, err = o.Embedder(embedder)
	}
	if err != nil {
		return nil, fmt.Errorf("open embedder: %w", err)
	}
	c.Engine, err = engine.New(engine.Options{
		Store: c.store, Index: index, Audit: &chain, Journal: c.journal, Settings: &settings, Model: model, Embedder: embedder, Former: former, Reranker: reranker, Now: o.Now, NewID: o.NewID, Sink: sinks, Log: o.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("start engine: %w", err)
	}
	c.closers = append(c.closers, closer{"engine", c.Engine.Close})
	if err := c.Engine.Recover(ctx); err != nil {
		return nil, fmt.Errorf("carry out interrupted forgets: %w", err)
	}
	if err := c.takeNotes(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// tend is the maintenance that is due.
func (c *Core) tend(ctx context.Context) error {
	return errors.Join(c.takeNotes(ctx), c.Engine.Tend(ctx))
}

// auditKeyPath is where the key of the audit log lies.
func auditKeyPath(cfg config.Config) string {
	if cfg.AuditKey != "" {
		return cfg.AuditKey
	}
	return filepath.Join(cfg.DataDir, "keys", "audit.key")
}

// OpenModel opens the language model that is configured; nil where none is.
func OpenModel(m config.Model) (llm.Model, error) {
	if m.Driver == "" {
		return nil, nil
	}
	return drivers.Model(m.Driver, drivers.ModelOptions{Name: m.Name, Options: llm.Options{URL: m.URL, Key: m.Key, Structured: m.Structured}, Patience: &llm.Patience{Timeout: m.Timeout}})
}

func (c *Core) startJobs(log *slog.Logger) *jobs.Runner {
	return c.Engine.StartJobs(&jobs.Options{Log: log, Busy: c.Limits.Busy})
}

// auditKey reads the key of the audit log, which lies outside the database.
func auditKey(cfg config.Config) (audit.Key, error) {
	path := auditKeyPath(cfg)
	if cfg.AuditKey == "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return audit.Key{}, fmt.Errorf("make the folder of keys: %w", err)
		}
	}
	key, err := audit.Load(path)
	if err != nil {
		return audit.Key{}, fmt.Errorf("read the key of the audit log: %w", err)
	}
	return key, nil
}

// openEvents opens the file that events go to; nil where none is asked for.
func (c *Core) openEvents(path string, stderr io.Writer) (*observe.Lines, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		lines := observe.NewLines(stderr, nil)
		c.closers = append(c.closers, closer{"events", lines.Close})
		return lines, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "cannot open the file for events: %s", reason(err))
	}
	lines := observe.NewLines(file, nil)
	c.closers = append(c.closers, closer{"events", func() error { return errors.Join(lines.Close(), file.Close()) }})
	return lines, nil
}

func newMetrics(version string, gauges observe.Gauges, lines *observe.Lines, limits *limit.Limiter) *observe.Metrics {
	opts := &observe.MetricsOptions{Version: version, Outcomes: wire.Codes(), Gauges: gauges}
	opts.Door = func() observe.Door { return observe.Door(limits.Stats()) }
	for _, op := range wire.Operations() {
		opts.Operations = append(opts.Operations, op.ID)
	}
	if lines != nil {
		opts.Dropped = func() float64 { return float64(lines.Dropped()) }
	}
	return observe.NewMetrics(opts)
}

// Close closes everything, last opened first.
func (c *Core) Close() error {
	var all []error
	for len(c.closers) > 0 {
		last := c.closers[len(c.closers)-1]
		c.closers = c.closers[:len(c.closers)-1]
		if err := last.close(); err != nil {
			all = append(all, fmt.Errorf("close %s: %w", last.name, err))
		}
	}
	return errors.Join(all...)
}

// Settings are the engine's settings as the configuration gives them.
func Settings(cfg config.Config) engine.Settings {
	s := engine.DefaultSettings()
	s.Turns, s.WindowTokens, s.OutputShare = cfg.Context.Turns, cfg.Context.WindowTokens, cfg.Context.OutputShare
	s.MemoryShare, s.MemoryTokens = cfg.Context.MemoryShare, cfg.Context.MemoryTokens
	s.MaxItems, s.ItemTokens, s.SnapshotKeep = cfg.Context.MaxItems, cfg.Context.ItemTokens, cfg.Context.SnapshotKeep
	s.RecentMessages, s.RecentIdle = cfg.Session.RecentMessages, cfg.Session.RecentIdle
	s.TranscriptRetention, s.IdempotencyKeep = cfg.Session.TranscriptRetention, cfg.Session.IdempotencyKeep
	s.MinRelevance, s.SearchRelevance = cfg.Recall.MinRelevance, cfg.Recall.SearchRelevance
	s.Weights.Relevance, s.Weights.Freshness = cfg.Recall.Relevance, cfg.Recall.Freshness
	s.Weights.Importance, s.Weights.Use, s.Weights.HalfLife = cfg.Recall.Importance, cfg.Recall.Use, cfg.Recall.HalfLife
	s.OwnerMessages, s.OwnerMemories = cfg.Limits.OwnerMessages, cfg.Limits.OwnerMemories
	s.Snapshots, s.SnapshotBytes = cfg.Context.Snapshots, cfg.Context.SnapshotBytes
	s.OwnerBytes, s.TenantOwners = cfg.Limits.OwnerBytes, cfg.Limits.TenantOwners
	s.BackupKeep = cfg.Backup.Keep
	s.Layers = engine.Layers(cfg.Layers)
	s.RerankCandidates, s.RewriteTimeout = cfg.Rerank.Candidates, cfg.Rewrite.Timeout
	s.Attributes = cfg.Attributes
	s.ExtractIdle, s.ExtractTokens, s.ExtractWindow = cfg.Extract.Idle, cfg.Extract.Tokens, cfg.Extract.Window
	s.Budget, s.SpoiledCalls, s.Prices, s.ContextPrice = cfg.Budget.Budget, cfg.Budget.Spoiled, cfg.Cost.Prices, cfg.Cost.ContextPrice
	s.SummaryTurns, s.SummaryTokens = cfg.Summary.Turns, cfg.Summary.Tokens
	s.ExtractWait = cfg.Extract.Wait
	s.AtOnce, s.Commands = cfg.Extract.AtOnce, engine.CommandMode(cfg.Extract.Commands)
	return s
}

// reason is an error of the file system without the path.
func reason(err error) string {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
