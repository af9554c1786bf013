package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/v2"

	"github.com/yiku-ai/yiku"
)

const envPrefix = "YIKU_"

// Environ returns the process's environment. It is read here and nowhere else.
func Environ() []string { return os.Environ() }

// Load reads the configuration from its four sources, each over those before:
// defaults, the file, the environment ("NAME=value" each), flags (by key; only
// those that were given). The file is named by the flag "config" or by
// YIKU_CONFIG; without either there is none.
//
// The error is an ErrInvalid whose fields are all the faults, in the order of
// the keys: unknown keys, values of the wrong form, values out of range.
func Load(environ []string, flags map[string]string) (Config, error) {
	l := &loader{k: koanf.New("."), origin: map[string]string{}}
	fromEnv := l.environment(environ)
	path := flags["config"]
	if path == "" {
		path = fromEnv["config"]
	}
	if path != "" {
		l.file(path)
	}
	l.put(fromEnv, func(k Key) string { return k.Env() })
	l.put(flags, func(k Key) string { return flagName(k.Name) })
	cfg := Default()
	l.fill(&cfg)
	if len(l.faults) > 0 {
		return Config{}, l.err()
	}
	if cfg.Lang == "" {
		cfg.Lang = Language(environ)
	}
	return cfg, nil
}

// Language returns the language that the environment asks for: zh or en.
func Language(environ []string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
				if strings.HasPrefix(strings.ToLower(value), "zh") {
					return "zh"
				}
				return "en"
			}
		}
	}
	return "en"
}

// flagName is the flag of a key: its own where it has one.
func flagName(key string) string {
	switch key {
	case "data_dir":
		return "--data"
	case "config", "addr", "events", "lang", "url", "key":
		return "--" + key
	}
	return "--set " + key
}

// loader collects values, where each came from, and faults.
type loader struct {
	k      *koanf.Koanf
	origin map[string]string // key: how the user named it
	faults []yiku.FieldError
}

func (l *loader) fault(field, format string, args ...any) {
	l.faults = append(l.faults, yiku.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) err() error {
	return &yiku.Error{Sentinel: yiku.ErrInvalid, Detail: "configuration", Fields: l.faults}
}

// content is the text of a file as koanf takes it.
type content []byte

// ReadBytes implements koanf.Provider.
func (c content) ReadBytes() ([]byte, error) { return c, nil }

// Read implements koanf.Provider; it is not used with a parser.
func (c content) Read() (map[string]any, error) { return nil, errors.ErrUnsupported }

// file loads the YAML file and finds its unknown keys.
func (l *loader) file(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		l.fault("config", "cannot read the file: %s", reason(err))
		return
	}
	if err := l.k.Load(content(text), yaml.Parser()); err != nil {
		l.fault("config", "%s is not valid YAML: %s", path, oneLine(err.Error()))
		return
	}
	known := Keys()
	for _, name := range l.k.Keys() {
		if !slices.ContainsFunc(known, func(k Key) bool { return k.Name == name }) {
			l.fault(name, "is not a key of the configuration (in %s)", path)
			continue
		}
		l.origin[name] = name
	}
}

// environment returns the values of the YIKU_ variables by key, with "config"
// among them. Unknown ones are faults: a misspelt setting must not pass. What
// Kubernetes sets for a service called yiku is passed over.
func (l *loader) environment(environ []string) map[string]string {
	byEnv := map[string]string{envPrefix + "CONFIG": "config"}
	for _, k := range Keys() {
		byEnv[k.Env()] = k.Name
	}
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		key, known := byEnv[name]
		switch {
		case !strings.HasPrefix(name, envPrefix), foreign(name):
		case !known:
			l.fault(name, "is not a setting of the environment")
		default:
			values[key] = value
		}
	}
	return values
}

// foreign tells whether a YIKU_ variable is not meant as a setting: what
// Kubernetes sets for a service of that name, and the tests' data.
func foreign(name string) bool {
	rest := strings.TrimPrefix(name, envPrefix)
	return rest == "PORT" || rest == "EVAL_DATA" || strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_")
}

// put lays texts over what was loaded before.
func (l *loader) put(values map[string]string, name func(Key) string) {
	for _, k := range Keys() {
		value, given := values[k.Name]
		if !given {
			continue
		}
		if err := l.k.Set(k.Name, value); err != nil {
			l.fault(name(k), "cannot be set")
			continue
		}
		l.origin[k.Name] = name(k)
	}
}

// fill puts the values into the struct and checks it.
func (l *loader) fill(cfg *Config) {
	for _, k := range Keys() {
		origin, given := l.origin[k.Name]
		if !given {
			continue
		}
		if err := set(k.at(cfg), l.k.Get(k.Name)); err != nil {
			l.fault(origin, "%s", err)
			// What is wrong already is not checked again.
			def := Default()
			_ = set(k.at(cfg), format(k.at(&def)))
		}
	}
	for _, f := range cfg.check() {
		if origin, given := l.origin[f.Field]; given {
			f.Field = origin
		}
		l.faults = append(l.faults, f)
	}
}

// reason is an error of the file system without the path.
func reason(err error) string {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
