package config

import (
	"slices"
	"time"
)

// Rerank is what orders the best of what was found once more (D11).
type Rerank struct {
	Driver     string // cohere, tei, dashscope, or model: the language model; "" none
	Name       string
	URL        string // "" is the driver's own
	Key        string
	Timeout    time.Duration // a hard bound of what it adds to a read
	Candidates int           // that it judges
}

// Rewrite is how queries are made clear by the language model, where that layer
// is on (D11).
type Rewrite struct {
	Timeout time.Duration
}

func rerankKeys() []Key {
	return []Key{
		{"rerank.driver", "what orders the best of what was found once more: cohere (also Jina, vLLM, SiliconFlow and others of the same form), tei, dashscope, or model (the language model); empty: nothing", func(c *Config) any { return &c.Rerank.Driver }},
		{"rerank.name", "the reranker's name at its endpoint", func(c *Config) any { return &c.Rerank.Name }},
		{"rerank.url", "the endpoint's base; empty: the driver's own", func(c *Config) any { return &c.Rerank.URL }},
		{"rerank.key", "the endpoint's key; it is never shown", func(c *Config) any { return &c.Rerank.Key }},
		{"rerank.timeout", "the longest that it may take; later the order stays as it was", func(c *Config) any { return &c.Rerank.Timeout }},
		{"rerank.candidates", "items that it judges, the best of what was found", func(c *Config) any { return &c.Rerank.Candidates }},
		{"rewrite.timeout", "the longest that making a query clear may take; later it is searched for as it was", func(c *Config) any { return &c.Rewrite.Timeout }},
	}
}

func (c Config) rerankRules() []rule {
	r := c.Rerank
	return []rule{
		{slices.Contains([]string{"", "cohere", "tei", "dashscope", "model"}, r.Driver), "rerank.driver", "must be cohere, tei, dashscope or model"},
		{r.Name != "" || !slices.Contains([]string{"cohere", "dashscope"}, r.Driver), "rerank.name", "must not be empty beside rerank.driver"},
		{r.Driver != "model" || c.Model.Driver != "", "rerank.driver", "model needs model.driver"},
		{r.URL == "" || isURL(r.URL), "rerank.url", "must be http:// or https:// with a host"},
		{r.Timeout > 0, "rerank.timeout", "must be positive"},
		{r.Candidates >= 2 && r.Candidates <= 100, "rerank.candidates", "must be 2 to 100"},
		{c.Rewrite.Timeout > 0, "rewrite.timeout", "must be positive"},
	}
}
