package engine

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// The operations of yiku.Service, each with its id in the operation table and
// the use case that does it.

func (s *service) CreateSession(ctx context.Context, r yiku.CreateSessionRequest) (yiku.Session, error) {
	return run(ctx, s, "create_session", r, (*call).createSession)
}

func (s *service) ListSessions(ctx context.Context, r yiku.ListSessionsRequest) (yiku.Page[yiku.Session], error) {
	return run(ctx, s, "list_sessions", r, (*call).listSessions)
}

func (s *service) GetSession(ctx context.Context, r yiku.GetSessionRequest) (yiku.Session, error) {
	return run(ctx, s, "get_session", r, (*call).getSession)
}

func (s *service) DeleteSession(ctx context.Context, r yiku.DeleteSessionRequest) (yiku.Empty, error) {
	return run(ctx, s, "delete_session", r, (*call).deleteSession)
}

func (s *service) AppendMessages(ctx context.Context, r yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	return run(ctx, s, "append_messages", r, (*call).appendMessages)
}

func (s *service) ListMessages(ctx context.Context, r yiku.ListMessagesRequest) (yiku.Page[yiku.Message], error) {
	return run(ctx, s, "list_messages", r, (*call).listMessages)
}

func (s *service) EndSession(ctx context.Context, r yiku.EndSessionRequest) (yiku.JobResponse, error) {
	return run(ctx, s, "end_session", r, (*call).endSession)
}

func (s *service) ForkSession(ctx context.Context, r yiku.ForkSessionRequest) (yiku.Session, error) {
	return run(ctx, s, "fork_session", r, (*call).forkSession)
}

func (s *service) ExportSession(ctx context.Context, r yiku.ExportSessionRequest) (yiku.SessionExport, error) {
	return run(ctx, s, "export_session", r, (*call).exportSession)
}

func (s *service) ImportSession(ctx context.Context, r yiku.ImportSessionRequest) (yiku.Session, error) {
	return run(ctx, s, "import_session", r, (*call).importSession)
}

func (s *service) GetWorking(ctx context.Context, r yiku.GetWorkingRequest) (yiku.WorkingMemory, error) {
	return run(ctx, s, "get_working", r, (*call).getWorking)
}

func (s *service) PutWorking(ctx context.Context, r yiku.PutWorkingRequest) (yiku.WorkingMemory, error) {
	return run(ctx, s, "put_working", r, (*call).putWorking)
}

func (s *service) PatchWorking(ctx context.Context, r yiku.PatchWorkingRequest) (yiku.WorkingMemory, error) {
	return run(ctx, s, "patch_working", r, (*call).patchWorking)
}

func (s *service) DeleteWorking(ctx context.Context, r yiku.DeleteWorkingRequest) (yiku.Empty, error) {
	return run(ctx, s, "delete_working", r, (*call).deleteWorking)
}

func (s *service) CompleteTask(ctx context.Context, r yiku.CompleteTaskRequest) (yiku.CompleteTaskResponse, error) {
	return run(ctx, s, "complete_task", r, (*call).completeTask)
}

func (s *service) GetContext(ctx context.Context, r yiku.GetContextRequest) (yiku.GetContextResponse, error) {
	return run(ctx, s, "get_context", r, (*call).getContext)
}

func (s *service) GetSnapshot(ctx context.Context, r yiku.GetSnapshotRequest) (yiku.Snapshot, error) {
	return run(ctx, s, "get_snapshot", r, (*call).getSnapshot)
}

func (s *service) ReplaySnapshot(ctx context.Context, r yiku.ReplaySnapshotRequest) (yiku.ReplaySnapshotResponse, error) {
	return run(ctx, s, "replay_snapshot", r, (*call).replaySnapshot)
}

func (s *service) SaveMemory(ctx context.Context, r yiku.SaveMemoryRequest) (yiku.SaveMemoryResponse, error) {
	return run(ctx, s, "save_memory", r, (*call).saveMemory)
}

func (s *service) SearchMemory(ctx context.Context, r yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	return run(ctx, s, "search_memory", r, (*call).searchMemory)
}

