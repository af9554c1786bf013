package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/store"
)

// tenantSettings is the name under which a tenant's settings are kept. They
// are one document: a further setting is a field of yiku.Settings, one of
// yiku.PatchSettingsRequest, and a line in patchSettings.
const tenantSettings = "tenant"

// settingsOf reads what a tenant has set; nothing is the zero value.
func settingsOf(r store.Reader, tenant string) (yiku.Settings, error) {
	var s yiku.Settings
	row, err := r.Setting(tenant, tenantSettings)
	if errors.Is(err, yiku.ErrNotFound) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(row.Body, &s)
	}
	s.Version, s.UpdatedAt = row.Version, row.UpdatedAt
	return s, err
}

func (c *call) getSettings(ctx context.Context, _ yiku.GetSettingsRequest) (s yiku.Settings, err error) {
	err = c.store.View(ctx, func(r store.Reader) error {
		s, err = settingsOf(r, c.principal.Tenant)
		return err
	})
	return s, err
}

// patchSettings merges into the tenant's settings, on the record of the audit log.
func (c *call) patchSettings(ctx context.Context, req yiku.PatchSettingsRequest) (s yiku.Settings, err error) {
	shared, err := yiku.SharedOwner(c.principal.Tenant)
	if err != nil {
		return s, err
	}
	if _, err := c.Engine.words.with(req.Attributes.Value); err != nil {
		return s, err
	}
	err = c.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		if s, err = settingsOf(tx, c.principal.Tenant); err != nil {
			return err
		}
		if err := ifMatch(req.IfMatch, s.ETag()); err != nil {
			return err
		}
		patchBudgets(&s.Budgets, req.Budgets)
		patchLayers(&s.Layers, req.Layers)
		if req.Attributes.Present {
			s.Attributes = req.Attributes.Value
		}
		if err := c.patchExperiments(&s.Experiments, req.Experiments); err != nil {
			return err
		}
		s.Version, s.UpdatedAt = 0, c.now
		body, err := json.Marshal(s)
		if err != nil {
			return err
		}
		row := store.Setting{Name: tenantSettings, Body: body, UpdatedAt: c.now}
		if err := tx.PutSetting(&row); err != nil {
			return err
		}
		s.Version, s.UpdatedAt = row.Version, row.UpdatedAt
		return c.auditKey(tx, shared, "patch_settings", c.newID())
	})
	c.ownWords.drop(c.principal.Tenant)
	return s, err
}

// patchBudgets applies a merge patch to budgets.
func patchBudgets(b *yiku.Budgets, patch yiku.Opt[yiku.Budgets]) {
	if patch.Null {
		*b = yiku.Budgets{}
		return
	}
	for _, f := range []struct{ have, new *yiku.Opt[int] }{
		{&b.DayCalls, &patch.Value.DayCalls}, {&b.DayTokens, &patch.Value.DayTokens},
		{&b.MonthCalls, &patch.Value.MonthCalls}, {&b.MonthTokens, &patch.Value.MonthTokens},
	} {
		mergeOpt(f.have, *f.new)
	}
}

// patchLayers applies a merge patch to layers.
func patchLayers(l *yiku.Layers, patch yiku.Opt[yiku.Layers]) {
	if patch.Null {
		*l = yiku.Layers{}
		return
	}
	have, wish := (&Layers{}).all(l), (&Layers{}).all(&patch.Value)
	for i := range have {
		mergeOpt(have[i].wish, *wish[i].wish)
	}
}

// mergeOpt applies one field of a merge patch.
func mergeOpt[T any](have *yiku.Opt[T], patch yiku.Opt[T]) {
	switch {
	case patch.Null:
		*have = yiku.Opt[T]{}
	case patch.Present:
		*have = patch
	}
}

// budgetOf is a tenant's budget: what it has set, and the server's for the rest.
func (e *Engine) budgetOf(r store.Reader, tenant string) (usage.Budget, error) {
	b := e.settings.Budget
	own, err := settingsOf(r, tenant)
	for _, f := range []struct {
		to  *int64
		own yiku.Opt[int]
	}{
		{&b.DayCalls, own.Budgets.DayCalls}, {&b.DayTokens, own.Budgets.DayTokens},
		{&b.MonthCalls, own.Budgets.MonthCalls}, {&b.MonthTokens, own.Budgets.MonthTokens},
	} {
		if f.own.Present {
			*f.to = int64(f.own.Value)
		}
	}
	return b, err
}
