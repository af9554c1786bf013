package yiku

import "context"

// Service is everything that Yiku does. engine.Engine implements it in
// process, client.Client over HTTP; every door uses this interface only.
//
// All methods may be called at once from many goroutines. A write that
// returned nil is durable. A write that returned ErrUnavailable or a context
// error may or may not have happened: repeat it under the same idempotency key.
type Service interface {
	// Sessions (A1, A5–A7).
	CreateSession(context.Context, CreateSessionRequest) (Session, error)
	ListSessions(context.Context, ListSessionsRequest) (Page[Session], error)
	GetSession(context.Context, GetSessionRequest) (Session, error)
	DeleteSession(context.Context, DeleteSessionRequest) (Empty, error)
	AppendMessages(context.Context, AppendMessagesRequest) (AppendMessagesResponse, error)
	ListMessages(context.Context, ListMessagesRequest) (Page[Message], error)
	EndSession(context.Context, EndSessionRequest) (JobResponse, error)
	ForkSession(context.Context, ForkSessionRequest) (Session, error)
	ExportSession(context.Context, ExportSessionRequest) (SessionExport, error)
	ImportSession(context.Context, ImportSessionRequest) (Session, error)
	GetSummary(context.Context, GetSummaryRequest) (SessionSummary, error)

	// Working memory and tasks (B4, B5).
	GetWorking(context.Context, GetWorkingRequest) (WorkingMemory, error)
	PutWorking(context.Context, PutWorkingRequest) (WorkingMemory, error)
	PatchWorking(context.Context, PatchWorkingRequest) (WorkingMemory, error)
	DeleteWorking(context.Context, DeleteWorkingRequest) (Empty, error)
	CompleteTask(context.Context, CompleteTaskRequest) (CompleteTaskResponse, error)

	// Paging (B6): tools for the model, and the log of what came and went.
	GetTools(context.Context, ToolsRequest) (Tools, error)
	RunTool(context.Context, RunToolRequest) (RunToolResponse, error)
	ListPages(context.Context, ListPagesRequest) (Page[PageEntry], error)

	// Context (D4–D7, D12, G1).
	GetContext(context.Context, GetContextRequest) (GetContextResponse, error)
	GetSnapshot(context.Context, GetSnapshotRequest) (Snapshot, error)
	ReplaySnapshot(context.Context, ReplaySnapshotRequest) (ReplaySnapshotResponse, error)

	// Memories (C1, C2, C7, C8, C16, D1–D3).
	SaveMemory(context.Context, SaveMemoryRequest) (SaveMemoryResponse, error)
	SearchMemory(context.Context, SearchMemoryRequest) (SearchMemoryResponse, error)
	ListMemories(context.Context, ListMemoriesRequest) (Page[Memory], error)
	GetMemory(context.Context, MemoryRequest) (Memory, error)
	PatchMemory(context.Context, PatchMemoryRequest) (Memory, error)
	DeleteMemory(context.Context, DeleteMemoryRequest) (Empty, error)
	MemoryHistory(context.Context, MemoryHistoryRequest) (Page[MemoryVersion], error)
	MemorySources(context.Context, MemoryRequest) (MemorySources, error)
	RestoreMemory(context.Context, RestoreMemoryRequest) (Memory, error)
	ConfirmMemory(context.Context, ConfirmMemoryRequest) (Memory, error)
	DemoteMemory(context.Context, DemoteMemoryRequest) (Memory, error)

	// Skills (C15).
	SaveSkill(context.Context, SaveSkillRequest) (SaveMemoryResponse, error)
	ListSkills(context.Context, ListSkillsRequest) (Page[Memory], error)
	SkillOutcome(context.Context, SkillOutcomeRequest) (Memory, error)

	// Entities and relations (C14).
	ListEntities(context.Context, ListEntitiesRequest) (Page[Entity], error)
	ListRelations(context.Context, ListRelationsRequest) (Page[Relation], error)
	QueryGraph(context.Context, QueryGraphRequest) (QueryGraphResponse, error)

	// Extraction, review and jobs (C3–C6, C11, C12).
	Extract(context.Context, ExtractRequest) (JobResponse, error)
	ExtractSession(context.Context, ExtractSessionRequest) (ExtractionReport, error)
	ListExtractions(context.Context, ListExtractionsRequest) (Page[ExtractionReport], error)
	ListReview(context.Context, ListReviewRequest) (Page[Memory], error)
	Review(context.Context, ReviewRequest) (ReviewResponse, error)
	Instructions(context.Context, InstructionsRequest) (Instructions, error)
	ListJobs(context.Context, ListJobsRequest) (Page[Job], error)
	ReplayJob(context.Context, ReplayJobRequest) (Job, error)

	// Forgetting and proof (E1, E2, E8).
	Forget(context.Context, ForgetRequest) (ForgetResponse, error)
	GetReceipt(context.Context, ReceiptRequest) (Receipt, error)
	VerifyReceipt(context.Context, VerifyReceiptRequest) (VerifyReceiptResponse, error)
	ForgetLog(context.Context, ForgetLogRequest) (Page[Receipt], error)
	VerifyAudit(context.Context, VerifyAuditRequest) (VerifyAuditResponse, error)

	// Whether what finds agrees with what is stored, and putting it right.
	VerifyIndex(context.Context, VerifyIndexRequest) (VerifyIndexResponse, error)

	// What it costs, and the tenant's settings (G6).
	GetStats(context.Context, GetStatsRequest) (Stats, error)
	GetSettings(context.Context, GetSettingsRequest) (Settings, error)
	PatchSettings(context.Context, PatchSettingsRequest) (Settings, error)

	// Keys and tokens of the caller's tenant (F3).
	CreateKey(context.Context, CreateKeyRequest) (CreateKeyResponse, error)
	ListKeys(context.Context, ListKeysRequest) (Page[Key], error)
	RevokeKey(context.Context, RevokeKeyRequest) (Empty, error)
	CreateToken(context.Context, CreateTokenRequest) (CreateTokenResponse, error)
}
