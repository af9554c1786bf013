package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// TestF6_JobsHaveAHeader: a list of jobs says what its columns are, in both
// languages, and an empty one that it is empty.
func TestF6_JobsHaveAHeader(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	jobs := []yiku.Job{{ID: "j1", Kind: "extract", State: "waiting", UserID: "ann", NotBefore: at}, {ID: "j22", Kind: "embed", State: "parked", UserID: "李雷", NotBefore: at, Attempts: 5, Problem: "unavailable"}}
	for _, c := range []struct {
		lang, want string
		jobs       []yiku.Job
	}{
		{"en", "id   kind     state    not before            attempts  user  problem\n" +
			"j1   extract  waiting  2026-03-02T09:00:00Z  0         ann\n" +
			"j22  embed    parked   2026-03-02T09:00:00Z  5         李雷  unavailable\n", jobs},
		{"zh", "编号  种类     状态     最早执行              次数  用户  问题\n" +
			"j1    extract  waiting  2026-03-02T09:00:00Z  0     ann\n" +
			"j22   embed    parked   2026-03-02T09:00:00Z  5     李雷  unavailable\n", jobs},
		{"en", "no job waits, and none is parked\n", nil},
		{"zh", "没有等待或搁置的任务\n", nil},
	} {
		var out bytes.Buffer
		(&tool{lang: c.lang, env: Env{Stdout: &out}}).showJobs(c.jobs)
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.lang, out.String(), c.want)
		}
	}
}
