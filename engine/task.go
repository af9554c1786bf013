package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// touchTask makes the task of a session's messages where it is new. A
// completed task that is worked on again is open again.
func (c *call) touchTask(tx store.Tx, owner yiku.Owner, session store.Session, id string) error {
	if id == "" {
		return nil
	}
	task, err := tx.Task(owner, session.ProjectID, id)
	switch {
	case errors.Is(err, yiku.ErrNotFound):
		task = store.Task{Task: yiku.Task{ID: id, ProjectID: session.ProjectID, StartedAt: c.now}}
	case err != nil:
		return err
	case task.SessionKey == session.Key && task.CompletedAt.IsZero():
		return nil
	}
	task.SessionID, task.SessionKey = session.ID, session.Key
	task.CompletedAt, task.Outcome = time.Time{}, ""
	return tx.PutTask(&task)
}

// completeTask ends a task (A7, B5): its result becomes a memory, and its
// working memory is cleared, in one transaction.
func (c *call) completeTask(ctx context.Context, req yiku.CompleteTaskRequest) (yiku.CompleteTaskResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.CompleteTaskResponse{}, err
	}
	c.event.Session = req.SessionID
	done, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (completedRef, []store.Item, error) {
		return c.endTask(tx, owner, req)
	})
	if err != nil {
		return yiku.CompleteTaskResponse{}, err
	}
	res := yiku.CompleteTaskResponse{MemoryID: done.Memory, SkillID: done.Skill, Kept: done.Kept, JobID: done.Job}
	err = c.store.View(ctx, func(r store.Reader) error {
		task, err := r.Task(owner, req.ProjectID, req.TaskID)
		res.Task = task.Task
		return err
	})
	if err == nil && req.Wait && res.JobID != "" {
		res.ExtractionReport, err = c.waitFor(ctx, owner, res.Task.SessionID, res.JobID)
	}
	return res, err
}

// completedRef is what the record of a completion keeps.
type completedRef struct {
	Memory string   `json:"memory,omitempty"`
	Skill  string   `json:"skill,omitempty"`
	Kept   []string `json:"kept,omitempty"`
	Job    string   `json:"job,omitempty"`
}

// endTask does what a completion does in one transaction: the result and the
// skill learnt from it, what is kept of working memory, and then its end.
func (c *call) endTask(tx store.Tx, owner yiku.Owner, req yiku.CompleteTaskRequest) (completedRef, []store.Item, error) {
	var out completedRef
	task, session, err := c.taskToComplete(tx, owner, req)
	if err != nil {
		return out, nil, err
	}
	task.CompletedAt, task.Outcome = c.now, req.Outcome
	if err := tx.PutTask(&task); err != nil {
		return out, nil, err
	}
	messages, err := c.taskMessages(tx, owner, session, req.TaskID)
	if err != nil {
		return out, nil, err
	}
	var made []store.Memory
	if result, err := c.saveResult(tx, owner, req, task, messages); err != nil {
		return out, nil, err
	} else if result != nil {
		out.Memory, made = result.ID, append(made, *result)
	}
	if skill, err := c.learnFromTask(tx, owner, req, messages); err != nil {
		return out, nil, err
	} else if skill != nil {
		out.Skill, made = skill.ID, append(made, *skill)
	}
	kept, err := c.keepOfTask(tx, owner, req)
	if err != nil {
		return out, nil, err
	}
	for _, m := range kept {
		out.Kept = append(out.Kept, m.ID)
	}
	if err := clearWorking(tx, owner, req.ProjectID, req.TaskID, ""); err != nil {
		return out, nil, err
	}
	if session != nil {
		out.Job, err = c.promiseExtraction(tx, owner, *session, true)
	}
	return out, itemsOf(append(made, kept...)), err
}

// taskToComplete finds the task: one that messages or working memory have
// named, or a new one where the session is given. session is nil where none is known.
func (c *call) taskToComplete(tx store.Tx, owner yiku.Owner, req yiku.CompleteTaskRequest) (store.Task, *store.Session, error) {
	var session *store.Session
	if req.SessionID != "" {
		s, err := tx.Session(owner, req.SessionID)
		if err != nil {
			return store.Task{}, nil, err
		}
		session = &s
	}
	task, err := tx.Task(owner, req.ProjectID, req.TaskID)
	if errors.Is(err, yiku.ErrNotFound) && session != nil {
		return store.Task{Task: yiku.Task{ID: req.TaskID, ProjectID: req.ProjectID, SessionID: session.ID, StartedAt: c.now}, SessionKey: session.Key}, session, nil
	}
	if err == nil && session == nil && task.SessionID != "" {
		if s, err := tx.Session(owner, task.SessionID); err == nil {
			session = &s
		} else if !errors.Is(err, yiku.ErrNotFound) {
			return task, nil, err
		}
	}
	return task, session, err
}

