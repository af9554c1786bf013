package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// What was extracted waits for a person below this trust or this confidence.
const (
	trusted = 0.5
	firm    = 0.5
)

// applyCandidate does what a candidate asks for and reports it. Only errors of
// the store are returned: what may not be applied is parked.
func (c *call) applyCandidate(tx store.Tx, owner yiku.Owner, x excerpt, candidate extract.Candidate, report *yiku.ExtractionReport) error {
	if candidate.Op == extract.OpCreate || candidate.Op == extract.OpUpdate {
		if full, err := c.isFull(tx, owner); err != nil || full {
			park(report, extract.Quota, candidate.Content)
			return err
		}
	}
	op := yiku.Operation{Op: string(candidate.Op), Content: candidate.Content, Type: candidate.Type, Subject: candidate.Subject, Attribute: candidate.Attribute,
		Value: candidate.Value, Importance: candidate.Importance, Confidence: candidate.Confidence, Reason: candidate.Reason}
	var sources []store.Message
	for _, n := range candidate.Messages {
		sources = append(sources, x.messages[n-1])
		op.Sources = append(op.Sources, x.messages[n-1].ID)
	}
	var target *store.Memory
	if candidate.Target > 0 {
		row, err := tx.Memory(owner, x.neighbours[candidate.Target-1].ID)
		if err != nil && !errors.Is(err, yiku.ErrNotFound) {
			return err
		}
		if err == nil && row.Status == yiku.StatusActive {
			target = &row
		}
	}
	if candidate.Op == extract.OpDelete {
		return c.applyDelete(tx, owner, target, op, report)
	}
	req := c.proposal(x.session, candidate)
	if err := c.checkProposal(req); err != nil {
		park(report, extract.Rejected, candidate.Content)
		return nil
	}
	m := c.candidate(req)
	m = c.dressed(m, candidate, sources)
	rests, firmly, err := c.rests(tx, owner, x, candidate, report.Operations, &m)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if o := messageOrigin(s.Message); o.Trust() < m.Trust {
			m.Origin, m.Trust = o, o.Trust()
		}
		m.Sources = append(m.Sources, s.ID)
		rests = append(rests, store.Item{Kind: store.ItemMessage, Key: s.Key})
	}
	switch met, err := c.meetsSuppression(tx, owner, m, sources); {
	case err != nil:
		return err
	case met:
		op.Op, op.Reason = string(extract.OpNone), reasonForgotten
		report.Operations = append(report.Operations, op)
		return nil
	}
	m.Relations = c.explicit(candidate.Relations)
	s, err := c.reconcile(tx, owner, m, rests, req, standing{corrects: target, review: !firmly || m.Trust < trusted || m.Confidence < firm, learnt: true})
	if errors.Is(err, yiku.ErrConflict) || errors.Is(err, yiku.ErrInvalid) {
		park(report, extract.Rejected, candidate.Content)
		return nil
	}
	if err != nil {
		return err
	}
	op.MemoryID, op.Outcome, op.Superseded = s.memory.ID, s.outcome, s.retired
	switch s.outcome {
	case yiku.OutcomeReinforced:
		op.Op = string(extract.OpNone)
	case yiku.OutcomeSuperseded:
		op.Op = string(extract.OpUpdate)
	default:
		op.Op = string(extract.OpCreate)
	}
	if op.Reason == "" {
		op.Reason = string(s.outcome)
	}
	report.Operations = append(report.Operations, op)
	return nil
}

// rests records the memories that a candidate rests on (C9): of one whose place
// another has just taken, that one. It does not rest firmly where one of them
// no longer holds.
func (c *call) rests(tx store.Tx, owner yiku.Owner, x excerpt, candidate extract.Candidate, done []yiku.Operation, m *store.Memory) (items []store.Item, firmly bool, err error) {
	firmly = true
	for _, n := range candidate.From {
		id := x.neighbours[n-1].ID
		for _, o := range done {
			if slices.Contains(o.Superseded, id) {
				id = o.MemoryID
			}
		}
		row, err := tx.Memory(owner, id)
		if errors.Is(err, yiku.ErrNotFound) {
			firmly = false
			continue
		}
		if err != nil {
			return nil, false, err
		}
		firmly = firmly && row.Status == yiku.StatusActive
		m.DerivedFrom, m.Trust = append(m.DerivedFrom, row.ID), min(m.Trust, row.Trust)
		items = append(items, store.Item{Kind: store.ItemMemory, Key: row.Key})
	}
	return items, firmly, nil
}

