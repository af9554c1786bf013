package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/store"
)

// victim is something of a user's that is forgotten in one way. Its canary is
// in all that is forgotten, and what the user keeps does not have it.
type victim struct {
	user, canary string
	plant        func(*life, *victim) // nil: as all others
	forget       func(*life, *victim)
	ids          []string
	archived     bool // it is only taken out of retrieval
}

func (v *victim) kept() string { return "kept " + v.user + " 留下" }

// life is a data directory in use.
type life struct {
	t    *testing.T
	cfg  config.Config
	core *Core
	s    yiku.Service
}

func live(t *testing.T, cfg config.Config) *life {
	t.Helper()
	core, err := Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &life{t: t, cfg: cfg, core: core, s: core.Service()}
}

func (l *life) end() {
	l.t.Helper()
	if err := l.core.Close(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) save(user, text string, more yiku.SaveMemoryRequest) string {
	l.t.Helper()
	more.UserID, more.Content = user, text
	res, err := l.s.SaveMemory(l.t.Context(), more)
	l.must(err)
	return res.ID
}

func (l *life) say(user, session, id, text string) {
	l.t.Helper()
	_, err := l.s.AppendMessages(l.t.Context(), yiku.AppendMessagesRequest{UserID: user, SessionID: session,
		Messages: []yiku.Message{{ID: id, Role: yiku.RoleUser, Content: yiku.Text(text)}}})
	l.must(err)
}

// plant gives a user a memory, a message, a session's title, working memory and
// a snapshot with the canary, and a memory and a message without.
func plant(l *life, v *victim) {
	l.t.Helper()
	_, err := l.s.CreateSession(l.t.Context(), yiku.CreateSessionRequest{UserID: v.user, SessionID: "gone", Metadata: yiku.Metadata{"title": "about " + v.canary}})
	l.must(err)
	v.ids = append(v.ids, l.save(v.user, "memory "+v.canary, yiku.SaveMemoryRequest{SessionID: "gone", Origin: yiku.OriginTool, Metadata: yiku.Metadata{"tag": v.canary}}))
	l.say(v.user, "gone", "m1", "message "+v.canary)
	_, err = l.s.PutWorking(l.t.Context(), yiku.PutWorkingRequest{UserID: v.user, SessionID: "gone", Todos: []any{v.canary}})
	l.must(err)
	_, err = l.s.GetContext(l.t.Context(), yiku.GetContextRequest{UserID: v.user, SessionID: "gone", Query: v.canary})
	l.must(err)
	l.save(v.user, v.kept(), yiku.SaveMemoryRequest{})
	l.say(v.user, "other", "m2", v.kept())
}

// onlyMemory is plant for ways of forgetting that reach memories alone.
func onlyMemory(l *life, v *victim) {
	l.t.Helper()
	v.ids = append(v.ids, l.save(v.user, "memory "+v.canary, yiku.SaveMemoryRequest{Metadata: yiku.Metadata{"tag": "x"}}))
	l.save(v.user, v.kept(), yiku.SaveMemoryRequest{})
	l.say(v.user, "other", "m2", v.kept())
}

func byForget(req yiku.ForgetRequest) func(*life, *victim) {
	return func(l *life, v *victim) {
		l.t.Helper()
		r := req
		r.UserID, r.Reason = v.user, "asked"
		if r.Selector.Keyword != "" {
			r.Selector.Keyword = v.canary
		}
		if r.Selector.IDs != nil {
			r.Selector.IDs = v.ids
		}
		res, err := l.s.Forget(l.t.Context(), r)
		l.must(err)
		if !res.Verified {
			l.t.Errorf("%s: not verified", v.user)
		}
		v.ids = append(v.ids, res.ReceiptID) // the last one
	}
}

func byDeletion(l *life, v *victim) {
	l.t.Helper()
	for _, id := range v.ids {
		_, err := l.s.DeleteMemory(l.t.Context(), yiku.DeleteMemoryRequest{UserID: v.user, ID: id})
		l.must(err)
	}
	_, err := l.s.DeleteSession(l.t.Context(), yiku.DeleteSessionRequest{UserID: v.user, SessionID: "gone"})
	l.must(err)
}

// victims are one of each way of forgetting.
func victims(prefix string) []*victim {
	source := yiku.Selector{Source: &yiku.SourceSelector{SessionID: "gone"}}
	filter := &yiku.Filter{Field: "metadata.tag", Op: yiku.OpEq, Value: "x"}
	list := []*victim{
		{user: "keyword", forget: byForget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "x"}})},
		{user: "session", forget: byForget(yiku.ForgetRequest{Selector: source})},
		{user: "ids", plant: onlyMemory, forget: byForget(yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{}}})},
		{user: "过滤", plant: onlyMemory, forget: byForget(yiku.ForgetRequest{Selector: yiku.Selector{Filter: filter}})},
		{user: "deleted", forget: byDeletion},
		{user: "archived", archived: true, plant: onlyMemory, forget: byForget(yiku.ForgetRequest{Mode: yiku.ForgetArchive, Selector: yiku.Selector{IDs: []string{}}})},
	}
	for i, v := range list {
		v.user = prefix + v.user
		v.canary = fmt.Sprintf("%scanary%d", prefix, i)
		if v.plant == nil {
			v.plant = plant
		}
	}
	return list
}

