package yiku

// Trace says how a read came to its answer (G2, G3). It is given where explain
// was asked, and kept nowhere.
type Trace struct {
	Layers       map[string]bool `json:"layers" doc:"Every layer by name, and whether it was to take part."`
	Rewritten    string          `json:"rewritten,omitempty" doc:"What was searched for instead of the query."`
	Filter       *Filter         `json:"filter,omitempty" doc:"What every item had to meet, scope and time included."`
	MinRelevance float64         `json:"min_relevance"`
	Candidates   int             `json:"candidates" doc:"What the arms gave, before anything was cut."`
	CutBy        map[string]int  `json:"cut_by,omitempty" doc:"How many items each rule cut."`
	Cut          []Cut           `json:"cut,omitempty" doc:"The first 50 items that were cut. Those that the filter cut are only counted: a scope is a wall."`
}

// CutRule is a rule that keeps an item out of an answer.
type CutRule string

// The rules, in the order in which they are met.
const (
	CutRelevance CutRule = "relevance" // less relevant than the threshold
	CutFilter    CutRule = "filter"    // outside scope, time or the caller's filter, or gone since it was indexed
	CutRetention CutRule = "retention" // said before the transcript's retention
	CutShown     CutRule = "shown"     // stands in the window already
	CutRepeats   CutRule = "repeats"   // says what a better item says
	CutLimit     CutRule = "limit"     // more than were asked for
	CutValue     CutRule = "value"     // an older value of what another item says
	CutRoom      CutRule = "room"      // the budget of tokens has no room for it
)

// Cut is an item that was found and is not in the answer.
type Cut struct {
	ID        string  `json:"id"`
	SessionID string  `json:"session_id,omitempty" doc:"Of a message."`
	Rule      CutRule `json:"rule" enum:"relevance,filter,retention,shown,repeats,limit,value,room"`
	Score     float64 `json:"score,omitempty"`
	Scores    Scores  `json:"scores,omitzero"`
}

// ReplaySnapshotRequest asks what a stored context would be today (G1).
type ReplaySnapshotRequest struct {
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" maxLength:"256"`
}

// ReplaySnapshotResponse is a context as it was, as the same request gives it
// now, and what differs. A replay is not kept, counts no access and pages
// nothing.
type ReplaySnapshotResponse struct {
	Then GetContextResponse `json:"then"`
	Now  GetContextResponse `json:"now"`
	Diff ContextDiff        `json:"diff"`
}

// ContextDiff is what differs between two contexts.
type ContextDiff struct {
	Same         bool           `json:"same" doc:"System text and messages are the same, character by character."`
	Gone         []MemoryDiff   `json:"gone" doc:"Memories that stood in the context then."`
	New          []MemoryDiff   `json:"new" doc:"Memories that stand in it now."`
	Changed      []MemoryDiff   `json:"changed" doc:"Memories that stand in both and say or count something else."`
	EpisodesGone []string       `json:"episodes_gone,omitempty" doc:"Ids of past messages."`
	EpisodesNew  []string       `json:"episodes_new,omitempty"`
	MessagesGone []string       `json:"messages_gone,omitempty" doc:"Ids of the conversation's messages."`
	MessagesNew  []string       `json:"messages_new,omitempty"`
	Budget       map[string]int `json:"budget,omitempty" doc:"Tokens more (or less, below 0) by part."`
}

// MemoryDiff is one memory's difference.
type MemoryDiff struct {
	ID      string   `json:"id"`
	Content string   `json:"content" doc:"As it is shown now, or was then."`
	Was     string   `json:"was,omitempty" doc:"What it said then, where that differs."`
	Score   float64  `json:"score" doc:"More, or less below 0."`
	Why     []string `json:"why" doc:"superseded, archived, deleted, created, updated, expired, a rule that cut it, recalled, not_recalled, score or group."`
}
