package sqlite

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/yiku-ai/yiku"
)

// markName is what the name of the log's mark adds to the database's.
const markName = "-mark"

// guard stands between SQLite and the files of one database, and looks for
// damage (R7). SQLite's checksums of pages, which ncruces computes above the
// guard, see a flipped bit in a page of the database, but nobody looks at the
// pages of the log again after it was opened, and a log that does not fit is
// cut without a word. So the guard holds each page that is read from the log
// against its frame's checksum, keeps the mark of what was committed, and
// compares both when the store is opened.
type guard struct {
	base     vfs.VFS
	database string      // its full name
	off      bool        // look at nothing: the control of tests
	found    func(error) // is told of damage that a read has met

	mu      sync.Mutex
	strict  bool     // the database's pages have checksums; guarded by mu
	mark    mark     // what the mark's file says, or will; guarded by mu
	file    sideFile // the mark's; guarded by mu
	page    int64    // size of a page of the log; guarded by mu
	salts   salts    // of the log; guarded by mu
	begun   int64    // the commit's frame whose page is about to be written; guarded by mu
	pending int64    // the commit's frame that was written and waits for the sync; guarded by mu
}

// sideFile is a file that SQLite does not know of, or that is read before it.
type sideFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Sync(vfs.SyncFlag) error
}

// osFile is a sideFile of the system.
type osFile struct{ *os.File }

func (f osFile) Sync(vfs.SyncFlag) error { return f.File.Sync() }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// newGuard opens the mark and scans the log. A log that is damaged is refused:
// SQLite would go on without what it cannot read there.
func newGuard(d *directory, base string, off bool, found func(error)) (*guard, error) {
	g := &guard{base: vfs.Find(base), database: d.database, off: off, found: found}
	if g.base == nil {
		return nil, unavailable("open database", fmt.Errorf("there is no VFS %q", base))
	}
	if full, err := g.base.FullPathname(d.database); full != "" { // the error may say that there was a link
		g.database = full
	} else if err != nil {
		return nil, unavailable("open database", err)
	}
	var err error
	if g.file, err = g.side(g.database+markName, vfs.OPEN_READWRITE|vfs.OPEN_CREATE); err != nil {
		return nil, unavailable("open the mark of the log", err)
	}
	if err := g.inspect(); err != nil {
		_ = g.file.Close()
		return nil, err
	}
	return g, nil
}

// side opens a file in the same file system as the database. One that opens
// SQLite's own names is, or lies on, that of the system.
func (g *guard) side(name string, flags vfs.OpenFlag) (sideFile, error) {
	if _, named := g.base.(vfs.VFSFilename); !named {
		f, _, err := g.base.Open(name, flags|vfs.OPEN_MAIN_JOURNAL)
		return f, err
	}
	mode := os.O_RDONLY
	if flags&vfs.OPEN_CREATE != 0 {
		mode = os.O_RDWR | os.O_CREATE
	}
	f, err := os.OpenFile(name, mode, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// scan reads through the log; where there is none it is empty.
func (g *guard) scan() (st logState, err error) {
	name := g.database + "-wal"
	if there, err := g.base.Access(name, vfs.ACCESS_EXISTS); err != nil || !there {
		return st, nil
	}
	f, err := g.side(name, vfs.OPEN_READONLY)
	if err != nil {
		return st, unavailable("read the log", err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return st, unavailable("read the log", err)
	}
	return scanLog(f, size)
}

// examine looks at the log of an open store: how many frames were committed,
// and what is wrong with them. Nobody may write meanwhile.
func (g *guard) examine() (frames int, fault, err error) {
	st, err := g.scan()
	if err != nil {
		return 0, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(st.committed), st.damage(g.mark), nil
}

// inspect compares the log with its mark before SQLite opens it.
func (g *guard) inspect() error {
	m, err := readMark(g.file)
	if err != nil {
		return err
	}
	st, err := g.scan()
	if err != nil {
		return err
	}
	if err := st.damage(m); err != nil && !g.off {
		return err
	}
	g.mark, g.page, g.salts = mark{st.salts, st.committed}, st.page, st.salts
	return nil
}

// clear takes the mark back, durably, before the log is begun anew.
func (g *guard) clear() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.begun, g.pending = 0, 0
	if g.mark.frames == 0 {
		return nil
	}
	if _, err := g.file.WriteAt(mark{}.bytes(), 0); err != nil {
		return err
	}
	if err := g.file.Sync(vfs.SYNC_FULL); err != nil {
		return err
	}
	g.mark = mark{} // not before: what failed is done again
	return nil
}

// synced notes that what was written to the log is durable.
func (g *guard) synced() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending == 0 {
		return
	}
	g.mark = mark{g.salts, g.pending}
	g.pending = 0
	_, _ = g.file.WriteAt(g.mark.bytes(), 0) // an older mark stays true
}

// wrote follows the writes to the log.
func (g *guard) wrote(p []byte, at int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at == 0 && len(p) == logHeader {
		g.page = int64(binary.BigEndian.Uint32(p[8:]))
		copy(g.salts[:], p[16:])
		return
	}
	size := frameHeader + g.page
	frame := (at-logHeader)/size + 1
	switch (at - logHeader) % size {
	case 0:
		g.begun = 0
		if len(p) == frameHeader && binary.BigEndian.Uint32(p[4:]) != 0 {
			g.begun = frame
		}
	case frameHeader:
		if int64(len(p)) == g.page && g.begun == frame {
			g.begun, g.pending = 0, frame
		}
	}
}

// holds reports whether a frame is one of those that were committed, and has a
// page of this size.
func (g *guard) holds(frame, page int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return frame <= g.mark.frames && page == g.page && !g.off
}

func (g *guard) isStrict() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.strict && !g.off
}

// demandChecksums makes a database whose header says that its pages have no
// checksums a damaged one from now on.
func (g *guard) demandChecksums() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.strict = true
}

