package engine

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/experiment"
	"github.com/yiku-ai/yiku/store"
)

// setup is how a user's reads are served: the layers that take part, and the
// variant of the experiment that runs, if one does.
type setup struct {
	layers  Layers
	variant yiku.Variant
}

// setup is that of a request: as it wishes, else as its user's variant says,
// else as its tenant has set, else as the server is configured (G3). The event
// names the variant.
func (c *call) setup(ctx context.Context, owner yiku.Owner, wish yiku.Layers) (s setup, err error) {
	var own yiku.Settings
	err = c.store.View(ctx, func(r store.Reader) (err error) {
		own, err = settingsOf(r, c.principal.Tenant)
		return err
	})
	if i := slices.IndexFunc(own.Experiments, func(e yiku.Experiment) bool { return e.Running }); i >= 0 {
		e := own.Experiments[i]
		s.variant = e.Variants[experiment.Assign(e.Salt, owner.User(), weightsOf(e))]
		c.event.Experiment, c.event.Variant = e.Name, s.variant.Name
	}
	s.layers = c.settings.Layers.with(own.Layers).with(s.variant.Layers).with(wish)
	return s, err
}

func weightsOf(e yiku.Experiment) []int {
	weights := make([]int, len(e.Variants))
	for i, v := range e.Variants {
		weights[i] = max(v.Weight, 1)
	}
	return weights
}

// maxExperiments is how many experiments a tenant's settings hold.
const maxExperiments = 16

// maxVariants is how many sides an experiment has at most.
const maxVariants = 8

var plainName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`) // stands in events, and names nobody

// patchExperiments replaces the list of experiments, checked as a whole. What
// starts gets its time and salt, what stops its time, and what goes on running
// stays as it is: users would change sides, or mean something else, unseen.
func (c *call) patchExperiments(have *[]yiku.Experiment, patch yiku.Opt[[]yiku.Experiment]) error {
	if !patch.Present {
		return nil
	}
	if len(patch.Value) > maxExperiments {
		return yiku.Invalid("experiments", "must be at most %d", maxExperiments)
	}
	names, running := map[string]bool{}, 0
	list := slices.Clone(patch.Value)
	for i := range list {
		e, field := &list[i], fmt.Sprintf("experiments[%d]", i)
		if names[e.Name] {
			return yiku.Invalid(field+".name", "is that of another experiment")
		}
		names[e.Name] = true
		if err := checkExperiment(*e, field); err != nil {
			return err
		}
		if e.Running {
			running++
		}
		before := slices.IndexFunc(*have, func(h yiku.Experiment) bool { return h.Name == e.Name })
		var old yiku.Experiment
		if before >= 0 {
			old = (*have)[before]
		}
		if err := c.carryOn(e, old, field); err != nil {
			return err
		}
	}
	if running > 1 {
		return yiku.Invalid("experiments", "one runs at a time: their effects could not be told apart")
	}
	*have = list
	return nil
}

// carryOn gives an experiment what the server knows of it.
func (c *call) carryOn(e *yiku.Experiment, old yiku.Experiment, field string) error {
	if e.Salt == "" {
		e.Salt = old.Salt
	}
	e.StartedAt, e.StoppedAt = old.StartedAt, old.StoppedAt
	switch {
	case e.Running && old.Running:
		if e.Salt != old.Salt || !reflect.DeepEqual(e.Variants, old.Variants) {
			return yiku.Invalid(field+".variants", "cannot change while the experiment runs; stop it, and start another")
		}
	case e.Running && !old.StartedAt.IsZero():
		return yiku.Invalid(field+".running", "it has run; start another of a new name, so that two times are not mixed")
	case e.Running:
		e.StartedAt, e.StoppedAt = c.now, time.Time{}
	case old.Running:
		e.StoppedAt = c.now
	}
	if e.Salt == "" {
		e.Salt = c.newID()
	}
	return nil
}

func checkExperiment(e yiku.Experiment, field string) error {
	if !plainName.MatchString(e.Name) {
		return yiku.Invalid(field+".name", "must be lower-case letters, digits, - and _")
	}
	if len(e.Variants) < 2 || len(e.Variants) > maxVariants {
		return yiku.Invalid(field+".variants", "must be two to %d", maxVariants)
	}
	seen := map[string]bool{}
	for i, v := range e.Variants {
		at := fmt.Sprintf("%s.variants[%d].name", field, i)
		if !plainName.MatchString(v.Name) {
			return yiku.Invalid(at, "must be lower-case letters, digits, - and _")
		}
		if seen[v.Name] {
			return yiku.Invalid(at, "is that of another variant")
		}
		seen[v.Name] = true
	}
	return nil
}
