package cli

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// TestH1_CommandsTakeTurns: a command waits for the one that has the directory
// open, for a bounded time, and then says who holds it, in either language.
// Lessons: L115.
func TestH1_CommandsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for lang, word := range map[string]string{"en": "in use by process 7", "zh": "正被 process 7 使用"} {
			tool := &tool{lang: lang, env: Env{Stdout: io.Discard, Stderr: io.Discard}}
			for _, busy := range []int{0, 3, 1000} {
				begin, calls := time.Now(), 0
				err := tool.patiently(t.Context(), t.TempDir(), func() error {
					if calls++; calls <= busy {
						return &store.InUseError{Dir: "d", Holder: "process 7"}
					}
					return nil
				})
				waited := time.Since(begin)
				switch {
				case busy < 1000 && (err != nil || calls != busy+1):
					t.Errorf("%s: busy %d times: %d calls, %v", lang, busy, calls, err)
				case busy == 1000 && (!errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), word) || waited > lockTries*lockPause):
					t.Errorf("%s: after %s: %v", lang, waited, err)
				}
			}
			calls := 0
			if err := tool.patiently(t.Context(), t.TempDir(), func() error { calls++; return os.ErrPermission }); calls != 1 || !errors.Is(err, os.ErrPermission) {
				t.Errorf("another fault: %d calls, %v", calls, err)
			}
		}
	})
}
