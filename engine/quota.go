package engine

import (
	"fmt"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// withinQuotas compares what an owner has after a write with the quotas; its
// error undoes the write. Where a quota is lower than what is there already,
// only what adds to it is refused, so that repetitions that write nothing, and
// what makes room, always pass.
func (c *call) withinQuotas(tx store.Tx, owner yiku.Owner, before store.Usage) error {
	after, err := tx.Usage(owner)
	if err != nil {
		return err
	}
	for _, q := range []struct {
		before, after int64
		most          int
		key, of       string
	}{
		{int64(before.Messages), int64(after.Messages), c.settings.OwnerMessages, "owner_messages", "messages of one user"},
		{int64(before.Memories), int64(after.Memories), c.settings.OwnerMemories, "owner_memories", "memories of one user"},
		{before.Bytes, after.Bytes, c.settings.OwnerBytes, "owner_bytes", "bytes of one user"},
	} {
		if q.most > 0 && q.after > int64(q.most) && q.after > q.before {
			return overQuota(fieldOf(c.event.Operation), q.key, q.most, q.of)
		}
	}
	return c.withinOwners(before, after)
}

// isFull reports whether an owner has as many memories, or as much of all, as
// may be: what a conversation says then waits, parked, until there is room.
func (c *call) isFull(r store.Reader, owner yiku.Owner) (bool, error) {
	u, err := r.Usage(owner)
	memories, bytes := c.settings.OwnerMemories, c.settings.OwnerBytes
	return memories > 0 && u.Memories >= memories || bytes > 0 && u.Bytes >= int64(bytes), err
}

// withinOwners is the quota of a tenant's owners, for a write that brings the
// first of what is stored of one, be it again.
func (c *call) withinOwners(before, after store.Usage) error {
	if most := c.settings.TenantOwners; most > 0 && before.Bytes == 0 && after.Bytes > 0 && after.TenantOwners > most {
		return overQuota("user_id", "tenant_owners", most, "users of one tenant")
	}
	return nil
}

// overQuota is the error of a write that does not fit: it names the field that
// brings too much, and the quota by its key. When there is room again nobody
// knows, so it says no time.
func overQuota(field, key string, most int, of string) error {
	return &yiku.Error{Sentinel: yiku.ErrLimited, Detail: "The quota limits." + key + " is used up.",
		Fields: []yiku.FieldError{{Field: field, Message: fmt.Sprintf("goes beyond the quota of %d %s (limits.%s)", most, of, key)}}}
}

// fieldOf is the field of an operation's request that brings what is stored.
func fieldOf(operation string) string {
	switch operation {
	case "append_messages":
		return "messages"
	case "import_session":
		return "document"
	case "fork_session", "create_session":
		return "session_id"
	case "save_memory", "patch_memory":
		return "content"
	case "put_working", "patch_working":
		return "data_slots"
	}
	return "user_id"
}
