// Package drivers holds the tables of what can stand behind each contract.
// A new driver is one line here.
package drivers

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/anthropic"
	"github.com/yiku-ai/yiku/llm/ollama"
	"github.com/yiku-ai/yiku/llm/openai"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// Options are what drivers are opened with; each takes what concerns it.
type Options struct {
	Dir   string // the data directory
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

type (
	openStore func(context.Context, Options) (store.Store, error)
	openIndex func(context.Context, Options) (index.Index, error)
)

func stores() map[string]openStore {
	return map[string]openStore{
		"sqlite": func(ctx context.Context, o Options) (store.Store, error) {
			return sqlite.Open(ctx, o.Dir, &sqlite.Options{Now: o.Now, NewID: o.NewID, Log: o.Log})
		},
	}
}

func indexes() map[string]openIndex {
	return map[string]openIndex{
		"memory": func(context.Context, Options) (index.Index, error) { return memindex.New(nil), nil },
	}
}

// ModelOptions are what a language model is opened with.
type ModelOptions struct {
	llm.Options
	Name     string
	Patience *llm.Patience
}

func models() map[string]func(name string, options *llm.Options) *llm.Driver {
	return map[string]func(name string, options *llm.Options) *llm.Driver{
		"openai":    openai.New,
		"anthropic": anthropic.New,
		"ollama":    ollama.New,
	}
}

// Model opens the language model of that driver, with patience around it; an
// unknown driver is ErrUnsupported.
func Model(driver string, opts ModelOptions) (llm.Model, error) {
	open, ok := models()[driver]
	if !ok {
		return nil, unknown("model driver", driver, slices.Sorted(maps.Keys(models())))
	}
	return llm.NewSteady(open(opts.Name, &opts.Options), opts.Patience), nil
}

// Store opens the truth store of that name; an unknown name is ErrUnsupported.
func Store(ctx context.Context, name string, opts Options) (store.Store, error) {
	open, ok := stores()[name]
	if !ok {
		return nil, unknown("store", name, slices.Sorted(maps.Keys(stores())))
	}
	return open(ctx, opts)
}

// Replacement puts another database in the place of a store's, while nobody
// has it open; see sqlite.Replacement.
type Replacement interface {
	Stage() string
	Occupied() bool
	Commit() error
	Close() error
}

// Snapshot writes a checked copy of a store's database into a new file, while
// others may write to it. Replace locks a data directory to put another
// database there. A store that is not one file is ErrUnsupported.
func Snapshot(ctx context.Context, name, dir, to string) (store.Meta, error) {
	if name != "sqlite" {
		return store.Meta{}, noBackup(name)
	}
	return sqlite.Snapshot(ctx, dir, to)
}

// Replace locks a data directory to put another database there; see Snapshot.
func Replace(name, dir string) (Replacement, error) {
	if name != "sqlite" {
		return nil, noBackup(name)
	}
	return sqlite.Replace(dir)
}

func noBackup(name string) error {
	return yiku.Errorf(yiku.ErrUnsupported, "the store %q is backed up with its own tools", name)
}

// Index opens the index of that name; an unknown name is ErrUnsupported.
func Index(ctx context.Context, name string, opts Options) (index.Index, error) {
	open, ok := indexes()[name]
	if !ok {
		return nil, unknown("index", name, slices.Sorted(maps.Keys(indexes())))
	}
	return open(ctx, opts)
}

func unknown(what, name string, known []string) error {
	return yiku.Errorf(yiku.ErrUnsupported, "there is no %s called %q; there are: %s", what, name, strings.Join(known, ", "))
}

// Gauges returns what can be measured of the drivers that count something.
func Gauges(s store.Store, x index.Index) observe.Gauges {
	return func(context.Context) []observe.Gauge {
		var all []observe.Gauge
		if s, ok := s.(*sqlite.Store); ok {
			all = append(all, sqliteGauges(s.Stats())...)
		}
		if x, ok := x.(*memindex.Index); ok {
			all = append(all, indexGauges(x.Size())...)
		}
		return all
	}
}

func indexGauges(s memindex.Size) []observe.Gauge {
	return []observe.Gauge{
		{Name: "index_bytes", Help: "Memory that the index takes, estimated.", Value: float64(s.Bytes())},
		{Name: "index_owners", Help: "Users whose memories are loaded into the index.", Value: float64(s.Owners)},
		{Name: "index_documents", Help: "Memories and messages that are loaded.", Value: float64(s.Documents)},
		{Name: "index_vector_bytes", Help: "Of the memory, that of vectors.", Value: float64(s.Vectors)},
		{Name: "index_posting_bytes", Help: "Of the memory, that of words.", Value: float64(s.Postings)},
		{Name: "index_row_bytes", Help: "Of the memory, that of what is filtered by.", Value: float64(s.Rows)},
	}
}

func sqliteGauges(s sqlite.Stats) []observe.Gauge {
	return []observe.Gauge{
		{Name: "store_commits", Help: "Groups committed since the start; each is one sync.", Value: float64(s.Commits)},
		{Name: "store_updates", Help: "Updates committed since the start.", Value: float64(s.Updates)},
		{Name: "store_undone", Help: "Updates undone since the start.", Value: float64(s.Undone)},
		{Name: "store_failed_commits", Help: "Commits that failed since the start.", Value: float64(s.Failed)},
		{Name: "store_largest_group", Help: "Updates of the largest group since the start.", Value: float64(s.LargestGroup)},
		{Name: "store_wal_bytes", Help: "Size of the write-ahead log.", Value: float64(s.WALBytes)},
		{Name: "store_readers", Help: "Connections for reading.", Value: float64(s.Readers)},
	}
}
