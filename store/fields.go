package store

import (
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// MemoryFields gives a memory's filter fields, as yiku.FilterFields names
// them. What is empty or zero is absent, but for numbers and pinned, which
// always have a value.
func MemoryFields(m yiku.Memory) yiku.Fields {
	return func(field string) (any, bool) {
		switch field {
		case "id":
			return text(m.ID)
		case "kind":
			return text(string(m.Kind))
		case "type":
			return text(string(m.Type))
		case "level":
			return text(string(m.Level))
		case "status":
			return text(string(m.Status))
		case "project_id":
			return text(m.ProjectID)
		case "task_id":
			return text(m.TaskID)
		case "session_id":
			return text(m.SessionID)
		case "agent_id":
			return text(m.AgentID)
		case "subject":
			return text(m.Subject)
		case "attribute":
			return text(m.Attribute)
		case "value":
			return text(m.Value)
		case "content":
			return text(m.Content)
		case "origin":
			return text(string(m.Origin))
		}
		return memoryValue(m, field)
	}
}

func memoryValue(m yiku.Memory, field string) (any, bool) {
	switch field {
	case "topics":
		return m.Topics, len(m.Topics) > 0
	case "pinned":
		return m.Pinned, true
	case "importance":
		return m.Importance, true
	case "confidence":
		return m.Confidence, true
	case "trust":
		return m.Trust, true
	case "created_at":
		return instant(m.CreatedAt)
	case "updated_at":
		return instant(m.UpdatedAt)
	case "valid_from":
		return instant(m.ValidFrom)
	case "valid_to":
		return instant(m.ValidTo)
	case "expires_at":
		return instant(m.ExpiresAt)
	}
	return metadata(m.Metadata, field)
}

// MessageFields gives the filter fields of a message in its session. Its kind
// is episodic, as that of everything that happened; it has no type, level or
// status.
func MessageFields(m yiku.Message, s yiku.Session) yiku.Fields {
	return func(field string) (any, bool) {
		switch field {
		case "id":
			return text(m.ID)
		case "kind":
			return text(string(yiku.KindEpisodic))
		case "project_id":
			return text(s.ProjectID)
		case "task_id":
			return text(m.TaskID)
		case "session_id":
			return text(s.ID)
		case "agent_id":
			return text(s.AgentID)
		case "content":
			return text(m.Content.PlainText())
		case "role":
			return text(string(m.Role))
		case "name":
			return text(m.Name)
		case "origin":
			return text(string(m.Origin))
		case "pinned":
			return m.Pinned, true
		case "trust":
			return m.Origin.Trust(), m.Origin != ""
		case "created_at":
			return instant(m.CreatedAt)
		}
		return metadata(m.Metadata, field)
	}
}

func text(s string) (any, bool) { return s, s != "" }

func instant(t time.Time) (any, bool) { return t, !t.IsZero() }

func metadata(m yiku.Metadata, field string) (any, bool) {
	key, ok := strings.CutPrefix(field, "metadata.")
	if !ok {
		return nil, false
	}
	v, ok := m[key]
	return v, ok && v != nil
}
