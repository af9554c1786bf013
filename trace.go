package yiku

// Trace says how a read came to its answer (G2, G3). It is given where explain
// was asked.
type Trace struct {
	Layers       map[string]bool `json:"layers" doc:"Every layer by name, and whether it took part."`
	Query        string          `json:"query"`
	Rewritten    string          `json:"rewritten,omitempty" doc:"What was searched for instead."`
	Filter       *Filter         `json:"filter,omitempty" doc:"What every item had to meet, scope and time included."`
	MinRelevance float64         `json:"min_relevance"`
	Candidates   int             `json:"candidates" doc:"What the arms gave, before anything was cut."`
	CutBy        map[string]int  `json:"cut_by,omitempty" doc:"How many items each rule cut."`
	Cut          []Cut           `json:"cut,omitempty" doc:"The first 50 items that were cut; those that the filter cut are only counted."`
	Notes        []string        `json:"notes,omitempty" doc:"What stages did or could not do, in words."`
}

// CutRule is a rule that keeps an item out of an answer.
type CutRule string

// The rules, in the order in which they are met.
const (
	CutRelevance CutRule = "relevance" // less relevant than the threshold
	CutFilter    CutRule = "filter"    // outside scope, time or the caller's filter, or gone
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
