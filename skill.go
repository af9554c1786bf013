package yiku

import "time"

// Episode is what a memory of what happened has of its own (C1). When it
// happened stands here; from when the memory holds stands in its ValidFrom.
type Episode struct {
	From         time.Time   `json:"from,omitzero" doc:"When it began."`
	To           time.Time   `json:"to,omitzero" doc:"When it ended."`
	Participants []string    `json:"participants,omitempty" maxItems:"64" doc:"With whom."`
	Outcome      TaskOutcome `json:"outcome,omitempty" enum:"success,failure"`
}

// Skill is what a memory of how something is done has of its own (C15). A
// skill is known by its name: within one scope there is one of a name.
type Skill struct {
	Name      string   `json:"name"`
	Situation string   `json:"situation,omitempty" doc:"When it applies."`
	Steps     []string `json:"steps"`
	Version   int64    `json:"version" doc:"1 for its first steps, one more for each change of them."`
	Successes int64    `json:"successes" doc:"How often these steps have worked."`
	Failures  int64    `json:"failures" doc:"How often they have not."`
}

// Reliability is how much a skill's outcomes speak for it: (s+1)/(s+f+2) after
// s successes and f failures (Laplace's rule of succession), so that a skill
// that was never tried has one half.
func (s Skill) Reliability() float64 {
	return float64(s.Successes+1) / float64(s.Successes+s.Failures+2)
}

// SaveSkillRequest saves a skill by its name: one that is not known yet is
// added, the same steps reinforce it, and other steps become its new version.
type SaveSkillRequest struct {
	Idempotent
	UserID     string   `json:"user_id" maxLength:"256"`
	ProjectID  string   `json:"project_id,omitempty" maxLength:"256"`
	TaskID     string   `json:"task_id,omitempty" maxLength:"256"`
	SessionID  string   `json:"session_id,omitempty" maxLength:"256" doc:"The session that it was saved in."`
	AgentID    string   `json:"agent_id,omitempty" maxLength:"256" doc:"With level shared: the one agent that it is for."`
	Name       string   `json:"name" minLength:"1" maxLength:"200"`
	Situation  string   `json:"situation,omitempty" maxLength:"1000" doc:"When it applies."`
	Steps      []string `json:"steps" minItems:"1" maxItems:"64" doc:"In their order, each of at most 256 characters."`
	Importance *float64 `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"0.5 where absent."`
	Level      Level    `json:"level,omitempty" enum:"shared,user,project,task" doc:"Where absent: task with a task_id, else project with a project_id, else user."`
	Topics     []string `json:"topics,omitempty" maxItems:"32"`
	Metadata   Metadata `json:"metadata,omitempty"`
	Origin     Origin   `json:"origin,omitempty" enum:"user,import,agent,tool,web" doc:"user where absent. What tools and web pages say waits for review."`
}

// ListSkillsRequest lists skills as memories, newest first: a user's, and with
// level shared those of all. The empty fields do not narrow the list, but for
// Status: absent means active.
type ListSkillsRequest struct {
	Paging
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	ProjectID string `json:"project_id,omitempty" in:"query" maxLength:"256"`
	Level     Level  `json:"level,omitempty" in:"query" enum:"shared,user,project,task"`
	Status    Status `json:"status,omitempty" in:"query" enum:"active,superseded,stale,archived,quarantined"`
}

// SkillOutcomeRequest says that a skill was followed, and whether it worked.
type SkillOutcomeRequest struct {
	Idempotent
	ID      string `json:"id" in:"path" maxLength:"256"`
	UserID  string `json:"user_id" maxLength:"256"`
	Success *bool  `json:"success" doc:"Whether it worked."`
}
