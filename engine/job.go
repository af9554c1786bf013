package engine

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
)

// kindExtract is the kind of job that reads a session.
const kindExtract = "extract"

// extractArgs are the arguments of a job that reads a session.
type extractArgs struct {
	SessionID string `json:"id"`
	Now       bool   `json:"now,omitempty"`  // do not wait until the conversation pauses
	From      int64  `json:"from,omitempty"` // a range that was parked; else from the cursor on
	To        int64  `json:"to,omitempty"`
}

func (a extractArgs) stretch(session int64) stretch {
	s := stretch{session: session, upTo: a.To}
	if a.From > 0 {
		s.after = a.From - 1
	}
	return s
}

// StartJobs starts to run the jobs that calls have promised, until the runner
// is stopped. Without a model jobs wait for nothing, and one core stays free of
// them for what callers wait for.
func (e *Engine) StartJobs(options *jobs.Options) *jobs.Runner {
	var o jobs.Options
	if options != nil {
		o = *options
	}
	if o.Now == nil {
		o.Now = e.now
	}
	if o.Workers == 0 && e.model == nil {
		o.Workers = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return jobs.Start(e.store, handler{e}, &o)
}

// RunJobs runs the jobs that are due, one after the other, until none is.
func (e *Engine) RunJobs(ctx context.Context) error {
	return jobs.Drain(ctx, e.store, handler{e}, &jobs.Options{Now: e.now})
}

// handler does the jobs of an engine.
type handler struct {
	engine *Engine
}

// Do runs a job.
func (h handler) Do(ctx context.Context, job store.Job) error {
	if job.Kind == kindEmbed && h.engine.embedding != nil {
		return h.embed(ctx, job)
	}
	var args extractArgs
	if err := json.Unmarshal(job.Arguments, &args); err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the arguments cannot be read")
	}
	var c *call
	var report yiku.ExtractionReport
	var err error
	switch job.Kind {
	case kindExtract:
		c = h.engine.inBackground(job.Owner, "extract_session")
		report, err = c.extractJob(ctx, job, args)
	case kindSummarize:
		c = h.engine.inBackground(job.Owner, "summarize")
		err = c.summarizeJob(ctx, job, c.summarizerFor(job.Owner))
	default:
		return yiku.Errorf(yiku.ErrUnsupported, "there is no such kind of job")
	}
	c.event.Session = args.SessionID
	if errors.Is(err, llm.ErrBudget) { // rules read it now, rather than nobody until there is a budget again
		err = jobs.Final{Err: err}
	}
	var snooze jobs.Snooze
	if errors.As(err, &snooze) {
		return err
	}
	c.count("operations", len(report.Operations))
	c.count("parked", len(report.Parked))
	c.event.Duration, c.event.Outcome = h.engine.now().Sub(c.now), outcome(err)
	h.engine.sink.Record(ctx, *c.event)
	if errors.Is(err, yiku.ErrNotFound) || errors.Is(err, yiku.ErrConsentWithdrawn) { // the session is gone, or nothing may be learnt
		return c.dropJob(ctx, job.Owner, job, err)
	}
	return err
}

// embed gives an owner's items their vectors.
func (h handler) embed(ctx context.Context, job store.Job) error {
	var args embedArgs
	if err := json.Unmarshal(job.Arguments, &args); err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the arguments cannot be read")
	}
	c := h.engine.inBackground(job.Owner, "embed")
	err := c.embedJob(ctx, job, args)
	c.event.Duration, c.event.Outcome = h.engine.now().Sub(c.now), outcome(err)
	h.engine.sink.Record(ctx, *c.event)
	return err
}

// inBackground is a call that nobody made.
func (e *Engine) inBackground(owner yiku.Owner, operation string) *call {
	c := &call{Engine: e, principal: yiku.Principal{Tenant: owner.Tenant(), Access: yiku.AccessAdmin}, now: e.now().UTC()}
	c.words = e.wordsOf(owner.Tenant(), c.now)
	c.event = &observe.Event{Time: c.now, Layer: "jobs", Operation: operation, Tenant: owner.Tenant(), User: owner.User()}
	return c
}

