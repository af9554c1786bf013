//go:build unix

package local

import (
	"math"
	"os"
	"syscall"
)

// mapFile maps a file into memory: pages come in as they are used, and are
// shared by all processes that map it.
func mapFile(path string) ([]byte, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if size := info.Size(); size == 0 || size > math.MaxInt32*4 {
		return readFile(path)
	}
	raw, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return readFile(path)
	}
	return raw, func() error { return syscall.Munmap(raw) }, nil
}
