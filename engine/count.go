package engine

import (
	"hash/maphash"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
)

// countCacheSize is how many messages' token counts are remembered: exact
// counting costs about 70 µs a message, and a session's messages are counted
// again with every request.
const countCacheSize = 1 << 16

// countCache remembers token counts by a keyed hash of the message. The owner is
// part of the hash, so that nobody can learn from the time an answer takes what others said.
type countCache struct {
	seed maphash.Seed
	size int

	mu         sync.Mutex
	young, old map[uint64]int // guarded by mu; when young is full it becomes old
}

func newCountCache(size int) *countCache {
	return &countCache{seed: maphash.MakeSeed(), size: size, young: map[uint64]int{}, old: map[uint64]int{}}
}

func (c *countCache) get(key uint64) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.young[key]
	if !ok {
		if n, ok = c.old[key]; ok {
			c.put(key, n)
		}
	}
	return n, ok
}

func (c *countCache) add(key uint64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, n)
}

// put is called with mu held.
func (c *countCache) put(key uint64, n int) {
	if len(c.young) >= c.size/2 {
		c.young, c.old = map[uint64]int{}, c.young
	}
	c.young[key] = n
}

// counter counts for one owner and model.
type counter struct {
	*token.Counter
	cache      *countCache
	owner      yiku.Owner
	itemTokens int
}

func (c *call) counterFor(owner yiku.Owner, model string) *counter {
	return &counter{Counter: c.tokens.For(model), cache: c.counts, owner: owner, itemTokens: c.settings.ItemTokens}
}

// Message counts a message with its overhead.
func (c *counter) Message(m yiku.Message) int {
	key := c.key(m)
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := c.Counter.Message(m)
	c.cache.add(key, n)
	return n
}

func (c *counter) key(m yiku.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(c.cache.seed)
	write := func(parts ...string) {
		for _, p := range parts {
			_, _ = h.WriteString(p)
			_ = h.WriteByte(0xff) // never in UTF-8: parts cannot run together
		}
	}
	write(c.owner.Tenant(), c.owner.User(), c.Name(), string(m.Role), m.Name, m.ToolCallID, m.Content.Text)
	for _, part := range m.Content.Parts {
		raw, err := part.MarshalJSON()
		if err == nil {
			write(string(raw))
		}
	}
	for _, call := range m.ToolCalls {
		write(call.ID, call.Type, call.Function.Name, call.Function.Arguments)
	}
	return h.Sum64()
}
