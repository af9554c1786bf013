package engine

import (
	"hash/maphash"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
)

// countCacheSize is how many token counts are remembered, of messages and of
// lines of memory: exact counting costs about 70 µs a message, and a session's
// messages are counted again with every request.
const countCacheSize = 1 << 16

// countCache remembers token counts by a keyed hash of what was counted. The owner is
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
	return c.once(m, func() int { return c.Counter.Message(m) })
}

// Text counts a text alone. A line of memory, a label and the fence are shown
// again and again.
func (c *counter) Text(s string) int {
	return c.once(yiku.Message{Content: yiku.Text(s)}, func() int { return c.Counter.Text(s) })
}

// once counts what was not counted before. A text stands in the cache as a
// message without a role, which no message is.
func (c *counter) once(m yiku.Message, count func() int) int {
	key := c.key(m)
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := count()
	c.cache.add(key, n)
	return n
}

// Over reports that a message surely counts more than limit; see
// token.Counter. What was learnt of it is remembered under a key of its own.
func (c *counter) Over(m yiku.Message, limit int) bool {
	key := c.key(m)
	if n, ok := c.cache.get(key); ok {
		return n > limit
	}
	const least = 0x9e3779b97f4a7c15
	if n, ok := c.cache.get(key ^ least); ok && n >= limit {
		return true
	}
	over := c.Counter.Over(m, limit)
	if over {
		c.cache.add(key^least, limit)
	}
	return over
}

// historySample is how many bytes of a session are counted at most for the
// size of the whole history.
const historySample = 64 << 10

// history is what messages count together: exactly where they are counted
// already or few, else those beyond the sample by the ratio of what was counted.
func (c *counter) history(messages []yiku.Message) int {
	counted, bytes, rest := 0, 0, 0
	for _, m := range messages {
		size := len(m.Content.Text)
		for _, p := range m.Content.Parts {
			size += len(p.Text)
		}
		for _, call := range m.ToolCalls {
			size += len(call.Function.Arguments)
		}
		n, known := c.cache.get(c.key(m))
		if !known {
			if bytes+size > historySample {
				rest += size
				continue
			}
			n = c.Message(m)
		}
		counted, bytes = counted+n, bytes+size
	}
	if bytes == 0 { // one message that is larger than the sample: four bytes a token
		return counted + rest/4
	}
	return counted + int(float64(rest)*float64(counted)/float64(bytes))
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
