// Package protocol is how the peers of eval/peers are spoken to: a line of JSON
// is asked, a line of JSON is answered.
package protocol

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"syscall"
	"time"
)

// Request is a line that a peer reads. Op is what it is to do:
//
//   - open: begin, empty, with Dir as its place on disk. It answers with About.
//   - add: take the Items of a User, in their order.
//   - settle: return when everything that was added is found.
//   - search: answer with the ids of the K best of the User's items.
//
// A peer that reads the end of its input ends.
type Request struct {
	Op     string `json:"op"`
	Dir    string `json:"dir,omitempty"`
	User   string `json:"user,omitempty"`
	Items  []Item `json:"items,omitempty"`
	Query  string `json:"query,omitempty"`
	Vector Vector `json:"vector,omitempty"` // of the query
	K      int    `json:"k,omitempty"`
}

// Item is something that was said. Text is what Yiku finds it by: the speaker's
// name, what was said, and the words of the date; Vector is that text's.
type Item struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Role    string    `json:"role"`
	Name    string    `json:"name,omitempty"`
	Content string    `json:"content"`
	Time    time.Time `json:"time,omitzero"`
	Text    string    `json:"text"`
	Vector  Vector    `json:"vector"`
}

// Answer is the line that a peer writes for each that it reads. NS is how long
// the system itself took, without reading and writing these lines, CPU how long
// this process computed meanwhile, in all its threads; a server's is not in it.
type Answer struct {
	IDs   []string `json:"ids,omitempty"`
	NS    int64    `json:"ns,omitempty"`
	CPU   int64    `json:"cpu,omitempty"`
	About *About   `json:"about,omitempty"`
	Error string   `json:"error,omitempty"`
}

// About is what a peer says of itself.
type About struct {
	Version string `json:"version"`
	Licence string `json:"licence"`
	What    string `json:"what"`              // how it finds, and what it was given
	Over    string `json:"over"`              // process or http
	Arms    string `json:"arms"`              // vectors, words or both
	Threads int    `json:"threads,omitempty"` // that it uses for one search, where it says
}

// Vector travels as base64 of little-endian float32.
type Vector []float32

// MarshalJSON implements json.Marshaler.
func (v Vector) MarshalJSON() ([]byte, error) {
	return json.Marshal(Bytes(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Vector) UnmarshalJSON(text []byte) error {
	var raw []byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("vector: %d bytes", len(raw))
	}
	*v = Floats(raw)
	return nil
}

// Bytes are the values, little-endian.
func Bytes(v []float32) []byte {
	raw := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
	}
	return raw
}

// Floats are the values of such bytes.
func Floats(raw []byte) []float32 {
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// System is a peer that is written in Go; its methods are the ops.
type System interface {
	Open(dir string) (About, error)
	Add(user string, items []Item) error
	Settle() error
	Search(user, query string, v Vector, k int) ([]string, error)
	Close() error
}

// Serve lets a system speak the protocol until its input ends.
func Serve(s System, in io.Reader, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	lines, answers := json.NewDecoder(bufio.NewReaderSize(in, 1<<20)), json.NewEncoder(out)
	for {
		var req Request
		if err := lines.Decode(&req); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		a := do(s, req)
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func do(s System, req Request) (a Answer) {
	var err error
	begun, computed := time.Now(), computing()
	switch req.Op {
	case "open":
		var who About
		who, err = s.Open(req.Dir)
		a.About = &who
	case "add":
		err = s.Add(req.User, req.Items)
	case "settle":
		err = s.Settle()
	case "search":
		a.IDs, err = s.Search(req.User, req.Query, req.Vector, req.K)
	default:
		err = fmt.Errorf("unknown op %q", req.Op)
	}
	a.NS, a.CPU = time.Since(begun).Nanoseconds(), (computing() - computed).Nanoseconds()
	if err != nil {
		a = Answer{Error: err.Error()}
	}
	return a
}

// computing is how long this process has computed.
func computing() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
