package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// disk is a simulated disk: what was written since a file's last sync is lost,
// whole or in part, when the power goes. It has no shared memory.
type disk struct {
	mu    sync.Mutex
	files map[string]*diskFile // guarded by mu
	gone  map[string]*diskFile // deleted, but perhaps not for ever; guarded by mu
	left  int                  // calls until the power goes; guarded by mu
	off   bool                 // guarded by mu
}

// diskFile is a file as programs see it, and as the disk has it.
type diskFile struct {
	now     []byte
	durable []byte
	pending []diskWrite
	synced  bool // its name is durable
}

// diskWrite is a write that is not yet durable; nil data is a truncation.
type diskWrite struct {
	at   int64
	data []byte
}

func (w diskWrite) apply(b []byte) []byte {
	if w.data == nil {
		for int64(len(b)) < w.at {
			b = append(b, 0)
		}
		return b[:w.at]
	}
	for int64(len(b)) < w.at+int64(len(w.data)) {
		b = append(b, 0)
	}
	copy(b[w.at:], w.data)
	return b
}

// step counts a call that changes the disk, and fails once the power is off.
func (d *disk) step() error {
	if d.left--; d.left <= 0 {
		d.off = true
	}
	if d.off {
		return sqlite3.IOERR_WRITE
	}
	return nil
}

// settle makes the directory's entries durable, as the sync at the end of the
// creation does.
func (d *disk) settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.gone)
	for _, f := range d.files {
		f.synced = true
	}
}

// crash returns the disk as it is after the power cut. Each file keeps what
// was synced and, of what was not: nothing, a prefix, a subset, or a prefix
// with a torn last write; a name that was not synced may be lost, and a
// deleted file may be back.
func (d *disk) crash(random *rand.Rand) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := &disk{files: map[string]*diskFile{}, gone: map[string]*diskFile{}, left: 1 << 40}
	mode := random.IntN(4)
	keep := func(name string, f *diskFile) {
		b := append([]byte(nil), f.durable...)
		prefix := random.IntN(len(f.pending) + 1)
		for i, w := range f.pending {
			switch {
			case mode == 0, mode != 2 && i > prefix, mode == 1 && i == prefix, mode == 2 && random.IntN(2) == 0:
				continue
			case mode == 3 && i == prefix && len(w.data) > 0:
				w.data = w.data[:random.IntN(len(w.data))]
				if len(w.data) == 0 {
					continue
				}
			}
			b = w.apply(b)
		}
		after.files[name] = &diskFile{now: b, durable: append([]byte(nil), b...), synced: true}
	}
	for name, f := range d.files {
		if f.synced || random.IntN(2) == 0 {
			keep(name, f)
		}
	}
	for name, f := range d.gone {
		if _, again := after.files[name]; !again && random.IntN(2) == 0 {
			keep(name, f)
		}
	}
	return after
}

func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name == "" {
		return openFile{d, &diskFile{}}, flags, nil
	}
	f := d.files[name]
	if f == nil {
		if flags&vfs.OPEN_CREATE == 0 {
			return nil, flags, sqlite3.CANTOPEN
		}
		if err := d.step(); err != nil {
			return nil, flags, err
		}
		f = &diskFile{}
		d.files[name] = f
	}
	return openFile{d, f}, flags, nil
}

func (d *disk) Delete(name string, syncDir bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	if f == nil {
		return sqlite3.IOERR_DELETE_NOENT
	}
	if err := d.step(); err != nil {
		return err
	}
	delete(d.files, name)
	if !syncDir && f.synced {
		d.gone[name] = f
	}
	return nil
}

func (d *disk) Access(name string, _ vfs.AccessFlag) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[name] != nil, nil
}

func (d *disk) FullPathname(name string) (string, error) { return name, nil }

type openFile struct {
	d *disk
	f *diskFile
}

