package engine

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// The conditions that the engine itself puts on what is found, in the same
// closed filter language as the caller's.

func is(field string, op yiku.Op, value any) yiku.Filter {
	return yiku.Filter{Field: field, Op: op, Value: value}
}

func all(filters ...yiku.Filter) yiku.Filter { return yiku.Filter{And: filters} }

func either(filters ...yiku.Filter) yiku.Filter { return yiku.Filter{Or: filters} }

func absent(field string) yiku.Filter { return is(field, yiku.OpExists, false) }

// aMessage tells the two kinds of items apart: only messages have a role.
func aMessage() yiku.Filter { return is("role", yiku.OpExists, true) }

// inScope is what a query for (project, task, agent) sees (C16): of memories
// the shared ones of all agents or of this one, the user's, the project's and
// the task's; of messages those of sessions without a project, and the project's.
func inScope(project, task, agent string) yiku.Filter {
	sees := []yiku.Filter{
		is("level", yiku.OpEq, string(yiku.LevelUser)),
		all(is("level", yiku.OpEq, string(yiku.LevelShared)), either(absent("agent_id"), is("agent_id", yiku.OpEq, agent))),
		all(aMessage(), either(absent("project_id"), is("project_id", yiku.OpEq, project))),
	}
	if project != "" {
		sees = append(sees, all(is("level", yiku.OpEq, string(yiku.LevelProject)), is("project_id", yiku.OpEq, project)))
	}
	if task != "" {
		taskLevel := []yiku.Filter{is("level", yiku.OpEq, string(yiku.LevelTask)), is("task_id", yiku.OpEq, task)}
		if project != "" {
			taskLevel = append(taskLevel, either(absent("project_id"), is("project_id", yiku.OpEq, project)))
		} else {
			taskLevel = append(taskLevel, absent("project_id"))
		}
		sees = append(sees, all(taskLevel...))
	}
	return either(sees...)
}

// until is the condition that a time is absent or still to come.
func until(field string, now time.Time) yiku.Filter {
	return either(absent(field), is(field, yiku.OpGt, now))
}

// activeAt holds for memories that are the present truth: not expired, not over.
func activeAt(now time.Time) *yiku.Filter {
	f := all(until("expires_at", now), until("valid_to", now))
	return &f
}

// trueAt is what was true at a time (D9), or the present truth where the time
// is zero. Messages are true at any time after they were said.
func trueAt(asOf, now time.Time) yiku.Filter {
	if asOf.IsZero() {
		return either(aMessage(), all(is("status", yiku.OpEq, string(yiku.StatusActive)), is("valid_from", yiku.OpLte, now), *activeAt(now)))
	}
	return either(
		all(aMessage(), is("created_at", yiku.OpLte, asOf)),
		all(is("status", yiku.OpIn, []any{string(yiku.StatusActive), string(yiku.StatusSuperseded)}),
			is("valid_from", yiku.OpLte, asOf), until("valid_to", asOf), until("expires_at", now)))
}

// between keeps what was said or became true in [from, to).
func between(from, to time.Time) []yiku.Filter {
	var out []yiku.Filter
	for _, bound := range []struct {
		op yiku.Op
		at time.Time
	}{{yiku.OpGte, from}, {yiku.OpLt, to}} {
		if !bound.at.IsZero() {
			out = append(out, either(all(aMessage(), is("created_at", bound.op, bound.at)), is("valid_from", bound.op, bound.at)))
		}
	}
	return out
}

// oneOf keeps messages, and memories whose field has one of the values.
func oneOf[T ~string](field string, values []T) []yiku.Filter {
	if len(values) == 0 {
		return nil
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return []yiku.Filter{either(aMessage(), is(field, yiku.OpIn, list))}
}
