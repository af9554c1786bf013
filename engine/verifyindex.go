package engine

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/store"
)

const maxIndexFaults = 1000 // things that differ which an answer names

// verifyIndex compares what the index holds of each owner with the store, and
// where it is asked to replaces what differs.
func (c *call) verifyIndex(ctx context.Context, req yiku.VerifyIndexRequest) (yiku.VerifyIndexResponse, error) {
	res := yiku.VerifyIndexResponse{Items: []yiku.IndexFault{}}
	rebuilder, ok := c.index.(index.Rebuilder)
	if !ok {
		return res, yiku.Errorf(yiku.ErrUnsupported, "this index cannot be compared with the store")
	}
	err := c.eachToVerify(ctx, req.UserID, func(owner yiku.Owner) error {
		found, err := c.finder.verify(ctx, owner, rebuilder, req.Rebuild)
		if err != nil {
			return err
		}
		return c.noteVerified(ctx, owner, found, &res)
	})
	res.Clean = res.Faults == yiku.IndexFaults{}
	c.count("index_rebuilt", res.Rebuilt)
	return res, err
}

// eachToVerify calls do for one user, or for all owners of the tenant.
func (c *call) eachToVerify(ctx context.Context, user string, do func(yiku.Owner) error) error {
	if user != "" {
		owner, err := c.owner(user)
		if err != nil {
			return err
		}
		return do(owner)
	}
	for last := (yiku.Owner{}); ; {
		owners, err := c.store.Owners(ctx, last, tendOwners)
		if err != nil || len(owners) == 0 {
			return err
		}
		for _, owner := range owners {
			if owner.Tenant() != c.principal.Tenant {
				continue
			}
			if err := do(owner); err != nil {
				return err
			}
		}
		last = owners[len(owners)-1]
	}
}

// noteVerified adds what was found of an owner to the answer.
func (c *call) noteVerified(ctx context.Context, owner yiku.Owner, found verified, res *yiku.VerifyIndexResponse) error {
	if found.At == (index.Position{}) {
		res.Unloaded++
		return nil
	}
	res.Users++
	res.Documents += found.Documents
	res.Vectors += found.Vectors
	if found.rebuilt {
		res.Rebuilt++
	}
	if found.clean() {
		return nil
	}
	c.log.Warn("the index differs from the store", "differences", len(found.Differences), "rebuilt", found.rebuilt)
	if found.ahead {
		res.Faults.Position++
		res.Items = append(res.Items, yiku.IndexFault{UserID: owner.User(), Fault: faultPosition})
	}
	if found.Sums {
		res.Faults.Sums++
		res.Items = append(res.Items, yiku.IndexFault{UserID: owner.User(), Fault: faultSums})
	}
	counts := map[index.Fault]*int{index.FaultMissing: &res.Faults.Missing, index.FaultExtra: &res.Faults.Extra, index.FaultStale: &res.Faults.Stale, index.FaultVector: &res.Faults.Vector}
	for _, d := range found.Differences {
		*counts[d.Fault]++
	}
	room := max(0, maxIndexFaults-len(res.Items))
	named, err := c.nameFaults(ctx, owner, found.Differences[:min(room, len(found.Differences))])
	res.Items = append(res.Items, named...)
	res.Items = res.Items[:min(maxIndexFaults, len(res.Items))]
	return err
}

// nameFaults gives differences the ids by which callers know them.
func (c *call) nameFaults(ctx context.Context, owner yiku.Owner, differences []index.Difference) (out []yiku.IndexFault, err error) {
	keys := map[index.Kind][]int64{}
	for _, d := range differences {
		keys[d.Kind] = append(keys[d.Kind], d.Key)
	}
	names := map[index.Ref][2]string{}
	err = c.store.View(ctx, func(r store.Reader) error {
		memories, err := r.MemoriesByKey(owner, keys[index.Memory])
		if err != nil {
			return err
		}
		for _, m := range memories {
			names[index.Ref{Kind: index.Memory, Key: m.Key}] = [2]string{m.ID}
		}
		messages, err := r.MessagesByKey(owner, keys[index.Message])
		for _, m := range messages {
			names[index.Ref{Kind: index.Message, Key: m.Key}] = [2]string{m.ID, m.SessionID}
		}
		return err
	})
	for _, d := range differences {
		f := yiku.IndexFault{UserID: owner.User(), Fault: string(d.Fault), Kind: "memory", Row: d.Key, ID: names[d.Ref][0], SessionID: names[d.Ref][1]}
		if d.Kind == index.Message {
			f.Kind = "message"
		}
		out = append(out, f)
	}
	return out, err
}

