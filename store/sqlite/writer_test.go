package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

func textRow(into *string) func(*sqlite3.Stmt) error {
	return func(st *sqlite3.Stmt) error {
		*into += st.ColumnText(0) + "\n"
		return nil
	}
}

// blockWriter runs an update that waits until the returned function is called.
func blockWriter(t *testing.T, s *Store) (free func()) {
	t.Helper()
	begun, free_ := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	owner := testOwner(t, "acme", "blocker")
	wait.Go(func() {
		err := s.Update(context.Background(), owner, store.Request, func(store.Tx) error {
			close(begun)
			<-free_
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	return func() {
		close(free_)
		wait.Wait()
	}
}

// waiting returns when so many updates wait.
func waiting(queue chan *member, n int) {
	for len(queue) < n {
		runtime.Gosched()
	}
}

// TestGroupsAndPriorities: what waits is committed together, requests before
// maintenance although they came later, and never in one group with it.
func TestGroupsAndPriorities(t *testing.T) {
	t.Parallel()
	s := openTest(t, &Options{GroupLimit: 16, Now: testTime}) // a clock that stands: the window never ends a group
	free := blockWriter(t, s)
	var mu sync.Mutex
	var order []store.Priority
	var wait sync.WaitGroup
	put := func(p store.Priority, n int, queue chan *member) {
		for i := range n {
			owner := testOwner(t, "acme", fmt.Sprint(p, i))
			wait.Go(func() {
				err := s.Update(context.Background(), owner, p, func(store.Tx) error {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, p)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		waiting(queue, n)
	}
	put(store.Maintenance, 3, s.writer.maintenance)
	put(store.Request, 20, s.writer.requests)
	free()
	wait.Wait()
	for i, p := range order {
		if want := map[bool]store.Priority{true: store.Request, false: store.Maintenance}[i < 20]; p != want {
			t.Fatalf("update %d has priority %d: %v", i, p, order)
		}
	}
	st := s.Stats()
	if st.Updates != 24 || st.LargestGroup != 16 || st.Commits != 3 {
		t.Errorf("%+v, want 24 updates in 3 commits, at most 16 in one", st)
	}
}

// TestCancelledWhileWaiting: an update whose context ends before its turn does
// not run, and those behind it do.
func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	free := blockWriter(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Bool
	failed := make(chan error, 1)
	owner := testOwner(t, "acme", "u")
	go func() {
		failed <- s.Update(ctx, owner, store.Request, func(store.Tx) error {
			ran.Store(true)
			return nil
		})
	}()
	waiting(s.writer.requests, 1)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Update = %v, want context.Canceled", err)
	}
	free()
	write(t, s, owner, func(store.Tx) error { return nil })
	if ran.Load() {
		t.Error("the cancelled update ran")
	}
}

// TestCloseRefusesWaiting: Close lets the running update end and refuses those
// that wait.
func TestCloseRefusesWaiting(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	free := blockWriter(t, s)
	failed := make(chan error, 1)
	owner := testOwner(t, "acme", "u")
	go func() {
		failed <- s.Update(context.Background(), owner, store.Maintenance, func(store.Tx) error { return nil })
	}()
	waiting(s.writer.maintenance, 1)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	<-s.writer.quit
	free()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("Update = %v, want ErrUnavailable", err)
	}
}

// TestViewWaitsWithinItsContext: with all connections taken a view waits no
// longer than its context.
func TestViewWaitsWithinItsContext(t *testing.T) {
	t.Parallel()
	s := openTest(t, &Options{Readers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.View(context.Background(), func(store.Reader) error {
		go cancel()
		return s.View(ctx, func(store.Reader) error { return errors.New("there was a second connection") })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("View = %v, want context.Canceled", err)
	}
}

// TestViewIsInterrupted: a long read ends with its context, in the middle of a
// statement, and the connection is good afterwards.
func TestViewIsInterrupted(t *testing.T) {
	t.Parallel()
	s := openTest(t, &Options{Readers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.View(ctx, func(r store.Reader) error {
		go cancel()
		_, err := r.(*reader).c.number(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("View = %v, want context.Canceled", err)
	}
	if _, err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// faultFS is the system's file system, where what is done to the log fails
// with an error while one is set.
type faultFS struct {
	vfs.VFSFilename
	onSync, onWrite atomic.Pointer[sqlite3.ExtendedErrorCode]
}

type faultFile struct {
	vfs.File
	fs *faultFS
}

func newFaultFS(t *testing.T) (*faultFS, string) {
	f := &faultFS{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
	name := "fault-" + strings.ReplaceAll(t.Name(), "/", "-")
	vfs.Register(name, f)
	t.Cleanup(func() { vfs.Unregister(name) })
	return f, name
}

func (f *faultFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := f.VFSFilename.OpenFilename(name, flags)
	if err == nil && flags&vfs.OPEN_WAL != 0 {
		file = faultFile{file, f}
	}
	return file, flags, err
}

func (f faultFile) Sync(flags vfs.SyncFlag) error {
	if e := f.fs.onSync.Load(); e != nil {
		return *e
	}
	return f.File.Sync(flags)
}

func (f faultFile) WriteAt(p []byte, off int64) (int, error) {
	if e := f.fs.onWrite.Load(); e != nil {
		return 0, *e
	}
	return f.File.WriteAt(p, off)
}

// TestR3_FailedSync: a commit whose sync fails has an unknown outcome, and the
// store takes no writes until it is opened again; reads go on.
func TestR3_FailedSync(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprint("single_", single), func(t *testing.T) {
			t.Parallel()
			fs, name := newFaultFS(t)
			dir := t.TempDir()
			options := &Options{VFS: name, SingleConnection: single}
			s, err := Open(t.Context(), dir, options)
			if err != nil {
				t.Fatal(err)
			}
			owner := testOwner(t, "acme", "u")
			raise := func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err }
			write(t, s, owner, raise)
			code := sqlite3.IOERR_FSYNC
			fs.onSync.Store(&code)
			err = s.Update(t.Context(), owner, store.Request, raise)
			if !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "unknown") {
				t.Errorf("Update = %v, want ErrUnavailable, outcome unknown", err)
			}
			fs.onSync.Store(nil)
			if err := s.Update(t.Context(), owner, store.Request, raise); !errors.Is(err, yiku.ErrUnavailable) {
				t.Errorf("Update after the failure = %v, want ErrUnavailable", err)
			}
			if err := s.Ready(t.Context()); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "restart") {
				t.Errorf("Ready = %v, want ErrUnavailable and what to do", err)
			}
			found, err := s.Check(t.Context())
			if err != nil || len(found) != 1 {
				t.Errorf("Check = %v, %v, want one finding", found, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(t.Context(), dir, options); err != nil {
				t.Fatal(err)
			}
			write(t, s, owner, raise)
			err = s.View(t.Context(), func(r store.Reader) error {
				st, err := r.Owner(owner)
				if st.Epoch != 2 && st.Epoch != 3 {
					t.Errorf("epoch %d, want 2 or, with the unknown one, 3", st.Epoch)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	control := ackBeforeSync(t)
	if control != nil {
		t.Errorf("control: a store that acknowledges before it syncs answers %v: the failed sync is not what the others see", control)
	}
	boardtest.Report(t, boardtest.Row{ID: "R3", Part: "sync", Trials: 2, What: "stores acknowledged a write in or after a failed sync", Control: "1 of 1 with synchronous=OFF did"})
}

// ackBeforeSync is what a store that acknowledges before it syncs answers where
// the sync would fail.
func ackBeforeSync(t *testing.T) error {
	t.Helper()
	fs, name := newFaultFS(t)
	s := openTest(t, &Options{VFS: name, SingleConnection: true})
	if err := s.pool.all[0].db.Exec("PRAGMA synchronous=OFF"); err != nil {
		t.Fatal(err)
	}
	code := sqlite3.IOERR_FSYNC
	fs.onSync.Store(&code)
	defer fs.onSync.Store(nil)
	return s.Update(t.Context(), testOwner(t, "acme", "u"), store.Request, func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err })
}

// TestR3_FullDisk: on a full disk writes fail, and go on by themselves once
// there is room.
func TestR3_FullDisk(t *testing.T) {
	t.Parallel()
	fs, name := newFaultFS(t)
	s := openTest(t, &Options{VFS: name})
	owner := testOwner(t, "acme", "u")
	raise := func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err }
	write(t, s, owner, raise)
	code := sqlite3.ExtendedErrorCode(sqlite3.FULL)
	fs.onWrite.Store(&code)
	if err := s.Update(t.Context(), owner, store.Request, raise); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("Update = %v, want ErrUnavailable", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "Make room") {
		t.Errorf("Ready on a full disk = %v, want ErrUnavailable and what to do", err)
	}
	fs.onWrite.Store(nil)
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready with room again = %v", err)
	}
	write(t, s, owner, raise)
	err := s.View(t.Context(), func(r store.Reader) error {
		st, err := r.Owner(owner)
		if st.Epoch != 2 {
			t.Errorf("epoch %d, want 2", st.Epoch)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Check = %v, %v", found, err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R3", Part: "full-disk", Trials: 1, What: "stores acknowledged a write or did not go on"})
}

// TestErrorsHoldNoContent: what goes wrong is told without what is stored.
func TestErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	owner := testOwner(t, "acme", "u")
	memory := func() *store.Memory {
		return &store.Memory{Memory: yiku.Memory{ID: "secretid", Content: "秘密 secret", Status: yiku.StatusActive}, ContentNorm: "secret"}
	}
	write(t, s, owner, func(tx store.Tx) error { return tx.AddMemory(memory()) })
	err := s.Update(t.Context(), owner, store.Request, func(tx store.Tx) error { return tx.AddMemory(memory()) })
	if !errors.Is(err, yiku.ErrConflict) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "秘密") {
		t.Errorf("AddMemory = %v, want ErrConflict without content", err)
	}
}
