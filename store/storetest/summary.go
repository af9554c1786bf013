package storetest

import (
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func summaryTests() map[string]func(*env) {
	return map[string]func(*env){
		"Replace":  summaryReplace,
		"GoesWith": summaryGoesWith,
		"Found":    summaryFound,
		"Pages":    pageLog,
	}
}

// summaryRow is a summary of messages.
func summaryRow(s *store.Session, from, to *store.Message, text string) *store.Summary {
	return &store.Summary{SessionKey: s.Key, From: from.Key, To: to.Key, Messages: 2, Epoch: 1, CreatedAt: At(3), Path: "llm", Model: "m 1", Dropped: 1, Degraded: true,
		Lines: []store.SummaryLine{{Text: text, Role: yiku.RoleUser, Name: "小明", At: At(1), Message: from.Key, Score: 1.5}}}
}

func summaryReplace(e *env) {
	s := e.session("s", 0)
	other := e.session("t", 0)
	messages := e.messages(s, "a", "b", "c")
	first := summaryRow(s, messages[0], messages[1], "住在杭州")
	second := summaryRow(s, messages[0], messages[2], "搬到上海")
	e.update(func(tx store.Tx) error {
		_, err := tx.Summary(e.owner, s.Key)
		e.want("before there is one", err, yiku.ErrNotFound)
		e.want("of a session that is not there", tx.PutSummary(&store.Summary{SessionKey: s.Key + 900}), yiku.ErrNotFound)
		return errors.Join(tx.PutSummary(first), tx.PutSummary(second))
	})
	e.same("the key stays", first.Key, second.Key)
	e.view(func(r store.Reader) error {
		got, err := r.Summary(e.owner, s.Key)
		e.same("the last one", *second, got)
		_, err2 := r.Summary(e.owner, other.Key)
		e.want("of another session", err2, yiku.ErrNotFound)
		_, err3 := r.Summary(e.neighbour, s.Key)
		e.want("another owner's", err3, yiku.ErrNotFound)
		return err
	})
}

// summaryGoesWith: a summary goes with any message that it covers and with its
// session, and the snapshots that show it go with it; others stay.
func summaryGoesWith(e *env) {
	s, other := e.session("s", 0), e.session("t", 0)
	messages, others := e.messages(s, "a", "b", "c"), e.messages(other, "d", "e")
	sum := summaryRow(s, messages[0], messages[1], "一")
	left := summaryRow(other, others[0], others[1], "二")
	var removed yiku.Removed
	e.update(func(tx store.Tx) error {
		if err := errors.Join(tx.PutSummary(sum), tx.PutSummary(left)); err != nil {
			return err
		}
		shows := store.Snapshot{Snapshot: yiku.Snapshot{ID: "shows", CreatedAt: At(4)}, Summary: sum.Key, ExpiresAt: At(99)}
		keeps := store.Snapshot{Snapshot: yiku.Snapshot{ID: "keeps", CreatedAt: At(4)}, Summary: left.Key, ExpiresAt: At(99)}
		return errors.Join(tx.PutSnapshot(&shows), tx.PutSnapshot(&keeps), tx.DeleteMessages([]int64{messages[2].Key}))
	})
	e.view(func(r store.Reader) error {
		_, err := r.Summary(e.owner, s.Key)
		snap, err2 := r.Snapshot(e.owner, "shows", At(5))
		e.same("what a snapshot shows", sum.Key, snap.Summary)
		w, err3 := r.Weight(e.owner, []store.Item{{Kind: store.ItemMessage, Key: messages[1].Key}})
		e.same("summaries that would go", 1, w.Summaries)
		return errors.Join(err, err2, err3)
	})
	e.update(func(tx store.Tx) error {
		removed = yiku.Removed{}
		return tx.Purge(nil, []int64{messages[1].Key}, &removed)
	})
	e.same("summaries and snapshots that went", []int{1, 1}, []int{removed.Summaries, removed.Snapshots})
	e.update(func(tx store.Tx) error {
		_, err := tx.Summary(e.owner, s.Key)
		e.want("after a message of it went", err, yiku.ErrNotFound)
		_, err = tx.Snapshot(e.owner, "shows", At(5))
		e.want("a snapshot that shows it", err, yiku.ErrNotFound)
		_, err = tx.Snapshot(e.owner, "keeps", At(5))
		_, err2 := tx.Summary(e.owner, other.Key)
		return errors.Join(err, err2, tx.DeleteSession(other.Key))
	})
	e.view(func(r store.Reader) error {
		_, err := r.Summary(e.owner, other.Key)
		e.want("after its session went", err, yiku.ErrNotFound)
		return nil
	})
}

// summaryFound: data slots go with the messages that they were found in, and
// with them the snapshots that show them; what callers set stays.
func summaryFound(e *env) {
	s := e.session("s", 0)
	messages := e.messages(s, "a", "b", "c")
	w := &store.Working{WorkingMemory: yiku.WorkingMemory{TaskID: "t", DataSlots: map[string]any{"phone": "138", "order": "A-1", "own": "x"}, UpdatedAt: At(1)}, Project: "p", SessionID: "s", Open: true,
		Found: map[string]store.Found{"phone": {Message: messages[0].Key, Uses: 2, At: At(1)}, "order": {Message: messages[1].Key, Uses: 1, At: At(2)}}}
	shows := store.WorkingPlace{Project: "p", Task: "t"}
	e.update(func(tx store.Tx) error {
		snap := store.Snapshot{Snapshot: yiku.Snapshot{ID: "shows", CreatedAt: At(4)}, Working: &shows, ExpiresAt: At(99)}
		return errors.Join(tx.PutWorking(w), tx.PutSnapshot(&snap), tx.DeleteMessages([]int64{messages[2].Key}))
	})
	var removed yiku.Removed
	e.view(func(r store.Reader) error {
		got, err := r.Working(e.owner, "p", "t", "")
		e.same("as written", *w, got)
		_, err2 := r.Snapshot(e.owner, "shows", At(5))
		weight, err3 := r.Weight(e.owner, []store.Item{{Kind: store.ItemMessage, Key: messages[0].Key}})
		e.same("slots that would go", 1, weight.Slots)
		return errors.Join(err, err2, err3)
	})
	e.update(func(tx store.Tx) error {
		removed = yiku.Removed{}
		return tx.Purge(nil, []int64{messages[0].Key}, &removed)
	})
	e.same("slots and snapshots that went", []int{1, 1}, []int{removed.Slots, removed.Snapshots})
	e.view(func(r store.Reader) error {
		got, err := r.Working(e.owner, "p", "t", "")
		e.same("slots that stay", map[string]any{"order": "A-1", "own": "x"}, got.DataSlots)
		e.same("found ones", map[string]store.Found{"order": w.Found["order"]}, got.Found)
		e.same("a version of its own", w.Version+1, got.Version)
		return err
	})
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.DeleteWorking("p", "t", ""), tx.DeleteMessages([]int64{messages[1].Key}))
	})
	e.view(func(r store.Reader) error {
		_, err := r.Working(e.owner, "p", "t", "")
		e.want("after it was cleared", err, yiku.ErrNotFound)
		return nil
	})
}
