package llm

import (
	"slices"
	"strings"
)

// Structure is how much is asked of an answer's form.
type Structure int

// The structures, from the most to the least.
const (
	BySchema Structure = iota // the endpoint keeps the request's schema
	AsObject                  // it keeps to JSON
	AsText                    // it keeps to nothing
)

func structureOf(name string) Structure {
	return Structure(max(slices.Index([]string{"json_schema", "json_object", "none"}, name), 0))
}

// Limit is by which name the length of an answer is bounded.
type Limit int

// The names, from the most widely known.
const (
	MaxTokens           Limit = iota // max_tokens
	MaxCompletionTokens              // max_completion_tokens, as models that think want it
	NoLimit                          // the endpoint's own
)

// Manner is how an endpoint takes requests for a model. The zero value is how
// most do; each field says what this one refuses. Structured output is a wish:
// whoever asks reads whatever comes.
type Manner struct {
	Structured Structure
	Limit      Limit
	Warm       bool // it takes no temperature: requests have none
	Stream     bool // it answers only in a stream of events
}

// after returns a plainer manner in which a request may be taken that was
// refused with these words; not ok is none. Each step takes something away, so
// that it comes to an end.
func (m Manner) after(said string, req Request) (plainer Manner, ok bool) {
	names := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	switch {
	case !m.Stream && names("stream"):
		m.Stream = true
	case m.Limit == MaxTokens && req.MaxTokens > 0 && names("max_completion_tokens"):
		m.Limit = MaxCompletionTokens
	case m.Limit != NoLimit && req.MaxTokens > 0 && names("max_tokens", "max_completion_tokens", "num_predict"):
		m.Limit = NoLimit
	case !m.Warm && names("temperature"):
		m.Warm = true
	case m.Structured != AsText && req.Schema != nil: // few say which part of a form they do not keep
		m.Structured++
	default:
		return m, false
	}
	return m, true
}

// and is what two manners refuse together.
func (m Manner) and(o Manner) Manner {
	return Manner{Structured: max(m.Structured, o.Structured), Limit: max(m.Limit, o.Limit), Warm: m.Warm || o.Warm, Stream: m.Stream || o.Stream}
}
