package yiku

import "time"

// Kind is one of the kinds of long-term memory (C1).
type Kind string

// The kinds.
const (
	KindSemantic   Kind = "semantic"   // facts, preferences, constraints, identity
	KindEpisodic   Kind = "episodic"   // what happened
	KindProcedural Kind = "procedural" // how to do something
)

// Type says what a memory is; it decides its [Kind] and its rules.
type Type string

// The types.
const (
	TypeProfile    Type = "profile"
	TypePreference Type = "preference"
	TypeConstraint Type = "constraint"
	TypeProject    Type = "project"
	TypeCorrection Type = "correction"
	TypeFact       Type = "fact"
	TypeKnowledge  Type = "knowledge"
	TypeEvent      Type = "event"
	TypeTaskResult Type = "task_result"
	TypeSummary    Type = "summary"
	TypeSkill      Type = "skill"
)

// Kind returns the kind that memories of this type are of.
func (t Type) Kind() Kind {
	switch t {
	case TypeEvent, TypeTaskResult, TypeSummary:
		return KindEpisodic
	case TypeSkill:
		return KindProcedural
	default:
		return KindSemantic
	}
}

// Level says where a memory holds (C16).
type Level string

// The levels, widest first.
const (
	LevelShared  Level = "shared"  // every user of the tenant
	LevelUser    Level = "user"    // this user everywhere
	LevelProject Level = "project" // this user in one project
	LevelTask    Level = "task"    // this user in one task
)

// Status is where a memory stands in its life.
type Status string

// The statuses. Only active memories are retrieved.
const (
	StatusActive      Status = "active"
	StatusSuperseded  Status = "superseded"  // another value took its place; history
	StatusStale       Status = "stale"       // what it was derived from has changed
	StatusArchived    Status = "archived"    // out of retrieval; can be restored
	StatusQuarantined Status = "quarantined" // waits for a person's decision
)

// Memory is one thing remembered.
type Memory struct {
	ID          string    `json:"id"`
	UserID      string    `json:"user_id,omitempty" doc:"Absent on shared memories."`
	Content     string    `json:"content"`
	Kind        Kind      `json:"kind" enum:"semantic,episodic,procedural"`
	Type        Type      `json:"type"`
	Level       Level     `json:"level" enum:"shared,user,project,task"`
	ProjectID   string    `json:"project_id,omitempty"`
	TaskID      string    `json:"task_id,omitempty"`
	AgentID     string    `json:"agent_id,omitempty" doc:"On shared memories: the one agent that they are for."`
	SessionID   string    `json:"session_id,omitempty" doc:"The session that it was saved in."`
	Subject     string    `json:"subject,omitempty"`
	Attribute   string    `json:"attribute,omitempty"`
	Value       string    `json:"value,omitempty"`
	Single      bool      `json:"single,omitempty" doc:"Its attribute has one value at a time."`
	Topics      []string  `json:"topics"`
	Status      Status    `json:"status" enum:"active,superseded,stale,archived,quarantined"`
	Importance  float64   `json:"importance"`
	Confidence  float64   `json:"confidence"`
	Origin      Origin    `json:"origin" enum:"user,import,agent,tool,web"`
	Trust       float64   `json:"trust"`
	Pinned      bool      `json:"pinned"`
	ValidFrom   time.Time `json:"valid_from,omitzero" doc:"From when it is true in the world."`
	ValidTo     time.Time `json:"valid_to,omitzero" doc:"Until when, exclusive."`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	LastAccess  time.Time `json:"last_access,omitzero"`
	AccessCount int64     `json:"access_count"`
	DerivedFrom []string  `json:"derived_from,omitempty" doc:"The memories that it was derived from."`
	Sources     []string  `json:"sources" doc:"The ids of the messages that it came from."`
	Supersedes  string    `json:"supersedes,omitempty" doc:"The memory whose place it took."`
	Episode     *Episode  `json:"episode,omitempty" doc:"Of memories of what happened."`
	Skill       *Skill    `json:"skill,omitempty" doc:"Of memories of how something is done."`
	Metadata    Metadata  `json:"metadata"`
	Version     int64     `json:"version"`
}