// shown is everything that the service gives of a user, as one text.
func (l *life) shown(user string) string {
	l.t.Helper()
	var all []any
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusStale, yiku.StatusSuperseded} {
		page, err := l.s.ListMemories(l.t.Context(), yiku.ListMemoriesRequest{UserID: user, Status: status})
		l.must(err)
		all = append(all, page.Items)
	}
	sessions, err := l.s.ListSessions(l.t.Context(), yiku.ListSessionsRequest{UserID: user})
	l.must(err)
	for _, session := range sessions.Items {
		page, err := l.s.ListMessages(l.t.Context(), yiku.ListMessagesRequest{UserID: user, SessionID: session.ID})
		l.must(err)
		working, err := l.s.GetWorking(l.t.Context(), yiku.GetWorkingRequest{UserID: user, SessionID: session.ID})
		l.must(err)
		for _, m := range page.Items {
			all = append(all, m.Content.PlainText())
		}
		all = append(all, working, session.Metadata)
	}
	found, err := l.s.SearchMemory(l.t.Context(), yiku.SearchMemoryRequest{UserID: user, Query: "memory message canary"})
	l.must(err)
	return fmt.Sprintf("%+v %+v", all, found)
}

// inFiles counts the files of a directory that hold a text.
func inFiles(t *testing.T, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lost makes a data directory of which the keys were kept elsewhere and, where
// asked for, the journal.
func lost(t *testing.T, from config.Config, journal bool) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Embed.Driver = "none"
	cfg.DataDir = t.TempDir()
	if err := os.CopyFS(filepath.Join(cfg.DataDir, "keys"), os.DirFS(filepath.Join(from.DataDir, "keys"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(auditKeyPath(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	if journal {
		if err := copyFile(JournalPath(from), JournalPath(cfg)); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

func backUp(t *testing.T, cfg config.Config) string {
	t.Helper()
	made, err := Backup(t.Context(), cfg, filepath.Join(t.TempDir(), "b.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Path
}

// TestR39_OldBackups: of three backups of different ages each is restored after
// everything was forgotten, in every way there is: what was forgotten is
// neither served nor in a file, before anyone can ask; what was kept is there;
// what is sent again is not taken in; nobody's epoch goes back. That holds for
// those who came after the backup too. Control: without the journal the
// canaries are there.
func TestR39_OldBackups(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	early, late := victims("early-"), victims("后来-")
	for _, v := range early {
		v.plant(l, v)
	}
	backups := []string{backUp(t, cfg)}
	for _, v := range early[:3] {
		v.forget(l, v)
	}
	for _, v := range late {
		v.plant(l, v)
	}
	backups = append(backups, backUp(t, cfg))
	for _, v := range slices.Concat(early[3:], late[:3]) {
		v.forget(l, v)
	}
	backups = append(backups, backUp(t, cfg))
	for _, v := range late[3:] {
		v.forget(l, v)
	}
	for range 6 { // raises the epoch further than a restoration would by itself
		byForget(yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{Origin: yiku.OriginWeb}}})(l, early[0])
	}
	all := slices.Concat(early, late)
	epochs := map[string]int64{}
	for _, v := range all {
		epochs[v.user] = l.epoch(v.user)
	}
	generation := l.core.store.Meta().Generation
	l.end()

	served, trials, control := 0, 0, 0
	for age, from := range backups {
		restored := lost(t, cfg, true)
		done, err := Restore(t.Context(), restored, RestoreOptions{From: from}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if age == 0 && (done.Owners != len(early) || done.Held != len(late)) || done.Entries == 0 {
			t.Errorf("backup %d: %+v", age, done.Replayed)
		}
		for _, v := range all {
			if !v.archived {
				trials++
				served += min(1, inFiles(t, restored.DataDir, v.canary))
			}
		}
		l := live(t, restored)
		if l.core.store.Meta().Generation == generation {
			t.Error("the generation is the old one")
		}
		for i, v := range all {
			known := age > 0 || i < len(early)
			if shown := l.shown(v.user); strings.Contains(shown, v.canary) || known && strings.Count(shown, v.kept()) < 2 {
				t.Errorf("backup %d, %s: %s", age, v.user, shown)
				served++
			}
			l.checkForgotten(age, v, epochs[v.user])
		}
		l.whole()
		l.end()

		without := lost(t, cfg, false)
		if _, err := Restore(t.Context(), without, RestoreOptions{From: from, WithoutJournal: true}, nil); err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			control += min(1, inFiles(t, without.DataDir, v.canary))
		}
	}
	if want := 6 + 9 + 3; control < want { // what was planted by then and not yet forgotten
		t.Errorf("control: without the journal %d canaries are back, want %d", control, want)
	}
	boardtest.Report(t, boardtest.Row{ID: "R39", Part: "old-backups", Hits: served, Trials: trials, What: "canaries came back with one of three backups of different ages",
		Control: fmt.Sprintf("%d came back without the journal", control)})
}

func (l *life) epoch(user string) (epoch int64) {
	l.t.Helper()
	owner, err := yiku.NewOwner(DefaultTenant, user)
	l.must(err)
	l.must(l.core.store.View(l.t.Context(), func(r store.Reader) error {
		state, err := r.Owner(owner)
		epoch = state.Epoch
		return err
	}))
	return epoch
}

// checkForgotten sends a message again that was forgotten, looks at the epoch,
// and asks for the receipt.
func (l *life) checkForgotten(age int, v *victim, epoch int64) {
	l.t.Helper()
	if v.archived {
		return
	}
	l.say(v.user, "gone", "m1", "message "+v.canary)
	if strings.Contains(v.user, "keyword") || strings.Contains(v.user, "session") || strings.Contains(v.user, "deleted") {
		if shown := l.shown(v.user); strings.Contains(shown, v.canary) {
			l.t.Errorf("backup %d, %s: a forgotten message that is sent again is taken in", age, v.user)
		}
	}
	if e := l.epoch(v.user); e < epoch {
		l.t.Errorf("backup %d, %s: the epoch went from %d back to %d", age, v.user, epoch, e)
	}
}

// whole checks the store, the audit log and the journal.
func (l *life) whole() {
	l.t.Helper()
	faults, err := l.core.store.Check(l.t.Context())
	if err != nil || len(faults) > 0 {
		l.t.Errorf("check: %v %v", faults, err)
	}
	if res, err := l.s.VerifyAudit(l.t.Context(), yiku.VerifyAuditRequest{}); err != nil || !res.Valid {
		l.t.Errorf("verify: %+v, %v", res, err)
	}
}

// TestR39_ReceiptsComeBack: the receipt of a forget that the backup does not
// know is there after the restoration, proven anew, without the reason.
func TestR39_ReceiptsComeBack(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	v := victims("")[0]
	v.plant(l, v)
	from := backUp(t, cfg)
	v.forget(l, v)
	id := v.ids[len(v.ids)-1]
	before, err := l.s.GetReceipt(t.Context(), yiku.ReceiptRequest{UserID: v.user, ID: id})
	l.must(err)
	if want := before.CreatedAt.Add(cfg.Backup.Keep); !before.BackupsUntil.Equal(want) {
		t.Errorf("backups until %v, want %v", before.BackupsUntil, want)
	}
	l.end()
	if _, err := Restore(t.Context(), cfg, RestoreOptions{From: from, Replace: true}, nil); err != nil {
		t.Fatal(err)
	}
	l = live(t, cfg)
	defer l.end()
	after, err := l.s.GetReceipt(t.Context(), yiku.ReceiptRequest{UserID: v.user, ID: id})
	l.must(err)
	if after.Removed != before.Removed || !after.Verified || after.Reason != "" || after.UserID != v.user {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if res, err := l.s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{UserID: v.user, ID: id}); err != nil || !res.Clean {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestR39_StaleStaysAndNothingElseGoes: what was derived from a deleted memory
// becomes stale again, and a task's working memory that a deleted session wrote
// stays.
func TestR39_StaleStaysAndNothingElseGoes(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	id := l.save("ann", "The canary sings", yiku.SaveMemoryRequest{})
	derived := l.save("ann", "Mornings are loud", yiku.SaveMemoryRequest{DerivedFrom: []string{id}})
	l.say("ann", "gone", "m", "hello")
	_, err := l.s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "gone", TaskID: "任务", Todos: []any{"下一步"}})
	l.must(err)
	from := backUp(t, cfg)
	_, err = l.s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: id})
	l.must(err)
	_, err = l.s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "gone"})
	l.must(err)
	l.end()
	if _, err := Restore(t.Context(), cfg, RestoreOptions{From: from, Replace: true}, nil); err != nil {
		t.Fatal(err)
	}
	l = live(t, cfg)
	defer l.end()
	m, err := l.s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: derived})
	if err != nil || m.Status != yiku.StatusStale {
		t.Errorf("what was derived: %v, %v", m.Status, err)
	}
	if _, err := l.s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: id}); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("what was deleted: %v", err)
	}
	l.say("ann", "new", "m", "hello")
	w, err := l.s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: "new", TaskID: "任务"})
	if err != nil || len(w.Todos) != 1 {
		t.Errorf("the task's working memory: %+v, %v", w, err)
	}
}

