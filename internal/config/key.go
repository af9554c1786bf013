package config

import (
	"slices"
	"strings"
)

// Key is one setting: its name, what it means, and where it stands in Config.
type Key struct {
	Name string
	Doc  string
	at   func(*Config) any // pointer to the field
}

// Env returns the environment variable that sets the key.
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// IsSecret reports whether the value is shown to nobody.
func (k Key) IsSecret() bool { return k.Name == "key" || strings.HasSuffix(k.Name, ".key") }

// Value returns the key's value as text that would set it again.
func (k Key) Value(c Config) string { return format(k.at(&c)) }

// Keys returns every key, in the order in which documents show them.
func Keys() []Key {
	return slices.Concat(serverKeys(), modelKeys(), embedKeys("embed.", func(c *Config) *Embed { return &c.Embed }),
		embedKeys("embed.former.", func(c *Config) *Embed { return &c.Former }), rerankKeys())
}

// serverKeys are those of the server, of what is kept and of what is recalled.
func serverKeys() []Key {
	return []Key{
		{"data_dir", "where the data lies; it belongs to one process at a time", func(c *Config) any { return &c.DataDir }},
		{"store", "driver of the truth: sqlite", func(c *Config) any { return &c.Store }},
		{"index", "driver of finding: memory", func(c *Config) any { return &c.Index }},
		{"addr", "host:port to listen on, a loopback address as long as there is no API key; port 0 picks a free one", func(c *Config) any { return &c.Addr }},
		{"audit_key", "file of the key that seals the audit log, made where it is missing; empty: keys/audit.key in data_dir", func(c *Config) any { return &c.AuditKey }},
		{"events", "file that JSON Lines events are appended to; - is standard error; empty: none", func(c *Config) any { return &c.Events }},
		{"journal", "file of the forget journal; empty: forgets.log in data_dir", func(c *Config) any { return &c.Journal }},
		{"lang", "language of the command line, zh or en; empty: as LANG says", func(c *Config) any { return &c.Lang }},
		{"url", "a running server, for the commands that talk to one", func(c *Config) any { return &c.URL }},
		{"key", "API key or token of the commands; it is never shown", func(c *Config) any { return &c.APIKey }},
		{"attributes", "names of attributes beside those that are known, with ! where there is one value at a time: car_plate! = plate, 车牌; team = squad; they hold for what is saved from then on", func(c *Config) any { return &c.Attributes }},
		{"log.level", "debug, info, warn or error", func(c *Config) any { return &c.Log.Level }},
		{"log.format", "text or json", func(c *Config) any { return &c.Log.Format }},
		{"server.read_header_timeout", "for the header of a request", func(c *Config) any { return &c.Server.ReadHeader }},
		{"server.read_timeout", "for a whole request", func(c *Config) any { return &c.Server.Read }},
		{"server.write_timeout", "for an answer", func(c *Config) any { return &c.Server.Write }},
		{"server.idle_timeout", "between two requests of a connection", func(c *Config) any { return &c.Server.Idle }},
		{"server.stop_timeout", "that a stop waits for running requests", func(c *Config) any { return &c.Server.Stop }},
		{"limits.rate", "requests a second of one API key, with the tokens that it made; 0: no limit", func(c *Config) any { return &c.Limits.Rate }},
		{"limits.burst", "requests of one API key at once", func(c *Config) any { return &c.Limits.Burst }},
		{"limits.tenant_day", "requests of a tenant in a day (UTC), such as acme=100000,*=5000; empty: no limit", func(c *Config) any { return &c.Limits.TenantDay }},
		{"limits.concurrent", "requests that run at once; 0: no limit", func(c *Config) any { return &c.Limits.Concurrent }},
		{"limits.reads", "of them, those that only read; 0: four for each processor", func(c *Config) any { return &c.Limits.Reads }},
		{"limits.queue", "requests that wait for a place; 0: 24 for each processor", func(c *Config) any { return &c.Limits.Queue }},
		{"limits.queue_wait", "the longest wait for a place", func(c *Config) any { return &c.Limits.QueueWait }},
		{"limits.tenant_weight", "places of a tenant in each turn of the queue, such as acme=4; 1 where it is not named", func(c *Config) any { return &c.Limits.TenantWeight }},
		{"limits.connections", "connections at once; 0: no limit", func(c *Config) any { return &c.Limits.Connections }},
		{"limits.in_flight", "bytes of bodies and large answers on their way, each with 128 KiB beside; a tenant may hold as much as it leaves free; 0: no limit", func(c *Config) any { return &c.Limits.Flight }},
		{"limits.owner_messages", "messages of one user; 0: no limit", func(c *Config) any { return &c.Limits.OwnerMessages }},
		{"limits.owner_memories", "memories of one user, of any status; 0: no limit", func(c *Config) any { return &c.Limits.OwnerMemories }},
		{"limits.owner_bytes", "bytes that are kept of one user's sessions, messages and memories; 0: no limit", func(c *Config) any { return &c.Limits.OwnerBytes }},
		{"limits.tenant_owners", "users of one tenant; 0: no limit", func(c *Config) any { return &c.Limits.TenantOwners }},
		{"maintenance.every", "how often what is over is deleted; 0 never", func(c *Config) any { return &c.Maintenance.Every }},
		{"backup.keep", "how long you keep backups: receipts name the day, and the forget journal goes back as far", func(c *Config) any { return &c.Backup.Keep }},
		{"session.recent_messages", "the longest recent list of a session", func(c *Config) any { return &c.Session.RecentMessages }},
		{"session.recent_idle", "the silence after which the recent list ends", func(c *Config) any { return &c.Session.RecentIdle }},
		{"session.transcript_retention", "how long messages are found", func(c *Config) any { return &c.Session.TranscriptRetention }},
		{"session.idempotency_keep", "how long idempotency keys are known", func(c *Config) any { return &c.Session.IdempotencyKeep }},
		{"context.turns", "turns of a conversation in a context", func(c *Config) any { return &c.Context.Turns }},
		{"context.window_tokens", "the window where neither request nor model says", func(c *Config) any { return &c.Context.WindowTokens }},
		{"context.output_share", "share of the window that stays free for the answer", func(c *Config) any { return &c.Context.OutputShare }},
		{"context.memory_share", "memory's largest share of the window", func(c *Config) any { return &c.Context.MemoryShare }},
		{"context.memory_tokens", "memory's largest number of tokens", func(c *Config) any { return &c.Context.MemoryTokens }},
		{"context.max_items", "recalled memories", func(c *Config) any { return &c.Context.MaxItems }},
		{"context.item_tokens", "tokens of the longest recalled memory", func(c *Config) any { return &c.Context.ItemTokens }},
		{"context.snapshot_keep", "how long contexts are kept; 0 keeps none", func(c *Config) any { return &c.Context.SnapshotKeep }},
		{"context.snapshots", "contexts of one user that are kept, the newest; 0: no limit", func(c *Config) any { return &c.Context.Snapshots }},
		{"context.snapshot_bytes", "bytes that they take, of one user; 0: no limit", func(c *Config) any { return &c.Context.SnapshotBytes }},
		{"recall.min_relevance", "below it nothing is recalled into a context", func(c *Config) any { return &c.Recall.MinRelevance }},
		{"recall.search_relevance", "below it a search finds nothing where it does not say otherwise", func(c *Config) any { return &c.Recall.SearchRelevance }},
		{"recall.weights.relevance", "weight in the score", func(c *Config) any { return &c.Recall.Relevance }},
		{"recall.weights.freshness", "weight in the score", func(c *Config) any { return &c.Recall.Freshness }},
		{"recall.weights.importance", "weight in the score", func(c *Config) any { return &c.Recall.Importance }},
		{"recall.weights.use", "weight in the score", func(c *Config) any { return &c.Recall.Use }},
		{"recall.half_life", "age at which freshness is one half", func(c *Config) any { return &c.Recall.HalfLife }},
	}
}

