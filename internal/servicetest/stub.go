package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// Stub is a yiku.Service for tests of doors: every method calls Handle with
// the operation's id in the table of internal/wire and the request. A nil or
// foreign answer becomes the zero value of the method's own.
type Stub struct {
	Handle func(ctx context.Context, id string, req any) (any, error)
}

var _ yiku.Service = Stub{}

func answer[Res any](v any, err error) (Res, error) {
	res, _ := v.(Res)
	return res, err
}

// CreateSession calls Handle.
func (s Stub) CreateSession(ctx context.Context, req yiku.CreateSessionRequest) (yiku.Session, error) {
	return answer[yiku.Session](s.Handle(ctx, "create_session", req))
}

// ListSessions calls Handle.
func (s Stub) ListSessions(ctx context.Context, req yiku.ListSessionsRequest) (yiku.Page[yiku.Session], error) {
	return answer[yiku.Page[yiku.Session]](s.Handle(ctx, "list_sessions", req))
}

// GetSession calls Handle.
func (s Stub) GetSession(ctx context.Context, req yiku.GetSessionRequest) (yiku.Session, error) {
	return answer[yiku.Session](s.Handle(ctx, "get_session", req))
}

// DeleteSession calls Handle.
func (s Stub) DeleteSession(ctx context.Context, req yiku.DeleteSessionRequest) (yiku.Empty, error) {
	return answer[yiku.Empty](s.Handle(ctx, "delete_session", req))
}

// AppendMessages calls Handle.
func (s Stub) AppendMessages(ctx context.Context, req yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	return answer[yiku.AppendMessagesResponse](s.Handle(ctx, "append_messages", req))
}

// ListMessages calls Handle.
func (s Stub) ListMessages(ctx context.Context, req yiku.ListMessagesRequest) (yiku.Page[yiku.Message], error) {
	return answer[yiku.Page[yiku.Message]](s.Handle(ctx, "list_messages", req))
}

// EndSession calls Handle.
func (s Stub) EndSession(ctx context.Context, req yiku.EndSessionRequest) (yiku.JobResponse, error) {
	return answer[yiku.JobResponse](s.Handle(ctx, "end_session", req))
}

// ForkSession calls Handle.
func (s Stub) ForkSession(ctx context.Context, req yiku.ForkSessionRequest) (yiku.Session, error) {
	return answer[yiku.Session](s.Handle(ctx, "fork_session", req))
}

// ExportSession calls Handle.
func (s Stub) ExportSession(ctx context.Context, req yiku.ExportSessionRequest) (yiku.SessionExport, error) {
	return answer[yiku.SessionExport](s.Handle(ctx, "export_session", req))
}

// ImportSession calls Handle.
func (s Stub) ImportSession(ctx context.Context, req yiku.ImportSessionRequest) (yiku.Session, error) {
	return answer[yiku.Session](s.Handle(ctx, "import_session", req))
}

// GetWorking calls Handle.
func (s Stub) GetWorking(ctx context.Context, req yiku.GetWorkingRequest) (yiku.WorkingMemory, error) {
	return answer[yiku.WorkingMemory](s.Handle(ctx, "get_working", req))
}

// PutWorking calls Handle.
func (s Stub) PutWorking(ctx context.Context, req yiku.PutWorkingRequest) (yiku.WorkingMemory, error) {
	return answer[yiku.WorkingMemory](s.Handle(ctx, "put_working", req))
}

// PatchWorking calls Handle.
func (s Stub) PatchWorking(ctx context.Context, req yiku.PatchWorkingRequest) (yiku.WorkingMemory, error) {
	return answer[yiku.WorkingMemory](s.Handle(ctx, "patch_working", req))
}

// DeleteWorking calls Handle.
func (s Stub) DeleteWorking(ctx context.Context, req yiku.DeleteWorkingRequest) (yiku.Empty, error) {
	return answer[yiku.Empty](s.Handle(ctx, "delete_working", req))
}

// CompleteTask calls Handle.
func (s Stub) CompleteTask(ctx context.Context, req yiku.CompleteTaskRequest) (yiku.CompleteTaskResponse, error) {
	return answer[yiku.CompleteTaskResponse](s.Handle(ctx, "complete_task", req))
}

// GetContext calls Handle.
func (s Stub) GetContext(ctx context.Context, req yiku.GetContextRequest) (yiku.GetContextResponse, error) {
	return answer[yiku.GetContextResponse](s.Handle(ctx, "get_context", req))
}

// GetSnapshot calls Handle.
func (s Stub) GetSnapshot(ctx context.Context, req yiku.GetSnapshotRequest) (yiku.Snapshot, error) {
	return answer[yiku.Snapshot](s.Handle(ctx, "get_snapshot", req))
}

// ReplaySnapshot calls Handle.
func (s Stub) ReplaySnapshot(ctx context.Context, req yiku.ReplaySnapshotRequest) (yiku.ReplaySnapshotResponse, error) {
	return answer[yiku.ReplaySnapshotResponse](s.Handle(ctx, "replay_snapshot", req))
}

// SaveMemory calls Handle.
func (s Stub) SaveMemory(ctx context.Context, req yiku.SaveMemoryRequest) (yiku.SaveMemoryResponse, error) {
	return answer[yiku.SaveMemoryResponse](s.Handle(ctx, "save_memory", req))
}

// SearchMemory calls Handle.
func (s Stub) SearchMemory(ctx context.Context, req yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	return answer[yiku.SearchMemoryResponse](s.Handle(ctx, "search_memory", req))
}

// ListMemories calls Handle.
func (s Stub) ListMemories(ctx context.Context, req yiku.ListMemoriesRequest) (yiku.Page[yiku.Memory], error) {
	return answer[yiku.Page[yiku.Memory]](s.Handle(ctx, "list_memories", req))
}

// GetMemory calls Handle.
func (s Stub) GetMemory(ctx context.Context, req yiku.MemoryRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "get_memory", req))
}

// PatchMemory calls Handle.
func (s Stub) PatchMemory(ctx context.Context, req yiku.PatchMemoryRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "patch_memory", req))
}

// DeleteMemory calls Handle.
func (s Stub) DeleteMemory(ctx context.Context, req yiku.DeleteMemoryRequest) (yiku.Empty, error) {
	return answer[yiku.Empty](s.Handle(ctx, "delete_memory", req))
}

// MemoryHistory calls Handle.
func (s Stub) MemoryHistory(ctx context.Context, req yiku.MemoryHistoryRequest) (yiku.Page[yiku.MemoryVersion], error) {
	return answer[yiku.Page[yiku.MemoryVersion]](s.Handle(ctx, "memory_history", req))
}

// MemorySources calls Handle.
func (s Stub) MemorySources(ctx context.Context, req yiku.MemoryRequest) (yiku.MemorySources, error) {
	return answer[yiku.MemorySources](s.Handle(ctx, "memory_sources", req))
}

// RestoreMemory calls Handle.
func (s Stub) RestoreMemory(ctx context.Context, req yiku.RestoreMemoryRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "restore_memory", req))
}

// ConfirmMemory calls Handle.
func (s Stub) ConfirmMemory(ctx context.Context, req yiku.ConfirmMemoryRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "confirm_memory", req))
}