// TestR39_JournalIsAhead: when a forget or a deletion is answered, the journal
// has it; where the journal cannot be written, nothing is answered, and a
// restart writes what is missing.
func TestR39_JournalIsAhead(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	v, other := victims("")[4], victims("")[0]
	v.plant(l, v)
	other.plant(l, other)
	l.must(l.core.journal.Close())
	if _, err := l.s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: v.user, ID: v.ids[0]}); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a deletion that the journal does not have is answered with %v", err)
	}
	if _, err := l.s.Forget(t.Context(), yiku.ForgetRequest{UserID: other.user, Reason: "asked", Selector: yiku.Selector{Keyword: other.canary}}); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a forget that the journal does not have is answered with %v", err)
	}
	_ = l.core.Close() // the journal is closed already
	l = live(t, cfg)
	defer l.end()
	if n := l.core.journal.Position().N; n != 2 {
		t.Errorf("after a restart the journal has %d entries", n)
	}
	l.whole()
}

// TestR39_VerifySeesAJournalThatWasCut: an entry that the audit log names and
// the journal lacks is a fault. Control: the journal as it was is none.
func TestR39_VerifySeesAJournalThatWasCut(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	for _, v := range victims("")[:2] {
		v.plant(l, v)
		v.forget(l, v)
	}
	l.whole()
	l.end()
	content, err := os.ReadFile(JournalPath(cfg))
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	if err := os.WriteFile(JournalPath(cfg), content[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	l = live(t, cfg)
	defer l.end()
	res, err := l.s.VerifyAudit(t.Context(), yiku.VerifyAuditRequest{})
	if err != nil || res.Valid || !strings.Contains(res.Fault, "forget journal lacks") {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestR39_CompactedJournal: after the time that backups are kept, the journal
// is short again, and an older backup is refused.
func TestR39_CompactedJournal(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	now := time.Now()
	core, err := Open(t.Context(), cfg, &Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, cfg: cfg, core: core, s: core.Service()}
	from := backUp(t, cfg)
	v := victims("")[0]
	v.plant(l, v)
	v.forget(l, v)
	now = now.Add(cfg.Backup.Keep + time.Hour)
	l.must(core.Engine.Tend(t.Context()))
	l.whole()
	young := backUp(t, cfg)
	l.end()
	if _, err := Restore(t.Context(), cfg, RestoreOptions{From: from, Replace: true}, nil); !errors.Is(err, yiku.ErrConflict) || !strings.Contains(err.Error(), "begins on") {
		t.Errorf("a backup from before the journal begins: %v", err)
	}
	if _, err := Restore(context.Background(), cfg, RestoreOptions{From: young, Replace: true}, nil); err != nil {
		t.Error(err)
	}
}

// TestR39_ReplacedStoreHasPending: what the journal did not take while the
// replaced database was in use is brought into it before that goes away; where
// it cannot be, nothing is replaced.
func TestR39_ReplacedStoreHasPending(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Journal = filepath.Join(t.TempDir(), "forgets.log")
	l := live(t, cfg)
	l.save("ann", "secret canary", yiku.SaveMemoryRequest{})
	made, err := Backup(t.Context(), cfg, t.TempDir(), nil)
	l.must(err)
	l.must(l.core.journal.Close())
	_, err = l.s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "canary"}})
	if !errors.Is(err, yiku.ErrUnavailable) {
		t.Fatalf("a forget without a journal: %v", err)
	}
	_ = l.core.Close()

	whole, err := os.ReadFile(cfg.Journal)
	l.must(err)
	l.must(os.WriteFile(cfg.Journal, append([]byte("x"), whole...), 0o600))
	if _, err := Restore(t.Context(), cfg, RestoreOptions{From: made.Path, Replace: true}, nil); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("restore over a store whose forgets cannot be journaled: %v", err)
	}
	l.must(os.WriteFile(cfg.Journal, whole, 0o600))
	_, err = Restore(t.Context(), cfg, RestoreOptions{From: made.Path, Replace: true}, nil)
	l.must(err)
	l = live(t, cfg)
	defer l.end()
	res, err := l.s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "canary", MinRelevance: new(0.0)})
	if err != nil || len(res.Items) != 0 {
		t.Errorf("after the restoration: %+v, %v", res, err)
	}
}