// modelKeys are those of what reads conversations, with models or without, of
// what that may cost, and of the layers.
func modelKeys() []Key {
	return []Key{
		{"extract.jobs", "whether this server reads conversations in the background", func(c *Config) any { return &c.Extract.Jobs }},
		{"extract.at_once", "whether an append does what cannot wait: what is asked to be remembered or forgotten, prohibitions, corrections", func(c *Config) any { return &c.Extract.AtOnce }},
		{"extract.idle", "a pause after which a conversation is read", func(c *Config) any { return &c.Extract.Idle }},
		{"extract.tokens", "unread tokens at which it is read without a pause", func(c *Config) any { return &c.Extract.Tokens }},
		{"extract.window", "tokens of messages that are read at once", func(c *Config) any { return &c.Extract.Window }},
		{"extract.wait", "the longest that a call waits for a reading; what takes longer goes on as a job", func(c *Config) any { return &c.Extract.Wait }},
		{"extract.commands", "memory commands in an agent's replies: apply, log (say what they would do) or off", func(c *Config) any { return &c.Extract.Commands }},
		{"summary.turns", "user turns that a session may have behind its summary; beyond them the oldest half is summarised", func(c *Config) any { return &c.Summary.Turns }},
		{"summary.tokens", "the most tokens of a summary", func(c *Config) any { return &c.Summary.Tokens }},
		{"model.driver", "the language model that extracts and summarises: openai (any compatible endpoint), anthropic or ollama; empty: rules extract", func(c *Config) any { return &c.Model.Driver }},
		{"model.name", "the model's name at its endpoint", func(c *Config) any { return &c.Model.Name }},
		{"model.url", "the endpoint's base; empty: the driver's own", func(c *Config) any { return &c.Model.URL }},
		{"model.key", "the endpoint's key; it is never shown", func(c *Config) any { return &c.Model.Key }},
		{"model.structured", "what form of answer is asked for at first: json_schema, json_object or none; what the endpoint refuses is not asked for again", func(c *Config) any { return &c.Model.Structured }},
		{"model.timeout", "for one answer of the model", func(c *Config) any { return &c.Model.Timeout }},
		{"budget.day_calls", "calls of the model for a tenant in a day (UTC), each attempt counted; 0: no limit", func(c *Config) any { return &c.Budget.DayCalls }},
		{"budget.day_tokens", "tokens of these, prompts and answers; 0: no limit", func(c *Config) any { return &c.Budget.DayTokens }},
		{"budget.month_calls", "calls of the model for a tenant in a month (UTC); 0: no limit", func(c *Config) any { return &c.Budget.MonthCalls }},
		{"budget.month_tokens", "tokens of these; 0: no limit", func(c *Config) any { return &c.Budget.MonthTokens }},
		{"budget.spoiled", "calls in a row for a tenant that bring nothing usable, after which the model is left alone for it for a while; 0: never", func(c *Config) any { return &c.Budget.Spoiled }},
		{"cost.prices", "what models cost, USD for a million tokens of prompt/answer, such as gpt-4o-mini=0.15/0.6,*=1/2; empty: tokens only are told", func(c *Config) any { return &c.Cost.Prices }},
		{"cost.context_price", "USD for a million tokens of the model that contexts are sent to; 0: not known", func(c *Config) any { return &c.Cost.ContextPrice }},
		{"layers.session", "the conversation itself", func(c *Config) any { return &c.Layers.Session }},
		{"layers.working", "working memory", func(c *Config) any { return &c.Layers.Working }},
		{"layers.summary", "summaries of what leaves the window", func(c *Config) any { return &c.Layers.Summary }},
		{"layers.longterm", "long-term memory", func(c *Config) any { return &c.Layers.Longterm }},
		{"layers.lexical", "finding by words", func(c *Config) any { return &c.Layers.Lexical }},
		{"layers.dense", "finding by meaning", func(c *Config) any { return &c.Layers.Dense }},
		{"layers.neighbors", "finding by what was said beside", func(c *Config) any { return &c.Layers.Neighbors }},
		{"layers.graph", "finding by relations between names", func(c *Config) any { return &c.Layers.Graph }},
		{"layers.time", "finding by the times that a query speaks of", func(c *Config) any { return &c.Layers.Time }},
		{"layers.rerank", "the reranker, where there is one", func(c *Config) any { return &c.Layers.Rerank }},
		{"layers.rewrite", "making queries clear by the language model, where there is one", func(c *Config) any { return &c.Layers.Rewrite }},
	}
}
