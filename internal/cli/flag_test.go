package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// every calls a function with a command and all below it.
func every(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		every(below, do)
	}
}

// shadowed are the flags of commands that hide a global one, and would take
// its value: a key that was meant for the door would be none.
func shadowed(root *cobra.Command) []string {
	var found []string
	names := regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(root.PersistentFlags().FlagUsages(), -1)
	every(root, func(cmd *cobra.Command) {
		for _, name := range names {
			if cmd != root && cmd.Flags().Lookup(name[1]) != nil {
				found = append(found, cmd.CommandPath()+" --"+name[1])
			}
		}
	})
	return found
}

func TestF6_NoCommandShadowsAGlobalFlag(t *testing.T) {
	t.Parallel()
	root := (&tool{lang: "en"}).root()
	if found := shadowed(root); len(found) > 0 {
		t.Errorf("shadowed: %v", found)
	}
	root.Commands()[0].Flags().String("key", "", "a control")
	if found := shadowed(root); len(found) != 1 {
		t.Errorf("the control is not found: %v", found)
	}
}

// TestF6_ErrorsInBothLanguages holds that every code has a form in both
// languages, that the table's patterns fit themselves, and that a time to wait
// is said.
func TestF6_ErrorsInBothLanguages(t *testing.T) {
	t.Parallel()
	zh, en := &tool{lang: "zh"}, &tool{lang: "en"}
	for _, code := range wire.Codes() {
		if p := titleOf(code); p.en == "" || !strings.ContainsFunc(p.zh, isHan) {
			t.Errorf("%s has no title in both languages", code)
		}
	}
	for _, p := range chinese() {
		text := strings.ReplaceAll(p.en, "%s", "Q")
		if got := zh.translate(text); !strings.ContainsFunc(got, isHan) || strings.Contains(got, "%!") {
			t.Errorf("%q becomes %q", text, got)
		}
		if got := en.translate(text); got != text {
			t.Errorf("%q becomes %q in English", text, got)
		}
	}
	quota := &yiku.Error{Sentinel: yiku.ErrLimited, Detail: "The quota limits.owner_memories is used up.", RetryAfter: 1500 * time.Millisecond,
		Fields: []yiku.FieldError{{Field: "content", Message: "goes beyond the quota of 3 memories of one user (limits.owner_memories)"}}}
	for _, c := range []struct {
		err    error
		en, zh string
	}{
		{quota, "The quota limits.owner_memories is used up; content goes beyond the quota of 3 memories of one user (limits.owner_memories); try again in 2 s",
			"已达上限：配额 limits.owner_memories 已用完；content 超出配额 3 memories of one user（limits.owner_memories）；请在 2 秒后重试"},
		{yiku.Invalid("query", "is required"), "query is required", "请求有误：query 必填"},
		{fmt.Errorf("forget: %w", yiku.ErrNotFound), titleOf("not_found").en, titleOf("not_found").zh},
		{yiku.Errorf(yiku.ErrForbidden, "this needs the role write"), "this needs the role write", "不允许：需要角色 write"},
		{yiku.Errorf(yiku.ErrUnavailable, "write yiku.db: no space left on device"), "write yiku.db: no space left on device", "暂不可用：写入 yiku.db：磁盘已满"},
		{yiku.Errorf(yiku.ErrConflict, "what nobody has translated"), "what nobody has translated", "冲突：what nobody has translated"},
		{context.Canceled, "stopped before it was done", "尚未完成就被中止"},
		{errors.New("disk on fire"), "disk on fire", "disk on fire"},
	} {
		if got := en.describe(c.err); got != c.en {
			t.Errorf("got %q, want %q", got, c.en)
		}
		if got := zh.describe(c.err); got != c.zh {
			t.Errorf("got %q, want %q", got, c.zh)
		}
	}
}

func TestF6_ErrorsForMachines(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	u := &tool{lang: "en", env: Env{Stderr: &stderr, Args: []string{"--json"}}}
	u.fail(&yiku.Error{Sentinel: yiku.ErrInvalid, Fields: []yiku.FieldError{{Field: "query", Message: "is required"}}, RequestID: "r1"}, false)
	for _, want := range []string{`"code": "invalid"`, `"field": "query"`, `"request_id": "r1"`, `"status": 400`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s is missing in %s", want, stderr.String())
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	zh, en := &tool{lang: "zh"}, &tool{lang: "en"}
	for n, want := range map[int][2]string{0: {"0 memories", "0 条记忆"}, 1: {"1 memory", "1 条记忆"}, 1200: {"1,200 memories", "1,200 条记忆"}} {
		if got := [2]string{en.count(n, memories()), zh.count(n, memories())}; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// TestF6_WrongUseIsSaidInChinese holds every constant text of a wrong use in
// this package against the table.
func TestF6_WrongUseIsSaidInChinese(t *testing.T) {
	t.Parallel()
	zh := &tool{lang: "zh"}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	literal := regexp.MustCompile(`usagef\(("(?:[^"\\]|\\.)*")`)
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
			text, err := strconv.Unquote(m[1])
			if err != nil {
				t.Fatal(err)
			}
			if text == "%s" {
				continue
			}
			found++
			text = regexp.MustCompile(`%[a-z]`).ReplaceAllString(text, "Q")
			if got := zh.translate(text); !strings.ContainsFunc(got, isHan) {
				t.Errorf("%s: %q has no Chinese form", name, text)
			}
		}
	}
	if found == 0 {
		t.Error("no text of a wrong use was found")
	}
}
