package wire_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// TestI4_ParametersSayWhatIsWrong: a parameter that cannot be read, or whose
// zero no caller means, says what it must be and never what it was.
func TestI4_ParametersSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	type request struct {
		Name  string   `json:"name" in:"query"`
		At    string   `json:"user_id" in:"query" maxLength:"256"`
		Flag  bool     `json:"flag,omitempty" in:"query"`
		Limit int      `json:"limit,omitempty" in:"query" minimum:"1"`
		Count int64    `json:"count,omitempty" in:"query"`
		Share *float64 `json:"share,omitempty" in:"query"`
		Rate  float64  `json:"rate,omitempty" in:"query" minimum:"0.5"`
	}
	byName := map[string]wire.Param{}
	for _, p := range wire.Params(reflect.TypeFor[request](), "GET") {
		byName[p.Name] = p
	}
	for _, c := range []struct{ name, text, wrong string }{
		{"name", "", "must not be empty"}, {"name", "梨", ""}, {"flag", "true", ""}, {"flag", "yes", "must be true or false"},
		{"limit", "3", ""}, {"limit", "0", "must be at least 1"}, {"limit", "秘密", "must be an integer"}, {"limit", "1.5", "must be an integer"},
		{"count", "0", ""}, {"count", "99999999999999999999", "must be an integer"},
		{"rate", "0", "must be at least 0.5"}, {"rate", "0.7", ""}, {"rate", "secret", "must be a number"},
	} {
		if _, got := byName[c.name].Parse(c.text); got != c.wrong {
			t.Errorf("%s=%q: %q, want %q", c.name, c.text, got, c.wrong)
		}
	}
	for kind, want := range map[reflect.Type]string{
		reflect.TypeFor[yiku.Opt[string]](): "a string or null", reflect.TypeFor[*float64](): "a number", reflect.TypeFor[yiku.Content](): "a string or an array of parts",
		reflect.TypeFor[[]string](): "an array", reflect.TypeFor[map[string]any](): "an object", reflect.TypeFor[request](): "an object", reflect.TypeFor[chan int](): "another value",
	} {
		if got := wire.Describe(kind); got != want {
			t.Errorf("%s is described as %q, want %q", kind, got, want)
		}
	}
	if got := len(wire.Fields(reflect.TypeFor[request]())); got != len(byName) {
		t.Errorf("%d fields, want %d", got, len(byName))
	}
	if !wire.IsID("session_id") || wire.IsID("content") {
		t.Error("ids are not told from other fields")
	}
}

// TestG1_WhoMayCall: each operation of the table is refused to a lower role,
// and those of a whole tenant to a credential of one user.
func TestG1_WhoMayCall(t *testing.T) {
	t.Parallel()
	roles := []yiku.Access{yiku.AccessRead, yiku.AccessWrite, yiku.AccessAdmin}
	for _, op := range wire.Operations() {
		for _, role := range roles {
			for _, user := range []string{"", "ann"} {
				err := op.Permits(yiku.Principal{Tenant: "acme", Access: role, User: user})
				may := role.Allows(op.Access) && (user == "" || op.Scope == wire.ScopeUser)
				if may != (err == nil) || !may && !errors.Is(err, yiku.ErrForbidden) {
					t.Errorf("%s as %s of %q: %v", op.ID, role, user, err)
				}
			}
		}
	}
}