func (s *service) ListMemories(ctx context.Context, r yiku.ListMemoriesRequest) (yiku.Page[yiku.Memory], error) {
	return run(ctx, s, "list_memories", r, (*call).listMemories)
}

func (s *service) GetMemory(ctx context.Context, r yiku.MemoryRequest) (yiku.Memory, error) {
	return run(ctx, s, "get_memory", r, (*call).getMemory)
}

func (s *service) PatchMemory(ctx context.Context, r yiku.PatchMemoryRequest) (yiku.Memory, error) {
	return run(ctx, s, "patch_memory", r, (*call).patchMemory)
}

func (s *service) DeleteMemory(ctx context.Context, r yiku.DeleteMemoryRequest) (yiku.Empty, error) {
	return run(ctx, s, "delete_memory", r, (*call).deleteMemory)
}

func (s *service) MemoryHistory(ctx context.Context, r yiku.MemoryHistoryRequest) (yiku.Page[yiku.MemoryVersion], error) {
	return run(ctx, s, "memory_history", r, (*call).memoryHistory)
}

func (s *service) MemorySources(ctx context.Context, r yiku.MemoryRequest) (yiku.MemorySources, error) {
	return run(ctx, s, "memory_sources", r, (*call).memorySources)
}

func (s *service) RestoreMemory(ctx context.Context, r yiku.RestoreMemoryRequest) (yiku.Memory, error) {
	return run(ctx, s, "restore_memory", r, (*call).restoreMemory)
}

func (s *service) ConfirmMemory(ctx context.Context, r yiku.ConfirmMemoryRequest) (yiku.Memory, error) {
	return run(ctx, s, "confirm_memory", r, (*call).confirmMemory)
}

func (s *service) DemoteMemory(ctx context.Context, r yiku.DemoteMemoryRequest) (yiku.Memory, error) {
	return run(ctx, s, "demote_memory", r, (*call).demoteMemory)
}

func (s *service) Forget(ctx context.Context, r yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	return run(ctx, s, "forget", r, (*call).forgetAs)
}

func (s *service) GetReceipt(ctx context.Context, r yiku.ReceiptRequest) (yiku.Receipt, error) {
	return run(ctx, s, "get_receipt", r, (*call).getReceipt)
}

func (s *service) VerifyReceipt(ctx context.Context, r yiku.VerifyReceiptRequest) (yiku.VerifyReceiptResponse, error) {
	return run(ctx, s, "verify_receipt", r, (*call).verifyReceipt)
}

func (s *service) ForgetLog(ctx context.Context, r yiku.ForgetLogRequest) (yiku.Page[yiku.Receipt], error) {
	return run(ctx, s, "forget_log", r, (*call).forgetLog)
}

func (s *service) VerifyAudit(ctx context.Context, r yiku.VerifyAuditRequest) (yiku.VerifyAuditResponse, error) {
	return run(ctx, s, "verify_audit", r, (*call).verifyAudit)
}

func (s *service) VerifyIndex(ctx context.Context, r yiku.VerifyIndexRequest) (yiku.VerifyIndexResponse, error) {
	return run(ctx, s, "verify_index", r, (*call).verifyIndex)
}

func (s *service) CreateKey(ctx context.Context, r yiku.CreateKeyRequest) (yiku.CreateKeyResponse, error) {
	return run(ctx, s, "create_key", r, (*call).createKey)
}

func (s *service) ListKeys(ctx context.Context, r yiku.ListKeysRequest) (yiku.Page[yiku.Key], error) {
	return run(ctx, s, "list_keys", r, (*call).listKeys)
}

func (s *service) RevokeKey(ctx context.Context, r yiku.RevokeKeyRequest) (yiku.Empty, error) {
	return run(ctx, s, "revoke_key", r, (*call).revokeKey)
}

func (s *service) CreateToken(ctx context.Context, r yiku.CreateTokenRequest) (yiku.CreateTokenResponse, error) {
	return run(ctx, s, "create_token", r, (*call).createToken)
}

func (s *service) ExtractSession(ctx context.Context, r yiku.ExtractSessionRequest) (yiku.ExtractionReport, error) {
	return run(ctx, s, "extract_session", r, (*call).extractSession)
}

