package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// SaveSkill calls Handle.
func (s Stub) SaveSkill(ctx context.Context, req yiku.SaveSkillRequest) (yiku.SaveMemoryResponse, error) {
	return answer[yiku.SaveMemoryResponse](s.Handle(ctx, "save_skill", req))
}

// ListSkills calls Handle.
func (s Stub) ListSkills(ctx context.Context, req yiku.ListSkillsRequest) (yiku.Page[yiku.Memory], error) {
	return answer[yiku.Page[yiku.Memory]](s.Handle(ctx, "list_skills", req))
}

// SkillOutcome calls Handle.
func (s Stub) SkillOutcome(ctx context.Context, req yiku.SkillOutcomeRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "skill_outcome", req))
}

// DemoteMemory calls Handle.
func (s Stub) DemoteMemory(ctx context.Context, req yiku.DemoteMemoryRequest) (yiku.Memory, error) {
	return answer[yiku.Memory](s.Handle(ctx, "demote_memory", req))
}