// applyDelete takes a memory that the user wants forgotten out of retrieval. A
// conversation is no proof of who speaks: it is archived and can be restored;
// forgetting for good is a call of its own.
func (c *call) applyDelete(tx store.Tx, owner yiku.Owner, target *store.Memory, op yiku.Operation, report *yiku.ExtractionReport) error {
	if target == nil {
		return nil
	}
	if err := c.withdraw(tx, owner, *target, yiku.StatusArchived, "asked to be forgotten"); err != nil {
		return err
	}
	op.MemoryID, op.Content, op.Type = target.ID, target.Content, target.Type
	report.Operations = append(report.Operations, op)
	return nil
}

// proposal is a candidate as a request to save it.
func (c *call) proposal(session store.Session, candidate extract.Candidate) yiku.SaveMemoryRequest {
	req := yiku.SaveMemoryRequest{
		UserID: session.UserID, ProjectID: session.ProjectID, SessionID: session.ID, Content: candidate.Content, Type: candidate.Type,
		Subject: candidate.Subject, Attribute: candidate.Attribute, Value: candidate.Value, Single: candidate.Single,
		Importance: &candidate.Importance, Confidence: &candidate.Confidence, Level: candidate.Level, Topics: candidate.Topics,
		ValidFrom: candidate.ValidFrom, ValidTo: candidate.ValidTo, Origin: yiku.OriginUser,
	}
	if req.Level == "" || req.Level == yiku.LevelProject && session.ProjectID == "" || req.Level == yiku.LevelTask {
		req.Level = yiku.LevelUser
		if session.ProjectID != "" && req.Type != yiku.TypeProfile { // who somebody is holds everywhere
			req.Level = yiku.LevelProject
		}
	}
	return req
}

// checkProposal checks what save_memory checks of its request.
func (c *call) checkProposal(req yiku.SaveMemoryRequest) error {
	if err := c.checker.Request(req); err != nil {
		return err
	}
	return c.checkSave(req)
}

func messageOrigin(m yiku.Message) yiku.Origin {
	if m.Origin != "" {
		return m.Origin
	}
	return originOf(m.Role)
}

// meetsSuppression reports whether a memory was forgotten after all that it
// comes from: what the person says anew afterwards is new.
func (c *call) meetsSuppression(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Message) (bool, error) {
	at, err := tx.SuppressedAt(c.blind(owner, c.memoryMarks(m)))
	if err != nil {
		return false, err
	}
	forgotten := slices.MaxFunc(append(at, time.Time{}), time.Time.Compare)
	if forgotten.IsZero() {
		return false, nil
	}
	return !slices.ContainsFunc(sources, func(s store.Message) bool { return s.RecordedAt.After(forgotten) }), nil
}

// replace makes a memory take the place of one that it was said to correct, and
// of the other values of an attribute that has one at a time.
func (c *call) replace(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, target store.Memory, values []store.Memory) (saved, error) {
	out := saved{outcome: yiku.OutcomeSuperseded}
	others := slices.DeleteFunc(slices.Clone(values), func(row store.Memory) bool { return row.Key == target.Key })
	for _, row := range append([]store.Memory{target}, others...) {
		if err := c.retire(tx, owner, row, m.ValidFrom); err != nil {
			return saved{}, err
		}
		out.retired = append(out.retired, row.ID)
	}
	m.Supersedes = target.ID
	return c.add(tx, m, sources, out)
}

// replaceable reports whether a memory may take the place of another that it
// was said to correct: it is another statement, as trusted, and no guess
// against something firm.
func replaceable(m store.Memory, target *store.Memory) bool {
	return target != nil && m.Trust >= target.Trust && (m.Confidence >= firm || target.Confidence < firm) &&
		reconcile.ContentKey(m.Content) != reconcile.ContentKey(target.Content)
}