// ETag returns the memory's version as an entity tag.
func (m Memory) ETag() string { return etag(m.Version) }

// SaveMemoryRequest saves one memory by hand.
type SaveMemoryRequest struct {
	Idempotent
	UserID      string    `json:"user_id" maxLength:"256"`
	ProjectID   string    `json:"project_id,omitempty" maxLength:"256"`
	TaskID      string    `json:"task_id,omitempty" maxLength:"256"`
	SessionID   string    `json:"session_id,omitempty" maxLength:"256" doc:"The session that it was saved in."`
	AgentID     string    `json:"agent_id,omitempty" maxLength:"256"`
	Content     string    `json:"content" minLength:"1" maxLength:"20000"`
	Type        Type      `json:"type,omitempty" enum:"profile,preference,constraint,project,correction,fact,knowledge,event,task_result,summary,skill" doc:"fact where absent."`
	Subject     string    `json:"subject,omitempty" maxLength:"512"`
	Attribute   string    `json:"attribute,omitempty" maxLength:"512"`
	Value       string    `json:"value,omitempty" maxLength:"4096"`
	Single      *bool     `json:"single,omitempty" doc:"The attribute has one value at a time; where absent the attribute vocabulary decides."`
	Importance  *float64  `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"0.5 where absent."`
	Confidence  *float64  `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"1 where absent."`
	Level       Level     `json:"level,omitempty" enum:"shared,user,project,task" doc:"Where absent: task with a task_id, else project with a project_id, else user."`
	Topics      []string  `json:"topics,omitempty" maxItems:"32"`
	ValidFrom   time.Time `json:"valid_from,omitzero"`
	ValidTo     time.Time `json:"valid_to,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	TTLSeconds  int64     `json:"ttl_seconds,omitempty" minimum:"1" maximum:"3153600000" doc:"expires_at, counted from now."`
	Pinned      bool      `json:"pinned,omitempty"`
	DerivedFrom []string  `json:"derived_from,omitempty" maxItems:"256"`
	Episode     *Episode  `json:"episode,omitempty" doc:"With the types event, task_result and summary: when it happened, with whom, and how it ended."`
	Metadata    Metadata  `json:"metadata,omitempty"`
	Origin      Origin    `json:"origin,omitempty" enum:"user,import,agent,tool,web" doc:"user where absent."`
}

// Outcome says what a save did.
type Outcome string

// The outcomes.
const (
	OutcomeCreated     Outcome = "created"     // a new memory
	OutcomeReinforced  Outcome = "reinforced"  // it was known; its use is counted
	OutcomeSuperseded  Outcome = "superseded"  // it took another's place
	OutcomeQuarantined Outcome = "quarantined" // kept apart until a person decides
)

// SaveMemoryResponse says what the save did.
type SaveMemoryResponse struct {
	ID         string   `json:"id"`
	Outcome    Outcome  `json:"outcome" enum:"created,reinforced,superseded,quarantined"`
	Memory     Memory   `json:"memory"`
	Superseded []string `json:"superseded,omitempty" doc:"The memories whose place it took."`
}

// ListMemoriesRequest lists a user's memories, newest first. The empty
// fields do not narrow the list, but for Status: absent means active.
type ListMemoriesRequest struct {
	Paging
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	ProjectID string `json:"project_id,omitempty" in:"query" maxLength:"256"`
	TaskID    string `json:"task_id,omitempty" in:"query" maxLength:"256"`
	Type      Type   `json:"type,omitempty" in:"query" enum:"profile,preference,constraint,project,correction,fact,knowledge,event,task_result,summary,skill"`
	Kind      Kind   `json:"kind,omitempty" in:"query" enum:"semantic,episodic,procedural"`
	Status    Status `json:"status,omitempty" in:"query" enum:"active,superseded,stale,archived,quarantined"`
	Level     Level  `json:"level,omitempty" in:"query" enum:"shared,user,project,task"`
	Subject   string `json:"subject,omitempty" in:"query" maxLength:"512" doc:"Exact, after folding case and width."`
	Attribute string `json:"attribute,omitempty" in:"query" maxLength:"512" doc:"Exact, after the attribute vocabulary."`
	Topic     string `json:"topic,omitempty" in:"query" maxLength:"256"`
}

// MemoryRequest names one memory of a user, or a shared one.
type MemoryRequest struct {
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// DeleteMemoryRequest deletes one memory for good, with its versions and
// everything that was derived from it alone. The messages it came from stay.
type DeleteMemoryRequest struct {
	Conditional
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// PatchMemoryRequest is a merge patch of one memory. Every patch keeps what it
// replaced as a version.
type PatchMemoryRequest struct {
	Conditional
	ID         string         `json:"id" in:"path" maxLength:"256"`
	UserID     string         `json:"user_id" in:"query" maxLength:"256"`
	Content    Opt[string]    `json:"content,omitzero" maxLength:"20000"`
	Type       Opt[Type]      `json:"type,omitzero" enum:"profile,preference,constraint,project,correction,fact,knowledge,event,task_result,summary,skill"`
	Subject    Opt[string]    `json:"subject,omitzero" maxLength:"512"`
	Attribute  Opt[string]    `json:"attribute,omitzero" maxLength:"512"`
	Value      Opt[string]    `json:"value,omitzero" maxLength:"4096"`
	Importance Opt[float64]   `json:"importance,omitzero" minimum:"0" maximum:"1"`
	Confidence Opt[float64]   `json:"confidence,omitzero" minimum:"0" maximum:"1"`
	Topics     Opt[[]string]  `json:"topics,omitzero" maxItems:"32"`
	Status     Opt[Status]    `json:"status,omitzero" enum:"active,archived" doc:"archived takes it out of retrieval, active brings it back."`
	Pinned     Opt[bool]      `json:"pinned,omitzero"`
	ValidFrom  Opt[time.Time] `json:"valid_from,omitzero"`
	ValidTo    Opt[time.Time] `json:"valid_to,omitzero"`
	ExpiresAt  Opt[time.Time] `json:"expires_at,omitzero"`
	Metadata   Opt[Metadata]  `json:"metadata,omitzero" doc:"Merged key by key; null takes it away."`
}

// MemoryHistoryRequest asks for the past of one memory.
type MemoryHistoryRequest struct {
	Paging
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// MemoryVersion is what a memory was until it was changed.
type MemoryVersion struct {
	Memory     Memory    `json:"memory"`
	ReplacedAt time.Time `json:"replaced_at,omitzero" doc:"Absent on the present version."`
	Reason     string    `json:"reason" doc:"What made it what it is: created, patched, superseded, restored, confirmed, stale, revised, promoted, demoted."`
}

// MemorySourcesRequest asks for the messages and memories that one came from.
type MemorySourcesRequest = MemoryRequest

// MemorySources is what a memory came from.
type MemorySources struct {
	Messages []Message `json:"messages"`
	Memories []Memory  `json:"memories"`
}

// RestoreMemoryRequest makes an archived, stale or superseded memory active
// again. Where its attribute is single-valued it takes the present value's place.
type RestoreMemoryRequest struct {
	Idempotent
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" maxLength:"256"`
}

// ConfirmMemoryRequest says that a memory is still true: its time to live
// starts again, and a stale one becomes active.
type ConfirmMemoryRequest struct {
	Idempotent
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" maxLength:"256"`
}

// DemoteMemoryRequest takes a promotion back (C16): the memory that was
// promoted to a wider level is archived, and holds again only where it was
// stated. The same places do not promote it again.
type DemoteMemoryRequest struct {
	Idempotent
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" maxLength:"256"`
}
