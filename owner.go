package yiku

import (
	"unicode"
	"unicode/utf8"
)

// Owner is whose data a call is about: one user of one tenant, or the tenant
// itself (shared memories). It is opaque, so that no query can be written
// without one: only [NewOwner] and [SharedOwner] make a usable value. The zero
// Owner is refused by every store and index.
type Owner struct{ tenant, user string }

// NewOwner returns the owner of one user's data. It fails with ErrInvalid
// where an id breaks the rule of [CheckID].
func NewOwner(tenant, user string) (Owner, error) {
	if err := CheckID("tenant", tenant); err != nil {
		return Owner{}, err
	}
	if err := CheckID("user_id", user); err != nil {
		return Owner{}, err
	}
	return Owner{tenant: tenant, user: user}, nil
}

// SharedOwner returns the owner of what a tenant's users share.
func SharedOwner(tenant string) (Owner, error) {
	if err := CheckID("tenant", tenant); err != nil {
		return Owner{}, err
	}
	return Owner{tenant: tenant}, nil
}

// Tenant returns the tenant's id.
func (o Owner) Tenant() string { return o.tenant }

// User returns the user's id; it is empty for the tenant's shared owner.
func (o Owner) User() string { return o.user }

// IsShared reports whether this is a tenant's shared owner.
func (o Owner) IsShared() bool { return o.tenant != "" && o.user == "" }

// IsZero reports whether the owner was not made by a constructor.
func (o Owner) IsZero() bool { return o.tenant == "" }

// MaxIDRunes is the longest id that a caller may choose, in code points.
const MaxIDRunes = 256

// CheckID reports, as an ErrInvalid naming field, why s cannot be an id that a
// caller chooses: 1 to 256 printable code points, valid UTF-8, no blanks at
// the ends.
func CheckID(field, s string) error {
	switch {
	case s == "":
		return Invalid(field, "must not be empty")
	case !utf8.ValidString(s):
		return Invalid(field, "must be valid UTF-8")
	case utf8.RuneCountInString(s) > MaxIDRunes:
		return Invalid(field, "must have at most %d characters", MaxIDRunes)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return Invalid(field, "must hold printable characters only")
		}
	}
	if s[0] == ' ' || s[len(s)-1] == ' ' {
		return Invalid(field, "must not begin or end with a blank")
	}
	return nil
}

// Access is what a credential may do. Each role includes those before it.
type Access string

// The roles of credentials.
const (
	AccessRead  Access = "read"
	AccessWrite Access = "write"
	AccessAdmin Access = "admin"
)

// Allows reports whether a credential with access a may do what needs want.
func (a Access) Allows(want Access) bool {
	rank := map[Access]int{AccessRead: 1, AccessWrite: 2, AccessAdmin: 3}
	return rank[a] >= rank[want] && rank[want] > 0
}

// Principal is the caller as its credential says: the tenant never comes from
// a request's body.
type Principal struct {
	Tenant string
	Access Access
	User   string // if set, the only user this credential may speak for
	Key    string // the id of the API key behind the credential; empty where there is none
}
