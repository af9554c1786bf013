package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// saveSkill saves a skill by its name (C15).
func (c *call) saveSkill(ctx context.Context, req yiku.SaveSkillRequest) (yiku.SaveMemoryResponse, error) {
	skill := yiku.Skill{Name: strings.TrimSpace(req.Name), Situation: strings.TrimSpace(req.Situation), Version: 1}
	for i, step := range req.Steps {
		if reconcile.ContentKey(step) == "" {
			return yiku.SaveMemoryResponse{}, yiku.Invalid(fmt.Sprintf("steps[%d]", i), "says nothing")
		}
		skill.Steps = append(skill.Steps, strings.TrimSpace(step))
	}
	if reconcile.SkillKey(skill.Name) == "" {
		return yiku.SaveMemoryResponse{}, yiku.Invalid("name", "says nothing")
	}
	return c.saveAs(ctx, yiku.SaveMemoryRequest{Idempotent: req.Idempotent, UserID: req.UserID, ProjectID: req.ProjectID, TaskID: req.TaskID,
		SessionID: req.SessionID, AgentID: req.AgentID, Content: skillText(skill), Type: yiku.TypeSkill, Importance: req.Importance,
		Level: req.Level, Topics: req.Topics, Metadata: req.Metadata, Origin: req.Origin}, req, &skill)
}

// skillText is a skill as one text, by which it is found and shown.
func skillText(s yiku.Skill) string {
	chinese := lang.ScriptOf(s.Name+"\n"+s.Situation+"\n"+strings.Join(s.Steps, "\n")) == lang.Chinese
	colon, open, closing := ": ", " (", ")"
	if chinese {
		colon, open, closing = "：", "（", "）"
	}
	var b strings.Builder
	b.WriteString(s.Name)
	if s.Situation != "" {
		b.WriteString(open + s.Situation + closing)
	}
	b.WriteString(colon)
	for i, step := range s.Steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, step)
	}
	return b.String()
}

// listSkills lists skills as memories.
func (c *call) listSkills(ctx context.Context, req yiku.ListSkillsRequest) (yiku.Page[yiku.Memory], error) {
	return c.listMemories(ctx, yiku.ListMemoriesRequest{Paging: req.Paging, UserID: req.UserID, ProjectID: req.ProjectID,
		Level: req.Level, Status: req.Status, Type: yiku.TypeSkill})
}

// skillOutcome counts that a skill has worked or has not. Whoever may read a
// shared skill may say how it went.
func (c *call) skillOutcome(ctx context.Context, req yiku.SkillOutcomeRequest) (yiku.Memory, error) {
	user, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Memory{}, err
	}
	c.event.MemoryIDs = []string{req.ID}
	owner := user
	err = c.store.View(ctx, func(r store.Reader) error {
		f, err := c.findMemory(r, user, req.ID)
		owner = f.owner
		return err
	})
	if err != nil {
		return yiku.Memory{}, err
	}
	var made *store.Memory
	_, err = once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (saveRef, []store.Item, error) {
		row, err := tx.Memory(owner, req.ID)
		if err != nil {
			return saveRef{}, nil, err
		}
		if row.Skill == nil {
			return saveRef{}, nil, yiku.Invalid("id", "is no skill")
		}
		if row.Status != yiku.StatusActive {
			return saveRef{}, nil, conflictOn("id", "the skill is not active")
		}
		if err := errors.Join(tx.RecordOutcome(row.Key, *req.Success), tx.Touch([]int64{row.Key}, c.now)); err != nil {
			return saveRef{}, nil, err
		}
		row, err = tx.Memory(owner, req.ID)
		made = &row
		return saveRef{ID: req.ID}, []store.Item{{Kind: store.ItemMemory, Key: row.Key}}, err
	})
	if err != nil {
		return yiku.Memory{}, err
	}
	memory, err := c.answered(ctx, owner, req.ID, made)
	return memory, forgottenOn(err)
}

// knownSkill finds the active skill of a candidate's scope that is the same
// one: that of its name, or else one with the same situation and steps; one of
// these is enough for a candidate that was learnt, to which nobody gave its name.
func (c *call) knownSkill(tx store.Tx, owner yiku.Owner, m store.Memory, learnt bool) (*store.Memory, error) {
	row, err := tx.Duplicate(owner, m)
	found := err == nil && row.Key != m.Key
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		return nil, err
	}
	if !found {
		rows, err := tx.Memories(owner, store.MemoryQuery{Types: []yiku.Type{yiku.TypeSkill}, Statuses: []yiku.Status{yiku.StatusActive},
			Levels: []yiku.Level{m.Level}, ProjectID: m.ProjectID, TaskID: m.TaskID, AgentID: m.AgentID})
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(rows, func(row store.Memory) bool {
			if row.Key == m.Key || row.Skill == nil || !sameScope(row.Memory, m.Memory) {
				return false
			}
			situation, steps := reconcile.SameSituation(*row.Skill, *m.Skill), reconcile.SameSteps(*row.Skill, *m.Skill)
			return situation && steps || learnt && (situation || steps)
		})
		if found = i >= 0; found {
			row = rows[i]
		}
	}
	if !found {
		return nil, nil
	}
	if c.over(row.Memory) {
		return nil, c.shelve(tx, owner, row)
	}
	return &row, nil
}

// sameSkill settles a candidate with the skill that it is: the same steps
// reinforce it, others become its new version, and those of somebody less
// trusted wait for a person.
func (c *call) sameSkill(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, known store.Memory, review bool) (saved, error) {
	switch {
	case reconcile.SameSteps(*known.Skill, *m.Skill):
		return c.reinforce(tx, known, m.Memory, yiku.SaveMemoryRequest{})
	case review || m.Trust < known.Trust:
		m.Status = yiku.StatusQuarantined
		return c.shelf(tx, owner, m, sources, yiku.OutcomeQuarantined)
	}
	return c.reviseSkill(tx, owner, m, sources, known)
}

// reviseSkill gives a skill new steps. What they were stays as a version, with
// their counts: an outcome speaks for the steps that it was of.
func (c *call) reviseSkill(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, known store.Memory) (saved, error) {
	if err := c.stale(tx, owner, known.Key, map[int64]bool{known.Key: true}); err != nil {
		return saved{}, err
	}
	next := known
	next.Content, next.Sources, next.DerivedFrom = m.Content, m.Sources, m.DerivedFrom
	next.Origin, next.Trust = m.Origin, m.Trust
	next.Importance, next.Confidence = max(known.Importance, m.Importance), max(known.Confidence, m.Confidence)
	next.Skill = &yiku.Skill{Name: known.Skill.Name, Situation: m.Skill.Situation, Steps: m.Skill.Steps, Version: known.Skill.Version + 1}
	if next.Skill.Situation == "" {
		next.Skill.Situation = known.Skill.Situation
	}
	next.ValidFrom, next.ConfirmedAt, next.UpdatedAt = m.ValidFrom, c.now, c.now
	next = c.keyed(next)
	if err := tx.UpdateMemory(&next, "revised"); err != nil {
		return saved{}, err
	}
	out := saved{memory: next, outcome: yiku.OutcomeSuperseded}
	if len(sources) == 0 {
		return out, nil
	}
	return out, tx.AddLineage(store.Item{Kind: store.ItemMemory, Key: next.Key}, sources)
}

// rewritten is a skill whose content was written anew by hand: it keeps its
// name and reads its steps from the content.
func rewritten(s yiku.Skill, content string) *yiku.Skill {
	read := extract.SkillOf(content)
	s.Steps, s.Version, s.Successes, s.Failures = read.Steps, s.Version+1, 0, 0
	return &s
}
