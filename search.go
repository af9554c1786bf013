package yiku

import "time"

// SearchMemoryRequest finds memories, and messages where asked, by
// words, by meaning, by relations and by time. The scope is that of the ids given: shared, the user's, and the named
// project's and task's memories.
type SearchMemoryRequest struct {
	UserID          string    `json:"user_id" maxLength:"256"`
	ProjectID       string    `json:"project_id,omitempty" maxLength:"256"`
	TaskID          string    `json:"task_id,omitempty" maxLength:"256"`
	SessionID       string    `json:"session_id,omitempty" maxLength:"256" doc:"The running session: its project is searched where none is named."`
	AgentID         string    `json:"agent_id,omitempty" maxLength:"256"`
	Query           string    `json:"query" minLength:"1" maxLength:"20000"`
	Limit           int       `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"10 where absent."`
	MinRelevance    *float64  `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"Nothing less relevant is given; the server's threshold where absent."`
	Filter          *Filter   `json:"filter,omitempty"`
	Kinds           []Kind    `json:"kinds,omitempty" maxItems:"8" enum:"semantic,episodic,procedural"`
	Types           []Type    `json:"types,omitempty" maxItems:"16" enum:"profile,preference,constraint,project,correction,fact,knowledge,event,task_result,summary,skill"`
	From            time.Time `json:"from,omitzero" doc:"Only what was said or became valid at or after."`
	To              time.Time `json:"to,omitzero" doc:"Only what was said or became valid before."`
	AsOf            time.Time `json:"as_of,omitzero" doc:"What was true then, as known now."`
	IncludeMessages bool      `json:"include_messages,omitempty" doc:"Items may be messages too."`
	Layers          Layers    `json:"layers,omitzero" doc:"Only arms and stages of finding matter here."`
	Explain         bool      `json:"explain,omitempty"`
	Timezone        string    `json:"timezone,omitempty" maxLength:"64" doc:"IANA name, for what the query says of times; UTC where absent."`
}

// SearchMemoryResponse holds the items, best first.
type SearchMemoryResponse struct {
	Items    []SearchItem `json:"items"`
	Degraded []string     `json:"degraded" doc:"What could not take part: dense, rerank, rewrite, index_lag, …"`
	Explain  *Trace       `json:"explain,omitempty"`
}

// SearchItem is a memory or a message with its score.
type SearchItem struct {
	Memory  *Memory  `json:"memory,omitempty"`
	Message *Message `json:"message,omitempty"`
	Score   float64  `json:"score"`
	Scores  Scores   `json:"scores"`
	Source  string   `json:"source" doc:"Where it comes from, for a person: a session and its date, or who saved it."`
	Explain *Explain `json:"explain,omitempty"`
}

// Scores are the parts of a score, each 0 to 1 (D2, D3). Relevance is fused
// from the arms dense, lexical, graph and time.
type Scores struct {
	Relevance  float64 `json:"relevance"`
	Dense      float64 `json:"dense"`
	Lexical    float64 `json:"lexical"`
	Graph      float64 `json:"graph"`
	Time       float64 `json:"time"`
	Importance float64 `json:"importance"`
	Freshness  float64 `json:"freshness"`
	Use        float64 `json:"use"`
}

// Explain says how an item came to its place.
type Explain struct {
	Formula string             `json:"formula" doc:"The formula with this item's numbers."`
	Arms    map[string]float64 `json:"arms" doc:"What each arm gave, before calibration."`
	Ranks   map[string]int     `json:"ranks,omitempty" doc:"Its place in each arm, of what was relevant enough; 1 is the best."`
	Terms   []string           `json:"terms,omitempty" doc:"The query's terms that it holds."`
	Notes   []string           `json:"notes,omitempty" doc:"The adjustments, in words."`
}
