package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// TestR39_DoctorCountsWhatTheJournalLacks: a forget that has begun and is not
// in the forget journal is counted, in both languages; verify, which opens the
// directory, completes it. Control: then nothing is counted.
func TestR39_DoctorCountsWhatTheJournalLacks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	run(t, 0, "add", "--data", dir, "--user", "ann", "Likes plums")
	s, err := sqlite.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := yiku.NewOwner("default", "ann")
	if err != nil {
		t.Fatal(err)
	}
	note := store.Forget{Owner: owner, Receipt: "r", At: time.Now(), UpTo: 1 << 30,
		Request: yiku.ForgetRequest{UserID: "ann", Mode: yiku.ForgetPurge, Sources: yiku.SourcesDelete, Selector: yiku.Selector{All: true}}}
	if err := s.Update(t.Context(), owner, store.Request, func(tx store.Tx) error { return tx.PutForget(&note) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for lang, want := range map[string]string{"en": "1 forgets are not in the forget journal yet", "zh": "有 1 次遗忘尚未写入遗忘日志"} {
		if out, _ := run(t, 0, "--lang", lang, "doctor", "--data", dir); !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("doctor says %s", out)
		}
	}
	if out, _ := run(t, 0, "verify", "--data", dir); !strings.Contains(out, "the forget journal is whole: 1 entry") {
		t.Errorf("verify says %s", out)
	}
	if out, _ := run(t, 0, "doctor", "--data", dir); strings.Contains(out, "not in the forget journal yet") {
		t.Errorf("afterwards doctor says %s", out)
	}
}

// TestH4_DoctorCountsWhoIsEmbedded: while a model's vectors are made, doctor
// counts those who have all of them, in both languages.
func TestH4_DoctorCountsWhoIsEmbedded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	run(t, 0, "add", "--data", dir, "--user", "ann", "Likes plums")
	run(t, 0, "add", "--data", dir, "--user", "bob", "Likes pears")
	embedded := func(user, model string) {
		t.Helper()
		s, err := sqlite.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := yiku.NewOwner("default", user)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(t.Context(), owner, store.Request, func(tx store.Tx) error { return tx.SetEmbedded(model) })
		if err := errors.Join(err, s.KeepModel(t.Context(), "new/3"), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	says := func(want map[string]string) {
		t.Helper()
		for lang, text := range want {
			if out, _ := run(t, 0, "--lang", lang, "doctor", "--data", dir); !strings.Contains(strings.Join(strings.Fields(out), " "), text) {
				t.Errorf("doctor says %s, want %s", out, text)
			}
		}
	}
	embedded("bob", "old/2")
	embedded("ann", "new/3")
	says(map[string]string{"en": "1 of 2 users have all of their vectors of new/3", "zh": "1/2 个用户的向量已全部由 new/3 生成"})
	embedded("bob", "new/3")
	says(map[string]string{"en": "All of 2 users have their vectors of new/3"})
}
