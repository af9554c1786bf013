package extract

import (
	"strings"

	"github.com/yiku-ai/yiku"
)

// skillIn is the skill of an operation of that type. What a model leaves out is
// read from the content; steps may be a list, or a text that holds one.
func skillIn(m map[string]any, c Candidate) *yiku.Skill {
	if c.Type != yiku.TypeSkill {
		return nil
	}
	given, _ := m["skill"].(map[string]any)
	if given == nil {
		given = m
	}
	s := SkillOf(c.Content)
	if name := short(str(first(given, []string{"name", "title"})), maxSkillName); name != "" {
		s.Name = name
	}
	if situation := short(str(first(given, []string{"situation", "when", "trigger"})), 1000); situation != "" {
		s.Situation = situation
	}
	if steps := texts(given["steps"]); len(steps) > 0 {
		s.Steps = steps
	}
	return s
}

// texts are the texts of a list, or the steps of a text.
func texts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return Steps(str(v))
	}
	var out []string
	for _, e := range list {
		if s := short(str(e), maxStep); s != "" && len(out) < maxSteps {
			out = append(out, s)
		}
	}
	return out
}

// episodeIn is what an operation says of what happened; nil where nothing.
func episodeIn(m map[string]any) *yiku.Episode {
	given, ok := m["episode"].(map[string]any)
	if !ok {
		return nil
	}
	e := &yiku.Episode{From: moment(given["from"]), To: moment(given["to"])}
	if e.To.Before(e.From) {
		e.To = e.From
	}
	for _, name := range texts(given["participants"]) {
		if name = short(name, 256); name != "" {
			e.Participants = append(e.Participants, name)
		}
	}
	switch strings.ToLower(str(given["outcome"])) {
	case "success", "succeeded", "成功":
		e.Outcome = yiku.TaskSuccess
	case "failure", "failed", "失败":
		e.Outcome = yiku.TaskFailure
	}
	return e
}
