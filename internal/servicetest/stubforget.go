package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// Forget calls Handle.
func (s Stub) Forget(ctx context.Context, req yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	return answer[yiku.ForgetResponse](s.Handle(ctx, "forget", req))
}

// GetReceipt calls Handle.
func (s Stub) GetReceipt(ctx context.Context, req yiku.ReceiptRequest) (yiku.Receipt, error) {
	return answer[yiku.Receipt](s.Handle(ctx, "get_receipt", req))
}

// VerifyReceipt calls Handle.
func (s Stub) VerifyReceipt(ctx context.Context, req yiku.VerifyReceiptRequest) (yiku.VerifyReceiptResponse, error) {
	return answer[yiku.VerifyReceiptResponse](s.Handle(ctx, "verify_receipt", req))
}

// ForgetLog calls Handle.
func (s Stub) ForgetLog(ctx context.Context, req yiku.ForgetLogRequest) (yiku.Page[yiku.Receipt], error) {
	return answer[yiku.Page[yiku.Receipt]](s.Handle(ctx, "forget_log", req))
}

// VerifyAudit calls Handle.
func (s Stub) VerifyAudit(ctx context.Context, req yiku.VerifyAuditRequest) (yiku.VerifyAuditResponse, error) {
	return answer[yiku.VerifyAuditResponse](s.Handle(ctx, "verify_audit", req))
}

// VerifyIndex calls Handle.
func (s Stub) VerifyIndex(ctx context.Context, req yiku.VerifyIndexRequest) (yiku.VerifyIndexResponse, error) {
	return answer[yiku.VerifyIndexResponse](s.Handle(ctx, "verify_index", req))
}
