package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

const (
	defaultImportance = 0.5
	defaultConfidence = 1.0
	// confirmEvery is how old a confirmation must be before a repeated
	// statement counts as a new one: so 1,000 repeats do not make 1,000 versions.
	confirmEvery = 24 * time.Hour
)

// saved is what became of a memory that was to be saved.
type saved struct {
	memory  store.Memory
	outcome yiku.Outcome
	retired []string
}

// standing says what is known of a memory beside what it says.
type standing struct {
	corrects *store.Memory // it was said of this one that it is otherwise
	review   bool          // a person is to look at it first, unless it is known already
	learnt   bool          // it was read out of a conversation: nobody gave it its name
}

// saveRef is what the record of a save keeps.
type saveRef struct {
	ID      string       `json:"id"`
	Outcome yiku.Outcome `json:"outcome"`
	Retired []string     `json:"retired,omitempty"`
}

// saveMemory saves one memory by hand. Duplicates reinforce (C7), another
// value of a single-valued attribute supersedes (C8).
func (c *call) saveMemory(ctx context.Context, req yiku.SaveMemoryRequest) (yiku.SaveMemoryResponse, error) {
	return c.saveAs(ctx, req, req, nil)
}

// saveAs saves a memory for the request that was asked, with the skill that it
// is where one was given.
func (c *call) saveAs(ctx context.Context, req yiku.SaveMemoryRequest, asked any, skill *yiku.Skill) (yiku.SaveMemoryResponse, error) {
	user, err := c.owner(req.UserID)
	if err != nil {
		return yiku.SaveMemoryResponse{}, err
	}
	c.event.Session = req.SessionID
	owner, err := c.ownerOfLevel(user, req.Level)
	if err != nil {
		return yiku.SaveMemoryResponse{}, err
	}
	if err := c.checkSave(req); err != nil {
		return yiku.SaveMemoryResponse{}, err
	}
	var made *store.Memory
	ref, err := once(ctx, c, owner, req.IdempotencyKey, asked, func(tx store.Tx) (saveRef, []store.Item, error) {
		s, err := c.save(tx, owner, req, skill)
		if err == nil && owner.IsShared() {
			_, err = c.audit(tx, owner, store.AuditEntry{Action: "save_shared", Ref: s.memory.ID})
		}
		if err != nil {
			return saveRef{}, nil, err
		}
		row, err := tx.Memory(owner, s.memory.ID)
		made = &row
		return saveRef{s.memory.ID, s.outcome, s.retired}, []store.Item{{Kind: store.ItemMemory, Key: row.Key}}, err
	})
	if err != nil {
		return yiku.SaveMemoryResponse{}, err
	}
	c.event.MemoryIDs = append([]string{ref.ID}, ref.Retired...)
	memory, err := c.answered(ctx, owner, ref.ID, made)
	return yiku.SaveMemoryResponse{ID: ref.ID, Outcome: ref.Outcome, Memory: memory, Superseded: ref.Retired}, forgottenOn(err)
}

// ownerOfLevel returns the owner that memories of a level belong to: shared
// ones are the tenant's own and are written by operators only (C16).
func (c *call) ownerOfLevel(user yiku.Owner, level yiku.Level) (yiku.Owner, error) {
	if level != yiku.LevelShared {
		return user, nil
	}
	if !c.principal.Access.Allows(yiku.AccessAdmin) || c.principal.User != "" {
		return yiku.Owner{}, &yiku.Error{Sentinel: yiku.ErrForbidden, Fields: []yiku.FieldError{{Field: "level", Message: "shared memories are written by operators"}}}
	}
	return yiku.SharedOwner(user.Tenant())
}

// checkSave checks what the tags cannot say.
func (c *call) checkSave(req yiku.SaveMemoryRequest) error {
	switch {
	case req.Level == yiku.LevelProject && req.ProjectID == "":
		return yiku.Invalid("project_id", "a project memory needs one")
	case req.Level == yiku.LevelTask && req.TaskID == "":
		return yiku.Invalid("task_id", "a task memory needs one")
	case req.Attribute != "" && req.Subject == "":
		return yiku.Invalid("subject", "an attribute needs a subject")
	case req.Value != "" && req.Attribute == "":
		return yiku.Invalid("attribute", "a value needs an attribute")
	case req.TTLSeconds > 0 && !req.ExpiresAt.IsZero():
		return yiku.Invalid("ttl_seconds", "stands beside expires_at")
	case !req.ExpiresAt.IsZero() && !req.ExpiresAt.After(c.now):
		return yiku.Invalid("expires_at", "is past")
	case reconcile.ContentKey(req.Content) == "":
		return yiku.Invalid("content", "says nothing")
	}
	if err := checkEpisode(req); err != nil {
		return err
	}
	return checkInterval(req.ValidFrom, req.ValidTo)
}

