package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/yiku-ai/yiku"
)

// Validate reports every setting that is out of its range, as one ErrInvalid.
func (c Config) Validate() error {
	if faults := c.check(); len(faults) > 0 {
		return &yiku.Error{Sentinel: yiku.ErrInvalid, Detail: "configuration", Fields: faults}
	}
	return nil
}

// rule is one condition on a key.
type rule struct {
	ok      bool
	key     string
	message string
}

func (c Config) check() []yiku.FieldError {
	var faults []yiku.FieldError
	for _, r := range slices.Concat(c.serverRules(), c.limitRules(), c.memoryRules(), c.extractRules(), c.Embed.rules("embed."), c.Former.rules("embed.former."), c.rerankRules()) {
		if !r.ok {
			faults = append(faults, yiku.FieldError{Field: r.key, Message: r.message})
		}
	}
	return faults
}

func (c Config) serverRules() []rule {
	addrErr := checkAddr(c.Addr)
	rules := []rule{
		{c.DataDir != "", "data_dir", "must not be empty"},
		{c.Store != "", "store", "must not be empty"},
		{c.Index != "", "index", "must not be empty"},
		{addrErr == nil, "addr", text(addrErr)},
		{slices.Contains([]string{"", "zh", "en"}, c.Lang), "lang", "must be zh or en"},
		{c.URL == "" || isURL(c.URL), "url", "must be http:// or https:// with a host"},
		{slices.Contains([]string{"text", "json"}, c.Log.Format), "log.format", "must be text or json"},
		{c.Server.Stop >= 0 && c.Server.Stop <= 10*time.Minute, "server.stop_timeout", "must be 0 to 10m"},
		{c.Maintenance.Every == 0 || c.Maintenance.Every >= time.Second, "maintenance.every", "must be 0 or at least 1s"},
	}
	for _, t := range []struct {
		key string
		d   time.Duration
	}{
		{"server.read_header_timeout", c.Server.ReadHeader}, {"server.read_timeout", c.Server.Read},
		{"server.write_timeout", c.Server.Write}, {"server.idle_timeout", c.Server.Idle},
	} {
		rules = append(rules, rule{t.d > 0, t.key, "must be positive"})
	}
	return rules
}

func (c Config) limitRules() []rule {
	l := c.Limits
	return []rule{
		{l.Rate >= 0, "limits.rate", "must not be negative"},
		{l.Rate == 0 || l.Burst >= 1, "limits.burst", "must be positive"},
		{l.Concurrent >= 0, "limits.concurrent", "must not be negative"},
		{l.Reads >= 0, "limits.reads", "must not be negative"},
		{l.Queue >= 0 && l.Queue <= 100_000, "limits.queue", "must be 0 to 100000"},
		{l.QueueWait >= 0 && l.QueueWait <= time.Minute, "limits.queue_wait", "must be 0 to 1m"},
		{l.Connections >= 0, "limits.connections", "must not be negative"},
		{l.Flight >= 0, "limits.in_flight", "must not be negative"},
		{l.OwnerMessages >= 0, "limits.owner_messages", "must not be negative"},
		{l.OwnerMemories >= 0, "limits.owner_memories", "must not be negative"},
		{l.OwnerBytes >= 0, "limits.owner_bytes", "must not be negative"},
		{l.TenantOwners >= 0, "limits.tenant_owners", "must not be negative"},
	}
}

func (c Config) memoryRules() []rule {
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	x, s, r := c.Context, c.Session, c.Recall
	return []rule{
		{c.Backup.Keep >= day, "backup.keep", "must be at least 1d"},
		{s.RecentMessages > 0, "session.recent_messages", "must be positive"},
		{s.RecentIdle > 0, "session.recent_idle", "must be positive"},
		{s.TranscriptRetention > 0, "session.transcript_retention", "must be positive"},
		{s.IdempotencyKeep >= time.Hour, "session.idempotency_keep", "must be at least 1h"},
		{x.Turns >= 0 && x.Turns <= 1000, "context.turns", "must be 0 to 1000"},
		{x.WindowTokens > 0, "context.window_tokens", "must be positive"},
		{share(x.OutputShare), "context.output_share", "must be 0 to 1"},
		{share(x.MemoryShare), "context.memory_share", "must be 0 to 1"},
		{x.MemoryTokens >= 0, "context.memory_tokens", "must not be negative"},
		{x.MaxItems >= 0 && x.MaxItems <= 10, "context.max_items", "must be 0 to 10"},
		{x.ItemTokens > 0, "context.item_tokens", "must be positive"},
		{x.Snapshots >= 0, "context.snapshots", "must not be negative"},
		{x.SnapshotBytes >= 0, "context.snapshot_bytes", "must not be negative"},
		{x.SnapshotKeep >= 0, "context.snapshot_keep", "must not be negative"},
		{share(r.MinRelevance), "recall.min_relevance", "must be 0 to 1"},
		{share(r.SearchRelevance), "recall.search_relevance", "must be 0 to 1"},
		{r.Relevance >= 0, "recall.weights.relevance", "must not be negative"},
		{r.Freshness >= 0, "recall.weights.freshness", "must not be negative"},
		{r.Importance >= 0, "recall.weights.importance", "must not be negative"},
		{r.Use >= 0, "recall.weights.use", "must not be negative"},
		{r.HalfLife > 0, "recall.half_life", "must be positive"},
	}
}

func (c Config) extractRules() []rule {
	x, m, b := c.Extract, c.Model, c.Budget
	return []rule{
		{x.Idle >= 0, "extract.idle", "must not be negative"},
		{x.Tokens > 0, "extract.tokens", "must be positive"},
		{x.Wait > 0, "extract.wait", "must be positive"},
		{x.Window >= 100, "extract.window", "must be at least 100"},
		{c.Summary.Turns >= 2, "summary.turns", "must be at least 2"},
		{c.Summary.Tokens >= 50, "summary.tokens", "must be at least 50"},
		{slices.Contains([]string{"apply", "log", "off"}, x.Commands), "extract.commands", "must be apply, log or off"},
		{slices.Contains([]string{"", "openai", "anthropic", "ollama"}, m.Driver), "model.driver", "must be openai, anthropic or ollama"},
		{m.Driver == "" || m.Name != "", "model.name", "must not be empty beside model.driver"},
		{m.URL == "" || isURL(m.URL), "model.url", "must be http:// or https:// with a host"},
		{slices.Contains([]string{"json_schema", "json_object", "none"}, m.Structured), "model.structured", "must be json_schema, json_object or none"},
		{b.DayCalls >= 0, "budget.day_calls", "must not be negative"},
		{b.DayTokens >= 0, "budget.day_tokens", "must not be negative"},
		{b.MonthCalls >= 0, "budget.month_calls", "must not be negative"},
		{b.Spoiled >= 0, "budget.spoiled", "must not be negative"},
		{b.MonthTokens >= 0, "budget.month_tokens", "must not be negative"},
		{c.Cost.ContextPrice >= 0, "cost.context_price", "must not be negative"},
		{m.Timeout > 0, "model.timeout", "must be positive"},
	}
}

// checkAddr tells why the server cannot listen there: no name but localhost
// is looked up. Whether there are keys, so that others may be let in, is known
// when the store is open.
func checkAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("must be host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("must have a port from 0 to 65535")
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && host != "localhost" {
		return fmt.Errorf("must be an IP address or localhost, with a port")
	}
	return nil
}

// IsLoopback tells whether a host is this machine alone. Names other than
// localhost are not looked up and are not.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
