package servicetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

func keyGroups() []group {
	return []group{
		{"F3_KeyLife", keyLife},
		{"F3_KeyPages", keyPages},
		{"F3_KeyLimits", keyLimits},
		{"F3_Tokens", tokens},
	}
}

func (s *suite) key(req yiku.CreateKeyRequest) yiku.CreateKeyResponse {
	s.Helper()
	return must[yiku.CreateKeyResponse](s)(s.CreateKey(s.ctx, req))
}

// keyLife: F3, a key's secret is in the answer of its creation and nowhere
// else; a revoked key stays in the list.
func keyLife(s *suite) {
	expires := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	bound := s.key(yiku.CreateKeyRequest{Name: "手机 app", Access: yiku.AccessWrite, UserID: "王小明", ExpiresAt: expires})
	admin := s.key(yiku.CreateKeyRequest{Access: yiku.AccessAdmin})
	k := bound.Key
	if k.ID == "" || k.Name != "手机 app" || k.Access != yiku.AccessWrite || k.UserID != "王小明" || !k.ExpiresAt.Equal(expires) || k.CreatedAt.IsZero() || !k.RevokedAt.IsZero() {
		s.Errorf("created %+v", k)
	}
	if len(bound.Secret) < 40 || bound.Secret == admin.Secret || k.ID == admin.Key.ID || !strings.Contains(bound.Secret, k.ID) {
		s.Error("the secrets are not what they must be")
	}
	list := func() yiku.Page[yiku.Key] {
		return must[yiku.Page[yiku.Key]](s)(s.ListKeys(s.ctx, yiku.ListKeysRequest{}))
	}
	page := list()
	same(s, "list", []yiku.Key{k, admin.Key}, page.Items)
	if page.Total == nil || *page.Total != 2 || strings.Contains(fmt.Sprintf("%+v", page), bound.Secret[20:]) {
		s.Errorf("page %+v", page)
	}
	must[yiku.Empty](s)(s.RevokeKey(s.ctx, yiku.RevokeKeyRequest{ID: k.ID}))
	first := list().Items[0]
	if first.RevokedAt.IsZero() {
		s.Errorf("revoked %+v", first)
	}
	must[yiku.Empty](s)(s.RevokeKey(s.ctx, yiku.RevokeKeyRequest{ID: k.ID}))
	same(s, "revoked twice", []yiku.Key{first, admin.Key}, list().Items)
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.RevokeKey(s.ctx, yiku.RevokeKeyRequest{ID: "none"}))
}

func keyPages(s *suite) {
	for i := range 5 {
		s.key(yiku.CreateKeyRequest{Name: numbered("k", i), Access: yiku.AccessRead})
	}
	var got []string
	req := yiku.ListKeysRequest{Paging: yiku.Paging{Limit: 2}}
	for range 3 {
		page := must[yiku.Page[yiku.Key]](s)(s.ListKeys(s.ctx, req))
		if (page.Total != nil) != (req.Cursor == "") {
			s.Errorf("total %v after %q", page.Total, req.Cursor)
		}
		for _, k := range page.Items {
			got = append(got, k.Name)
		}
		req.Cursor = page.NextCursor
	}
	same(s, "keys", []string{"k-000", "k-001", "k-002", "k-003", "k-004"}, got)
	if req.Cursor != "" {
		s.Error("there is a page after the last")
	}
	names[yiku.Page[yiku.Key]](s, "cursor")(s.ListKeys(s.ctx, yiku.ListKeysRequest{Paging: yiku.Paging{Cursor: "x"}}))
}

func keyLimits(s *suite) {
	for field, req := range map[string]yiku.CreateKeyRequest{
		"access":     {Name: "no role"},
		"name":       {Name: strings.Repeat("名", 201), Access: yiku.AccessRead},
		"user_id":    {Access: yiku.AccessAdmin, UserID: "u"},
		"expires_at": {Access: yiku.AccessRead, ExpiresAt: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		names[yiku.CreateKeyResponse](s, field)(s.CreateKey(s.ctx, req))
	}
	names[yiku.CreateKeyResponse](s, "access")(s.CreateKey(s.ctx, yiku.CreateKeyRequest{Access: "root"}))
	names[yiku.CreateKeyResponse](s, "user_id")(s.CreateKey(s.ctx, yiku.CreateKeyRequest{Access: yiku.AccessRead, UserID: " u"}))
	if n := len(must[yiku.Page[yiku.Key]](s)(s.ListKeys(s.ctx, yiku.ListKeysRequest{})).Items); n != 0 {
		s.Errorf("%d keys were made", n)
	}
}

// tokens: F3, tokens name one user, live for a day at most, and cannot manage.
func tokens(s *suite) {
	short := must[yiku.CreateTokenResponse](s)(s.CreateToken(s.ctx, yiku.CreateTokenRequest{UserID: "王小明"}))
	long := must[yiku.CreateTokenResponse](s)(s.CreateToken(s.ctx, yiku.CreateTokenRequest{UserID: "王小明", Access: yiku.AccessWrite, TTLSeconds: yiku.MaxTokenSeconds}))
	if d := long.ExpiresAt.Sub(short.ExpiresAt); short.Token == "" || short.Token == long.Token || d < 85000*time.Second || d > 86000*time.Second {
		s.Errorf("the second token lives %v longer", d)
	}
	names[yiku.CreateTokenResponse](s, "user_id")(s.CreateToken(s.ctx, yiku.CreateTokenRequest{}))
	names[yiku.CreateTokenResponse](s, "access")(s.CreateToken(s.ctx, yiku.CreateTokenRequest{UserID: "u", Access: yiku.AccessAdmin}))
	for _, seconds := range []int{-1, yiku.MaxTokenSeconds + 1} {
		names[yiku.CreateTokenResponse](s, "ttl_seconds")(s.CreateToken(s.ctx, yiku.CreateTokenRequest{UserID: "u", TTLSeconds: seconds}))
	}
}
