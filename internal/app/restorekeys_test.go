package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
)

// lets reports whether a directory's server lets a bearer in, and whether it
// lets everyone in.
func lets(t *testing.T, cfg config.Config, bearer string) (in, open bool) {
	t.Helper()
	l := live(t, cfg)
	defer l.end()
	_, err := l.core.As(t.Context(), DefaultTenant, bearer)
	door, err2 := l.core.door(t.Context(), localSecret, (&Options{}).orDefaults())
	l.must(err2)
	return err == nil, door.Open()
}

func putBack(t *testing.T, cfg config.Config, from string) Restored {
	t.Helper()
	done, err := Restore(t.Context(), cfg, RestoreOptions{From: from, Replace: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestR39_KeysDoNotComeBack: a restoration in place keeps the keys of the
// database that it replaces: what was revoked stays so, what was made stays,
// and a backup from before the first key opens nothing. Controls: a key that
// lives is let in after it; a directory whose database cannot be read closes
// a store without keys, and one without keys at all stays open.
func TestR39_KeysDoNotComeBack(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Embed.Driver = "none"
	cfg.DataDir = t.TempDir()
	l := live(t, cfg)
	l.save("u", "before", yiku.SaveMemoryRequest{})
	l.end()
	keyless := backUp(t, cfg)
	if done := putBack(t, cfg, keyless); done.Keys != (KeysRestored{Known: true}) {
		t.Errorf("without keys: %+v", done.Keys)
	}
	if _, open := lets(t, cfg, ""); !open {
		t.Error("a store that never had a key is closed")
	}
	l = live(t, cfg)
	mint := func() yiku.CreateKeyResponse {
		res, err := l.s.CreateKey(t.Context(), yiku.CreateKeyRequest{Access: yiku.AccessRead})
		l.must(err)
		return res
	}
	stays, goes := mint(), mint()
	l.end()
	keyed := backUp(t, cfg)
	l = live(t, cfg)
	_, err := l.s.RevokeKey(t.Context(), yiku.RevokeKeyRequest{ID: goes.Key.ID})
	l.must(err)
	l.end()
	for from, want := range map[string]KeysRestored{keyed: {Known: true, Revoked: 1}, keyless: {Known: true, Carried: 2}} {
		if done := putBack(t, cfg, from); done.Keys != want {
			t.Errorf("%+v, want %+v", done.Keys, want)
		}
		if in, open := lets(t, cfg, goes.Secret); in || open {
			t.Errorf("a revoked key is let in: %v; everyone is: %v", in, open)
		}
		if in, _ := lets(t, cfg, stays.Secret); !in {
			t.Error("control: a key that lives is not let in")
		}
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, "yiku.db"), []byte("not a database 坏了"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := putBack(t, cfg, keyless); !done.Keys.Closed || done.Keys.Known {
		t.Errorf("over what cannot be read: %+v", done.Keys)
	}
	if _, open := lets(t, cfg, ""); open {
		t.Error("a store is open although there may have been keys")
	}
}
