package journal

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/yiku-ai/yiku"
)

// reading is what a reading of a whole journal found.
type reading struct {
	header header
	last   Position
	size   int64 // of the lines that hold
	torn   bool  // half a line follows them
}

// place is an entry with where it stands.
type place struct {
	Entry
	from int64 // of its line in the file
	mac  []byte
}

// readAll checks a journal line by line and calls fn for each entry. A last
// line without an end, or with bytes that were never written, is what a crash
// leaves behind. Anything else that does not fit is ErrUnavailable.
func readAll(r io.Reader, key []byte, fn func(place) error) (got reading, err error) {
	buf := bufio.NewReaderSize(r, 1<<16)
	first, torn, err := readLine(buf)
	if err != nil {
		return got, err
	}
	text, sum, ok := split(first)
	if torn || !ok || !hmac.Equal(sum, headerMAC(key, text)) || json.Unmarshal(text, &got.header) != nil {
		return got, fault("line 1 does not hold: the journal was changed, or its key is another one")
	}
	got.last = Position{ID: got.header.ID, N: got.header.Base, MAC: got.header.Last}
	got.size = int64(len(first))
	for n := 2; ; n++ {
		raw, torn, err := readLine(buf)
		if err != nil {
			return got, err
		}
		if torn || len(raw) == 0 {
			got.torn = torn
			return got, nil
		}
		p := place{from: got.size}
		text, sum, ok := split(raw)
		if !ok || !hmac.Equal(sum, mac(key, got.last.MAC, text)) || json.Unmarshal(text, &p.Entry) != nil || p.N != got.last.N+1 {
			return got, fault(fmt.Sprintf("line %d does not hold: entries were changed, taken out or put in another order", n))
		}
		p.mac = sum
		got.last.N, got.last.MAC = p.N, sum
		got.size += int64(len(raw))
		if fn != nil {
			if err := fn(p); err != nil {
				return got, err
			}
		}
	}
}

// readLine reads a line with its end. Torn is set where there is half a line.
func readLine(buf *bufio.Reader) (raw []byte, torn bool, err error) {
	raw, err = buf.ReadBytes('\n')
	switch {
	case errors.Is(err, io.EOF):
		return raw, len(raw) > 0, nil
	case err != nil:
		return nil, false, unavailable("read forget journal", err)
	case bytes.IndexByte(raw, 0) >= 0: // JSON and hex have none: these bytes were never written
		_, err := buf.ReadByte()
		return raw, errors.Is(err, io.EOF), nil
	}
	return raw, false, nil
}

func split(raw []byte) (text, sum []byte, ok bool) {
	text, code, found := bytes.Cut(bytes.TrimSuffix(raw, []byte("\n")), []byte("\t"))
	sum, err := hex.DecodeString(string(code))
	return text, sum, found && err == nil && bytes.Equal(code, hex.AppendEncode(nil, sum))
}

func fault(text string) error {
	return yiku.Errorf(yiku.ErrUnavailable, "the forget journal: %s", text)
}

// ReadPosition reads the position of the entry n of a journal that another
// process may be writing, or of its end where n is negative. One that the
// journal does not reach, or not any more, is ErrConflict.
func ReadPosition(path string, key []byte, n int64) (Position, error) {
	file, err := os.Open(path)
	if err != nil {
		return Position{}, unavailable("open forget journal", err)
	}
	defer file.Close()
	var at Position
	got, err := readAll(file, key, func(p place) error {
		if p.N == n {
			at = Position{N: p.N, MAC: p.mac}
		}
		return nil
	})
	at.ID = got.header.ID
	switch {
	case err != nil:
		return Position{}, err
	case n < 0:
		return got.last, nil
	case n < got.header.Base:
		return Position{}, yiku.Errorf(yiku.ErrConflict, "the forget journal begins on %s, after the backup was made: what was forgotten in between is not known any more",
			got.header.Since.Format("2006-01-02"))
	case n > got.last.N:
		return Position{}, yiku.Errorf(yiku.ErrConflict, "the forget journal ends at entry %d, the backup was made at entry %d: its tail is missing, or it is another one", got.last.N, n)
	case n == got.header.Base:
		at.N, at.MAC = n, got.header.Last
	}
	return at, nil
}
