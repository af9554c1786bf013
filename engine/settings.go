package engine

import (
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/recall"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/internal/usage"
)

// Settings are the defaults of a server. Each has its requirement's value in
// DefaultSettings.
type Settings struct {
	Turns               int            // turns of a window (A2)
	WindowTokens        int            // the window where neither model nor request says (A3)
	OutputShare         float64        // share of the window that stays free for the answer, .2 to .3 (A3)
	RecentMessages      int            // cap of a session's recent list (A5)
	RecentIdle          time.Duration  // the recent list ends after this silence (A5)
	TranscriptRetention time.Duration  // how long messages are found (A5)
	MemoryShare         float64        // memory's largest share of the window (D5)
	MemoryTokens        int            // and its largest number of tokens (D5)
	MaxItems            int            // recalled memories (D5)
	ItemTokens          int            // the longest recalled item (D5)
	MinRelevance        float64        // below it nothing is recalled into a context (D5)
	SearchRelevance     float64        // below it a search finds nothing where it does not say otherwise
	Weights             recall.Weights // of the score (D3)
	SnapshotKeep        time.Duration  // how long contexts are kept; 0 keeps none (G1)
	Snapshots           int            // the most contexts of one owner that are kept, the newest; 0: no limit, as below
	SnapshotBytes       int            // and their most bytes, in the store's measure
	IdempotencyKeep     time.Duration  // how long idempotency keys are known
	OwnerMessages       int            // the most messages of one owner; 0: no limit, as below
	OwnerMemories       int            // the most memories of one owner
	OwnerBytes          int            // the most that is kept of one owner, in the store's measure
	TenantOwners        int            // the most owners of one tenant
	BackupKeep          time.Duration  // how long the operator keeps backups, and so the journal what was forgotten since
	SummaryTurns        int            // user turns that the raw zone may have before its oldest half is summarised (B1)
	SummaryTokens       int            // the most that a summary may have
	ExtractIdle         time.Duration  // a pause after which a conversation is read (C3)
	ExtractTokens       int            // or so many unread tokens (C3)
	ExtractWindow       int            // tokens of the messages that are read at once
	AtOnce              bool           // what cannot wait is done in the append (C3)
	ExtractWait         time.Duration  // the longest that a call waits for a reading; what takes longer goes on as a job
	Attributes          string         // the vocabulary's own entries, as reconcile.Vocabulary.With reads them (C8)
	Commands            CommandMode    // what becomes of memory commands in replies (C11)
	Budget              usage.Budget   // of a tenant's model calls (G6)
	SpoiledCalls        int            // for a tenant in a row that bring nothing, after which the model is left alone for it; 0: never
	Prices              usage.Prices   // of models, for what is told of costs
	ContextPrice        float64        // of a million tokens of the model that contexts go to, in USD; 0: not known
	Layers              Layers         // on or off (G3)
	RerankCandidates    int            // the most items that the reranker judges (D11)
	RewriteTimeout      time.Duration  // the longest that making a query clear may take (D11)
}

// CommandMode says what becomes of memory commands in an agent's replies.
type CommandMode string

// The modes.
const (
	CommandsApply CommandMode = "apply"
	CommandsLog   CommandMode = "log" // taken out of the reply and reported, but not done
	CommandsOff   CommandMode = "off" // replies stay as they are
)

// DefaultSettings are the values that the requirements give.
func DefaultSettings() Settings {
	return Settings{
		Turns: 10, WindowTokens: 32000, OutputShare: 0.25,
		RecentMessages: 200, RecentIdle: 24 * time.Hour, TranscriptRetention: 365 * 24 * time.Hour,
		MemoryShare: 0.25, MemoryTokens: 2000, MaxItems: 5, ItemTokens: 100, MinRelevance: recall.DefaultMinRelevance, SearchRelevance: recall.DefaultSearchRelevance,
		Weights:      recall.DefaultWeights(),
		SnapshotKeep: 7 * 24 * time.Hour, Snapshots: 500, SnapshotBytes: 16 << 20, IdempotencyKeep: 24 * time.Hour, BackupKeep: 30 * 24 * time.Hour,
		OwnerMessages: 200_000, OwnerMemories: 50_000, OwnerBytes: 1 << 30, TenantOwners: 100_000,
		SummaryTurns: 12, SummaryTokens: 500,
		ExtractIdle: 5 * time.Minute, ExtractTokens: 4000, ExtractWindow: 4000, AtOnce: true, Commands: CommandsApply,
		SpoiledCalls: 5, ExtractWait: time.Minute,
		Layers: DefaultLayers(), RerankCandidates: 20, RewriteTimeout: 2 * time.Second,
	}
}