// extractJob reads a session, unless the conversation goes on and little is unread.
func (c *call) extractJob(ctx context.Context, job store.Job, args extractArgs) (yiku.ExtractionReport, error) {
	var session store.Session
	err := c.store.View(ctx, func(r store.Reader) (err error) {
		if _, err = r.Job(job.Owner, job.ID); err != nil { // done already
			return err
		}
		session, err = r.SessionByKey(job.Owner, job.SessionKey)
		return err
	})
	if err != nil {
		return yiku.ExtractionReport{}, err
	}
	pause := session.LastMessageAt.Add(c.settings.ExtractIdle)
	if !args.Now && session.EndedAt.IsZero() && session.Unread < c.settings.ExtractTokens && pause.After(c.now) {
		return yiku.ExtractionReport{}, jobs.Snooze{Until: pause}
	}
	return c.readStretch(ctx, job.Owner, args.stretch(job.SessionKey), &job)
}

// Park ends a job whose model failed for good: rules read what it was to read,
// and say so; the cursor moves behind it, so that what is said later is read,
// and a parked job stays by which the model can be asked again.
func (h handler) Park(ctx context.Context, job store.Job, cause error) (stays bool, err error) {
	if job.Kind == kindSummarize { // sentences are chosen then: that needs nobody
		err := h.engine.inBackground(job.Owner, "park_job").summarizeJob(ctx, job, summary.Extractive{})
		return false, err
	}
	var args extractArgs
	if job.Kind != kindExtract || json.Unmarshal(job.Arguments, &args) != nil || args.To != 0 {
		return true, nil
	}
	c := h.engine.inBackground(job.Owner, "park_job")
	err = c.parkExcerpt(ctx, job, args.stretch(job.SessionKey), cause)
	switch {
	case errors.Is(err, errStale): // something was forgotten meanwhile: begin again
		job.State, job.NotBefore = yiku.JobWaiting, c.now
		return false, c.store.Update(ctx, job.Owner, store.Maintenance, func(tx store.Tx) error { return unlessGone(tx.PutJob(&job)) })
	case errors.Is(err, yiku.ErrNotFound), errors.Is(err, yiku.ErrConsentWithdrawn):
		return false, c.dropJob(ctx, job.Owner, job, err)
	}
	return false, err
}

// parkExcerpt ends the next excerpt of a job without the model.
func (c *call) parkExcerpt(ctx context.Context, job store.Job, s stretch, cause error) error {
	x, err := c.excerpt(ctx, job.Owner, s)
	if err != nil {
		return err
	}
	if len(x.messages) == x.fresh {
		return c.endJob(ctx, job.Owner, s, &job)
	}
	found := c.readByRules(ctx, job.Owner, x)
	if errors.Is(cause, llm.ErrBudget) {
		found.Degraded = append(found.Degraded, degradedBudget)
	}
	_, err = c.applyExcerpt(ctx, job.Owner, x, found, false, func(tx store.Tx, session store.Session, report yiku.ExtractionReport) error {
		if err := c.parkRange(tx, job, x, job.Problem); err != nil {
			return err
		}
		standIn := store.Spending{Day: usage.Day(c.now), Operation: kindExtract, Path: pathRules, Spent: store.Spent{Calls: int64(len(x.windows))}}
		if err := tx.Spend(standIn); err != nil {
			return err
		}
		if err := c.closeExcerpt(tx, job.Owner, session, x, report, &job); err != nil || !x.more {
			return err
		}
		job.State, job.Attempts, job.NotBefore = yiku.JobWaiting, 0, c.now // for what lies behind
		return tx.PutJob(&job)
	})
	return err
}

// readByRules reads what no model could. Rules that fail on it as well, and be
// it by a panic, find nothing in it: then only the parked job says that it is
// unread.
func (c *call) readByRules(ctx context.Context, owner yiku.Owner, x excerpt) (found extract.Result) {
	nothing := extract.Result{Path: extract.PathRules, Degraded: []string{degradedModel}}
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("rules panicked", "session", x.session.ID, "stack", string(debug.Stack()))
			found = nothing
		}
	}()
	found, err := c.extractWindows(ctx, owner, c.rules, x)
	if err != nil {
		return nothing
	}
	found.Degraded = nothing.Degraded
	return found
}

