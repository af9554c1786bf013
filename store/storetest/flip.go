package storetest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FlipCount counts what became of flipped bits.
type FlipCount struct {
	Detected int      // an error instead of an answer
	Harmless int      // the same answers
	Wrong    []uint64 // other answers and no error: the seeds
}

// Flips flips one bit of one of the files of a directory, once for each seed
// from 0 up to n, and asks again: ask opens what lies in the directory that it
// is given and returns all of its answers, which an error must stand for
// where they cannot be had. The directory itself is left as it is. A file is
// hit as often as it is large, but each by some seeds.
func Flips(t testing.TB, n int, dir string, ask func(dir string) (string, error)) FlipCount {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, names, total := map[string][]byte{}, []string(nil), 0
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 0 {
			files[e.Name()], names, total = b, append(names, e.Name()), total+len(b)
		}
	}
	lay := func() string {
		to := t.TempDir()
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return to
	}
	whole, err := ask(lay())
	if err != nil {
		t.Fatal("without damage:", err)
	}
	var count FlipCount
	for seed := range uint64(n) {
		random := rand.New(rand.NewPCG(seed, 8))
		name := names[random.IntN(len(names))]
		if seed%25 != 0 {
			at := random.IntN(total)
			i := slices.IndexFunc(names, func(name string) bool { at -= len(files[name]); return at < 0 })
			name = names[i]
		}
		bit := random.IntN(8 * len(files[name]))
		files[name][bit/8] ^= 1 << (bit % 8)
		to := lay()
		files[name][bit/8] ^= 1 << (bit % 8)
		answers, err := ask(to)
		switch {
		case err != nil:
			count.Detected++
		case answers == whole:
			count.Harmless++
		default:
			count.Wrong = append(count.Wrong, seed)
		}
		_ = os.RemoveAll(to) // the test's own clean-up comes later
	}
	return count
}