// Validate reports every setting that is out of its range.
func (s Settings) Validate() error {
	err := &yiku.Error{Sentinel: yiku.ErrInvalid, Detail: "settings"}
	need := func(ok bool, field, message string) {
		if !ok {
			err.Fields = append(err.Fields, yiku.FieldError{Field: field, Message: message})
		}
	}
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	need(s.Turns >= 0, "turns", "must not be negative")
	need(s.WindowTokens > 0, "window_tokens", "must be positive")
	need(share(s.OutputShare), "output_share", "must be 0 to 1")
	need(s.RecentMessages > 0, "recent_messages", "must be positive")
	need(s.RecentIdle > 0, "recent_idle", "must be positive")
	need(s.TranscriptRetention > 0, "transcript_retention", "must be positive")
	need(share(s.MemoryShare), "memory_share", "must be 0 to 1")
	need(s.MemoryTokens >= 0, "memory_tokens", "must not be negative")
	need(s.MaxItems >= 0 && s.MaxItems <= maxRecalled, "max_items", "must be 0 to 10")
	need(s.ItemTokens > 0, "item_tokens", "must be positive")
	need(share(s.MinRelevance), "min_relevance", "must be 0 to 1")
	need(share(s.SearchRelevance), "search_relevance", "must be 0 to 1")
	w := s.Weights
	need(w.Relevance >= 0 && w.Freshness >= 0 && w.Importance >= 0 && w.Use >= 0, "weights", "must not be negative")
	need(w.HalfLife > 0, "weights.half_life", "must be positive")
	need(s.SnapshotKeep >= 0, "snapshot_keep", "must not be negative")
	need(s.IdempotencyKeep >= time.Hour, "idempotency_keep", "must be at least an hour")
	need(min(s.Snapshots, s.SnapshotBytes) >= 0, "snapshots", "must not be negative")
	need(min(s.OwnerMessages, s.OwnerMemories, s.OwnerBytes, s.TenantOwners) >= 0, "quotas", "must not be negative")
	need(s.BackupKeep >= 24*time.Hour, "backup_keep", "must be at least a day")
	need(s.Commands == CommandsApply || s.Commands == CommandsLog || s.Commands == CommandsOff, "commands", "must be apply, log or off")
	need(min(s.Budget.DayCalls, s.Budget.DayTokens, s.Budget.MonthCalls, s.Budget.MonthTokens) >= 0, "budget", "must not be negative")
	need(s.ExtractWait > 0, "extract_wait", "must be positive")
	need(s.RerankCandidates >= 2 && s.RerankCandidates <= 100, "rerank_candidates", "must be 2 to 100")
	need(s.RewriteTimeout > 0, "rewrite_timeout", "must be positive")
	need(s.SpoiledCalls >= 0, "spoiled_calls", "must not be negative")
	need(s.ContextPrice >= 0, "context_price", "must not be negative")
	need(s.SummaryTurns >= 2, "summary_turns", "must be at least 2")
	need(s.SummaryTokens >= 50, "summary_tokens", "must be at least 50")
	need(s.ExtractIdle >= 0, "extract_idle", "must not be negative")
	need(s.ExtractTokens > 0, "extract_tokens", "must be positive")
	need(s.ExtractWindow >= 100, "extract_window", "must be at least 100")
	_, bad := reconcile.NewVocabulary().With(s.Attributes)
	need(bad == nil, "attributes", "must be entries such as car_plate! = plate, 车牌")
	if len(err.Fields) > 0 {
		return err
	}
	return nil
}

// maxRecalled is the most recalled items that any request may ask for (D5).
const maxRecalled = 10
