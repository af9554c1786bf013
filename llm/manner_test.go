package llm

import (
	"encoding/json"
	"slices"
	"testing"
)

// manners are all that there are.
func manners() (all []Manner) {
	for structured := range AsText + 1 {
		for limit := range NoLimit + 1 {
			for _, warm := range []bool{false, true} {
				for _, stream := range []bool{false, true} {
					all = append(all, Manner{structured, limit, warm, stream})
				}
			}
		}
	}
	return all
}

// refuses says whether a manner refuses all that another one does.
func (m Manner) refuses(o Manner) bool { return m.and(o) == m }

// TestC4_MannersComeToAnEnd: whatever an endpoint says, each step refuses more
// than the one before, so that it comes to an end; it takes away nothing that
// the request did not ask for.
func TestC4_MannersComeToAnEnd(t *testing.T) {
	t.Parallel()
	bare := Request{}
	whole := Request{MaxTokens: 5, Schema: &Schema{Name: "s", JSON: json.RawMessage(`{}`)}}
	for _, said := range []string{"", "stream", "temperature", "max_tokens", "use max_completion_tokens", "num_predict", "stream temperature max_tokens"} {
		for _, m := range manners() {
			for _, req := range []Request{bare, whole} {
				plainer, ok := m.after(said, req)
				if ok == (plainer == m) || !plainer.refuses(m) {
					t.Errorf("%+v after %q: %+v, %v", m, said, plainer, ok)
				}
				if req.Schema == nil && plainer.Structured != m.Structured || req.MaxTokens == 0 && plainer.Limit != m.Limit {
					t.Errorf("%+v after %q gives up what was not asked for: %+v", m, said, plainer)
				}
			}
		}
	}
}

// TestC4_WhatWasLearntStays: of two requests that ran at once each keeps what
// the other has learnt.
func TestC4_WhatWasLearntStays(t *testing.T) {
	t.Parallel()
	for _, m := range manners() {
		for _, o := range manners() {
			both := m.and(o)
			if both != o.and(m) || !both.refuses(m) || !both.refuses(o) || !slices.Contains(manners(), both) ||
				both.Warm != (m.Warm || o.Warm) || both.Stream != (m.Stream || o.Stream) || both.Limit != max(m.Limit, o.Limit) || both.Structured != max(m.Structured, o.Structured) {
				t.Errorf("%+v and %+v: %+v", m, o, both)
			}
		}
	}
}
