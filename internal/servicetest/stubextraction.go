package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// ExtractSession calls Handle.
func (s Stub) ExtractSession(ctx context.Context, req yiku.ExtractSessionRequest) (yiku.ExtractionReport, error) {
	return answer[yiku.ExtractionReport](s.Handle(ctx, "extract_session", req))
}

// ListExtractions calls Handle.
func (s Stub) ListExtractions(ctx context.Context, req yiku.ListExtractionsRequest) (yiku.Page[yiku.ExtractionReport], error) {
	return answer[yiku.Page[yiku.ExtractionReport]](s.Handle(ctx, "list_extractions", req))
}

// ListReview calls Handle.
func (s Stub) ListReview(ctx context.Context, req yiku.ListReviewRequest) (yiku.Page[yiku.Memory], error) {
	return answer[yiku.Page[yiku.Memory]](s.Handle(ctx, "list_review", req))
}

// Review calls Handle.
func (s Stub) Review(ctx context.Context, req yiku.ReviewRequest) (yiku.ReviewResponse, error) {
	return answer[yiku.ReviewResponse](s.Handle(ctx, "review", req))
}

// Instructions calls Handle.
func (s Stub) Instructions(ctx context.Context, req yiku.InstructionsRequest) (yiku.Instructions, error) {
	return answer[yiku.Instructions](s.Handle(ctx, "instructions", req))
}

// ListJobs calls Handle.
func (s Stub) ListJobs(ctx context.Context, req yiku.ListJobsRequest) (yiku.Page[yiku.Job], error) {
	return answer[yiku.Page[yiku.Job]](s.Handle(ctx, "list_jobs", req))
}

// ReplayJob calls Handle.
func (s Stub) ReplayJob(ctx context.Context, req yiku.ReplayJobRequest) (yiku.Job, error) {
	return answer[yiku.Job](s.Handle(ctx, "replay_job", req))
}

// GetSummary calls Handle.
func (s Stub) GetSummary(ctx context.Context, req yiku.GetSummaryRequest) (yiku.SessionSummary, error) {
	return answer[yiku.SessionSummary](s.Handle(ctx, "get_summary", req))
}

// GetTools calls Handle.
func (s Stub) GetTools(ctx context.Context, req yiku.ToolsRequest) (yiku.Tools, error) {
	return answer[yiku.Tools](s.Handle(ctx, "get_tools", req))
}

// RunTool calls Handle.
func (s Stub) RunTool(ctx context.Context, req yiku.RunToolRequest) (yiku.RunToolResponse, error) {
	return answer[yiku.RunToolResponse](s.Handle(ctx, "run_tool", req))
}

// ListPages calls Handle.
func (s Stub) ListPages(ctx context.Context, req yiku.ListPagesRequest) (yiku.Page[yiku.PageEntry], error) {
	return answer[yiku.Page[yiku.PageEntry]](s.Handle(ctx, "list_pages", req))
}

// Extract calls Handle.
func (s Stub) Extract(ctx context.Context, req yiku.ExtractRequest) (yiku.JobResponse, error) {
	return answer[yiku.JobResponse](s.Handle(ctx, "extract", req))
}
