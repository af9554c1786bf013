package yiku

import "time"

// ForgetRequest forgets what a selector names, everywhere (E1, E2).
type ForgetRequest struct {
	Idempotent
	UserID    string        `json:"user_id" maxLength:"256"`
	ProjectID string        `json:"project_id,omitempty" maxLength:"256" doc:"Narrows the selector to one project."`
	Selector  Selector      `json:"selector"`
	Sources   SourcePolicy  `json:"sources,omitempty" enum:"delete,keep" doc:"What becomes of the messages that a forgotten memory came from; delete where absent."`
	Mode      ForgetMode    `json:"mode,omitempty" enum:"purge,archive" doc:"purge where absent; archive only takes memories out of retrieval."`
	Reason    string        `json:"reason" minLength:"1" maxLength:"2000" doc:"Kept with the receipt, never in the audit log."`
	Trigger   ForgetTrigger `json:"trigger,omitempty" enum:"user,operator,policy,legal" doc:"user where absent."`
	DryRun    bool          `json:"dry_run,omitempty" doc:"Say what would go, and change nothing."`
}

// Selector names what is to be forgotten: exactly one way is used, but From and
// To, which go together.
type Selector struct {
	All          bool            `json:"all,omitempty"`
	Keyword      string          `json:"keyword,omitempty" maxLength:"1000" doc:"Everything that says it, case and width folded."`
	Query        string          `json:"query,omitempty" maxLength:"20000" doc:"By meaning; not in this version."`
	MinRelevance *float64        `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"Beside query."`
	IDs          []string        `json:"ids,omitempty" maxItems:"1000" doc:"Memories."`
	Filter       *Filter         `json:"filter,omitempty"`
	From         time.Time       `json:"from,omitzero" doc:"Learnt or said at or after."`
	To           time.Time       `json:"to,omitzero" doc:"Learnt or said before."`
	Source       *SourceSelector `json:"source,omitempty"`
}

// SourceSelector names where something came from: an origin, or a session, or
// one message of it.
type SourceSelector struct {
	Origin    Origin `json:"origin,omitempty" enum:"user,import,agent,tool,web"`
	SessionID string `json:"session_id,omitempty" maxLength:"256"`
	MessageID string `json:"message_id,omitempty" maxLength:"256"`
}

// SourcePolicy says what becomes of the messages behind a forgotten memory.
type SourcePolicy string

// The policies.
const (
	SourcesDelete SourcePolicy = "delete"
	SourcesKeep   SourcePolicy = "keep"
)

// ForgetMode says how far a forget goes.
type ForgetMode string

// The modes.
const (
	ForgetPurge   ForgetMode = "purge"
	ForgetArchive ForgetMode = "archive"
)

// ForgetTrigger says who wanted it.
type ForgetTrigger string

// The triggers.
const (
	TriggerUser     ForgetTrigger = "user"
	TriggerOperator ForgetTrigger = "operator"
	TriggerPolicy   ForgetTrigger = "policy"
	TriggerLegal    ForgetTrigger = "legal"
)

// ForgetResponse says what went, or would go.
type ForgetResponse struct {
	ReceiptID string   `json:"receipt_id,omitempty"`
	DryRun    bool     `json:"dry_run"`
	Removed   Removed  `json:"removed"`
	IDs       []string `json:"ids" doc:"The memories; at most the first 1,000."`
	Verified  bool     `json:"verified" doc:"A re-scan found nothing left."`
}

// Removed counts what went from each layer.
type Removed struct {
	Memories    int `json:"memories"`
	Archived    int `json:"archived"`
	Versions    int `json:"versions"`
	Messages    int `json:"messages"`
	Sessions    int `json:"sessions" doc:"Deleted, or cleared of metadata that was to be forgotten."`
	Summaries   int `json:"summaries"`
	Working     int `json:"working"`
	Slots       int `json:"slots,omitempty" doc:"Data slots of working memory that were found in messages that went."`
	Tasks       int `json:"tasks"`
	Vectors     int `json:"vectors"`
	Terms       int `json:"terms"`
	Entities    int `json:"entities"`
	Relations   int `json:"relations"`
	Snapshots   int `json:"snapshots"`
	Idempotency int `json:"idempotency" doc:"Records of writes that now answer 410."`
	Jobs        int `json:"jobs"`
}

// ReceiptRequest names a receipt.
type ReceiptRequest struct {
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// Receipt is the record of a forget. It holds no content and no hash of any.
type Receipt struct {
	ID        string        `json:"id"`
	UserID    string        `json:"user_id"`
	CreatedAt time.Time     `json:"created_at"`
	Selector  string        `json:"selector" doc:"The way of selecting: all, keyword, ids, …; never its words."`
	Mode      ForgetMode    `json:"mode"`
	Sources   SourcePolicy  `json:"sources"`
	Trigger   ForgetTrigger `json:"trigger"`
	Reason    string        `json:"reason"`
	Epoch     int64         `json:"epoch"`
	Removed   Removed       `json:"removed"`
	Verified  bool          `json:"verified"`
	Audit     int64         `json:"audit" doc:"The number of its entry in the audit log."`

	BackupsUntil time.Time `json:"backups_until,omitzero" doc:"Until then backups that were made before may hold what went, as the operator says how long they are kept; to restore one does not bring it back."`
}

// VerifyReceiptRequest scans again for what a receipt says is gone.
type VerifyReceiptRequest struct {
	ID     string `json:"id" in:"path" maxLength:"256"`
	UserID string `json:"user_id" maxLength:"256"`
}

// VerifyReceiptResponse says what the scan looked at and whether it was clean.
type VerifyReceiptResponse struct {
	Clean    bool           `json:"clean"`
	LookedAt map[string]int `json:"looked_at" doc:"Places searched, with the rows searched for in each."`
	Found    map[string]int `json:"found,omitempty" doc:"Places where something was left."`
}

// ForgetLogRequest lists a user's receipts, newest first.
type ForgetLogRequest struct {
	Paging
	UserID string `json:"user_id" in:"query" maxLength:"256"`
}

// VerifyAuditRequest asks for a check of the whole audit log.
type VerifyAuditRequest struct{}

// VerifyAuditResponse is the outcome: a valid chain, or where it breaks.
type VerifyAuditResponse struct {
	Valid          bool       `json:"valid"`
	Entries        int64      `json:"entries"`
	Journal        int64      `json:"journal,omitempty" doc:"Entries that the forget journal has had, which is checked with it; absent where none is kept."`
	JournalSince   *time.Time `json:"journal_since,omitempty" doc:"When the forget journal begins: of what was forgotten before, a restored backup knows nothing."`
	JournalBefore  int        `json:"journal_before,omitempty" doc:"Forgets and deletions of the audit log that are older than the forget journal, and not in it."`
	JournalPending int        `json:"journal_pending,omitempty" doc:"Forgets and deletions that have begun and are not in the forget journal yet."`
	Head           string     `json:"head" doc:"The last entry's number and MAC; keep it elsewhere, and a cut tail will show."`
	Fault          string     `json:"fault,omitempty" doc:"What is wrong, and at which entry."`
}
