package yiku

import "time"

// GetContextRequest asks for everything that the next request to a model
// needs: memory, working memory and as much of the conversation as fits.
type GetContextRequest struct {
	UserID         string         `json:"user_id" maxLength:"256"`
	ProjectID      string         `json:"project_id,omitempty" maxLength:"256"`
	TaskID         string         `json:"task_id,omitempty" maxLength:"256"`
	SessionID      string         `json:"session_id,omitempty" maxLength:"256"`
	AgentID        string         `json:"agent_id,omitempty" maxLength:"256"`
	Query          string         `json:"query,omitempty" maxLength:"20000" doc:"What to recall for; the newest user message where absent."`
	System         string         `json:"system,omitempty" maxLength:"200000" doc:"The caller's own system prompt; it comes first and is counted."`
	Model          string         `json:"model,omitempty" maxLength:"256" doc:"Chooses the tokenizer and the window."`
	WindowTokens   int            `json:"window_tokens,omitempty" minimum:"1" maximum:"100000000" doc:"The model's window; 32,000 where neither it nor model says."`
	ReservedTokens int            `json:"reserved_tokens,omitempty" minimum:"0" maximum:"100000000" doc:"What the caller adds beside, such as tool definitions."`
	Turns          *int           `json:"turns,omitempty" minimum:"0" maximum:"1000" doc:"At most the last turns; 10 where absent, 0 for none."`
	Filter         *Filter        `json:"filter,omitempty" doc:"Narrows what is recalled; never what is always loaded."`
	Options        ContextOptions `json:"options,omitzero"`
}

// ContextOptions are the finer settings of [GetContextRequest].
type ContextOptions struct {
	MemoryBudget  *int      `json:"memory_budget,omitempty" minimum:"0" maximum:"1000000" doc:"Tokens for memory; the smaller of a quarter of the window and 2,000 where absent."`
	ReserveOutput *int      `json:"reserve_output,omitempty" minimum:"0" maximum:"100000000" doc:"Tokens kept free for the answer; a quarter of the window where absent."`
	MaxItems      *int      `json:"max_items,omitempty" minimum:"0" maximum:"10" doc:"Recalled memories, and past messages beside them, each at most this many and together at most 10; 5 where absent."`
	MinRelevance  *float64  `json:"min_relevance,omitempty" minimum:"0" maximum:"1"`
	Layers        Layers    `json:"layers,omitzero"`
	Format        string    `json:"format,omitempty" enum:"openai,anthropic" doc:"The form that the messages must be valid in; openai where absent."`
	Explain       bool      `json:"explain,omitempty"`
	AsOf          time.Time `json:"as_of,omitzero" doc:"What was true then."`
	Timezone      string    `json:"timezone,omitempty" maxLength:"64" doc:"IANA name, for dates shown and for what the query says of times; UTC where absent."`
}

// Layers switches the layers of memory on or off (G3); absent means the
// tenant's setting, or the server's where the tenant has none.
type Layers struct {
	Session   Opt[bool] `json:"session,omitzero" doc:"The conversation itself."`
	Working   Opt[bool] `json:"working,omitzero" doc:"Working memory."`
	Summary   Opt[bool] `json:"summary,omitzero" doc:"Summaries of what left the window."`
	Longterm  Opt[bool] `json:"longterm,omitzero" doc:"Memories, always loaded and recalled."`
	Lexical   Opt[bool] `json:"lexical,omitzero" doc:"Finding by words."`
	Dense     Opt[bool] `json:"dense,omitzero" doc:"Finding by meaning."`
	Neighbors Opt[bool] `json:"neighbors,omitzero" doc:"Finding by what was said beside."`
	Graph     Opt[bool] `json:"graph,omitzero" doc:"Finding by relations between whom or what the query names and what memories say."`
	Time      Opt[bool] `json:"time,omitzero" doc:"Finding by the times that the query speaks of."`
	Rerank    Opt[bool] `json:"rerank,omitzero" doc:"The reranker, where one is configured."`
	Rewrite   Opt[bool] `json:"rewrite,omitzero" doc:"Making a query clear by the language model, where one is configured."`
}

// IsZero reports whether nothing is switched.
func (l Layers) IsZero() bool { return l == Layers{} }

// GetContextResponse is a context, ready to be sent.
type GetContextResponse struct {
	System     string           `json:"system" doc:"The whole system text: the caller's own first, memory late."`
	Messages   []Message        `json:"messages"`
	Memories   []ContextMemory  `json:"memories" doc:"The memories that stand in system."`
	Episodes   []ContextEpisode `json:"episodes" doc:"The messages of the past that stand in system."`
	Budget     Budget           `json:"budget"`
	SnapshotID string           `json:"snapshot_id,omitempty"`
	Degraded   []string         `json:"degraded"`
	Variant    string           `json:"variant,omitempty"`
	Explain    *Trace           `json:"explain,omitempty"`
}

// Group says why a memory stands in a context.
type Group string

// The groups, in the order in which they are shown.
const (
	GroupConstraint Group = "constraint"
	GroupIdentity   Group = "identity"
	GroupProject    Group = "project"
	GroupRelevant   Group = "relevant"
	GroupRecent     Group = "recent"
)

// ContextMemory is a memory as it stands in a context.
type ContextMemory struct {
	ID      string   `json:"id"`
	Content string   `json:"content" doc:"As shown: it may be shortened."`
	Kind    Kind     `json:"kind"`
	Type    Type     `json:"type"`
	Score   float64  `json:"score"`
	Scores  Scores   `json:"scores"`
	Group   Group    `json:"group" enum:"constraint,identity,project,relevant,recent"`
	Source  string   `json:"source"`
	Version int64    `json:"version"`
	Explain *Explain `json:"explain,omitempty"`
}

// ContextEpisode is a past message as it stands in a context.
type ContextEpisode struct {
	SessionID string    `json:"session_id"`
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	Name      string    `json:"name,omitempty"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
	Score     float64   `json:"score"`
}

// Budget counts a context's parts in tokens of the model's tokenizer. Total is
// the sum of CallerSystem, Reserved, Memory, Working, Summary and Messages; Total and
// ReservedOutput together are at most Window.
type Budget struct {
	Window          int    `json:"window"`
	ReservedOutput  int    `json:"reserved_output"`
	CallerSystem    int    `json:"caller_system"`
	Reserved        int    `json:"reserved" doc:"reserved_tokens of the request."`
	Memory          int    `json:"memory"`
	Working         int    `json:"working"`
	Summary         int    `json:"summary"`
	Messages        int    `json:"messages" doc:"With the overhead of each message and of the reply."`
	Total           int    `json:"total"`
	TrimmedMessages int    `json:"trimmed_messages" doc:"Messages of the session's recent list that were left out."`
	CutMessages     int    `json:"cut_messages,omitempty" doc:"Messages that were cut in the middle."`
	Tokenizer       string `json:"tokenizer"`
	FullHistory     int    `json:"full_history" doc:"What the whole session would have cost, for comparison."`
	OmittedMemories int    `json:"omitted_memories,omitempty" doc:"Memories always loaded that found no room or exceeded their cap."`
}

// GetSnapshotRequest reads a stored context.
type GetSnapshotRequest struct {
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// Snapshot is what a prompt held. It goes with any memory that it cites.
type Snapshot struct {
	ID        string             `json:"id"`
	UserID    string             `json:"user_id"`
	SessionID string             `json:"session_id,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	Request   GetContextRequest  `json:"request"`
	Response  GetContextResponse `json:"response"`
}
