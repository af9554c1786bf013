package yiku

import "time"

// Settings are what a tenant has set for itself; what is absent is as the
// server's configuration says.
type Settings struct {
	Budgets Budgets `json:"budgets,omitzero"`
	Layers  Layers  `json:"layers,omitzero" doc:"Which layers take part where a request does not say (G3)."`
	// Experiments are those that run, ran and are to run.
	Experiments []Experiment `json:"experiments,omitempty"`
	// Attributes are entries beside the server's, such as
	// "car_plate! = plate, 车牌; team = squad" (C8).
	Attributes string    `json:"attributes,omitempty" doc:"Names of attributes beside the server's: the name, ! where there is one value at a time, and its other names. They hold for what is saved from then on."`
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
	Version    int64     `json:"version" doc:"0 where nothing was ever set."`
}

// ETag returns the version as an entity tag.
func (s Settings) ETag() string { return etag(s.Version) }

// Budgets bound the tenant's model calls by the day and the month of UTC (G6);
// 0 is no bound.
type Budgets struct {
	DayCalls    Opt[int] `json:"day_calls,omitzero" minimum:"0" doc:"Each attempt counts. null: as the server says."`
	DayTokens   Opt[int] `json:"day_tokens,omitzero" minimum:"0" doc:"Of prompts and answers."`
	MonthCalls  Opt[int] `json:"month_calls,omitzero" minimum:"0"`
	MonthTokens Opt[int] `json:"month_tokens,omitzero" minimum:"0"`
}

// IsZero reports whether nothing is set.
func (b Budgets) IsZero() bool { return b == Budgets{} }

// GetSettingsRequest reads the tenant's settings.
type GetSettingsRequest struct{}

// PatchSettingsRequest changes the tenant's settings by a merge patch: null
// gives a setting back to the server's configuration.
type PatchSettingsRequest struct {
	Conditional
	Budgets     Opt[Budgets]      `json:"budgets,omitzero"`
	Layers      Opt[Layers]       `json:"layers,omitzero"`
	Attributes  Opt[string]       `json:"attributes,omitzero" maxLength:"8192" doc:"Entries such as car_plate! = plate, 车牌; team = squad. null: none beside the server's."`
	Experiments Opt[[]Experiment] `json:"experiments,omitzero" doc:"The whole list, at most 16; null takes all away. One runs at a time."`
}
