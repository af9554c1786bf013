package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func taskTests() map[string]func(*env) {
	return map[string]func(*env){"Put": taskPut, "OfSession": taskOfSession}
}

func taskPut(e *env) {
	t := &store.Task{Task: yiku.Task{ID: "任务", ProjectID: "p", SessionID: "s", StartedAt: At(0)}, SessionKey: 5}
	e.update(func(tx store.Tx) error { return tx.PutTask(t) })
	if t.Key == 0 {
		e.t.Error("PutTask sets no key")
	}
	t.CompletedAt, t.Outcome = At(3), yiku.TaskSuccess
	e.update(func(tx store.Tx) error {
		other := &store.Task{Task: yiku.Task{ID: "任务", ProjectID: "q", StartedAt: At(0)}}
		return errors.Join(tx.PutTask(t), tx.PutTask(other))
	})
	e.view(func(r store.Reader) error {
		got, err := r.Task(e.owner, "p", "任务")
		e.same("task", *t, got)
		_, err2 := r.Task(e.owner, "", "任务")
		e.want("another project's", err2, yiku.ErrNotFound)
		return err
	})
	for want, task := range map[error]*store.Task{
		yiku.ErrConflict: {Task: yiku.Task{ID: "任务", ProjectID: "p", StartedAt: At(0)}},
		yiku.ErrNotFound: {Task: yiku.Task{ID: "x", StartedAt: At(0)}, Key: t.Key + 99},
	} {
		err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return tx.PutTask(task) })
		e.want("PutTask", err, want)
	}
}

func taskOfSession(e *env) {
	s := &store.Session{Session: yiku.Session{ID: "s", ProjectID: "p", CreatedAt: At(0)}}
	e.update(func(tx store.Tx) error {
		if err := tx.PutSession(s); err != nil {
			return err
		}
		for i, id := range []string{"late", "early", "late", "", "unknown"} {
			m := message(number(i), i)
			m.TaskID = id
			if err := tx.AddMessages(s.Key, []*store.Message{m}); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "late", ProjectID: "p", StartedAt: At(2)}}),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "early", ProjectID: "p", StartedAt: At(1)}}),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "early", ProjectID: "q", StartedAt: At(1)}}),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "not named", ProjectID: "p", StartedAt: At(1)}}))
	})
	e.view(func(r store.Reader) error {
		tasks, err := r.SessionTasks(e.owner, s.Key)
		var got []string
		for _, t := range tasks {
			got = append(got, t.ProjectID+"/"+t.ID)
		}
		e.same("tasks", []string{"p/early", "p/late"}, got)
		return err
	})
}

func workingTests() map[string]func(*env) {
	return map[string]func(*env){"Put": workingPut, "Places": workingPlaces, "Open": workingOpen}
}

func workingPut(e *env) {
	w := &store.Working{
		WorkingMemory: yiku.WorkingMemory{
			TaskID: "t", TaskState: map[string]any{"步骤": 2.0}, DataSlots: map[string]any{"when": "下周", "n": 1.5},
			Preferences: map[string]any{}, Todos: []any{"a", map[string]any{"b": 1.0}}, CarriedFrom: "s0",
			Blocks: map[string]yiku.Block{"persona": {Value: "v", Limit: 10, ReadOnly: true}}, UpdatedAt: At(1),
		},
		Project: "p", SessionID: "s", AgentID: "a", Open: true,
	}
	seq := e.state().Seq
	e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	e.same("version", int64(1), w.Version)
	get := func() (got store.Working, err error) {
		e.view(func(r store.Reader) error {
			got, err = r.Working(e.owner, "p", "t", "any")
			return nil
		})
		return got, err
	}
	got, err := get()
	e.want("Working", err, nil)
	e.same("working", *w, got)
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.PutWorking(w), tx.DeleteWorking("p", "t", ""), tx.DeleteWorking("p", "none", ""))
	})
	_, err = get()
	e.want("Working after the delete", err, yiku.ErrNotFound)
	e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	if w.Version <= 2 {
		e.t.Errorf("the version went back to %d after a delete", w.Version)
	}
	w.Version = 77
	e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	e.same("version above the one given", int64(78), w.Version)
	w.Version = 0
	e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	e.same("version above the row's", int64(79), w.Version)
	e.same("seq is untouched", seq, e.state().Seq)
}

func workingPlaces(e *env) {
	// The same words as task, session and project are different places.
	put := func(project, task, session string) {
		w := &store.Working{Project: project, SessionID: session}
		w.TaskID, w.TaskState = task, map[string]any{"at": project + "/" + task + "/" + session}
		e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	}
	put("x", "x", "s")
	put("", "x", "s")
	put("x", "", "x")
	e.view(func(r store.Reader) error {
		a, err1 := r.Working(e.owner, "x", "x", "other")
		b, err2 := r.Working(e.owner, "", "x", "")
		c, err3 := r.Working(e.owner, "another", "", "x")
		e.same("places", []any{"x/x/s", "/x/s", "x//x"}, []any{a.TaskState["at"], b.TaskState["at"], c.TaskState["at"]})
		return errors.Join(err1, err2, err3)
	})
}

func workingOpen(e *env) {
	put := func(project, task, agent string, open bool) {
		w := &store.Working{Project: project, SessionID: "s", AgentID: agent, Open: open}
		w.TaskID, w.UpdatedAt = task, At(0)
		e.update(func(tx store.Tx) error { return tx.PutWorking(w) })
	}
	put("p", "1", "a", true)
	put("p", "2", "b", true)
	put("p", "3", "a", false)
	put("q", "4", "a", true)
	put("", "5", "", true)
	open := func(project, agent, want string) {
		e.t.Helper()
		e.view(func(r store.Reader) error {
			w, err := r.OpenWorking(e.owner, project, agent)
			if want == "" {
				e.want("OpenWorking", err, yiku.ErrNotFound)
				return nil
			}
			e.same("OpenWorking", want, w.TaskID)
			return err
		})
	}
	open("p", "", "2")
	open("p", "a", "1")
	open("p", "c", "")
	open("", "", "5")
	put("p", "1", "a", true)
	open("p", "", "1")
	e.update(func(tx store.Tx) error { return tx.DeleteWorking("p", "1", "") })
	open("p", "", "2")
	put("p", "2", "b", false)
	open("p", "", "")
}
