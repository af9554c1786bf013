package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// used reads an owner's usage.
func (e *env) used(o yiku.Owner) (u store.Usage) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		u, err = r.Usage(o)
		return err
	})
	return u
}

// usage: each row counts as soon as it is written, also within its own update;
// what is undone or deleted does not.
func usage(e *env) {
	e.same("usage of an unknown owner", store.Usage{}, e.used(e.owner))
	s := e.session("s", 0)
	begun := e.used(e.owner)
	e.update(func(tx store.Tx) error {
		err := tx.AddMessages(s.Key, []*store.Message{message("a", 0), message("b", 0)})
		within, err2 := tx.Usage(e.owner)
		if within.Messages != 2 || within.Bytes <= begun.Bytes {
			e.t.Errorf("within its own update: %+v", within)
		}
		return errors.Join(err, err2)
	})
	messages := e.used(e.owner)
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return errors.Join(tx.AddMemory(fact("undone")), errOwn)
	})
	e.want("Update", err, errOwn)
	e.same("after an undone write", messages, e.used(e.owner))
	m := e.memories("m", "n")[0]
	memories := e.used(e.owner)
	if memories.Messages != 2 || memories.Memories != 2 || memories.Bytes <= messages.Bytes {
		e.t.Errorf("after two memories: %+v, before %+v", memories, messages)
	}
	e.update(func(tx store.Tx) error {
		m.Content = "更长的内容 and a longer one, so that there is more to keep"
		return tx.UpdateMemory(m, "patched")
	})
	if u := e.used(e.owner); u.Memories != 2 || u.Bytes <= memories.Bytes {
		e.t.Errorf("after a change, which keeps a version: %+v", u)
	}
	e.update(func(tx store.Tx) error {
		w := &store.Working{SessionID: "s"}
		w.DataSlots = map[string]any{"预算": "三万"}
		return tx.PutWorking(w)
	})
	e.update(func(tx store.Tx) error {
		list, err := tx.Memories(e.owner, store.MemoryQuery{})
		for _, m := range list {
			err = errors.Join(err, tx.DeleteMemory(m.Key))
		}
		return errors.Join(err, tx.DeleteSession(s.Key))
	})
	e.same("after everything is deleted", store.Usage{}, e.used(e.owner))
}

// usageOfOwners: a tenant's owners are counted, each once, while something is
// stored of them; one who comes back counts again.
func usageOfOwners(e *env) {
	for i, o := range []yiku.Owner{e.owner, e.alien, e.neighbour, e.owner} {
		e.updateAs(o, func(tx store.Tx) error { return tx.AddMemory(fact(fmt.Sprint(i))) })
	}
	e.updateAs(Owner(e.t, "acme", "empty"), func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err })
	err := e.s.Update(context.Background(), Owner(e.t, "acme", "undone"), store.Request, func(tx store.Tx) error {
		return errors.Join(tx.AddMemory(fact("undone")), errOwn)
	})
	e.want("Update", err, errOwn)
	owners := func(what string, want int) {
		e.t.Helper()
		if got := e.used(e.owner).TenantOwners; got != want {
			e.t.Errorf("%s: %d owners of the tenant, want %d", what, got, want)
		}
	}
	owners("two", 2)
	if got := e.used(e.alien).TenantOwners; got != 1 {
		e.t.Errorf("owners of the other tenant: %d", got)
	}
	for range 2 {
		var purged yiku.Removed
		e.updateAs(e.neighbour, func(tx store.Tx) error {
			list, err := tx.Memories(e.neighbour, store.MemoryQuery{})
			for _, m := range list {
				err = errors.Join(err, tx.Purge([]int64{m.Key}, nil, &purged))
			}
			return err
		})
		owners("one was forgotten", 1)
		e.updateAs(e.neighbour, func(tx store.Tx) error { return tx.AddMemory(fact("again")) })
		owners("it is back", 2)
	}
}