func (o openFile) ReadAt(p []byte, at int64) (int, error) {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if at >= int64(len(o.f.now)) {
		return 0, io.EOF
	}
	n := copy(p, o.f.now[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (o openFile) write(w diskWrite) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if err := o.d.step(); err != nil {
		return err
	}
	o.f.now = w.apply(o.f.now)
	o.f.pending = append(o.f.pending, w)
	return nil
}

func (o openFile) WriteAt(p []byte, at int64) (int, error) {
	if err := o.write(diskWrite{at, append([]byte{}, p...)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o openFile) Truncate(size int64) error { return o.write(diskWrite{at: size}) }

func (o openFile) Sync(vfs.SyncFlag) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if err := o.d.step(); err != nil {
		return err
	}
	o.f.durable, o.f.pending, o.f.synced = append([]byte(nil), o.f.now...), nil, true
	return nil
}

func (o openFile) Size() (int64, error) {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	return int64(len(o.f.now)), nil
}

func (openFile) Close() error                                    { return nil }
func (openFile) Lock(vfs.LockLevel) error                        { return nil }
func (openFile) Unlock(vfs.LockLevel) error                      { return nil }
func (openFile) CheckReservedLock() (bool, error)                { return false, nil }
func (openFile) SectorSize() int                                 { return 512 }
func (openFile) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }

var powerCuts = flag.Int("powercuts", 300, "how many power cuts are simulated; make nightly takes 10,000")

// powerControls is how many trials the control has, which does not sync and must lose something.
const powerControls = 25

// TestR1_PowerCut: after a simulated power cut everything that was
// acknowledged is there, nothing is there by half, and the store is whole.
// The control: without syncs something is lost in a fifth of the trials.
func TestR1_PowerCut(t *testing.T) {
	t.Parallel()
	acked := 0
	for seed := range uint64(*powerCuts) {
		n, damage := powerTrial(t, seed, "")
		acked += n
		if damage != nil {
			t.Errorf("seed %d: %v", seed, damage)
		}
	}
	if acked < *powerCuts {
		t.Errorf("only %d updates were acknowledged in %d trials", acked, *powerCuts)
	}
	damaged := 0
	for seed := range uint64(powerControls) {
		if _, damage := powerTrial(t, seed, "PRAGMA synchronous=OFF"); damage != nil {
			damaged++
		}
	}
	if damaged < powerControls/5 {
		t.Errorf("without syncs only %d of %d trials lost something: the simulation cannot see it", damaged, powerControls)
	}
	boardtest.Report(t, boardtest.Row{
		ID: "R1", Trials: *powerCuts, What: "simulated power cuts lost or damaged something", Seeds: fmt.Sprint("0–", *powerCuts-1),
		Control: fmt.Sprintf("%d of %d with synchronous=OFF", damaged, powerControls), Note: fmt.Sprint(acked, " acknowledged updates"),
	})
}

// powerTrial writes until the power goes, opens the store again and reports
// what is wrong with it.
func powerTrial(t *testing.T, seed uint64, weaken string) (acked int, damage error) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	d := &disk{files: map[string]*diskFile{}, gone: map[string]*diskFile{}, left: 5 + random.IntN(1500)}
	name := fmt.Sprintf("power-%d-%d", seed, len(weaken))
	options := &Options{VFS: name, SingleConnection: true, WALLimit: 1 << 40}
	vfs.Register(name, d)
	defer vfs.Unregister(name)
	owner := testOwner(t, "acme", "u")
	dir := t.TempDir()
	var ledger []string
	if s, err := Open(t.Context(), dir, options); err == nil {
		d.settle()
		if weaken != "" {
			if err := s.pool.all[0].db.Exec(weaken); err != nil {
				t.Fatal(err)
			}
		}
		ledger = powerWork(s, owner)
		_ = s.Close() // there is no power
	}
	d = d.crash(random)
	vfs.Register(name, d)
	s, err := Open(t.Context(), dir, options)
	if err != nil {
		return len(ledger), fmt.Errorf("open again: %w", err)
	}
	defer s.Close()
	return len(ledger), powerCheck(s, owner, ledger)
}

// powerWork appends from several goroutines until the power goes, and returns
// what was acknowledged. Each update writes two messages and a memory.
func powerWork(s *Store, owner yiku.Owner) (ledger []string) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for worker := range 3 {
		wait.Go(func() {
			for i := range 200 {
				id := fmt.Sprintf("%d-%d", worker, i)
				err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
					session, err := tx.Session(owner, "s")
					if errors.Is(err, yiku.ErrNotFound) {
						session.ID, session.CreatedAt = "s", testTime()
						err = tx.PutSession(&session)
					}
					if err != nil {
						return err
					}
					memory := &store.Memory{Memory: yiku.Memory{ID: id, Content: strings.Repeat("记忆", 300)}}
					return errors.Join(tx.AddMemory(memory), tx.AddMessages(session.Key, []*store.Message{
						{Message: yiku.Message{ID: id + "a", Content: yiku.Text("你好")}}, {Message: yiku.Message{ID: id + "b"}},
					}))
				})
				if err != nil {
					return
				}
				mu.Lock()
				ledger = append(ledger, id)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return ledger
}

// powerCheck reports what was acknowledged and is not there, and what is there
// by half.
func powerCheck(s *Store, owner yiku.Owner, ledger []string) error {
	found, err := s.Check(context.Background())
	if err != nil || len(found) > 0 {
		return fmt.Errorf("check: %v, %w", found, err)
	}
	return s.View(context.Background(), func(r store.Reader) error {
		memories, err := r.Memories(owner, store.MemoryQuery{})
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for _, m := range memories {
			there[m.ID] = true
		}
		for _, id := range ledger {
			if !there[id] {
				return fmt.Errorf("%s was acknowledged and is lost", id)
			}
		}
		session, err := r.Session(owner, "s")
		if errors.Is(err, yiku.ErrNotFound) && len(memories) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		messages, err := r.Messages(owner, store.MessageQuery{SessionKey: session.Key})
		if err == nil && len(messages) != 2*len(memories) {
			err = fmt.Errorf("%d memories and %d messages: an update is there by half", len(memories), len(messages))
		}
		return err
	})
}
