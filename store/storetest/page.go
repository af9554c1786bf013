package storetest

import (
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// pageLog: entries are listed newest first and bounded, and go with what they
// name: a message in their range, a message of another session, a memory, the
// session.
func pageLog(e *env) {
	s, other := e.session("s", 0), e.session("t", 0)
	messages, others := e.messages(s, "a", "b", "c"), e.messages(other, "d")
	m := &store.Memory{Memory: yiku.Memory{ID: "m", Content: "x", Kind: yiku.KindSemantic, Type: yiku.TypeFact, Level: yiku.LevelUser, Status: yiku.StatusActive, CreatedAt: At(0), UpdatedAt: At(0)}, ContentNorm: "x"}
	out := &store.Page{Direction: yiku.PageOut, Reason: yiku.PageWindow, From: messages[0].Key, To: messages[1].Key, CreatedAt: At(1)}
	in := &store.Page{Direction: yiku.PageIn, Reason: yiku.PageRecalled, From: others[0].Key, To: others[0].Key, CreatedAt: At(2)}
	memory := &store.Page{Direction: yiku.PageIn, Reason: yiku.PageRecalled, CreatedAt: At(3)}
	list := func(q store.PageQuery) []store.Page {
		var got []store.Page
		e.view(func(r store.Reader) (err error) {
			q.SessionKey = s.Key
			got, err = r.Pages(e.owner, q)
			return err
		})
		return got
	}
	e.update(func(tx store.Tx) error {
		if err := tx.AddMemory(m); err != nil {
			return err
		}
		memory.Memory = m.Key
		e.want("of a session that is not there", tx.AddPages(s.Key+900, []*store.Page{out}, 9), yiku.ErrNotFound)
		return tx.AddPages(s.Key, []*store.Page{out, in, memory}, 9)
	})
	e.same("newest first", []store.Page{*memory, *in, *out}, list(store.PageQuery{}))
	e.same("a page of it", []store.Page{*in}, list(store.PageQuery{Before: memory.Key, Limit: 1}))
	e.same("of a reason", []store.Page{*out}, list(store.PageQuery{Reason: yiku.PageWindow}))
	e.view(func(r store.Reader) error {
		n, err := r.CountPages(e.owner, store.PageQuery{SessionKey: s.Key, Reason: yiku.PageRecalled})
		e.same("count", 2, n)
		foreign, err2 := r.Pages(e.neighbour, store.PageQuery{SessionKey: s.Key})
		e.same("another owner's", 0, len(foreign))
		return errors.Join(err, err2)
	})
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.DeleteMessages([]int64{others[0].Key}), tx.DeleteMemory(m.Key))
	})
	e.same("without what went", []store.Page{*out}, list(store.PageQuery{}))
	e.update(func(tx store.Tx) error { return tx.DeleteMessages([]int64{messages[1].Key}) })
	e.same("without a range of which one went", 0, len(list(store.PageQuery{})))
	e.update(func(tx store.Tx) error {
		for n := range 5 {
			if err := tx.AddPages(s.Key, []*store.Page{{Direction: yiku.PageOut, Reason: yiku.PageSummarized, From: messages[0].Key, To: messages[0].Key, CreatedAt: At(n)}}, 3); err != nil {
				return err
			}
		}
		return nil
	})
	e.same("the newest are kept", At(4), list(store.PageQuery{})[0].CreatedAt)
	e.same("and no more", 3, len(list(store.PageQuery{})))
	e.update(func(tx store.Tx) error { return tx.DeleteSession(s.Key) })
	e.same("after the session went", 0, len(list(store.PageQuery{})))
}
