package engine

import (
	"context"
	"errors"
	"time"

	"github.com/yiku-ai/yiku"
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
	type result struct {
		Memory string `json:"memory,omitempty"`
		Job    string `json:"job,omitempty"`
	}
	done, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (result, []store.Item, error) {
		task, session, err := c.taskToComplete(tx, owner, req)
		if err != nil {
			return result{}, nil, err
		}
		task.CompletedAt, task.Outcome = c.now, req.Outcome
		if err := tx.PutTask(&task); err != nil {
			return result{}, nil, err
		}
		var out result
		var makes []store.Item
		if req.Result != "" {
			saved, err := c.save(tx, owner, c.resultMemory(req), nil)
			if err != nil {
				return result{}, nil, err
			}
			out.Memory = saved.memory.ID
			makes = append(makes, store.Item{Kind: store.ItemMemory, Key: saved.memory.Key})
		}
		if err := clearWorking(tx, owner, req.ProjectID, req.TaskID, ""); err != nil {
			return result{}, nil, err
		}
		if session != nil {
			out.Job, err = c.promiseExtraction(tx, owner, *session, true)
		}
		return out, makes, err
	})
	if err != nil {
		return yiku.CompleteTaskResponse{}, err
	}
	res := yiku.CompleteTaskResponse{MemoryID: done.Memory, JobID: done.Job}
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

func (c *call) resultMemory(req yiku.CompleteTaskRequest) yiku.SaveMemoryRequest {
	level := yiku.LevelUser
	if req.ProjectID != "" {
		level = yiku.LevelProject
	}
	return yiku.SaveMemoryRequest{UserID: req.UserID, ProjectID: req.ProjectID, SessionID: req.SessionID, Content: req.Result,
		Type: yiku.TypeTaskResult, Level: level, Origin: yiku.OriginAgent, Metadata: yiku.Metadata{"task_id": req.TaskID, "outcome": string(req.Outcome)}}
}
