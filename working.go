package yiku

import (
	"encoding/json"
	"strconv"
	"time"
)

// WorkingMemory is what an agent has on its workbench: it belongs to a task,
// or to a session where no task is named. An open task's working memory is
// carried into the owner's next session of the same project.
type WorkingMemory struct {
	TaskID      string           `json:"task_id,omitempty"`
	TaskState   map[string]any   `json:"task_state"`
	DataSlots   map[string]any   `json:"data_slots" doc:"Known facts: at most 64."`
	Preferences map[string]any   `json:"preferences" doc:"Temporary: they end with the session."`
	Todos       []any            `json:"todos" doc:"Strings or objects; the newest 10 are kept."`
	Blocks      map[string]Block `json:"blocks"`
	CarriedFrom string           `json:"carried_from,omitempty" doc:"The session that left it open, where it was carried over."`
	UpdatedAt   time.Time        `json:"updated_at,omitzero"`
	Version     int64            `json:"version" doc:"0: there is none yet."`
}

// ETag returns the working memory's version as an entity tag.
func (w WorkingMemory) ETag() string { return etag(w.Version) }

// Block is free text with a size limit.
type Block struct {
	Value    string `json:"value"`
	Limit    int    `json:"limit,omitempty" minimum:"1" maximum:"100000" doc:"In characters; 2,000 where absent."`
	ReadOnly bool   `json:"read_only,omitempty" doc:"Agents may read it; only PUT may change it."`
}

// Limits of working memory.
const (
	MaxTodos          = 10
	MaxDataSlots      = 64
	DefaultBlockLimit = 2000
	MaxWorkingBytes   = 256 << 10 // of all of it, as JSON
)

// GetWorkingRequest reads the working memory that a session sees.
type GetWorkingRequest struct {
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	TaskID    string `json:"task_id,omitempty" in:"query" maxLength:"256"`
}

// PutWorkingRequest replaces the working memory.
type PutWorkingRequest struct {
	Conditional
	SessionID   string           `json:"session_id" in:"path" maxLength:"256"`
	UserID      string           `json:"user_id" in:"query" maxLength:"256"`
	TaskID      string           `json:"task_id,omitempty" in:"query" maxLength:"256"`
	TaskState   map[string]any   `json:"task_state,omitempty"`
	DataSlots   map[string]any   `json:"data_slots,omitempty"`
	Preferences map[string]any   `json:"preferences,omitempty"`
	Todos       []any            `json:"todos,omitempty" maxItems:"1000"`
	Blocks      map[string]Block `json:"blocks,omitempty" maxItems:"64"`
}

// PatchWorkingRequest is a merge patch: objects merge key by key, null takes a
// key away, todos are replaced whole. A read-only block cannot be patched.
type PatchWorkingRequest struct {
	Conditional
	SessionID   string              `json:"session_id" in:"path" maxLength:"256"`
	UserID      string              `json:"user_id" in:"query" maxLength:"256"`
	TaskID      string              `json:"task_id,omitempty" in:"query" maxLength:"256"`
	TaskState   Opt[map[string]any] `json:"task_state,omitzero"`
	DataSlots   Opt[map[string]any] `json:"data_slots,omitzero"`
	Preferences Opt[map[string]any] `json:"preferences,omitzero"`
	Todos       Opt[[]any]          `json:"todos,omitzero"`
	Blocks      Opt[map[string]any] `json:"blocks,omitzero" doc:"Each a merge patch of {value, limit, read_only}."`
}

// DeleteWorkingRequest clears the working memory.
type DeleteWorkingRequest struct {
	Conditional
	SessionID string `json:"session_id" in:"path" maxLength:"256"`
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	TaskID    string `json:"task_id,omitempty" in:"query" maxLength:"256"`
}

// RawJSON is a JSON value kept as it came.
type RawJSON = json.RawMessage

func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }
