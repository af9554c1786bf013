package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// CreateKey calls Handle.
func (s Stub) CreateKey(ctx context.Context, req yiku.CreateKeyRequest) (yiku.CreateKeyResponse, error) {
	return answer[yiku.CreateKeyResponse](s.Handle(ctx, "create_key", req))
}

// ListKeys calls Handle.
func (s Stub) ListKeys(ctx context.Context, req yiku.ListKeysRequest) (yiku.Page[yiku.Key], error) {
	return answer[yiku.Page[yiku.Key]](s.Handle(ctx, "list_keys", req))
}

// RevokeKey calls Handle.
func (s Stub) RevokeKey(ctx context.Context, req yiku.RevokeKeyRequest) (yiku.Empty, error) {
	return answer[yiku.Empty](s.Handle(ctx, "revoke_key", req))
}

// CreateToken calls Handle.
func (s Stub) CreateToken(ctx context.Context, req yiku.CreateTokenRequest) (yiku.CreateTokenResponse, error) {
	return answer[yiku.CreateTokenResponse](s.Handle(ctx, "create_token", req))
}