// mostOfTask is how many of a task's last messages its result leads to.
const mostOfTask = 200

// taskMessages are the last messages of a session that belong to a task.
func (c *call) taskMessages(r store.Reader, owner yiku.Owner, session *store.Session, task string) ([]store.Message, error) {
	if session == nil {
		return nil, nil
	}
	rows, err := r.Messages(owner, store.MessageQuery{SessionKey: session.Key, Last: true, Limit: mostOfTask})
	return slices.DeleteFunc(rows, func(m store.Message) bool { return m.TaskID != task }), err
}

// saveResult keeps the result of a task as an episode (C1): the words of the
// caller, or whole sentences of what the assistant said last; nothing where
// neither says anything. A task has one result at a time, so that of an earlier
// completion becomes history.
func (c *call) saveResult(tx store.Tx, owner yiku.Owner, req yiku.CompleteTaskRequest, task store.Task, messages []store.Message) (*store.Memory, error) {
	content := req.Result
	for _, m := range slices.Backward(messages) {
		if content == "" && m.Role == yiku.RoleAssistant {
			content = extract.Lead(m.Content.PlainText())
		}
	}
	if content == "" {
		return nil, nil
	}
	one := true
	save := yiku.SaveMemoryRequest{UserID: req.UserID, ProjectID: req.ProjectID, SessionID: task.SessionID, Content: content, Type: yiku.TypeTaskResult,
		Subject: "task " + req.TaskID, Attribute: "result", Value: string(req.Outcome), Single: &one, Level: levelOfTask(req), Origin: yiku.OriginAgent,
		Metadata: yiku.Metadata{"task_id": req.TaskID, "outcome": string(req.Outcome)}}
	m := c.candidate(save)
	m.Episode = &yiku.Episode{From: task.StartedAt, To: c.now, Participants: speakers(messages), Outcome: req.Outcome}
	sources := c.comesFrom(&m, messages)
	out, err := c.reconcile(tx, owner, m, sources, save, standing{})
	return &out.memory, err
}

// comesFrom notes the messages that a memory comes from.
func (c *call) comesFrom(m *store.Memory, messages []store.Message) []store.Item {
	var items []store.Item
	for _, s := range messages {
		m.Sources = append(m.Sources, s.ID)
		items = append(items, store.Item{Kind: store.ItemMessage, Key: s.Key})
	}
	return items
}

func levelOfTask(req yiku.CompleteTaskRequest) yiku.Level {
	if req.ProjectID != "" {
		return yiku.LevelProject
	}
	return yiku.LevelUser
}

// learnFromTask learns a skill from a task that succeeded (C15): where the
// result, or else the last answer that does, gives steps in an order. Its name
// is what the result begins with, or what was asked for first.
func (c *call) learnFromTask(tx store.Tx, owner yiku.Owner, req yiku.CompleteTaskRequest, messages []store.Message) (*store.Memory, error) {
	if req.Outcome != yiku.TaskSuccess {
		return nil, nil
	}
	steps, from := extract.Steps(req.Result), []store.Message(nil)
	for _, m := range slices.Backward(messages) {
		if steps == nil && m.Role == yiku.RoleAssistant && messageOrigin(m.Message).Trust() >= trusted {
			steps, from = extract.Steps(extract.Own(m.Content.PlainText())), []store.Message{m}
		}
	}
	if steps == nil {
		return nil, nil
	}
	name := extract.NameOf(req.Result)
	for _, m := range messages {
		if name == "" && m.Role == yiku.RoleUser {
			name = extract.NameOf(extract.Own(m.Content.PlainText()))
		}
	}
	if reconcile.SkillKey(name) == "" {
		return nil, nil
	}
	skill := &yiku.Skill{Name: name, Situation: name, Steps: steps, Version: 1}
	save := yiku.SaveMemoryRequest{UserID: req.UserID, ProjectID: req.ProjectID, SessionID: req.SessionID, Content: skillText(yiku.Skill{Name: name, Steps: steps}),
		Type: yiku.TypeSkill, Level: levelOfTask(req), Origin: yiku.OriginAgent}
	m := c.candidate(save)
	m.Skill = skill
	m = c.keyed(m)
	met, err := c.meetsSuppression(tx, owner, m, from)
	if err != nil || met {
		return nil, err
	}
	sources := c.comesFrom(&m, from)
	out, err := c.reconcile(tx, owner, m, sources, save, standing{learnt: true})
	return &out.memory, err
}
