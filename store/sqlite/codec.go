package sqlite

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"github.com/yiku-ai/yiku"
)

// noTime is what a query gives for a missing time: the zero time.Time in
// microseconds since 1970. The SQL constants repeat it.
const noTime = -62135596800000000

// pack joins texts into one, each prefixed with its length in bytes as a
// uvarint. Fields may be added at the end: unpack gives "" for missing ones.
func pack(parts ...string) []byte {
	size := 0
	for _, p := range parts {
		size += len(p) + binary.MaxVarintLen32
	}
	buf := make([]byte, 0, size)
	for _, p := range parts {
		buf = binary.AppendUvarint(buf, uint64(len(p)))
		buf = append(buf, p...)
	}
	return buf
}

// unpacker reads what pack wrote. All texts share one copy of the input.
type unpacker struct {
	rest string
	bad  bool
}

func unpack(b []byte) *unpacker { return &unpacker{rest: string(b)} }

// next returns the next text.
func (u *unpacker) next() string {
	if u.rest == "" {
		return ""
	}
	n, size := uvarint(u.rest)
	if size <= 0 || n > uint64(len(u.rest)-size) {
		u.rest, u.bad = "", true
		return ""
	}
	s := u.rest[size : size+int(n)]
	u.rest = u.rest[size+int(n):]
	return s
}

// list returns the next text as a list of texts.
func (u *unpacker) list() []string {
	inner := unpacker{rest: u.next()}
	var list []string
	for inner.rest != "" {
		list = append(list, inner.next())
	}
	u.bad = u.bad || inner.bad
	return list
}

// err reports input that pack did not write.
func (u *unpacker) err() error {
	if u.bad {
		return unreadable()
	}
	return nil
}

func uvarint(s string) (uint64, int) {
	var x uint64
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		b := s[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}

func packList(list []string) string { return string(pack(list...)) }

// toJSON writes a value; "" for nil maps and slices, which is told by empty.
func toJSON(v any, empty bool) (string, error) {
	if empty {
		return "", nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", yiku.Errorf(yiku.ErrInvalid, "a value cannot be written as JSON")
	}
	return string(b), nil
}

// fromJSON reads what toJSON wrote into v. Numbers become float64 where that
// is exact and stay json.Number where it is not, so that big integers keep
// their digits.
func fromJSON(s string, v any) error {
	if s == "" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return unreadable()
	}
	return nil
}

// object reads a JSON object as metadata and working memory hold it.
func object(s string) (map[string]any, error) {
	var m map[string]any
	if err := fromJSON(s, &m); err != nil {
		return nil, err
	}
	for k, v := range m {
		m[k] = plainNumbers(v)
	}
	return m, nil
}

func plainNumbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		f, err := x.Float64()
		if err != nil || !exact(string(x), f) {
			return x
		}
		return f
	case map[string]any:
		for k, e := range x {
			x[k] = plainNumbers(e)
		}
	case []any:
		for i, e := range x {
			x[i] = plainNumbers(e)
		}
	}
	return v
}

// exact reports whether f, written as JSON, is the same text again: it is for
// every number that was a float64 when it was stored.
func exact(s string, f float64) bool {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n != 0 && -1<<53 <= n && n <= 1<<53 {
		return true
	}
	b, err := json.Marshal(f)
	return err == nil && string(b) == s
}

// micro rounds times down to microseconds in UTC, in place.
func micro(times ...*time.Time) {
	for _, t := range times {
		if !t.IsZero() {
			*t = time.UnixMicro(t.UnixMicro()).UTC()
		}
	}
}

// instant reads a time that was bound.
func instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// known returns a text of the closed vocabularies without a copy of its own.
func known(b []byte) string {
	switch string(b) {
	case "":
		return ""
	case "semantic":
		return "semantic"
	case "episodic":
		return "episodic"
	case "procedural":
		return "procedural"
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "system":
		return "system"
	case "tool":
		return "tool"
	case "agent":
		return "agent"
	case "import":
		return "import"
	case "web":
		return "web"
	case "active":
		return "active"
	case "superseded":
		return "superseded"
	case "archived":
		return "archived"
	case "project":
		return "project"
	case "task":
		return "task"
	case "fact":
		return "fact"
	case "preference":
		return "preference"
	case "constraint":
		return "constraint"
	case "created":
		return "created"
	}
	return string(b)
}
