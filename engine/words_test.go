package engine_test

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// TestC8_WordsOfATenantAreItsOwn: what one tenant has set holds for it
// alone, now and when it is read anew.
func TestC8_WordsOfATenantAreItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	as := func(tenant string) yiku.Service {
		return b.As(yiku.Principal{Tenant: tenant, Access: yiku.AccessAdmin})
	}
	if _, err := as("acme").PatchSettings(t.Context(), yiku.PatchSettingsRequest{Attributes: yiku.Some("shoe_size! = 鞋码")}); err != nil {
		t.Fatal(err)
	}
	stand := func(tenant, user string) int {
		for _, name := range []string{"shoe_size", "鞋码"} {
			if _, err := as(tenant).SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: name + " " + user, Subject: "user", Attribute: name, Value: name}); err != nil {
				t.Fatal(err)
			}
		}
		page, err := as(tenant).ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	if own, other := stand("acme", "u"), stand("globex", "u"); own != 1 || other != 2 {
		t.Errorf("%d facts in the tenant that set it, %d in the other", own, other)
	}
	b.clock.Advance(time.Hour) // what was kept of it is read anew
	if own, other := stand("acme", "v"), stand("globex", "v"); own != 1 || other != 2 {
		t.Errorf("later: %d and %d", own, other)
	}
}