// parkRange leaves a parked job for one excerpt.
func (c *call) parkRange(tx store.Tx, job store.Job, x excerpt, problem string) error {
	args, err := json.Marshal(extractArgs{SessionID: x.session.ID, Now: true, From: x.messages[x.fresh].Key, To: x.to()})
	if err != nil {
		return err
	}
	parked := store.Job{ID: c.newID(), Kind: kindExtract, SessionKey: x.session.Key, Epoch: x.epoch, NotBefore: c.now, CreatedAt: c.now, Arguments: args}
	if _, err := tx.Enqueue(&parked); err != nil {
		return err
	}
	parked.State, parked.Attempts, parked.Problem = yiku.JobParked, job.Attempts, problem
	return tx.PutJob(&parked)
}

// promiseExtraction queues the reading of what a session holds beyond its cursor, at
// most once while it waits. now: as soon as can be; else when it pauses.
func (c *call) promiseExtraction(tx store.Tx, owner yiku.Owner, session store.Session, now bool) (string, error) {
	state, err := tx.Owner(owner)
	if err != nil {
		return "", err
	}
	args, err := json.Marshal(extractArgs{SessionID: session.ID, Now: now})
	if err != nil {
		return "", err
	}
	unique, at := mark("extract", session.ID), c.now.Add(c.settings.ExtractIdle)
	if now {
		unique, at = mark("extract now", session.ID), c.now
	}
	return tx.Enqueue(&store.Job{ID: c.newID(), Kind: kindExtract, Unique: unique, SessionKey: session.Key, Epoch: state.Epoch, NotBefore: at, Arguments: args, CreatedAt: c.now})
}

// jobPlaceOf is a job's place in a list.
func jobPlaceOf(j store.Job) store.JobPlace { return store.JobPlace{CreatedAt: j.CreatedAt, ID: j.ID} }

// listJobs lists the tenant's jobs.
func (c *call) listJobs(ctx context.Context, req yiku.ListJobsRequest) (yiku.Page[yiku.Job], error) {
	var page yiku.Page[yiku.Job]
	scope := []string{string(req.State)}
	query := store.JobQuery{State: req.State, Limit: limitOf(req.Paging) + 1}
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.After, scope); err != nil {
			return page, err
		}
	}
	err := c.store.View(ctx, func(r store.Reader) error {
		rows, err := r.Jobs(c.principal.Tenant, query)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(j store.Job) any { return jobPlaceOf(j) })
		if err != nil {
			return err
		}
		for _, j := range rows {
			page.Items = append(page.Items, jobOf(j))
		}
		if req.Cursor == "" {
			total, err := r.CountJobs(c.principal.Tenant, query)
			page.Total = &total
			return err
		}
		return nil
	})
	return page, err
}

func jobOf(j store.Job) yiku.Job {
	return yiku.Job{ID: j.ID, Kind: j.Kind, UserID: j.Owner.User(), State: j.State, Attempts: j.Attempts, NotBefore: j.NotBefore, CreatedAt: j.CreatedAt, Problem: j.Problem}
}

// replayJob lets a parked job run again. One that waits stays as it is: it may
// be running, and whoever runs it holds it by its attempts and its time.
func (c *call) replayJob(ctx context.Context, req yiku.ReplayJobRequest) (yiku.Job, error) {
	job, err := c.jobByID(ctx, req.ID)
	if err != nil {
		return yiku.Job{}, err
	}
	err = c.store.Update(ctx, job.Owner, store.Request, func(tx store.Tx) error {
		if job, err = tx.Job(job.Owner, req.ID); err != nil {
			return err
		}
		if job.State != yiku.JobParked {
			return nil
		}
		job.State, job.Attempts, job.NotBefore, job.Problem = yiku.JobWaiting, 0, c.now, ""
		return tx.PutJob(&job)
	})
	return jobOf(job), err
}

// jobByID finds a job of the tenant.
func (c *call) jobByID(ctx context.Context, id string) (job store.Job, err error) {
	err = c.store.View(ctx, func(r store.Reader) error {
		query := store.JobQuery{Limit: 500}
		for {
			rows, err := r.Jobs(c.principal.Tenant, query)
			if err != nil {
				return err
			}
			for _, j := range rows {
				if j.ID == id {
					job = j
					return nil
				}
			}
			if len(rows) < query.Limit {
				return yiku.Errorf(yiku.ErrNotFound, "there is no such job")
			}
			query.After = jobPlaceOf(rows[len(rows)-1])
		}
	})
	return job, err
}
