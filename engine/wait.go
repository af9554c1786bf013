package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/store"
)

// waitPoll is how often a call looks after a job that somebody else does.
const waitPoll = 50 * time.Millisecond

// waitFor does a job that the call has promised, or waits for whoever does it,
// and returns what was read. It is nil where that takes longer than a call
// waits, or is to be tried again later: the job goes on without the caller.
func (c *call) waitFor(ctx context.Context, owner yiku.Owner, session, id string) (*yiku.ExtractionReport, error) {
	bound, cancel := context.WithTimeout(ctx, c.settings.ExtractWait)
	defer cancel()
	for bound.Err() == nil {
		var job store.Job
		err := c.store.View(bound, func(r store.Reader) (err error) {
			job, err = r.Job(owner, id)
			return err
		})
		switch {
		case errors.Is(err, yiku.ErrNotFound), err == nil && job.State == yiku.JobParked:
			return c.reportOfJob(ctx, owner, session, id)
		case err == nil && job.Problem != "":
			return nil, nil
		case err == nil && job.NotBefore.After(c.Engine.now()):
			select {
			case <-bound.Done():
			case <-time.After(waitPoll):
			}
		case err == nil:
			err = jobs.RunOne(bound, c.store, handler{c.Engine}, job, &jobs.Options{Now: c.Engine.now, Log: c.log})
		}
		if err != nil && bound.Err() == nil {
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// reportOfJob puts together what a job has read, oldest first.
func (c *call) reportOfJob(ctx context.Context, owner yiku.Owner, session, id string) (*yiku.ExtractionReport, error) {
	report := yiku.ExtractionReport{SessionID: session, Job: id, Status: yiku.ExtractionNothing, Operations: []yiku.Operation{}, Parked: []yiku.ParkedOperation{}, CreatedAt: c.now}
	err := c.store.View(ctx, func(r store.Reader) error {
		if session != "" {
			if _, err := r.Session(owner, session); err != nil {
				return forgottenOn(err)
			}
		}
		rows, err := r.Extractions(owner, store.ExtractionQuery{Limit: 500})
		if err != nil {
			return err
		}
		for _, row := range slices.Backward(rows) {
			if row.Report.Job != id {
				continue
			}
			part := row.Report
			if part.Operations, err = operationsOf(r, owner, refsOf(part.Operations)); err != nil {
				return err
			}
			merge(&report, part)
		}
		return nil
	})
	return &report, err
}