// The faults of an owner as a whole.
const (
	faultPosition = "position"
	faultSums     = "sums"
)

// verified is what was found of an owner; At is zero where the index does not
// hold the owner.
type verified struct {
	index.Comparison
	ahead   bool // the index had followed more than the store holds
	rebuilt bool
}

func (v verified) clean() bool { return len(v.Differences) == 0 && !v.ahead && !v.Sums }

// verify builds an owner anew beside what the index holds and compares the
// two, at one and the same change. Only for the last changes and the
// comparison it takes the owner's gate: searches go on all the time, those
// excepted that need changes which came during the comparison.
func (f *finder) verify(ctx context.Context, owner yiku.Owner, rebuilder index.Rebuilder, rebuild bool) (out verified, err error) {
	if h, ok := f.index.(index.Holder); ok {
		defer h.Hold(owner)()
	}
	with, held, err := f.held(ctx, owner)
	if err != nil || !held {
		return out, err
	}
	spare, err := rebuilder.Rebuild(owner)
	if err != nil {
		return out, err
	}
	anew := func(ctx context.Context, _ yiku.Owner, b index.Batch) error { return spare.Apply(ctx, b) }
	at, err := f.fill(ctx, owner, anew, index.Position{}, with)
	if err != nil {
		return out, err
	}
	leave, err := f.enter(ctx, owner)
	if err != nil {
		return out, err
	}
	defer leave()
	for range syncAttempts {
		now, held, err := f.held(ctx, owner)
		if err != nil || !held || f.generation(now) != f.generation(with) {
			return verified{}, err // dropped, or about to be loaded with other vectors
		}
		level, ahead, err := f.level(ctx, owner, anew, &at, with)
		if err != nil {
			return out, err
		}
		if !level {
			continue
		}
		if out.Comparison, err = spare.Compare(ctx); err != nil || out.At == (index.Position{}) {
			return out, err
		}
		out.ahead = ahead
		if rebuild && !out.clean() {
			out.rebuilt, err = spare.Install(ctx)
		}
		return out, err
	}
	return out, yiku.Errorf(yiku.ErrUnavailable, "the index of a user is written to faster than it can be compared; try again")
}

// held reports whether the index holds an owner, with the vectors by which the
// owner is found; else it would be loaded anew for the next search.
func (f *finder) held(ctx context.Context, owner yiku.Owner) (with *embedding, held bool, err error) {
	state, _, err := f.behind(ctx, owner)
	if err != nil {
		return nil, false, err
	}
	at, err := f.index.Position(ctx, owner)
	with = f.answering(state)
	return with, at.Generation == f.generation(with), err
}

// level brings a copy, which stands at a position, and what the index holds to
// the same change of the store, and reports whether it did. Where the index is
// ahead of the store only the copy is brought up.
func (f *finder) level(ctx context.Context, owner yiku.Owner, anew apply, at *index.Position, with *embedding) (level, ahead bool, err error) {
	if *at, err = f.fill(ctx, owner, anew, *at, with); err != nil {
		return false, false, err
	}
	state, behind, err := f.behind(ctx, owner)
	if err != nil {
		return false, false, err
	}
	held, err := f.index.Position(ctx, owner)
	if err != nil || !behind && held.Seq > state.Seq {
		return err == nil && at.Seq == state.Seq, true, err
	}
	held, err = f.fill(ctx, owner, f.index.Apply, held, with)
	if errors.Is(err, index.ErrPosition) {
		return false, false, nil // dropped meanwhile: look again
	}
	return held == *at, false, err
}
