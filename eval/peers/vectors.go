package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/local"
	"github.com/yiku-ai/yiku/eval/peers/protocol"
)

// dimensions are those of Yiku's default model.
const dimensions = 384

const recordBytes = sha256.Size + 4*dimensions

// vectors are Yiku's own, kept in a file, so that all peers share one pass of
// the model: records of a text's hash and its vector, read when they are asked
// for. It is the embedder of the Yiku that is measured too.
type vectors struct {
	model string // its file

	mu    sync.Mutex
	file  *os.File
	at    map[[sha256.Size]byte]int64
	local *local.Embedder // opened when a text is new
}

var _ embed.Embedder = (*vectors)(nil)

func openVectors(path, model string) (*vectors, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	v := &vectors{model: model, file: f, at: map[[sha256.Size]byte]int64{}}
	for at := int64(0); ; at += recordBytes {
		var key [sha256.Size]byte
		if _, err := f.ReadAt(key[:], at); err != nil {
			if errors.Is(err, io.EOF) {
				return v, nil
			}
			return nil, errors.Join(err, f.Close())
		}
		v.at[key] = at + sha256.Size
	}
}

// Model implements embed.Embedder.
func (v *vectors) Model() embed.Model {
	return embed.Model{Name: "local/multilingual-e5-small", Dimensions: dimensions}
}

// Embed implements embed.Embedder.
func (v *vectors) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	keys, missing, seen := make([][sha256.Size]byte, len(texts)), []string(nil), map[string]bool{}
	for i, text := range texts {
		keys[i] = keyOf(text, use)
		if _, ok := v.at[keys[i]]; !ok && !seen[text] {
			missing, seen[text] = append(missing, text), true
		}
	}
	if err := v.learn(ctx, missing, use); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	raw := make([]byte, 4*dimensions)
	for i, key := range keys {
		if _, err := v.file.ReadAt(raw, v.at[key]); err != nil {
			return nil, err
		}
		out[i] = protocol.Floats(raw)
	}
	return out, nil
}

func keyOf(text string, use embed.Use) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", use, text))
}

// learn asks the model for vectors and keeps them.
func (v *vectors) learn(ctx context.Context, texts []string, use embed.Use) (err error) {
	if len(texts) == 0 {
		return nil
	}
	if v.local == nil {
		if v.local, err = local.Open(v.model, &local.Options{Workers: 1}); err != nil {
			return err
		}
	}
	made, err := v.local.Embed(ctx, texts, use)
	if err != nil {
		return err
	}
	for i, text := range texts {
		key := keyOf(text, use)
		if err := v.keep(key, made[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *vectors) keep(key [sha256.Size]byte, made []float32) error {
	if _, err := v.file.Write(append(key[:len(key):len(key)], protocol.Bytes(made)...)); err != nil {
		return err
	}
	end, err := v.file.Seek(0, io.SeekCurrent)
	v.at[key] = end - 4*dimensions
	return err
}

// close gives the file and the model back.
func (v *vectors) close() error {
	if v.local == nil {
		return v.file.Close()
	}
	return errors.Join(v.file.Close(), v.local.Close())
}
