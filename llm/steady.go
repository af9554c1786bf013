package llm

import "context"

// Steady is a model with patience around it; see [Patient].
type Steady struct {
	model   Model
	patient *Patient[Response]
}

// NewSteady puts patience around a model; nil is the default.
func NewSteady(model Model, patience *Patience) *Steady {
	return &Steady{model: model, patient: NewPatient[Response](patience)}
}

// Name is the model's own.
func (s *Steady) Name() string { return s.model.Name() }

// With is the same patience, with the same breaker, around what wrap makes of
// the model: what it adds happens at every attempt.
func (s *Steady) With(wrap func(Model) Model) Model {
	return &Steady{model: wrap(s.model), patient: s.patient}
}

// Open reports whether the breaker keeps calls away.
func (s *Steady) Open() bool { return s.patient.Open() }

// Complete asks the model, patiently.
func (s *Steady) Complete(ctx context.Context, req Request) (Response, error) {
	return s.patient.Ask(ctx, func(ctx context.Context) (Response, error) { return s.model.Complete(ctx, req) })
}