// TestR39_AStoreKeepsToItsJournal: a command that lacks the setting begins no
// second journal, also where another one lies in the usual place; the file may
// move when the setting follows; and a lost one is begun anew when asked for.
func TestR39_AStoreKeepsToItsJournal(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Journal = filepath.Join(t.TempDir(), "forgets.log")
	live(t, cfg).end()
	without := cfg
	without.Journal = ""
	refused := func(what string) {
		t.Helper()
		core, err := Open(t.Context(), without, nil)
		if err == nil {
			_ = core.Close()
		}
		if !errors.Is(err, yiku.ErrConflict) || !strings.Contains(err.Error(), "--set journal=") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := Backup(t.Context(), without, t.TempDir(), nil); !errors.Is(err, yiku.ErrConflict) || !strings.Contains(err.Error(), "--set journal=") {
			t.Errorf("a backup, %s: %v", what, err)
		}
	}
	refused("without the setting")
	if _, err := os.Stat(JournalPath(without)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second journal: %v", err)
	}
	stray := testConfig(t)
	stray.AuditKey = filepath.Join(cfg.DataDir, "keys", "audit.key")
	live(t, stray).end()
	if err := copyFile(JournalPath(stray), JournalPath(without)); err != nil {
		t.Fatal(err)
	}
	refused("with a stray journal")

	moved := cfg
	moved.Journal = filepath.Join(t.TempDir(), "moved.log")
	if err := os.Rename(cfg.Journal, moved.Journal); err != nil {
		t.Fatal(err)
	}
	live(t, moved).end()
	backUp(t, moved)

	if err := os.Remove(moved.Journal); err != nil {
		t.Fatal(err)
	}
	core, err := Open(t.Context(), moved, &Options{NewJournal: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := core.Close(); err != nil {
		t.Fatal(err)
	}
	live(t, moved).end()
}
