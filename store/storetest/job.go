package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func jobTests() map[string]func(*env) {
	return map[string]func(*env){
		"Enqueue":    jobEnqueue,
		"States":     jobStates,
		"Due":        jobDue,
		"OfTenant":   jobOfTenant,
		"Extraction": jobExtraction,
	}
}

func jobEnqueue(e *env) {
	var first, second, third, fourth, other string
	e.update(func(tx store.Tx) error {
		var errs [4]error
		j := &store.Job{Kind: "extract", Unique: "u", Arguments: []byte("参数"), NotBefore: At(9), CreatedAt: At(0)}
		first, errs[0] = tx.Enqueue(j)
		second, errs[1] = tx.Enqueue(&store.Job{Kind: "extract", Unique: "u", NotBefore: At(5)})
		third, errs[2] = tx.Enqueue(&store.Job{Kind: "extract"})
		fourth, errs[3] = tx.Enqueue(&store.Job{Kind: "extract"})
		if j.ID != first {
			e.t.Error("Enqueue does not set the id")
		}
		return errors.Join(errs[:]...)
	})
	e.updateAs(e.alien, func(tx store.Tx) (err error) {
		other, err = tx.Enqueue(&store.Job{Kind: "extract", Unique: "u"})
		return err
	})
	if first == "" || first != second || third == fourth || third == first || other == first {
		e.t.Error("jobs of one unique key are not one, or others are")
	}
	var given string
	e.update(func(tx store.Tx) (err error) {
		given, err = tx.Enqueue(&store.Job{ID: "own id", Kind: "k"})
		return err
	})
	e.same("a given id", "own id", given)
	e.view(func(r store.Reader) error {
		j, err := r.Job(e.owner, first)
		e.same("may run from the earlier time", At(5), j.NotBefore)
		e.same("arguments", "参数", string(j.Arguments))
		for _, o := range []yiku.Owner{e.neighbour, e.alien} { // one is unknown, one has jobs
			_, err := r.Job(o, first)
			e.want("another owner's job", err, yiku.ErrNotFound)
		}
		return err
	})
}

func jobStates(e *env) {
	s := e.session("s", 0)
	var id string
	e.update(func(tx store.Tx) (err error) {
		id, err = tx.Enqueue(&store.Job{Kind: "extract", Unique: "u", SessionKey: s.Key, Epoch: 3, CreatedAt: At(0)})
		return err
	})
	e.update(func(tx store.Tx) error {
		return tx.PutJob(&store.Job{ID: id, State: yiku.JobParked, Attempts: 4, NotBefore: At(7), Problem: "太长"})
	})
	e.view(func(r store.Reader) error {
		j, err := r.Job(e.owner, id)
		e.same("job", store.Job{Owner: e.owner, Key: j.Key, ID: id, Kind: "extract", SessionKey: s.Key, Epoch: 3, State: yiku.JobParked,
			Attempts: 4, NotBefore: At(7), Problem: "太长", CreatedAt: At(0)}, j)
		return err
	})
	var fresh string
	e.update(func(tx store.Tx) (err error) {
		fresh, err = tx.Enqueue(&store.Job{Kind: "extract", Unique: "u", SessionKey: s.Key})
		return err
	})
	if fresh == id {
		e.t.Error("a parked job stands in the way of a new one")
	}
	e.update(func(tx store.Tx) error {
		e.want("PutJob of what is not there", tx.PutJob(&store.Job{ID: "none"}), yiku.ErrNotFound)
		e.want("DeleteJob of what is not there", tx.DeleteJob("none"), yiku.ErrNotFound)
		return tx.DeleteJob(fresh)
	})
	e.updateAs(e.neighbour, func(tx store.Tx) error {
		e.want("PutJob of another owner's", tx.PutJob(&store.Job{ID: id}), yiku.ErrNotFound)
		e.want("DeleteJob of another owner's", tx.DeleteJob(id), yiku.ErrNotFound)
		return nil
	})
	e.update(func(tx store.Tx) error { return tx.DeleteSession(s.Key) })
	e.view(func(r store.Reader) error {
		_, err := r.Job(e.owner, id)
		e.want("a job whose session went", err, yiku.ErrNotFound)
		return nil
	})
}

