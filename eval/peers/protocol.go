package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// request is a line that a peer reads. Op is what it is to do:
//
//   - open: begin, empty, with Dir as its place on disk. It answers with about.
//   - add: take the Items of a User, in their order.
//   - settle: return when everything that was added is found.
//   - search: answer with the ids of the K best of the User's items.
//
// A peer that reads the end of its input ends.
type request struct {
	Op     string `json:"op"`
	Dir    string `json:"dir,omitempty"`
	User   string `json:"user,omitempty"`
	Items  []item `json:"items,omitempty"`
	Query  string `json:"query,omitempty"`
	Vector vector `json:"vector,omitempty"` // of the query
	K      int    `json:"k,omitempty"`
}

// item is something that was said. Text is what Yiku finds it by: the speaker's
// name, what was said, and the words of the date; Vector is that text's.
type item struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Role    string    `json:"role"`
	Name    string    `json:"name,omitempty"`
	Content string    `json:"content"`
	Time    time.Time `json:"time,omitzero"`
	Text    string    `json:"text"`
	Vector  vector    `json:"vector"`
}

// answer is the line that a peer writes for each that it reads. NS is how long
// the system itself took, without reading and writing these lines.
type answer struct {
	IDs   []string `json:"ids,omitempty"`
	NS    int64    `json:"ns,omitempty"`
	About *about   `json:"about,omitempty"`
	Error string   `json:"error,omitempty"`
}

// about is what a peer says of itself.
type about struct {
	Version string `json:"version"`
	Licence string `json:"licence"`
	What    string `json:"what"`              // how it finds, and what it was given
	Over    string `json:"over"`              // process or http
	Arms    string `json:"arms"`              // vectors, words or both
	Threads int    `json:"threads,omitempty"` // that it uses for one search, where it says
}

// vector travels as base64 of little-endian float32.
type vector []float32

// MarshalJSON implements json.Marshaler.
func (v vector) MarshalJSON() ([]byte, error) {
	return json.Marshal(bytesOf(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *vector) UnmarshalJSON(text []byte) error {
	var raw []byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("vector: %d bytes", len(raw))
	}
	*v = floats(raw)
	return nil
}

func bytesOf(v []float32) []byte {
	raw := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
	}
	return raw
}

func floats(raw []byte) []float32 {
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// system is a peer that is written in Go.
type system interface {
	open(dir string) (about, error)
	add(user string, items []item) error
	settle() error
	search(user, query string, v vector, k int) ([]string, error)
	close() error
}

// serve lets a system speak the protocol until its input ends.
func serve(s system, in io.Reader, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	lines, answers := json.NewDecoder(bufio.NewReaderSize(in, 1<<20)), json.NewEncoder(out)
	for {
		var req request
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

func do(s system, req request) (a answer) {
	var err error
	begun := time.Now()
	switch req.Op {
	case "open":
		var who about
		who, err = s.open(req.Dir)
		a.About = &who
	case "add":
		err = s.add(req.User, req.Items)
	case "settle":
		err = s.settle()
	case "search":
		a.IDs, err = s.search(req.User, req.Query, req.Vector, req.K)
	default:
		err = fmt.Errorf("unknown op %q", req.Op)
	}
	a.NS = time.Since(begun).Nanoseconds()
	if err != nil {
		a = answer{Error: err.Error()}
	}
	return a
}