func checkInterval(from, to time.Time) error {
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return yiku.Invalid("valid_to", "must be after valid_from")
	}
	return nil
}

// save makes the memory that a request describes, the skill where one is given,
// and settles it. What a tool or a web page says is to be done is looked at first.
func (c *call) save(tx store.Tx, owner yiku.Owner, req yiku.SaveMemoryRequest, skill *yiku.Skill) (saved, error) {
	m := c.candidate(req)
	if skill != nil {
		m.Skill = skill
		m = c.keyed(m)
	}
	sources, err := c.derivation(tx, owner, req.DerivedFrom, &m)
	if err != nil {
		return saved{}, err
	}
	return c.reconcile(tx, owner, m, sources, req, standing{review: m.Skill != nil && m.Trust < trusted})
}

// reconcile settles a memory with what its owner has, writes the outcome, and
// promotes what has been stated in enough places.
func (c *call) reconcile(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, req yiku.SaveMemoryRequest, as standing) (saved, error) {
	out, err := c.settleMemory(tx, owner, m, sources, req, as)
	if err != nil || out.outcome != yiku.OutcomeCreated && out.outcome != yiku.OutcomeSuperseded {
		return out, err
	}
	return out, c.promote(tx, owner, out.memory)
}

func (c *call) settleMemory(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, req yiku.SaveMemoryRequest, as standing) (saved, error) {
	if m.Skill != nil {
		if known, err := c.knownSkill(tx, owner, m, as.learnt); err != nil || known != nil {
			if err != nil {
				return saved{}, err
			}
			return c.sameSkill(tx, owner, m, sources, *known, as.review)
		}
	}
	correction := replaceable(m, as.corrects)
	if correction && m.Attribute == "" && as.corrects.Attribute != "" {
		m.Subject, m.Attribute, m.Single = as.corrects.Subject, as.corrects.Attribute, as.corrects.Single
		m = c.keyed(m)
	}
	twin, same, err := c.neighbours(tx, owner, &m)
	if err != nil {
		return saved{}, err
	}
	var twinMemory *yiku.Memory
	if twin != nil {
		twinMemory = &twin.Memory
	}
	d := reconcile.Decide(m.Memory, twinMemory, memoriesOf(same))
	switch {
	case d.Action == reconcile.Reinforce:
	case as.review:
		d.Action = reconcile.Quarantine
	case correction && (d.Action != reconcile.Quarantine || d.Target.ID == as.corrects.ID):
		if m.Single = m.Single || d.Single; !m.Single {
			same = nil // its values stand beside each other
		}
		return c.replace(tx, owner, m, sources, *as.corrects, same)
	}
	switch d.Action {
	case reconcile.Reinforce:
		row := twin
		if row == nil {
			row = rowOf(same, d.Target.ID)
		}
		return c.reinforce(tx, *row, m.Memory, req)
	case reconcile.Quarantine:
		m.Status = yiku.StatusQuarantined
		return c.shelf(tx, owner, m, sources, yiku.OutcomeQuarantined)
	}
	if d.Single {
		return c.insert(tx, owner, m, sources)
	}
	out := saved{outcome: yiku.OutcomeCreated}
	for _, old := range d.Retire {
		if err := c.retire(tx, owner, *rowOf(same, old.ID), m.ValidFrom); err != nil {
			return saved{}, err
		}
		out.outcome, m.Supersedes = yiku.OutcomeSuperseded, d.Retire[0].ID
		out.retired = append(out.retired, old.ID)
	}
	return c.add(tx, m, sources, out)
}

// add writes a new memory with what it was derived from.
func (c *call) add(tx store.Tx, m store.Memory, sources []store.Item, out saved) (saved, error) {
	m.Relations = distinctRelations(append(m.Relations, c.relations(m.Memory)...))
	if err := tx.AddMemory(&m); err != nil {
		return saved{}, err
	}
	out.memory = m
	if len(sources) == 0 {
		return out, nil
	}
	return out, tx.AddLineage(store.Item{Kind: store.ItemMemory, Key: m.Key}, sources)
}

