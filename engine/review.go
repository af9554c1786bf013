package engine

import (
	"context"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// extractSessionNow reads a session at once (C3, C12).
func (c *call) extractSessionNow(ctx context.Context, owner yiku.Owner, id string, dry bool) (yiku.ExtractionReport, error) {
	var session store.Session
	err := c.store.View(ctx, func(r store.Reader) (err error) {
		session, err = r.Session(owner, id)
		return err
	})
	if err != nil {
		return yiku.ExtractionReport{}, err
	}
	report, err := c.readStretch(ctx, owner, stretch{session: session.Key, dry: dry}, nil)
	report.SessionID = id
	c.count("operations", len(report.Operations))
	c.count("parked", len(report.Parked))
	return report, err
}

// extractSession reads what a session holds beyond its cursor, or tries it.
func (c *call) extractSession(ctx context.Context, req yiku.ExtractSessionRequest) (yiku.ExtractionReport, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.ExtractionReport{}, err
	}
	c.event.Session = req.SessionID
	return c.extractSessionNow(ctx, owner, req.SessionID, req.DryRun)
}

// listExtractions lists what was read, dry runs of the last days among it.
func (c *call) listExtractions(ctx context.Context, req yiku.ListExtractionsRequest) (yiku.Page[yiku.ExtractionReport], error) {
	var page yiku.Page[yiku.ExtractionReport]
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	c.event.Session = req.SessionID
	scope := []string{req.UserID, req.SessionID}
	query := store.ExtractionQuery{Limit: limitOf(req.Paging) + 1}
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.Before, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		if req.SessionID != "" {
			session, err := r.Session(owner, req.SessionID)
			if err != nil {
				return err
			}
			query.SessionKey = session.Key
		}
		rows, err := r.Extractions(owner, query)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(e store.Extraction) any { return e.Key })
		if err != nil {
			return err
		}
		for _, row := range rows {
			report := row.Report
			if !report.DryRun {
				if report.Operations, err = operationsOf(r, owner, refsOf(report.Operations)); err != nil {
					return err
				}
			}
			page.Items = append(page.Items, report)
		}
		if req.Cursor == "" {
			total, err := r.CountExtractions(owner, query)
			page.Total = &total
			return err
		}
		return nil
	})
	return page, err
}

// listReview lists the memories that wait for a decision (C12).
func (c *call) listReview(ctx context.Context, req yiku.ListReviewRequest) (yiku.Page[yiku.Memory], error) {
	return c.listMemories(ctx, yiku.ListMemoriesRequest{Paging: req.Paging, UserID: req.UserID, Status: yiku.StatusQuarantined})
}

// reviewRef is what the record of a decision keeps.
type reviewRef struct {
	ID      string       `json:"id,omitempty"`
	Outcome yiku.Outcome `json:"outcome,omitempty"`
	Retired []string     `json:"retired,omitempty"`
}

// review decides about a memory that waits. What a person approves is theirs:
// it has a user's trust, is firm, and takes the place of what it contradicts.
func (c *call) review(ctx context.Context, req yiku.ReviewRequest) (yiku.ReviewResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.ReviewResponse{}, err
	}
	if req.Decision == yiku.ReviewReject && req.Content != "" {
		return yiku.ReviewResponse{}, yiku.Invalid("content", "goes with approve only")
	}
	var made *store.Memory
	ref, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (reviewRef, []store.Item, error) {
		row, err := tx.Memory(owner, req.ID)
		if err != nil {
			return reviewRef{}, nil, err
		}
		if row.Status != yiku.StatusQuarantined {
			return reviewRef{}, nil, yiku.Errorf(yiku.ErrConflict, "the memory does not wait for a decision")
		}
		if req.Decision == yiku.ReviewReject {
			return reviewRef{}, nil, tx.DeleteMemory(row.Key)
		}
		out, err := c.approve(tx, owner, row, req)
		if err != nil {
			return reviewRef{}, nil, err
		}
		now, err := tx.Memory(owner, out.memory.ID)
		made = &now
		return reviewRef{out.memory.ID, out.outcome, out.retired}, []store.Item{{Kind: store.ItemMemory, Key: now.Key}}, err
	})
	if err != nil || ref.ID == "" {
		return yiku.ReviewResponse{}, err
	}
	c.event.MemoryIDs = append([]string{ref.ID}, ref.Retired...)
	memory, err := c.answered(ctx, owner, ref.ID, made)
	return yiku.ReviewResponse{Outcome: ref.Outcome, Memory: &memory, Superseded: ref.Retired}, forgottenOn(err)
}

// approve makes a waiting memory active, as it is or with another content.
func (c *call) approve(tx store.Tx, owner yiku.Owner, row store.Memory, req yiku.ReviewRequest) (saved, error) {
	m := row
	m.Status, m.Origin, m.Trust, m.Confidence = yiku.StatusActive, yiku.OriginUser, yiku.OriginUser.Trust(), defaultConfidence
	m.UpdatedAt, m.ConfirmedAt = c.now, c.now
	if req.Content != "" {
		if m.Skill != nil {
			m.Skill = rewritten(*m.Skill, req.Content)
			m.Skill.Version = 1
		}
		m.Content = req.Content
		if reconcile.ContentKey(m.Content) == "" {
			return saved{}, yiku.Invalid("content", "says nothing")
		}
	}
	m = c.keyed(m)
	if m.Skill != nil {
		known, err := c.knownSkill(tx, owner, m, true)
		if err != nil {
			return saved{}, err
		}
		if known != nil {
			return c.approveSkill(tx, owner, row, m, *known)
		}
	}
	twin, same, err := c.neighbours(tx, owner, &m)
	if err != nil {
		return saved{}, err
	}
	out := saved{outcome: yiku.OutcomeCreated}
	if twin != nil { // known already: the one that waited goes
		if err := tx.DeleteMemory(row.Key); err != nil {
			return saved{}, err
		}
		return saved{memory: *twin, outcome: yiku.OutcomeReinforced}, tx.Touch([]int64{twin.Key}, c.now)
	}
	if m.Single {
		for _, old := range same {
			if err := c.retire(tx, owner, old, m.ValidFrom); err != nil {
				return saved{}, err
			}
			out.retired = append(out.retired, old.ID)
		}
	}
	if len(out.retired) > 0 {
		out.outcome, m.Supersedes = yiku.OutcomeSuperseded, out.retired[0]
	}
	if m.Content != row.Content {
		m.Relations = c.relations(m.Memory)
	}
	if err := tx.UpdateMemory(&m, "approved"); err != nil {
		return saved{}, err
	}
	out.memory = m
	return out, nil
}

// approveSkill makes steps that waited the new version of the skill that they
// are of; the row that waited goes, and what it came from goes over.
func (c *call) approveSkill(tx store.Tx, owner yiku.Owner, row, m, known store.Memory) (saved, error) {
	sources, err := tx.Sources(owner, store.Item{Kind: store.ItemMemory, Key: row.Key})
	if err != nil {
		return saved{}, err
	}
	if err := tx.DeleteMemory(row.Key); err != nil {
		return saved{}, err
	}
	return c.sameSkill(tx, owner, m, sources, known, false)
}

// instructions serves the text by which a model writes memory commands (C11).
func (c *call) instructions(_ context.Context, req yiku.InstructionsRequest) (yiku.Instructions, error) {
	if req.Lang == "" {
		req.Lang = "en"
	}
	text, err := extract.Instruct(req.Lang)
	return yiku.Instructions{Lang: req.Lang, Text: text}, err
}
