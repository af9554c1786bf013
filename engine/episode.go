package engine

import (
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/store"
)

// checkEpisode checks what a request says of what happened.
func checkEpisode(req yiku.SaveMemoryRequest) error {
	e := req.Episode
	switch {
	case e == nil:
		return nil
	case req.Type.Kind() != yiku.KindEpisodic:
		return yiku.Invalid("episode", "goes with the types event, task_result and summary")
	case !e.From.IsZero() && !e.To.IsZero() && e.To.Before(e.From):
		return yiku.Invalid("episode.to", "must not be before from")
	}
	return nil
}

// episodeOf is what a request says of what happened. A memory holds from when
// that began, where nothing else is said and it has begun.
func episodeOf(req yiku.SaveMemoryRequest, m *yiku.Memory) *yiku.Episode {
	e := yiku.Episode{}
	if req.Episode != nil {
		e = *req.Episode
	}
	for _, t := range []*time.Time{&e.From, &e.To} {
		*t = t.UTC()
	}
	if e.From.IsZero() {
		e.From = m.ValidFrom
	}
	if m.ValidFrom.IsZero() && !e.From.After(m.CreatedAt) {
		m.ValidFrom = e.From
	}
	return &e
}

// dressed gives a memory what its candidate says of its kind alone. What
// happened did so with those who spoke of it by name, where nobody else is named.
func (c *call) dressed(m store.Memory, candidate extract.Candidate, sources []store.Message) store.Memory {
	switch {
	case m.Kind == yiku.KindProcedural && candidate.Skill != nil:
		m.Skill = candidate.Skill
	case m.Kind == yiku.KindEpisodic:
		if e := candidate.Episode; e != nil {
			m.Episode.Participants, m.Episode.Outcome = e.Participants, e.Outcome
			if !e.From.IsZero() {
				m.Episode.From, m.Episode.To = e.From, e.To
			}
		}
		if len(m.Episode.Participants) == 0 {
			m.Episode.Participants = speakers(sources)
		}
	}
	return c.keyed(m)
}

// speakers are the names that messages give of who wrote them, each once.
func speakers(messages []store.Message) []string {
	var names []string
	for _, m := range messages {
		if m.Name != "" && m.Role != yiku.RoleTool && !slices.Contains(names, m.Name) && len(names) < maxParticipants {
			names = append(names, m.Name)
		}
	}
	return names
}

const maxParticipants = 64
