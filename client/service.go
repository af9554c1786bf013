package client

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// CreateSession implements yiku.Service.
func (c *Client) CreateSession(ctx context.Context, req yiku.CreateSessionRequest) (yiku.Session, error) {
	return call[yiku.Session](ctx, c, "create_session", req)
}

// ListSessions implements yiku.Service.
func (c *Client) ListSessions(ctx context.Context, req yiku.ListSessionsRequest) (yiku.Page[yiku.Session], error) {
	return call[yiku.Page[yiku.Session]](ctx, c, "list_sessions", req)
}

// GetSession implements yiku.Service.
func (c *Client) GetSession(ctx context.Context, req yiku.GetSessionRequest) (yiku.Session, error) {
	return call[yiku.Session](ctx, c, "get_session", req)
}

// DeleteSession implements yiku.Service.
func (c *Client) DeleteSession(ctx context.Context, req yiku.DeleteSessionRequest) (yiku.Empty, error) {
	return call[yiku.Empty](ctx, c, "delete_session", req)
}

// AppendMessages implements yiku.Service.
func (c *Client) AppendMessages(ctx context.Context, req yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	return call[yiku.AppendMessagesResponse](ctx, c, "append_messages", req)
}

// ListMessages implements yiku.Service.
func (c *Client) ListMessages(ctx context.Context, req yiku.ListMessagesRequest) (yiku.Page[yiku.Message], error) {
	return call[yiku.Page[yiku.Message]](ctx, c, "list_messages", req)
}

// EndSession implements yiku.Service.
func (c *Client) EndSession(ctx context.Context, req yiku.EndSessionRequest) (yiku.JobResponse, error) {
	return call[yiku.JobResponse](ctx, c, "end_session", req)
}

// ForkSession implements yiku.Service.
func (c *Client) ForkSession(ctx context.Context, req yiku.ForkSessionRequest) (yiku.Session, error) {
	return call[yiku.Session](ctx, c, "fork_session", req)
}

// ExportSession implements yiku.Service.
func (c *Client) ExportSession(ctx context.Context, req yiku.ExportSessionRequest) (yiku.SessionExport, error) {
	return call[yiku.SessionExport](ctx, c, "export_session", req)
}

// ImportSession implements yiku.Service.
func (c *Client) ImportSession(ctx context.Context, req yiku.ImportSessionRequest) (yiku.Session, error) {
	return call[yiku.Session](ctx, c, "import_session", req)
}

// GetWorking implements yiku.Service.
func (c *Client) GetWorking(ctx context.Context, req yiku.GetWorkingRequest) (yiku.WorkingMemory, error) {
	return call[yiku.WorkingMemory](ctx, c, "get_working", req)
}

// PutWorking implements yiku.Service.
func (c *Client) PutWorking(ctx context.Context, req yiku.PutWorkingRequest) (yiku.WorkingMemory, error) {
	return call[yiku.WorkingMemory](ctx, c, "put_working", req)
}

// PatchWorking implements yiku.Service.
func (c *Client) PatchWorking(ctx context.Context, req yiku.PatchWorkingRequest) (yiku.WorkingMemory, error) {
	return call[yiku.WorkingMemory](ctx, c, "patch_working", req)
}

// DeleteWorking implements yiku.Service.
func (c *Client) DeleteWorking(ctx context.Context, req yiku.DeleteWorkingRequest) (yiku.Empty, error) {
	return call[yiku.Empty](ctx, c, "delete_working", req)
}

// CompleteTask implements yiku.Service.
func (c *Client) CompleteTask(ctx context.Context, req yiku.CompleteTaskRequest) (yiku.CompleteTaskResponse, error) {
	return call[yiku.CompleteTaskResponse](ctx, c, "complete_task", req)
}

// GetContext implements yiku.Service.
func (c *Client) GetContext(ctx context.Context, req yiku.GetContextRequest) (yiku.GetContextResponse, error) {
	return call[yiku.GetContextResponse](ctx, c, "get_context", req)
}

// GetSnapshot implements yiku.Service.
func (c *Client) GetSnapshot(ctx context.Context, req yiku.GetSnapshotRequest) (yiku.Snapshot, error) {
	return call[yiku.Snapshot](ctx, c, "get_snapshot", req)
}

// ReplaySnapshot implements yiku.Service.
func (c *Client) ReplaySnapshot(ctx context.Context, req yiku.ReplaySnapshotRequest) (yiku.ReplaySnapshotResponse, error) {
	return call[yiku.ReplaySnapshotResponse](ctx, c, "replay_snapshot", req)
}

// SaveMemory implements yiku.Service.
func (c *Client) SaveMemory(ctx context.Context, req yiku.SaveMemoryRequest) (yiku.SaveMemoryResponse, error) {
	return call[yiku.SaveMemoryResponse](ctx, c, "save_memory", req)
}

// SearchMemory implements yiku.Service.
func (c *Client) SearchMemory(ctx context.Context, req yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	return call[yiku.SearchMemoryResponse](ctx, c, "search_memory", req)
}

