package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// GetStats calls Handle.
func (s Stub) GetStats(ctx context.Context, req yiku.GetStatsRequest) (yiku.Stats, error) {
	return answer[yiku.Stats](s.Handle(ctx, "get_stats", req))
}

// GetSettings calls Handle.
func (s Stub) GetSettings(ctx context.Context, req yiku.GetSettingsRequest) (yiku.Settings, error) {
	return answer[yiku.Settings](s.Handle(ctx, "get_settings", req))
}

// PatchSettings calls Handle.
func (s Stub) PatchSettings(ctx context.Context, req yiku.PatchSettingsRequest) (yiku.Settings, error) {
	return answer[yiku.Settings](s.Handle(ctx, "patch_settings", req))
}
