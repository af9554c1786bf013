package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// TestF3_KeysOfOneTenant: an admin sees and revokes keys of its own tenant
// only, a credential of one user none, whatever its role says.
func TestF3_KeysOfOneTenant(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	as := func(p yiku.Principal) yiku.Service { return b.As(p) }
	acme, globex := as(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin}), as(yiku.Principal{Tenant: "globex", Access: yiku.AccessAdmin})
	made, err := acme.CreateKey(t.Context(), yiku.CreateKeyRequest{Access: yiku.AccessRead})
	if err != nil {
		t.Fatal(err)
	}
	page, err := globex.ListKeys(t.Context(), yiku.ListKeysRequest{})
	if err != nil || len(page.Items) != 0 || *page.Total != 0 {
		t.Errorf("another tenant sees %+v, %v", page, err)
	}
	_, foreign := globex.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: made.Key.ID})
	_, absent := globex.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: "none"})
	if !errors.Is(foreign, yiku.ErrNotFound) || fmt.Sprint(foreign) != fmt.Sprint(absent) {
		t.Errorf("foreign %v, absent %v", foreign, absent)
	}
	for _, p := range []yiku.Principal{
		{Tenant: "acme", Access: yiku.AccessAdmin, User: "ann"}, {Tenant: "acme", Access: yiku.AccessWrite}, {Tenant: "acme"},
	} {
		s := as(p)
		_, e1 := s.CreateKey(t.Context(), yiku.CreateKeyRequest{Access: yiku.AccessRead})
		_, e2 := s.ListKeys(t.Context(), yiku.ListKeysRequest{})
		_, e3 := s.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: made.Key.ID})
		_, e4 := s.CreateToken(t.Context(), yiku.CreateTokenRequest{UserID: "ann"})
		for i, err := range []error{e1, e2, e3, e4} {
			if !errors.Is(err, yiku.ErrForbidden) {
				t.Errorf("%+v, operation %d: %v", p, i, err)
			}
		}
	}
}

// TestE8_KeysAreAudited: making and revoking a key stand in the audit log, with
// who did it and without the secret; what was refused does not.
func TestE8_KeysAreAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin, Key: "BOSS"})
	made, err := s.CreateKey(t.Context(), yiku.CreateKeyRequest{Access: yiku.AccessRead, Name: "CANARY", UserID: "CANARY"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: "none"}); !errors.Is(err, yiku.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := s.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: made.Key.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateToken(t.Context(), yiku.CreateTokenRequest{UserID: "CANARY"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	err = b.store.View(t.Context(), func(r store.Reader) error {
		entries, err := r.AuditEntries(0, 10)
		for _, e := range entries {
			got = append(got, fmt.Sprint(e.Actor, " ", e.Action, " ", e.Ref == made.Key.ID || e.Ref == "BOSS"))
			if text := fmt.Sprintf("%+v", e); strings.Contains(text, made.Secret[20:]) || strings.Contains(text, "CANARY") {
				t.Errorf("%s holds content", e.Action)
			}
		}
		return err
	})
	if want := "[admin BOSS create_key true admin BOSS revoke_key true admin BOSS create_token true]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	if audit, err := s.VerifyAudit(t.Context(), yiku.VerifyAuditRequest{}); err != nil || !audit.Valid || audit.Entries != 3 {
		t.Errorf("%+v, %v", audit, err)
	}
}
