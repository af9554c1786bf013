package eval

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/yiku-ai/yiku/embed"
)

// keyBytes is the length of what a vector is kept under.
const keyBytes = sha256.Size

// Vectors is an embedder that keeps what another one has made in a file, so
// that a set is embedded once and measured many times. It is for texts that are
// nobody's: nothing is ever forgotten there.
type Vectors struct {
	embed.Embedder
	record int // bytes of a key with its vector

	mu   sync.Mutex
	file *os.File                 // at its end; guarded by mu
	at   map[[keyBytes]byte]int64 // where each vector stands; guarded by mu
}

// KeepVectors opens the file of a model in dir, which is made where it is
// absent. Several processes may keep to one file at once.
func KeepVectors(e embed.Embedder, dir string) (*Vectors, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of vectors: %w", err)
	}
	name := sha256.Sum256([]byte(e.Model().Name))
	file, err := os.OpenFile(filepath.Join(dir, hex.EncodeToString(name[:8])+".vectors"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the file of vectors: %w", err)
	}
	v := &Vectors{Embedder: e, record: keyBytes + 4*e.Model().Dimensions, file: file, at: map[[keyBytes]byte]int64{}}
	if err := v.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of vectors: %w", err), file.Close())
	}
	return v, nil
}

// Close closes the file.
func (v *Vectors) Close() error { return v.file.Close() }

// read finds what is there. An end that was torn off in writing is cut.
func (v *Vectors) read() error {
	info, err := v.file.Stat()
	if err != nil {
		return err
	}
	whole := info.Size() / int64(v.record) * int64(v.record)
	if whole < info.Size() {
		if err := v.file.Truncate(whole); err != nil {
			return err
		}
	}
	for from := int64(0); from < whole; from += int64(v.record) {
		var key [keyBytes]byte
		if _, err := v.file.ReadAt(key[:], from); err != nil {
			return err
		}
		v.at[key] = from + keyBytes
	}
	return nil
}

// Embed gives the vectors that are kept, and has the others made.
func (v *Vectors) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	out := make([][]float32, len(texts))
	keys := make([][keyBytes]byte, len(texts))
	var missing []int
	for i, text := range texts {
		keys[i] = sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", use, text))
		var err error
		if out[i], err = v.kept(keys[i]); err != nil {
			return nil, err
		}
		if out[i] == nil {
			missing = append(missing, i)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	if len(missing) == 0 {
		return out, nil
	}
	lacking := make([]string, len(missing))
	for i, at := range missing {
		lacking[i] = texts[at]
	}
	made, err := v.Embedder.Embed(ctx, lacking, use)
	if err != nil {
		return nil, err
	}
	for i, at := range missing {
		out[at] = made[i]
		if err := v.keep(keys[at], made[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// kept reads a vector; nil where there is none.
func (v *Vectors) kept(key [keyBytes]byte) ([]float32, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.at[key]
	if !ok {
		return nil, nil
	}
	raw := make([]byte, v.record-keyBytes)
	if _, err := v.file.ReadAt(raw, at); err != nil {
		return nil, fmt.Errorf("read a vector: %w", err)
	}
	vector := make([]float32, len(raw)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return vector, nil
}

// keep appends a vector, in one write.
func (v *Vectors) keep(key [keyBytes]byte, vector []float32) error {
	raw := append(make([]byte, 0, v.record), key[:]...)
	for _, x := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.at[key]; ok {
		return nil
	}
	if _, err := v.file.Write(raw); err != nil {
		return fmt.Errorf("write a vector: %w", err)
	}
	end, err := v.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("find a vector's place: %w", err)
	}
	v.at[key] = end - int64(len(vector)*4)
	return nil
}