func (s *service) ListExtractions(ctx context.Context, r yiku.ListExtractionsRequest) (yiku.Page[yiku.ExtractionReport], error) {
	return run(ctx, s, "list_extractions", r, (*call).listExtractions)
}

func (s *service) ListReview(ctx context.Context, r yiku.ListReviewRequest) (yiku.Page[yiku.Memory], error) {
	return run(ctx, s, "list_review", r, (*call).listReview)
}

func (s *service) Review(ctx context.Context, r yiku.ReviewRequest) (yiku.ReviewResponse, error) {
	return run(ctx, s, "review", r, (*call).review)
}

func (s *service) Instructions(ctx context.Context, r yiku.InstructionsRequest) (yiku.Instructions, error) {
	return run(ctx, s, "instructions", r, (*call).instructions)
}

func (s *service) ListJobs(ctx context.Context, r yiku.ListJobsRequest) (yiku.Page[yiku.Job], error) {
	return run(ctx, s, "list_jobs", r, (*call).listJobs)
}

func (s *service) ReplayJob(ctx context.Context, r yiku.ReplayJobRequest) (yiku.Job, error) {
	return run(ctx, s, "replay_job", r, (*call).replayJob)
}

func (s *service) SaveSkill(ctx context.Context, r yiku.SaveSkillRequest) (yiku.SaveMemoryResponse, error) {
	return run(ctx, s, "save_skill", r, (*call).saveSkill)
}

func (s *service) ListSkills(ctx context.Context, r yiku.ListSkillsRequest) (yiku.Page[yiku.Memory], error) {
	return run(ctx, s, "list_skills", r, (*call).listSkills)
}

func (s *service) SkillOutcome(ctx context.Context, r yiku.SkillOutcomeRequest) (yiku.Memory, error) {
	return run(ctx, s, "skill_outcome", r, (*call).skillOutcome)
}

func (s *service) GetStats(ctx context.Context, r yiku.GetStatsRequest) (yiku.Stats, error) {
	return run(ctx, s, "get_stats", r, (*call).getStats)
}

func (s *service) GetSettings(ctx context.Context, r yiku.GetSettingsRequest) (yiku.Settings, error) {
	return run(ctx, s, "get_settings", r, (*call).getSettings)
}

func (s *service) PatchSettings(ctx context.Context, r yiku.PatchSettingsRequest) (yiku.Settings, error) {
	return run(ctx, s, "patch_settings", r, (*call).patchSettings)
}

func (s *service) ListEntities(ctx context.Context, r yiku.ListEntitiesRequest) (yiku.Page[yiku.Entity], error) {
	return run(ctx, s, "list_entities", r, (*call).listEntities)
}

func (s *service) ListRelations(ctx context.Context, r yiku.ListRelationsRequest) (yiku.Page[yiku.Relation], error) {
	return run(ctx, s, "list_relations", r, (*call).listRelations)
}

func (s *service) QueryGraph(ctx context.Context, r yiku.QueryGraphRequest) (yiku.QueryGraphResponse, error) {
	return run(ctx, s, "query_graph", r, (*call).queryGraph)
}

func (s *service) GetSummary(ctx context.Context, r yiku.GetSummaryRequest) (yiku.SessionSummary, error) {
	return run(ctx, s, "get_summary", r, (*call).getSummary)
}

func (s *service) GetTools(ctx context.Context, r yiku.ToolsRequest) (yiku.Tools, error) {
	return run(ctx, s, "get_tools", r, (*call).getTools)
}

func (s *service) RunTool(ctx context.Context, r yiku.RunToolRequest) (yiku.RunToolResponse, error) {
	return run(ctx, s, "run_tool", r, (*call).runTool)
}

func (s *service) ListPages(ctx context.Context, r yiku.ListPagesRequest) (yiku.Page[yiku.PageEntry], error) {
	return run(ctx, s, "list_pages", r, (*call).listPages)
}

func (s *service) Extract(ctx context.Context, r yiku.ExtractRequest) (yiku.JobResponse, error) {
	return run(ctx, s, "extract", r, (*call).extract)
}
