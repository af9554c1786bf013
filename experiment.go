package yiku

import "time"

// Experiment compares variants of the tenant's settings (G3). A user sees one
// variant as long as it runs: which one is decided by a hash of salt and user,
// so that nothing is kept of anybody and experiments with different salts are
// independent of each other. One experiment runs at a time.
type Experiment struct {
	Name      string    `json:"name" minLength:"1" maxLength:"64" doc:"Lower-case letters, digits, - and _."`
	Salt      string    `json:"salt,omitempty" maxLength:"64" doc:"Made by the server where absent."`
	Running   bool      `json:"running,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero" doc:"Set by the server."`
	StoppedAt time.Time `json:"stopped_at,omitzero" doc:"Set by the server."`
	Variants  []Variant `json:"variants" doc:"At least two; the first is what the others are compared with."`
}

// Variant is one side of an experiment. What it leaves out is as the tenant and
// the server have it; a request has the last word.
type Variant struct {
	Name         string   `json:"name" minLength:"1" maxLength:"64" doc:"Lower-case letters, digits, - and _."`
	Weight       int      `json:"weight,omitempty" minimum:"0" maximum:"1000" doc:"Its share of the users, beside those of the others; 1 where absent."`
	Layers       Layers   `json:"layers,omitzero"`
	MaxItems     *int     `json:"max_items,omitempty" minimum:"0" maximum:"10" doc:"Of a context."`
	MemoryBudget *int     `json:"memory_budget,omitempty" minimum:"0" maximum:"1000000" doc:"Of a context, in tokens."`
	MinRelevance *float64 `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"Of a context."`
}
