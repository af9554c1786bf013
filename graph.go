package yiku

import "time"

// EntityKind says what an entity is.
type EntityKind string

// The kinds.
const (
	EntityPerson       EntityKind = "person"
	EntityAnimal       EntityKind = "animal"
	EntityPlace        EntityKind = "place"
	EntityOrganisation EntityKind = "organisation"
	EntityProject      EntityKind = "project"
	EntityThing        EntityKind = "thing"
)

// Entity is somebody or something that a user's memories speak of, under all
// of its names (C14). Names that may be the same one, where that is not
// certain, stay entities of their own and name each other as candidates.
type Entity struct {
	ID         string     `json:"id"`
	Name       string     `json:"name" doc:"As it was written; the fullest one."`
	Kind       EntityKind `json:"kind" enum:"person,animal,place,organisation,project,thing" doc:"thing where nothing says what it is."`
	Self       bool       `json:"self,omitempty" doc:"It is the user."`
	Aliases    []string   `json:"aliases" doc:"Its other names, as they were written."`
	Candidates []string   `json:"candidates,omitempty" doc:"The ids of those whom a name of it may mean as well."`
	FirstSeen  time.Time  `json:"first_seen,omitzero"`
	LastSeen   time.Time  `json:"last_seen,omitzero"`
	Sources    []string   `json:"sources" doc:"The memories that speak of it; at most the newest 50."`
}

// EntityRef names an entity.
type EntityRef struct {
	ID   string     `json:"id"`
	Name string     `json:"name"`
	Kind EntityKind `json:"kind,omitempty" enum:"person,animal,place,organisation,project,thing"`
}

// Relation is what one memory says of an entity: it holds when and where the
// memory does.
type Relation struct {
	From       EntityRef  `json:"from"`
	Relation   string     `json:"relation" doc:"By the attribute vocabulary: wife and 妻子 are spouse."`
	To         *EntityRef `json:"to,omitempty" doc:"Absent where it leads to a value."`
	Value      string     `json:"value,omitempty" doc:"As it was written."`
	ValidFrom  time.Time  `json:"valid_from,omitzero"`
	ValidTo    time.Time  `json:"valid_to,omitzero"`
	RecordedAt time.Time  `json:"recorded_at"`
	Status     Status     `json:"status" enum:"active,superseded,stale,archived,quarantined"`
	MemoryID   string     `json:"memory_id" doc:"The memory that says it."`
	Sources    []string   `json:"sources" doc:"The messages that the memory came from."`
}

// ListEntitiesRequest lists entities, the newest first. The empty fields do
// not narrow the list; what is known of other projects is not looked at.
type ListEntitiesRequest struct {
	Paging
	UserID    string     `json:"user_id" in:"query" maxLength:"256"`
	ProjectID string     `json:"project_id,omitempty" in:"query" maxLength:"256"`
	TaskID    string     `json:"task_id,omitempty" in:"query" maxLength:"256"`
	AgentID   string     `json:"agent_id,omitempty" in:"query" maxLength:"256"`
	Kind      EntityKind `json:"kind,omitempty" in:"query" enum:"person,animal,place,organisation,project,thing"`
	Name      string     `json:"name,omitempty" in:"query" maxLength:"512" doc:"The one that has this name, in any of the ways to say it: my wife, 我老婆, Anna."`
}

// ListRelationsRequest lists relations, the newest first. The empty fields do
// not narrow the list, but for Status: absent means those that hold.
type ListRelationsRequest struct {
	Paging
	UserID    string `json:"user_id" in:"query" maxLength:"256"`
	ProjectID string `json:"project_id,omitempty" in:"query" maxLength:"256"`
	TaskID    string `json:"task_id,omitempty" in:"query" maxLength:"256"`
	AgentID   string `json:"agent_id,omitempty" in:"query" maxLength:"256"`
	EntityID  string `json:"entity_id,omitempty" in:"query" maxLength:"256" doc:"From or to this entity, under any of its names."`
	Relation  string `json:"relation,omitempty" in:"query" maxLength:"512" doc:"Exact, after the attribute vocabulary."`
	Status    Status `json:"status,omitempty" in:"query" enum:"active,superseded,stale,archived,quarantined"`
}

// QueryGraphRequest asks what lies around an entity.
type QueryGraphRequest struct {
	UserID    string    `json:"user_id" maxLength:"256"`
	ProjectID string    `json:"project_id,omitempty" maxLength:"256"`
	TaskID    string    `json:"task_id,omitempty" maxLength:"256"`
	AgentID   string    `json:"agent_id,omitempty" maxLength:"256"`
	Start     string    `json:"start,omitempty" minLength:"1" maxLength:"512" doc:"An entity's id or any name of it, such as my sister's husband or 我妹妹的老公; the user where absent."`
	Relation  string    `json:"relation,omitempty" minLength:"1" maxLength:"512" doc:"The relation that a path must end with; several with slashes between them are all of its steps, in order: sister/spouse/employer."`
	Hops      int       `json:"hops,omitempty" minimum:"1" maximum:"4" doc:"The longest path; where absent as many as relation has steps, or 2."`
	AsOf      time.Time `json:"as_of,omitzero" doc:"What was true then; the present truth where absent."`
	Limit     int       `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"At most this many paths; 20 where absent."`
}

// QueryGraphResponse gives the paths that were found, the shortest first.
type QueryGraphResponse struct {
	Start      *Entity     `json:"start,omitempty" doc:"Absent where nothing is known of it."`
	Candidates []Entity    `json:"candidates,omitempty" doc:"Whom the start may mean as well."`
	Paths      []GraphPath `json:"paths"`
	Memories   []Memory    `json:"memories" doc:"What proves them."`
	Truncated  bool        `json:"truncated" doc:"There was more than may be looked at or given."`
}

// GraphPath leads from the start to what was asked for, step by step.
type GraphPath struct {
	Steps []GraphStep `json:"steps"`
}

// GraphStep is one relation of a path. Reverse says that the memories state it
// the other way round.
type GraphStep struct {
	From      EntityRef  `json:"from"`
	Relation  string     `json:"relation"`
	Reverse   bool       `json:"reverse,omitempty"`
	To        *EntityRef `json:"to,omitempty"`
	Value     string     `json:"value,omitempty"`
	MemoryIDs []string   `json:"memory_ids"`
}
