// Package config is the configuration: built-in defaults, then a YAML file,
// then the environment, then flags, read once at the top into one validated
// struct. Nothing below it reads the environment.
//
// A key is written "context.max_items" in messages, nested in the file, and
// YIKU_CONTEXT_MAX_ITEMS in the environment. Durations are Go's with days:
// "90s", "24h", "365d", "1d12h".
package config

import (
	"log/slog"
	"time"

	"github.com/yiku-ai/yiku/internal/usage"
)

// Config is everything that can be configured.
type Config struct {
	DataDir     string // where the data lies; one process at a time
	Store       string // driver of the truth, as internal/drivers names it
	Index       string // driver of finding
	Addr        string // host:port to listen on; port 0 picks a free one
	Events      string // file that JSON Lines events are appended to; "-" is standard error, "" none
	AuditKey    string // file of the audit log's key, made where it is missing; "" is keys/audit.key in DataDir
	Journal     string // file of the forget journal; "" is forgets.log in DataDir
	Lang        string // language of what the command line says: zh or en; "" follows LANG
	URL         string // of a running server, for the commands that talk to one
	Attributes  string // of memories, beside those that Yiku knows (C8)
	APIKey      string // for the commands that talk to a server, or to a directory as somebody in particular
	Log         Log
	Server      Server
	Limits      Limits
	Maintenance Maintenance
	Backup      Backup
	Session     Session
	Context     Context
	Recall      Recall
	Extract     Extract
	Summary     Summary
	Model       Model
	Embed       Embed
	Former      Embed // what embedded before, by whose vectors people are found until all of theirs are new
	Rerank      Rerank
	Rewrite     Rewrite
	Budget      Budget // of each tenant's model calls (G6)
	Cost        Cost
	Layers      Layers
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // json or text
}

// Server are the limits of the HTTP server.
type Server struct {
	ReadHeader time.Duration // for a request's header
	Read       time.Duration // for a whole request
	Write      time.Duration // from the end of the header to the end of the answer
	Idle       time.Duration // between two requests of a connection
	Stop       time.Duration // that a stop waits for running requests
}

// Limits are what callers may use of the server; 0 is no limit where not said.
type Limits struct {
	Rate         float64       // requests a second of one API key, with the tokens that it made
	Burst        int           // requests of one key at once
	TenantDay    Shares        // requests of a tenant in a day (UTC)
	Concurrent   int           // requests that run at once
	Reads        int           // of them, those that only read; 0: by the number of processors
	Queue        int           // requests that wait; 0: by the number of processors
	QueueWait    time.Duration // the longest wait
	TenantWeight Shares        // a tenant's places in each turn of the queue
	Connections  int
	Flight       int // bytes of bodies and answers that travel
	// What may be stored.
	OwnerMessages, OwnerMemories, OwnerBytes int // of one owner
	TenantOwners                             int // of one tenant
}

// Maintenance says how often the server tidies up; 0 never.
type Maintenance struct {
	Every time.Duration
}

// Backup says how long the operator keeps backups.
type Backup struct {
	Keep time.Duration
}

// Session are the limits of what is kept of a conversation (A5).
type Session struct {
	RecentMessages      int
	RecentIdle          time.Duration
	TranscriptRetention time.Duration
	IdempotencyKeep     time.Duration
}

// Context are the limits of what a context holds (A2, A3, D5, G1).
type Context struct {
	Turns                    int
	WindowTokens             int
	OutputShare              float64
	MemoryShare              float64
	MemoryTokens             int
	MaxItems                 int
	ItemTokens               int
	SnapshotKeep             time.Duration
	Snapshots, SnapshotBytes int
}

// Recall are the score's weights and the threshold (D3, D5).
type Recall struct {
	MinRelevance    float64
	SearchRelevance float64
	Relevance       float64
	Freshness       float64
	Importance      float64
	Use             float64
	HalfLife        time.Duration
}

// Extract says when conversations are read, and what replies may ask for (C3, C11).
type Extract struct {
	Jobs     bool          // whether this server runs jobs
	AtOnce   bool          // whether appends do what cannot wait
	Idle     time.Duration // after a pause this long
	Tokens   int           // or so many unread tokens
	Window   int           // tokens of messages that are read at once
	Wait     time.Duration // the longest that a call waits for it
	Commands string        // apply, log or off
}

// Summary says when sessions are summarised, and how much (B1).
type Summary struct {
	Turns, Tokens int
}

// Model is the language model that extracts and summarises; without one, rules
// and sentences that were said do (C4, C5, B3).
type Model struct {
	Driver     string // openai, anthropic or ollama; "" none
	Name       string
	URL        string // "" is the driver's own
	Key        string
	Structured string // how openai is asked for a schema: json_schema, json_object or none
	Timeout    time.Duration
}

// Budget bounds the model calls of each tenant (G6).
type Budget struct {
	usage.Budget
	Spoiled int // calls in a row that bring nothing, after which the model is left alone for the tenant; 0: never
}

// Cost says what tokens cost, for what is told of them (G6).
type Cost struct {
	Prices       usage.Prices // of models
	ContextPrice float64      // of a million tokens of the model that contexts go to, in USD; 0: not known
}

// Layers switches the layers of memory on or off (G3).
type Layers struct {
	Session, Working, Summary, Longterm bool
	Lexical, Dense, Neighbors           bool
	Graph, Time                         bool
	Rerank, Rewrite                     bool
}

const day = 24 * time.Hour

// Default returns the built-in configuration.
func Default() Config {
	return Config{
		DataDir: "./yiku-data",
		Store:   "sqlite",
		Index:   "memory",
		Addr:    "127.0.0.1:7421",
		Log:     Log{Level: slog.LevelInfo, Format: "text"},
		Server:  Server{ReadHeader: 5 * time.Second, Read: time.Minute, Write: 5 * time.Minute, Idle: time.Minute, Stop: 25 * time.Second},
		Limits: Limits{Rate: 2000, Burst: 10000, Concurrent: 64, QueueWait: time.Second, Connections: 2048, Flight: 256 << 20,
			OwnerMessages: 200_000, OwnerMemories: 50_000, OwnerBytes: 1 << 30, TenantOwners: 100_000},
		Maintenance: Maintenance{Every: time.Hour},
		Backup:      Backup{Keep: 30 * day},
		Session:     Session{RecentMessages: 200, RecentIdle: day, TranscriptRetention: 365 * day, IdempotencyKeep: day},
		Context: Context{Turns: 10, WindowTokens: 32000, OutputShare: 0.25, MemoryShare: 0.25, MemoryTokens: 2000,
			MaxItems: 5, ItemTokens: 100, SnapshotKeep: 7 * day, Snapshots: 500, SnapshotBytes: 16 << 20},
		Recall:  Recall{MinRelevance: 0.5, SearchRelevance: 0.3, Relevance: 0.6, Freshness: 0.15, Importance: 0.15, Use: 0.1, HalfLife: 30 * day},
		Summary: Summary{Turns: 12, Tokens: 500},
		Extract: Extract{Jobs: true, AtOnce: true, Idle: 5 * time.Minute, Tokens: 4000, Window: 4000, Wait: time.Minute, Commands: "apply"},
		Budget:  Budget{Spoiled: 5},
		Model:   Model{Structured: "json_schema", Timeout: time.Minute},
		Embed:   defaultEmbed("auto"),
		Former:  defaultEmbed("none"),
		Rerank:  Rerank{Timeout: time.Second, Candidates: 20},
		Rewrite: Rewrite{Timeout: 2 * time.Second},
		Layers:  Layers{Session: true, Working: true, Summary: true, Longterm: true, Lexical: true, Dense: true, Neighbors: true, Graph: true, Time: true, Rerank: true},
	}
}
