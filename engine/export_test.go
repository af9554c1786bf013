package engine

import "github.com/yiku-ai/yiku/internal/jobs"

// Handler is what runs an engine's jobs, for tests that deliver them themselves.
func (e *Engine) Handler() jobs.Handler { return handler{e} }