// shelf adds a memory that waits for a person, unless the same statement waits
// already: then that one's use is counted (C7).
func (c *call) shelf(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item, outcome yiku.Outcome) (saved, error) {
	rows, err := c.withAttribute(tx, owner, m, m.Status)
	if err != nil {
		return saved{}, err
	}
	for _, row := range rows {
		if sameStatement(row, m) {
			return saved{memory: row, outcome: outcome}, tx.Touch([]int64{row.Key}, c.now)
		}
	}
	return c.add(tx, m, sources, saved{outcome: outcome})
}

func sameStatement(a, b store.Memory) bool {
	return reconcile.ContentKey(a.Content) == reconcile.ContentKey(b.Content) && a.Origin == b.Origin
}

// withAttribute reads the memories of one's scope, subject and attribute that
// have one of the statuses.
func (c *call) withAttribute(r store.Reader, owner yiku.Owner, m store.Memory, statuses ...yiku.Status) ([]store.Memory, error) {
	rows, err := r.Memories(owner, store.MemoryQuery{SubjectNorm: m.SubjectNorm, AttributeNorm: m.AttributeNorm,
		Statuses: statuses, Levels: []yiku.Level{m.Level}})
	return slices.DeleteFunc(rows, func(row store.Memory) bool { return row.Key == m.Key || !sameScope(row.Memory, m.Memory) }), err
}

// candidate is the memory that a request describes, with its defaults.
func (c *call) candidate(req yiku.SaveMemoryRequest) store.Memory {
	m := yiku.Memory{
		ID: c.newID(), Content: req.Content, Type: req.Type, Level: req.Level,
		SessionID: req.SessionID, Subject: req.Subject, Attribute: req.Attribute, Value: req.Value,
		Topics: slices.Compact(slices.Clone(req.Topics)), Status: yiku.StatusActive, Importance: defaultImportance, Confidence: defaultConfidence,
		Origin: req.Origin, Pinned: req.Pinned, ValidFrom: req.ValidFrom.UTC(), ValidTo: req.ValidTo.UTC(), ExpiresAt: req.ExpiresAt.UTC(),
		CreatedAt: c.now, UpdatedAt: c.now, ConfirmedAt: c.now, DerivedFrom: req.DerivedFrom, Metadata: req.Metadata,
	}
	if m.Type == "" {
		m.Type = yiku.TypeFact
	}
	switch m.Kind = m.Type.Kind(); m.Kind {
	case yiku.KindEpisodic:
		m.Episode = episodeOf(req, &m)
	case yiku.KindProcedural:
		m.Skill = extract.SkillOf(req.Content)
	}
	if m.Level == "" {
		m.Level = defaultLevel(req)
	}
	if m.Level == yiku.LevelProject || m.Level == yiku.LevelTask {
		m.ProjectID = req.ProjectID
	}
	if m.Level == yiku.LevelTask {
		m.TaskID = req.TaskID
	}
	if m.Level == yiku.LevelShared {
		m.AgentID, m.SessionID = req.AgentID, ""
	}
	if req.Importance != nil {
		m.Importance = *req.Importance
	}
	if req.Confidence != nil {
		m.Confidence = *req.Confidence
	}
	if m.Origin == "" {
		m.Origin = yiku.OriginUser
	}
	m.Trust = m.Origin.Trust()
	if m.ValidFrom.IsZero() {
		m.ValidFrom = c.now
	}
	if req.TTLSeconds > 0 {
		m.ExpiresAt = c.now.Add(time.Duration(req.TTLSeconds) * time.Second)
	}
	if req.Single != nil {
		m.Single = *req.Single
	} else {
		m.Single = req.Attribute != "" && c.vocabulary.Single(req.Attribute)
	}
	return c.keyed(store.Memory{Memory: m})
}

func defaultLevel(req yiku.SaveMemoryRequest) yiku.Level {
	switch {
	case req.TaskID != "":
		return yiku.LevelTask
	case req.ProjectID != "":
		return yiku.LevelProject
	default:
		return yiku.LevelUser
	}
}

