package yiku

import "time"

// PageDirection says whether something came into a session's context or left it.
type PageDirection string

// The directions.
const (
	PageIn  PageDirection = "in"
	PageOut PageDirection = "out"
)

// PageReason says why.
type PageReason string

// The reasons. The last two are those of the tools of their names.
const (
	PageWindow             PageReason = "window"     // out: the window of turns or its budget left no room
	PageSummarized         PageReason = "summarized" // out: a summary stands for it
	PageRecalled           PageReason = "recalled"   // in: the query called for it
	PageConversationSearch PageReason = "conversation_search"
	PageArchivalSearch     PageReason = "archival_memory_search"
)

// PageEntry is an entry of a session's page log (B6): messages from one to
// another, or a memory.
type PageEntry struct {
	Direction PageDirection `json:"direction" enum:"in,out"`
	Reason    PageReason    `json:"reason" enum:"window,summarized,recalled,conversation_search,archival_memory_search"`
	SessionID string        `json:"session_id,omitempty" doc:"The session of the messages."`
	FromID    string        `json:"from_id,omitempty"`
	ToID      string        `json:"to_id,omitempty"`
	MemoryID  string        `json:"memory_id,omitempty"`
	At        time.Time     `json:"at"`
}

// ListPagesRequest lists the page log of a session, newest first: its last
// 1,000 entries are kept.
type ListPagesRequest struct {
	Paging
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
}

// ToolsRequest asks for the memory tools as a model's API takes them.
type ToolsRequest struct {
	Format string `json:"format,omitempty" in:"query" enum:"openai,anthropic" doc:"openai where absent."`
	Lang   string `json:"lang,omitempty" in:"query" enum:"zh,en" doc:"The language of the descriptions; en where absent."`
}

// Tools are the definitions of the memory tools, ready to be sent to a model.
// RunTool does what the model calls.
type Tools struct {
	Format string    `json:"format"`
	Lang   string    `json:"lang"`
	Tools  []RawJSON `json:"tools"`
}

// RunToolRequest does what a model has asked of a memory tool.
type RunToolRequest struct {
	Idempotent
	SessionID string  `json:"session_id" in:"path" maxLength:"256"`
	UserID    string  `json:"user_id" maxLength:"256"`
	TaskID    string  `json:"task_id,omitempty" maxLength:"256"`
	Name      string  `json:"name" enum:"core_memory_append,core_memory_replace,working_update,conversation_search,archival_memory_insert,archival_memory_search"`
	Arguments RawJSON `json:"arguments" doc:"As the model gave them: an object, or its JSON as a string."`
}

// RunToolResponse is what the tool gives back.
type RunToolResponse struct {
	Name    string `json:"name"`
	Content string `json:"content" doc:"JSON text, to be sent to the model as the result."`
}
