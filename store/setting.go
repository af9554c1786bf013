package store

import "time"

// Setting is a named value that a tenant has set. Body is sealed.
type Setting struct {
	Name      string // of a closed list in the code
	Body      []byte
	Version   int64 // counted up by each write; set by the store
	UpdatedAt time.Time
}

// SettingReader is what a Reader adds to read settings.
type SettingReader interface {
	// Setting returns a tenant's setting.
	Setting(tenant, name string) (Setting, error)
}

// SettingWriter is what a Tx adds to write them.
type SettingWriter interface {
	// PutSetting adds or replaces a setting of the tenant of the Tx's owner,
	// usually the tenant's shared one, and sets its Version.
	PutSetting(s *Setting) error
}
