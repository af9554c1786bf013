package yiku

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
