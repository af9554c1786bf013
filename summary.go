package yiku

import "time"

// GetSummaryRequest reads the rolling summary of a session.
type GetSummaryRequest struct {
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
}

// SessionSummary is what a session's older messages said, as background. Exact
// data are not kept in it: they stand in data slots, and in the messages that
// it covers, which stay findable word for word.
type SessionSummary struct {
	SessionID        string        `json:"session_id"`
	Text             string        `json:"text" doc:"The lines as one text; empty where there is no summary yet."`
	Lines            []SummaryLine `json:"lines"`
	Covers           *SummaryRange `json:"covers,omitempty" doc:"The messages that it covers: list_messages with from and to gives them."`
	Uncovered        int           `json:"uncovered" doc:"Messages that it does not cover: they stay in view as they are."`
	Path             string        `json:"path,omitempty" enum:"llm,extractive"`
	Model            string        `json:"model,omitempty" doc:"With the version of the prompt."`
	DroppedSentences int           `json:"dropped_sentences,omitempty" doc:"Sentences of the model that were not taken, because they held exact data that the messages do not hold."`
	CreatedAt        time.Time     `json:"created_at,omitzero"`
	Degraded         []string      `json:"degraded,omitempty" doc:"llm: what the model said could not be used."`
}

// SummaryLine is one sentence of a summary.
type SummaryLine struct {
	Text      string    `json:"text"`
	Role      Role      `json:"role,omitempty" doc:"Who said it; absent where a model wrote it."`
	Name      string    `json:"name,omitempty"`
	At        time.Time `json:"at,omitzero"`
	MessageID string    `json:"message_id,omitempty" doc:"The message that says it, word for word."`
}

// SummaryRange is a range of a session's messages, both ends inclusive.
type SummaryRange struct {
	FromID   string    `json:"from_id"`
	ToID     string    `json:"to_id"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Messages int       `json:"messages"`
}