// keyed sets the normalised texts by which a memory is found as an equal.
func (c *call) keyed(m store.Memory) store.Memory {
	m.ContentNorm = reconcile.ContentKey(m.Content)
	if m.Skill != nil {
		m.ContentNorm = mark("skill", reconcile.SkillKey(m.Skill.Name))
	}
	m.SubjectNorm, m.AttributeNorm = "", ""
	if m.Subject != "" {
		m.SubjectNorm = reconcile.SubjectKey(m.Subject)
	}
	if m.Attribute != "" {
		m.AttributeNorm = c.vocabulary.Canonical(m.Attribute)
	}
	return m
}

// derivation finds the memories that one is derived from; its trust is at most
// the lowest of theirs.
func (c *call) derivation(tx store.Tx, owner yiku.Owner, ids []string, m *store.Memory) ([]store.Item, error) {
	var items []store.Item
	for i, id := range ids {
		source, err := tx.Memory(owner, id)
		if errors.Is(err, yiku.ErrNotFound) {
			return nil, yiku.Invalid(fmt.Sprintf("derived_from[%d]", i), "there is no such memory")
		}
		if err != nil {
			return nil, err
		}
		m.Trust = min(m.Trust, source.Trust)
		items = append(items, store.Item{Kind: store.ItemMemory, Key: source.Key})
	}
	return items, nil
}

// neighbours reads what a candidate is reconciled with: its twin, and the active
// memories of its scope with its subject and attribute. What has expired or is
// over gives up its place.
func (c *call) neighbours(tx store.Tx, owner yiku.Owner, m *store.Memory) (*store.Memory, []store.Memory, error) {
	var twin *store.Memory
	row, err := tx.Duplicate(owner, *m)
	if err == nil && row.Key != m.Key {
		other := !reconcile.SameStructure(row.Memory, m.Memory) // the same words of something else
		if !other && row.Attribute == "" {                      // it would take the attribute on; not where another value holds
			taker := row
			taker.Subject, taker.Attribute, taker.Single = m.Subject, m.Attribute, m.Single
			if other, err = c.overlaps(tx, owner, taker); err != nil {
				return nil, nil, err
			}
		}
		if other {
			m.ContentNorm = reconcile.StructuredKey(m.Memory, m.AttributeNorm)
			row, err = tx.Duplicate(owner, *m)
		}
	}
	switch {
	case errors.Is(err, yiku.ErrNotFound):
	case err != nil:
		return nil, nil, err
	case row.Key == m.Key:
	case c.over(row.Memory):
		if err := c.shelve(tx, owner, row); err != nil {
			return nil, nil, err
		}
	default:
		twin = &row
	}
	if m.SubjectNorm == "" || m.AttributeNorm == "" {
		return twin, nil, nil
	}
	rows, err := c.withAttribute(tx, owner, *m, yiku.StatusActive)
	if err != nil {
		return nil, nil, err
	}
	var same []store.Memory
	for _, row := range rows {
		if c.over(row.Memory) {
			if err := c.shelve(tx, owner, row); err != nil {
				return nil, nil, err
			}
			continue
		}
		same = append(same, row)
	}
	return twin, same, nil
}

func sameScope(a, b yiku.Memory) bool {
	return a.Level == b.Level && a.ProjectID == b.ProjectID && a.TaskID == b.TaskID && a.AgentID == b.AgentID
}

// over reports whether an active memory no longer holds: expired, or past its interval.
func (c *call) over(m yiku.Memory) bool {
	return !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(c.now) || !m.ValidTo.IsZero() && !m.ValidTo.After(c.now)
}

// shelve takes what is over out of the active ones before a sweep does it.
func (c *call) shelve(tx store.Tx, owner yiku.Owner, row store.Memory) error {
	status := yiku.StatusArchived
	if !row.ValidTo.IsZero() && !row.ValidTo.After(c.now) {
		status = yiku.StatusSuperseded
	}
	return c.withdraw(tx, owner, row, status, "expired")
}

// withdraw takes a memory out of the active ones. What was derived from it is
// stale until it is confirmed again (C9).
func (c *call) withdraw(tx store.Tx, owner yiku.Owner, row store.Memory, status yiku.Status, reason string) error {
	row.Status, row.UpdatedAt = status, c.now
	if err := tx.UpdateMemory(&row, reason); err != nil {
		return err
	}
	return c.stale(tx, owner, row.Key, map[int64]bool{row.Key: true})
}