// register makes the guard known to SQLite, and returns under which name.
func (g *guard) register() string {
	vfs.Register(g.name(), g)
	return g.name()
}

func (g *guard) name() string { return fmt.Sprintf("yiku-%p", g) }

func (g *guard) close() error {
	vfs.Unregister(g.name())
	g.mu.Lock()
	defer g.mu.Unlock()
	return unavailableIf("close the mark of the log", g.file.Close())
}

// Open, OpenFilename, Delete, Access and FullPathname make a guard a VFS.
func (g *guard) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpen(g.base, name, flags)
	return g.wrap(name, f, flags), flags, err
}

func (g *guard) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpenFilename(g.base, name, flags)
	return g.wrap(name.String(), f, flags), flags, err
}

func (g *guard) wrap(name string, f vfs.File, flags vfs.OpenFlag) vfs.File {
	switch {
	case f == nil:
		return nil
	case flags&vfs.OPEN_WAL != 0 && name == g.database+"-wal":
		return &logFile{File: f, g: g}
	case flags&vfs.OPEN_MAIN_DB != 0 && name == g.database:
		return &databaseFile{File: f, g: g}
	}
	return f
}

func (g *guard) Delete(name string, syncDir bool) error {
	if name == g.database+"-wal" {
		if err := g.clear(); err != nil {
			return err
		}
	}
	return g.base.Delete(name, syncDir)
}

func (g *guard) Access(name string, flags vfs.AccessFlag) (bool, error) {
	return g.base.Access(name, flags)
}

func (g *guard) FullPathname(name string) (string, error) { return g.base.FullPathname(name) }

// databaseFile is the database. Its header says whether its pages have
// checksums, so that one flipped bit there would switch the look at all of
// them off.
type databaseFile struct {
	vfs.File
	g *guard
}

func (f *databaseFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if at == 0 && n >= 100 && p[20] != checksumSize && f.g.isStrict() {
		f.g.found(yiku.Errorf(yiku.ErrUnavailable, "the header of the database is damaged"))
		return 0, sqlite3.IOERR_DATA
	}
	return n, err
}

// These pass on what SQLite asks of a file of the system.
func (f *databaseFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f *databaseFile) LockState() vfs.LockLevel       { return vfsutil.WrapLockState(f.File) }
func (f *databaseFile) HasMoved() (bool, error)        { return vfsutil.WrapHasMoved(f.File) }
func (f *databaseFile) SizeHint(size int64) error      { return vfsutil.WrapSizeHint(f.File, size) }
func (f *databaseFile) Unwrap() vfs.File               { return f.File }

// logFile is the write-ahead log.
type logFile struct {
	vfs.File
	g    *guard
	room []byte
}

// ReadAt checks a page of a commit against its frame. Pages of the running
// transaction may lie there with a checksum that is not yet right; only the
// transaction itself reads them.
func (f *logFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	page := int64(len(p))
	size := frameHeader + page
	if err != nil || (at-logHeader)%size != frameHeader || !f.g.holds((at-logHeader)/size+1, page) {
		return n, err
	}
	from := max(at-size-8, logHeader-8) // from the checksum before on
	if cap(f.room) < int(size)+8 {
		f.room = make([]byte, size+8)
	}
	room := f.room[:at-from]
	if n, err := f.File.ReadAt(room, from); n < len(room) {
		return 0, err
	}
	if !frameFits(readSum(room), room[len(room)-frameHeader:], p) {
		f.g.found(yiku.Errorf(yiku.ErrUnavailable, "the write-ahead log is damaged at frame %d", (at-logHeader)/size+1))
		return 0, sqlite3.IOERR_DATA
	}
	return n, nil
}

func (f *logFile) WriteAt(p []byte, at int64) (int, error) {
	if at == 0 {
		if err := f.g.clear(); err != nil {
			return 0, err
		}
	}
	n, err := f.File.WriteAt(p, at)
	if err == nil {
		f.g.wrote(p, at)
	}
	return n, err
}

func (f *logFile) Truncate(size int64) error {
	if err := f.g.clear(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *logFile) Sync(flags vfs.SyncFlag) error {
	err := f.File.Sync(flags)
	if err == nil {
		f.g.synced()
	}
	return err
}