func jobDue(e *env) {
	add := func(owner yiku.Owner, id string, at int, state yiku.JobState) {
		e.updateAs(owner, func(tx store.Tx) error {
			j := &store.Job{ID: id, Kind: "k", NotBefore: At(at), CreatedAt: At(0)}
			if _, err := tx.Enqueue(j); err != nil {
				return err
			}
			j.State = state
			return tx.PutJob(j)
		})
	}
	add(e.owner, "b", 2, yiku.JobWaiting)
	add(e.alien, "a", 1, yiku.JobWaiting)
	add(e.owner, "later", 9, yiku.JobWaiting)
	add(e.owner, "parked", 0, yiku.JobParked)
	for limit, want := range map[int][]string{0: {"a", "b"}, 1: {"a"}} {
		due, err := e.s.DueJobs(context.Background(), At(2), limit)
		if err != nil {
			e.t.Fatal(err)
		}
		var ids []string
		for _, j := range due {
			ids = append(ids, j.ID)
		}
		e.same("due", want, ids)
		e.same("owner of the first", e.alien, due[0].Owner)
	}
}

func jobOfTenant(e *env) {
	for i, owner := range []yiku.Owner{e.owner, e.neighbour, e.alien} {
		e.updateAs(owner, func(tx store.Tx) error {
			_, err := tx.Enqueue(&store.Job{ID: number(i), Kind: "k", CreatedAt: At(i)})
			return err
		})
	}
	e.view(func(r store.Reader) error {
		all, err := r.Jobs(e.owner.Tenant(), store.JobQuery{State: yiku.JobWaiting})
		e.same("jobs of the tenant", 2, len(all))
		n, err2 := r.CountJobs(e.owner.Tenant(), store.JobQuery{})
		e.same("count", 2, n)
		rest, err3 := r.Jobs(e.owner.Tenant(), store.JobQuery{After: store.JobPlace{CreatedAt: At(0), ID: number(0)}, Limit: 5})
		e.same("after the first", 1, len(rest))
		none, err4 := r.Jobs(e.owner.Tenant(), store.JobQuery{State: yiku.JobParked})
		e.same("parked", 0, len(none))
		unknown, err5 := r.Jobs("nobody", store.JobQuery{})
		e.same("of an unknown tenant", 0, len(unknown))
		return errors.Join(err, err2, err3, err4, err5)
	})
}

func jobExtraction(e *env) {
	s := e.session("s", 0)
	messages := e.messages(s, "a", "b")
	x := &store.Extraction{SessionKey: s.Key, From: messages[0].Key, To: messages[1].Key, Epoch: 2, ExpiresAt: At(50),
		Report: yiku.ExtractionReport{Status: yiku.ExtractionStored, Path: "rules", CreatedAt: At(1), Messages: 2, Operations: []yiku.Operation{{Op: "create", Content: "住在杭州"}}}}
	given := &store.Extraction{Report: yiku.ExtractionReport{Status: yiku.ExtractionNothing, DryRun: true, CreatedAt: At(2)}}
	e.update(func(tx store.Tx) error {
		e.want("of a session that is not there", tx.AddExtraction(&store.Extraction{SessionKey: s.Key + 900}), yiku.ErrNotFound)
		return errors.Join(tx.AddExtraction(x), tx.AddExtraction(given))
	})
	e.view(func(r store.Reader) error {
		all, err := r.Extractions(e.owner, store.ExtractionQuery{})
		e.same("newest first", []store.Extraction{*given, *x}, all)
		one, err2 := r.Extractions(e.owner, store.ExtractionQuery{SessionKey: s.Key, Limit: 1})
		e.same("of a session", []store.Extraction{*x}, one)
		older, err3 := r.Extractions(e.owner, store.ExtractionQuery{Before: given.Key})
		e.same("before the newest", []store.Extraction{*x}, older)
		n, err4 := r.CountExtractions(e.owner, store.ExtractionQuery{SessionKey: s.Key})
		e.same("count", 1, n)
		foreign, err5 := r.Extractions(e.neighbour, store.ExtractionQuery{})
		e.same("of another owner", 0, len(foreign))
		return errors.Join(err, err2, err3, err4, err5)
	})
	e.update(func(tx store.Tx) error {
		_, err := tx.DropExpired(At(60), 0)
		return err
	})
	e.view(func(r store.Reader) error {
		n, err := r.CountExtractions(e.owner, store.ExtractionQuery{})
		e.same("after its time", 1, n)
		return err
	})
	e.update(func(tx store.Tx) error { return tx.DeleteMessages([]int64{messages[0].Key}) })
}
