package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/yiku-ai/yiku"
)

// TestR6_BackupsLieOutside: no backup is made in the data directory, under
// whatever name that is reached; beside it one may be.
func TestR6_BackupsLieOutside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	data, link := filepath.Join(root, "data"), filepath.Join(root, "链接")
	if err := errors.Join(os.MkdirAll(filepath.Join(data, "below", "it"), 0o700), os.Symlink(data, link)); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"data/restore.ready", "data/restore.tmp", "data/replaced.tmp", "data/x.tar", "data/below/it/x.tar", "链接/x.tar", "链接/below/x.tar"} {
		if err := outside(filepath.Join(root, in), data); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("%s: %v", in, err)
		}
		if err := outside(filepath.Join(root, in), link); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("%s, the directory by its link: %v", in, err)
		}
	}
	if err := outside(filepath.Join(root, "data.tar"), data); err != nil { // control
		t.Error("beside the data directory:", err)
	}
}
