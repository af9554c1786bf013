package storetest

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
	"pgregory.net/rapid"
)

// purge deletes a memory and a message at once, either of which may be unknown,
// and compares what was counted.
func (m *machine) purge(rt *rapid.T, o *ownerModel) {
	memory, known := anyKey(rt, o.memories, o)
	message, said := anyKey(rt, o.messages, o)
	var removed yiku.Removed
	m.write(rt, o, nil, func(tx store.Tx) error {
		removed = yiku.Removed{Tasks: 5} // what was counted before stays
		return tx.Purge([]int64{memory, memory}, []int64{message}, &removed)
	}, func() {
		want := yiku.Removed{Tasks: 5}
		snapshots, forgotten := len(o.snapshots), o.forgotten()
		if known {
			want.Memories, want.Versions = 1, len(o.versions[memory])
			o.dropMemory(memory)
		}
		if said {
			want.Messages = 1
			o.dropMessage(message)
		}
		want.Snapshots, want.Idempotency = snapshots-len(o.snapshots), o.forgotten()-forgotten
		m.same("removed", want, removed)
	})
}

// purgeSession deletes a session that is empty, and is refused where it is not.
func (m *machine) purgeSession(rt *rapid.T, o *ownerModel) {
	key, ok := anyKey(rt, o.sessions, o)
	messages := o.messagesOf(key)
	var want error
	switch {
	case !ok:
		want = yiku.ErrNotFound
	case len(messages) > 0:
		want = yiku.ErrConflict
	}
	var removed yiku.Removed
	m.write(rt, o, want, func(tx store.Tx) error {
		removed = yiku.Removed{}
		return tx.PurgeSession(key, &removed)
	}, func() {
		row := o.working[workingPlace("", "", o.sessions[key].ID)]
		working := row != nil && row.present
		snapshots, forgotten := len(o.snapshots), o.forgotten()
		o.dropSession(key)
		removed.Jobs = 0 // the model knows of those with a unique key alone
		count := yiku.Removed{Sessions: 1, Snapshots: snapshots - len(o.snapshots), Idempotency: o.forgotten() - forgotten}
		if working {
			count.Working = 1
		}
		m.same("removed", count, removed)
	})
}

// forgotten counts the records that are.
func (o *ownerModel) forgotten() (n int) {
	for _, r := range o.records {
		if r.Forgotten {
			n++
		}
	}
	return n
}

func (o *ownerModel) dropMemory(key int64) {
	delete(o.memories, key)
	delete(o.versions, key)
	o.drop(store.Item{Kind: store.ItemMemory, Key: key})
}