// ListMemories implements yiku.Service.
func (c *Client) ListMemories(ctx context.Context, req yiku.ListMemoriesRequest) (yiku.Page[yiku.Memory], error) {
	return call[yiku.Page[yiku.Memory]](ctx, c, "list_memories", req)
}

// GetMemory implements yiku.Service.
func (c *Client) GetMemory(ctx context.Context, req yiku.MemoryRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "get_memory", req)
}

// PatchMemory implements yiku.Service.
func (c *Client) PatchMemory(ctx context.Context, req yiku.PatchMemoryRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "patch_memory", req)
}

// DeleteMemory implements yiku.Service.
func (c *Client) DeleteMemory(ctx context.Context, req yiku.DeleteMemoryRequest) (yiku.Empty, error) {
	return call[yiku.Empty](ctx, c, "delete_memory", req)
}

// MemoryHistory implements yiku.Service.
func (c *Client) MemoryHistory(ctx context.Context, req yiku.MemoryHistoryRequest) (yiku.Page[yiku.MemoryVersion], error) {
	return call[yiku.Page[yiku.MemoryVersion]](ctx, c, "memory_history", req)
}

// MemorySources implements yiku.Service.
func (c *Client) MemorySources(ctx context.Context, req yiku.MemoryRequest) (yiku.MemorySources, error) {
	return call[yiku.MemorySources](ctx, c, "memory_sources", req)
}

// RestoreMemory implements yiku.Service.
func (c *Client) RestoreMemory(ctx context.Context, req yiku.RestoreMemoryRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "restore_memory", req)
}

// ConfirmMemory implements yiku.Service.
func (c *Client) ConfirmMemory(ctx context.Context, req yiku.ConfirmMemoryRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "confirm_memory", req)
}

// DemoteMemory implements yiku.Service.
func (c *Client) DemoteMemory(ctx context.Context, req yiku.DemoteMemoryRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "demote_memory", req)
}

// Forget implements yiku.Service.
func (c *Client) Forget(ctx context.Context, req yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	return call[yiku.ForgetResponse](ctx, c, "forget", req)
}

// GetReceipt implements yiku.Service.
func (c *Client) GetReceipt(ctx context.Context, req yiku.ReceiptRequest) (yiku.Receipt, error) {
	return call[yiku.Receipt](ctx, c, "get_receipt", req)
}

// VerifyReceipt implements yiku.Service.
func (c *Client) VerifyReceipt(ctx context.Context, req yiku.VerifyReceiptRequest) (yiku.VerifyReceiptResponse, error) {
	return call[yiku.VerifyReceiptResponse](ctx, c, "verify_receipt", req)
}

// ForgetLog implements yiku.Service.
func (c *Client) ForgetLog(ctx context.Context, req yiku.ForgetLogRequest) (yiku.Page[yiku.Receipt], error) {
	return call[yiku.Page[yiku.Receipt]](ctx, c, "forget_log", req)
}

// VerifyAudit implements yiku.Service.
func (c *Client) VerifyAudit(ctx context.Context, req yiku.VerifyAuditRequest) (yiku.VerifyAuditResponse, error) {
	return call[yiku.VerifyAuditResponse](ctx, c, "verify_audit", req)
}

// VerifyIndex implements yiku.Service.
func (c *Client) VerifyIndex(ctx context.Context, req yiku.VerifyIndexRequest) (yiku.VerifyIndexResponse, error) {
	return call[yiku.VerifyIndexResponse](ctx, c, "verify_index", req)
}

// CreateKey implements yiku.Service.
func (c *Client) CreateKey(ctx context.Context, req yiku.CreateKeyRequest) (yiku.CreateKeyResponse, error) {
	return call[yiku.CreateKeyResponse](ctx, c, "create_key", req)
}

// ListKeys implements yiku.Service.
func (c *Client) ListKeys(ctx context.Context, req yiku.ListKeysRequest) (yiku.Page[yiku.Key], error) {
	return call[yiku.Page[yiku.Key]](ctx, c, "list_keys", req)
}

// RevokeKey implements yiku.Service.
func (c *Client) RevokeKey(ctx context.Context, req yiku.RevokeKeyRequest) (yiku.Empty, error) {
	return call[yiku.Empty](ctx, c, "revoke_key", req)
}

// CreateToken implements yiku.Service.
func (c *Client) CreateToken(ctx context.Context, req yiku.CreateTokenRequest) (yiku.CreateTokenResponse, error) {
	return call[yiku.CreateTokenResponse](ctx, c, "create_token", req)
}

// ExtractSession implements yiku.Service.
func (c *Client) ExtractSession(ctx context.Context, req yiku.ExtractSessionRequest) (yiku.ExtractionReport, error) {
	return call[yiku.ExtractionReport](ctx, c, "extract_session", req)
}