// stale flags the active memories derived from one, and those derived from them.
func (c *call) stale(tx store.Tx, owner yiku.Owner, key int64, seen map[int64]bool) error {
	items, err := tx.Derived(owner, store.Item{Kind: store.ItemMemory, Key: key})
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.Kind != store.ItemMemory || seen[item.Key] {
			continue
		}
		seen[item.Key] = true
		rows, err := tx.MemoriesByKey(owner, []int64{item.Key})
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Status != yiku.StatusActive {
				continue
			}
			row.Status, row.UpdatedAt = yiku.StatusStale, c.now
			if err := tx.UpdateMemory(&row, "stale"); err != nil {
				return err
			}
		}
		if err := c.stale(tx, owner, item.Key, seen); err != nil {
			return err
		}
	}
	return nil
}

// reinforce counts the repetition of a known memory. What the repetition adds
// is kept: what it says of whom, a more telling type, a higher importance,
// confidence or trust, a pin, topics, metadata, an end.
func (c *call) reinforce(tx store.Tx, row store.Memory, again yiku.Memory, req yiku.SaveMemoryRequest) (saved, error) {
	if err := tx.Touch([]int64{row.Key}, c.now); err != nil {
		return saved{}, err
	}
	next := row
	next.Importance, next.Confidence = max(row.Importance, again.Importance), max(row.Confidence, again.Confidence)
	if again.Trust > row.Trust {
		next.Trust, next.Origin = again.Trust, again.Origin
	}
	next.Pinned = row.Pinned || again.Pinned
	if req.Type != "" && req.Type.Kind() == row.Kind {
		next.Type = req.Type
	}
	switch {
	case row.Attribute == "" && again.Attribute == "" && row.Subject == "":
		next.Subject = again.Subject
	case row.Attribute == "" && again.Attribute != "":
		next.Subject, next.Attribute, next.Value, next.Single = again.Subject, again.Attribute, again.Value, again.Single
	}
	if row.Skill != nil && again.Skill != nil && row.Skill.Situation == "" && again.Skill.Situation != "" {
		skill := *row.Skill
		skill.Situation, next.Skill = again.Skill.Situation, &skill
	}
	if !again.ExpiresAt.IsZero() {
		next.ExpiresAt = again.ExpiresAt
	}
	for _, topic := range again.Topics {
		if !slices.Contains(next.Topics, topic) {
			next.Topics = append(slices.Clone(next.Topics), topic)
		}
	}
	if len(again.Metadata) > 0 {
		next.Metadata = maps.Clone(row.Metadata)
		if next.Metadata == nil {
			next.Metadata = yiku.Metadata{}
		}
		maps.Copy(next.Metadata, again.Metadata)
	}
	changed := !reflect.DeepEqual(next.Memory, row.Memory)
	if changed || c.now.Sub(row.ConfirmedAt) >= confirmEvery {
		next.ConfirmedAt, next.UpdatedAt = c.now, c.now
		c.renorm(&next, row)
		if err := tx.UpdateMemory(&next, "confirmed"); err != nil {
			return saved{}, err
		}
	}
	return saved{memory: next, outcome: yiku.OutcomeReinforced}, nil
}

// renorm gives an update the normalised texts of what has changed; those of
// what has not stay as they are in the store.
func (c *call) renorm(next *store.Memory, before store.Memory) {
	keyed := c.keyed(*next)
	next.ContentNorm, next.SubjectNorm, next.AttributeNorm = "", "", ""
	if !saysTheSame(next.Memory, before.Memory) {
		next.Relations = c.relations(next.Memory)
	}
	if next.Content != before.Content {
		next.ContentNorm = keyed.ContentNorm
	}
	if next.Subject != before.Subject || next.Attribute != before.Attribute {
		next.SubjectNorm, next.AttributeNorm = keyed.SubjectNorm, keyed.AttributeNorm
	}
}

func memoriesOf(rows []store.Memory) []yiku.Memory {
	out := make([]yiku.Memory, len(rows))
	for i := range rows {
		out[i] = rows[i].Memory
	}
	return out
}

func rowOf(rows []store.Memory, id string) *store.Memory {
	for i := range rows {
		if rows[i].ID == id {
			return &rows[i]
		}
	}
	return nil
}
