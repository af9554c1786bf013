package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Embed is what turns texts into vectors.
type Embed struct {
	Driver  string // local, openai, ollama or none; auto is local where the model is there
	Model   string
	Dir     string // of the models that run in this process; "" is a directory in the user's cache
	Workers int    // cores that these may use at once

	URL        string // of an endpoint; "" is the driver's own
	Key        string
	Dimensions int    // that an endpoint is asked for; 0: what the model gives
	Encoding   string // of vectors from an openai endpoint: float or base64
	Batch      int    // texts of one exchange
	MaxTokens  int    // of one text, about
	Query      string // what the model wants to see before a question
	Passage    string // and before anything else
	Timeout    time.Duration
	Waited     time.Duration // a hard bound of what a question's vector adds to a read
}

func defaultEmbed(driver string) Embed {
	return Embed{Driver: driver, Model: "multilingual-e5-small", Workers: 1, Encoding: "float", Batch: 32, MaxTokens: 2048, Timeout: 30 * time.Second, Waited: time.Second}
}

// embedKeys are the keys of one embedder, whose names begin so.
func embedKeys(prefix string, of func(*Config) *Embed) []Key {
	key := func(name, doc string, at func(*Embed) any) Key {
		return Key{prefix + name, doc, func(c *Config) any { return at(of(c)) }}
	}
	driver := "what turns texts into vectors: local (a model in this process), auto (the same, where the model was fetched), openai (any compatible endpoint), ollama or none"
	if prefix != "embed." {
		driver = "what did before embed.driver and its model were changed: people are found by its vectors until all of theirs are made anew; the keys below are as those of embed"
	}
	return []Key{
		key("driver", driver, func(e *Embed) any { return &e.Driver }),
		key("model", "the model's name, at its endpoint or in yiku model list", func(e *Embed) any { return &e.Model }),
		key("workers", "local: cores that it may use at once", func(e *Embed) any { return &e.Workers }),
		key("dir", "local: directory of the models; empty: one in the user's cache", func(e *Embed) any { return &e.Dir }),
		key("url", "the endpoint's base; empty: the driver's own", func(e *Embed) any { return &e.URL }),
		key("key", "the endpoint's key; it is never shown", func(e *Embed) any { return &e.Key }),
		key("dimensions", "values of a vector that the endpoint is asked for, where the model can shorten its vectors; 0: it is not asked, and what it gives is found out", func(e *Embed) any { return &e.Dimensions }),
		key("encoding", "how vectors come from an openai endpoint: float, or base64 where it knows that", func(e *Embed) any { return &e.Encoding }),
		key("batch", "texts of one exchange with the endpoint; fewer where it refuses so many", func(e *Embed) any { return &e.Batch }),
		key("max_tokens", "about how much of a text is embedded, from its beginning; less where the endpoint refuses it", func(e *Embed) any { return &e.MaxTokens }),
		key("query_prefix", "what the endpoint's model wants to see before a question, such as \"query: \"", func(e *Embed) any { return &e.Query }),
		key("passage_prefix", "and before what is to be found, such as \"passage: \"; another one makes other vectors", func(e *Embed) any { return &e.Passage }),
		key("timeout", "for one answer of the endpoint", func(e *Embed) any { return &e.Timeout }),
		key("query_timeout", "the longest that an endpoint may take for a question's vector, in one attempt; later the search goes on by words", func(e *Embed) any { return &e.Waited }),
	}
}

func (e Embed) rules(prefix string) []rule {
	return []rule{
		{slices.Contains([]string{"auto", "local", "openai", "ollama", "none"}, e.Driver), prefix + "driver", "must be auto, local, openai, ollama or none"},
		{e.Model != "", prefix + "model", "must not be empty"},
		{e.Workers > 0, prefix + "workers", "must be positive"},
		{e.URL == "" || isURL(e.URL), prefix + "url", "must be http:// or https:// with a host"},
		{e.Dimensions >= 0, prefix + "dimensions", "must not be negative"},
		{slices.Contains([]string{"float", "base64"}, e.Encoding), prefix + "encoding", "must be float or base64"},
		{e.Batch > 0, prefix + "batch", "must be positive"},
		{e.MaxTokens > 0, prefix + "max_tokens", "must be positive"},
		{e.Timeout > 0, prefix + "timeout", "must be positive"},
		{e.Waited > 0, prefix + "query_timeout", "must be positive"},
	}
}

// Directory is where the models lie that run in this process.
func (e Embed) Directory() (string, error) {
	if e.Dir != "" {
		return e.Dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("embed.dir is empty, and there is no cache directory: %w", err)
	}
	return filepath.Join(cache, "yiku", "models"), nil
}