// ListExtractions implements yiku.Service.
func (c *Client) ListExtractions(ctx context.Context, req yiku.ListExtractionsRequest) (yiku.Page[yiku.ExtractionReport], error) {
	return call[yiku.Page[yiku.ExtractionReport]](ctx, c, "list_extractions", req)
}

// ListReview implements yiku.Service.
func (c *Client) ListReview(ctx context.Context, req yiku.ListReviewRequest) (yiku.Page[yiku.Memory], error) {
	return call[yiku.Page[yiku.Memory]](ctx, c, "list_review", req)
}

// Review implements yiku.Service.
func (c *Client) Review(ctx context.Context, req yiku.ReviewRequest) (yiku.ReviewResponse, error) {
	return call[yiku.ReviewResponse](ctx, c, "review", req)
}

// Instructions implements yiku.Service.
func (c *Client) Instructions(ctx context.Context, req yiku.InstructionsRequest) (yiku.Instructions, error) {
	return call[yiku.Instructions](ctx, c, "instructions", req)
}

// ListJobs implements yiku.Service.
func (c *Client) ListJobs(ctx context.Context, req yiku.ListJobsRequest) (yiku.Page[yiku.Job], error) {
	return call[yiku.Page[yiku.Job]](ctx, c, "list_jobs", req)
}

// ReplayJob implements yiku.Service.
func (c *Client) ReplayJob(ctx context.Context, req yiku.ReplayJobRequest) (yiku.Job, error) {
	return call[yiku.Job](ctx, c, "replay_job", req)
}

// SaveSkill implements yiku.Service.
func (c *Client) SaveSkill(ctx context.Context, req yiku.SaveSkillRequest) (yiku.SaveMemoryResponse, error) {
	return call[yiku.SaveMemoryResponse](ctx, c, "save_skill", req)
}

// ListSkills implements yiku.Service.
func (c *Client) ListSkills(ctx context.Context, req yiku.ListSkillsRequest) (yiku.Page[yiku.Memory], error) {
	return call[yiku.Page[yiku.Memory]](ctx, c, "list_skills", req)
}

// SkillOutcome implements yiku.Service.
func (c *Client) SkillOutcome(ctx context.Context, req yiku.SkillOutcomeRequest) (yiku.Memory, error) {
	return call[yiku.Memory](ctx, c, "skill_outcome", req)
}

// GetStats implements yiku.Service.
func (c *Client) GetStats(ctx context.Context, req yiku.GetStatsRequest) (yiku.Stats, error) {
	return call[yiku.Stats](ctx, c, "get_stats", req)
}

// GetSettings implements yiku.Service.
func (c *Client) GetSettings(ctx context.Context, req yiku.GetSettingsRequest) (yiku.Settings, error) {
	return call[yiku.Settings](ctx, c, "get_settings", req)
}

// PatchSettings implements yiku.Service.
func (c *Client) PatchSettings(ctx context.Context, req yiku.PatchSettingsRequest) (yiku.Settings, error) {
	return call[yiku.Settings](ctx, c, "patch_settings", req)
}

// ListEntities implements yiku.Service.
func (c *Client) ListEntities(ctx context.Context, req yiku.ListEntitiesRequest) (yiku.Page[yiku.Entity], error) {
	return call[yiku.Page[yiku.Entity]](ctx, c, "list_entities", req)
}

// ListRelations implements yiku.Service.
func (c *Client) ListRelations(ctx context.Context, req yiku.ListRelationsRequest) (yiku.Page[yiku.Relation], error) {
	return call[yiku.Page[yiku.Relation]](ctx, c, "list_relations", req)
}

// QueryGraph implements yiku.Service.
func (c *Client) QueryGraph(ctx context.Context, req yiku.QueryGraphRequest) (yiku.QueryGraphResponse, error) {
	return call[yiku.QueryGraphResponse](ctx, c, "query_graph", req)
}

// GetSummary implements yiku.Service.
func (c *Client) GetSummary(ctx context.Context, req yiku.GetSummaryRequest) (yiku.SessionSummary, error) {
	return call[yiku.SessionSummary](ctx, c, "get_summary", req)
}

// GetTools implements yiku.Service.
func (c *Client) GetTools(ctx context.Context, req yiku.ToolsRequest) (yiku.Tools, error) {
	return call[yiku.Tools](ctx, c, "get_tools", req)
}

// RunTool implements yiku.Service.
func (c *Client) RunTool(ctx context.Context, req yiku.RunToolRequest) (yiku.RunToolResponse, error) {
	return call[yiku.RunToolResponse](ctx, c, "run_tool", req)
}

// ListPages implements yiku.Service.
func (c *Client) ListPages(ctx context.Context, req yiku.ListPagesRequest) (yiku.Page[yiku.PageEntry], error) {
	return call[yiku.Page[yiku.PageEntry]](ctx, c, "list_pages", req)
}

// Extract implements yiku.Service.
func (c *Client) Extract(ctx context.Context, req yiku.ExtractRequest) (yiku.JobResponse, error) {
	return call[yiku.JobResponse](ctx, c, "extract", req)
}
