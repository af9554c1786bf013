package sqlite

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/yiku-ai/yiku"
)

// The layout of the write-ahead log (sqlite.org/walformat.html): a header, then
// frames, each a header and a page. A frame's checksum goes on from that of
// the frame before, and the first one's from that of the log's header.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // of logs whose checksums read words with the low byte first, as SQLite does here
)

// logSum goes on with a checksum of the log over b, whose length is a multiple of 8.
func logSum(sum [2]uint32, b []byte) [2]uint32 {
	s0, s1 := sum[0], sum[1]
	for ; len(b) >= 8; b = b[8:] {
		s0 += binary.LittleEndian.Uint32(b) + s1
		s1 += binary.LittleEndian.Uint32(b[4:]) + s0
	}
	return [2]uint32{s0, s1}
}

// readSum reads a checksum as it stands in a header.
func readSum(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// frameFits reports whether a frame's checksum goes on from the one before.
func frameFits(before [2]uint32, header, page []byte) bool {
	return logSum(logSum(before, header[:8]), page) == readSum(header[16:])
}

// salts tell the frames of a log from those of the log before it in the same
// file.
type salts [8]byte

// mark says that so many frames of a log with these salts were committed and
// synced. It is written beside the log after each sync, and not synced itself:
// after a power cut it may be older, never newer, than what was synced. Before
// a log is begun anew or taken away it is made zero, and that is synced.
type mark struct {
	salts  salts
	frames int64
}

const markSize = 28

func (m mark) bytes() []byte {
	b := append([]byte("yiku.log"), m.salts[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(m.frames))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// readMark reads a mark; one that is torn or damaged says nothing.
func readMark(f io.ReaderAt) (m mark, err error) {
	b := make([]byte, markSize)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return m, unavailable("read the mark of the log", err)
	}
	m.frames = int64(binary.BigEndian.Uint64(b[16:]))
	copy(m.salts[:], b[8:])
	if string(m.bytes()) != string(b) {
		return mark{}, nil
	}
	return m, nil
}

// logState is what a scan of a log found.
type logState struct {
	salts     salts
	page      int64 // the size of a page; 0 where the log has no valid header
	fit       int64 // frames from the first on whose checksums fit
	committed int64 // those of them that end with a commit
	after     bool  // behind the first that does not fit stands a commit that a further transaction goes on from
}

// scanLog reads a log as SQLite's recovery does, and further.
func scanLog(f io.ReaderAt, size int64) (st logState, err error) {
	head := make([]byte, logHeader)
	if size < logHeader {
		return st, nil
	}
	if _, err := f.ReadAt(head, 0); err != nil {
		return st, unavailable("read the log", err)
	}
	sum := logSum([2]uint32{}, head[:24])
	if binary.BigEndian.Uint32(head) != logMagic || sum != readSum(head[24:]) {
		return st, nil
	}
	st.page = int64(binary.BigEndian.Uint32(head[8:]))
	copy(st.salts[:], head[16:])
	if st.page < 512 || st.page > 65536 {
		return logState{}, nil
	}
	frame := make([]byte, frameHeader+st.page)
	broken := false
	last, counts := uint32(0), false // the page of the commit just before, and whether it stands where the log no longer fits
	for n := int64(1); logHeader+n*int64(len(frame)) <= size; n++ {
		if _, err := f.ReadAt(frame, logHeader+(n-1)*int64(len(frame))); err != nil {
			return st, unavailable("read the log", err)
		}
		header, page := frame[:frameHeader], frame[frameHeader:]
		fits := string(header[8:16]) == string(st.salts[:]) && frameFits(sum, header, page)
		broken = broken || !fits
		number := binary.BigEndian.Uint32(header)
		commit := binary.BigEndian.Uint32(header[4:]) != 0 && string(header[8:16]) == string(st.salts[:])
		again := commit && last == number // SQLite repeats the last frame up to the end of a sector
		st.after = st.after || broken && fits && counts && !again
		sum = readSum(header[16:])
		switch {
		case !commit:
			last, counts = 0, false
		case !again:
			last, counts = number, broken
		}
		if !broken {
			st.fit = n
			if commit {
				st.committed = n
			}
		}
	}
	return st, nil
}

// damage reports a log that holds less than was committed, which SQLite would
// cut there without a word. What a power cut leaves is none: all that was
// synced fits, and behind it lies, whole or torn, what one transaction wrote.
// So it is damage where the mark counts more, and where behind the first frame
// that does not fit a commit is followed by a further transaction.
func (st logState) damage(m mark) error {
	switch {
	case m.frames > 0 && m.salts != st.salts:
		return yiku.Errorf(yiku.ErrUnavailable, "the write-ahead log is damaged: its header is not that of the %d frames that were committed", m.frames)
	case m.frames > st.committed:
		return yiku.Errorf(yiku.ErrUnavailable, "the write-ahead log is damaged at frame %d: %d frames were committed", st.fit+1, m.frames)
	case st.after:
		return yiku.Errorf(yiku.ErrUnavailable, "the write-ahead log is damaged at frame %d: more was committed after it", st.fit+1)
	}
	return nil
}
