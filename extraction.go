package yiku

import "time"

// Extraction reads a conversation and decides what of it is worth keeping
// (C3–C6). It runs as a job behind the appends; the calls below start it, look
// at what it did, or try it without writing anything.

// ExtractionStatus is how the reading of a range of messages ended.
type ExtractionStatus string

// The statuses.
const (
	ExtractionStored  ExtractionStatus = "stored"  // memories were written or changed
	ExtractionNothing ExtractionStatus = "nothing" // there was nothing to remember
	ExtractionParked  ExtractionStatus = "parked"  // nothing could be understood; see Parked
)

// ExtractionReport says what became of a range of messages.
type ExtractionReport struct {
	ID         string            `json:"id,omitempty"`
	SessionID  string            `json:"session_id,omitempty"`
	Job        string            `json:"job,omitempty" doc:"The job that read it."`
	Status     ExtractionStatus  `json:"status" enum:"stored,nothing,parked"`
	Operations []Operation       `json:"operations"`
	Parked     []ParkedOperation `json:"parked"`
	Path       string            `json:"path" enum:"llm,rules" doc:"Which way it was found."`
	Model      string            `json:"model,omitempty" doc:"The model and the version of the prompt."`
	Tokens     *ExtractionTokens `json:"tokens,omitempty"`
	DryRun     bool              `json:"dry_run"`
	Messages   int               `json:"messages" doc:"How many messages were read."`
	CreatedAt  time.Time         `json:"created_at,omitzero"`
	Degraded   []string          `json:"degraded,omitempty" doc:"llm: the model could not be asked and rules stood in."`
}

// ExtractionTokens are the tokens that a model took.
type ExtractionTokens struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// Operation is one change that was made, or would be in a dry run.
type Operation struct {
	Op         string   `json:"op" enum:"create,update,delete,none"`
	MemoryID   string   `json:"memory_id,omitempty"`
	Content    string   `json:"content"`
	Type       Type     `json:"type"`
	Subject    string   `json:"subject,omitempty"`
	Attribute  string   `json:"attribute,omitempty"`
	Value      string   `json:"value,omitempty"`
	Importance float64  `json:"importance"`
	Confidence float64  `json:"confidence,omitempty"`
	Outcome    Outcome  `json:"outcome,omitempty" doc:"What became of it."`
	Superseded []string `json:"superseded,omitempty" doc:"The memories whose place it took."`
	Sources    []string `json:"sources,omitempty" doc:"The ids of the messages that it came from."`
	Reason     string   `json:"reason"`
}

// ParkedOperation is a piece of a model's answer that could not be applied. Ref
// names it for a replay.
type ParkedOperation struct {
	Reason string `json:"reason"`
	Ref    string `json:"ref"`
	Text   string `json:"text,omitempty" doc:"The piece as the model wrote it."`
}

// ExtractSessionRequest reads what a session holds beyond what was read
// before, at once. A dry run reads the same and writes nothing but its report,
// which is kept for some days.
type ExtractSessionRequest struct {
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" maxLength:"256"`
	DryRun    bool   `json:"dry_run,omitempty"`
}

// ExtractRequest reads messages that are not those of a session that the caller
// keeps. They become a session of their own, ended from the start, before
// anything is read: no failure loses them, they are found and forgotten as all
// others are, and the report names the session. A dry run keeps none of it but
// its report, and is answered at once.
type ExtractRequest struct {
	Idempotent
	UserID    string    `json:"user_id" maxLength:"256"`
	ProjectID string    `json:"project_id,omitempty" maxLength:"256"`
	AgentID   string    `json:"agent_id,omitempty" maxLength:"256"`
	Messages  []Message `json:"messages" minItems:"1" maxItems:"1000"`
	DryRun    bool      `json:"dry_run,omitempty"`
	Wait      bool      `json:"wait,omitempty" doc:"Wait for the extraction, for a while: what takes longer goes on as the job."`
}

// ListExtractionsRequest lists the reports of a user, newest first.
type ListExtractionsRequest struct {
	Paging
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	SessionID string `json:"session_id,omitempty" in:"query" maxLength:"256"`
}

// InstructionsRequest asks for the text that tells an agent's model how to give
// memory commands in its replies (C11).
type InstructionsRequest struct {
	Lang string `json:"lang,omitempty" in:"query" enum:"zh,en" doc:"en where absent."`
}

// Instructions is that text.
type Instructions struct {
	Lang string `json:"lang"`
	Text string `json:"text"`
}

// JobState is where a job stands.
type JobState string

// The states. A job that is done is gone; its effects speak for it.
const (
	JobWaiting JobState = "waiting"
	JobParked  JobState = "parked" // it failed for good, or too often; it can be replayed
)

// Job is a piece of work that was promised durably.
type Job struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	UserID    string    `json:"user_id,omitempty"`
	State     JobState  `json:"state" enum:"waiting,parked"`
	Attempts  int       `json:"attempts"`
	NotBefore time.Time `json:"not_before"`
	CreatedAt time.Time `json:"created_at"`
	Problem   string    `json:"problem,omitempty" doc:"Why the last attempt failed; never content."`
}

// ListJobsRequest lists a tenant's jobs, oldest first.
type ListJobsRequest struct {
	Paging
	State JobState `json:"state,omitempty" in:"query" enum:"waiting,parked"`
}

// ReplayJobRequest lets a parked job run again.
type ReplayJobRequest struct {
	ID string `json:"id" in:"path" maxLength:"256"`
}

// ListReviewRequest lists the memories that wait for a person's decision.
type ListReviewRequest struct {
	Paging
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// ReviewDecision is what a person decides.
type ReviewDecision string

// The decisions.
const (
	ReviewApprove ReviewDecision = "approve"
	ReviewReject  ReviewDecision = "reject"
)

// ReviewRequest decides about a memory that waits: approved it becomes active,
// with another content where one is given, and takes the place of what it
// contradicts; rejected it is deleted.
type ReviewRequest struct {
	Idempotent
	ID       string         `json:"id" in:"path" maxLength:"256"`
	UserID   string         `json:"user_id" maxLength:"256"`
	Decision ReviewDecision `json:"decision" enum:"approve,reject"`
	Content  string         `json:"content,omitempty" maxLength:"20000"`
}

// ReviewResponse says what became of it.
type ReviewResponse struct {
	Outcome    Outcome  `json:"outcome,omitempty" enum:"created,reinforced,superseded,quarantined" doc:"Absent where it was rejected."`
	Memory     *Memory  `json:"memory,omitempty"`
	Superseded []string `json:"superseded,omitempty"`
}
