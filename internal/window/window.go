// Package window decides which messages of a session go into a request: what
// fits the budget, and what goes first (A2, A3, A4). It is pure.
//
// [Fit] works in this order:
//
//  1. Exchanges are put together: a message with tool calls and its results
//     are one unit. A result that came late stands directly after its call
//     then; results without a call, and calls that stay unanswered though the
//     conversation went on, are taken out, because no API takes them.
//  2. The window of the last turns is laid (A2).
//  3. A message that is larger than the room beside what must stay is cut in
//     the middle to half of that room.
//  4. Units go until the rest fits: the assistant's small talk, the assistant's
//     other messages, the user's; the oldest first in each.
//  5. Where what must stay does not fit alone, its tool results and then its
//     longest texts are cut in the middle; never system or pinned ones.
package window

import (
	"fmt"
	"slices"

	"github.com/yiku-ai/yiku"
)

// Counter counts tokens; *token.Counter is one. Message must not count less
// for a text that is longer, but for a few tokens.
type Counter interface {
	Text(string) int
	Message(yiku.Message) int
	Reply() int
}

// Bounder is what a [Counter] may be able to do beside: Over reports that a
// message surely counts more than limit, for less than counting it would cost.
type Bounder interface {
	Over(m yiku.Message, limit int) bool
}

// AllTurns as [Input.Turns] lays no window of turns.
const AllTurns = -1

// Input is what [Fit] decides upon.
type Input struct {
	// Messages is the session's recent list, oldest first. It is not changed.
	Messages []yiku.Message
	// Count counts each message that may go into the window at most once, and
	// messages that were cut again. What lies beyond the window is not counted.
	Count Counter
	// Budget is what the messages may cost in tokens, with each message's
	// overhead and the reply's.
	Budget int
	// Turns is how many of the last turns may stay: a turn is a user message with
	// all that follows it up to the next. Pinned and system messages stay
	// outside of it too. 0 leaves only those; below 0 there is no limit.
	Turns int
	// Format is yiku.FormOpenAI or yiku.FormAnthropic.
	Format yiku.MessageForm
	// SmallTalk recognises the assistant messages that go first; [SmallTalk]
	// where it is nil.
	SmallTalk func(yiku.Message) bool
}

// Result is a window that fits.
type Result struct {
	// Messages go into the request, oldest first: a subsequence of the input's,
	// but for late tool results, cut texts, calls taken out of a message, and
	// the [Opener].
	Messages []yiku.Message
	// System holds the system messages in Anthropic's format, which travel in
	// the system text. They are counted in Tokens. In OpenAI's format they
	// stay in Messages, in place, and System is empty.
	System []yiku.Message
	// Tokens is what Messages, System and the reply cost; at most the budget.
	Tokens int
	// Trimmed is how many of the input's messages are in neither list.
	Trimmed int
	// Cut holds the ids of the messages that were cut in the middle.
	Cut []string
}

// Opener is the user message that comes first in Anthropic's format where the
// first message that must stay is the assistant's: that API wants a user's
// message first. It says "…" and has no id.
func Opener() yiku.Message {
	return yiku.Message{Role: yiku.RoleUser, Content: yiku.Text("…")}
}

// Fit returns the messages that go into the request.
//
// System and pinned messages always stay, whole. So do the newest user message
// and what follows it where Turns allows one turn or more; only where they
// would not fit are their texts cut. An exchange of tool calls stays where one
// of its messages must. At the very end an exchange may lack results: the
// caller is about to add them. A pinned tool result whose call is not in the
// list cannot stay. A user's or an assistant's message that says nothing (see
// form.Empty) goes where it may.
//
// The result is valid for the format in the sense of form.Valid. Neighbours
// with one role stay separate in both formats: OpenAI takes them,
// Anthropic's API and form.Write join them.
//
// Where even what must stay does not fit, the error is a *yiku.Error with
// yiku.ErrTooLarge and one field: "system" where the system messages alone
// exceed the budget, "pinned" where they and the pinned ones do, "messages"
// otherwise. An unknown format is yiku.ErrInvalid.
func Fit(in Input) (Result, error) {
	if in.Format != yiku.FormOpenAI && in.Format != yiku.FormAnthropic {
		return Result{}, yiku.Invalid("format", "must be openai or anthropic")
	}
	if in.SmallTalk == nil {
		in.SmallTalk = SmallTalk
	}
	f := fitting{Input: in, units: pair(in.Messages, in.Format)}
	f.frame()
	f.count()
	if err := f.check(); err != nil {
		return Result{}, err
	}
	f.fill()
	if err := f.squeeze(); err != nil {
		return Result{}, err
	}
	return f.result(), nil
}

// fitting is one run of [Fit].
type fitting struct {
	Input
	units  []*unit
	total  int // tokens of what must stay and, once filled in, of the rest that stays, of the reply and the opener
	opener int // what the opener costs; 0 where it cannot become necessary
}

// frame lays the window of turns and decides what must stay and what goes at
// once.
func (f *fitting) frame() {
	turns := 0
	for _, u := range f.units {
		turns = max(turns, u.turn)
	}
	for _, u := range f.units {
		u.keep = u.system || u.pinned
		inside := f.Turns < 0 || u.last > turns-f.Turns
		if turns > 0 && u.last == turns && f.Turns != 0 {
			u.keep = true
		}
		u.gone = !u.keep && (!inside || u.empty())
	}
	if f.Format == yiku.FormAnthropic {
		f.lead()
	}
}

// lead lets go what may not come first in Anthropic's format, and sees whether
// an opener can become necessary: where an assistant's message must stay and
// no user's before it must.
func (f *fitting) lead() {
	led := false
	for _, u := range f.units {
		if u.gone || u.system {
			continue
		}
		if u.user() {
			led = true
			if u.keep {
				return
			}
			continue
		}
		if u.keep {
			f.opener = f.Count.Message(Opener())
			return
		}
		if !led {
			u.gone = true
		}
	}
}

// count counts what must stay, each message once.
func (f *fitting) count() {
	f.total = f.Count.Reply() + f.opener
	for _, u := range f.units {
		if !u.gone && u.keep {
			for i := range u.items {
				f.measure(u, i, f.Budget)
			}
			f.total += u.tokens
		}
	}
}

// measure counts an item. One that may be cut and is surely over the limit
// counts one more than that: how much more makes no difference.
func (f *fitting) measure(u *unit, i, limit int) {
	it := &u.items[i]
	bounder, ok := f.Count.(Bounder)
	if ok && !u.system && !it.message.Pinned && bounder.Over(it.message, limit) {
		it.tokens = max(limit, 0) + 1
	} else {
		it.tokens = f.Count.Message(it.message)
	}
	u.tokens += it.tokens
}

// check names the part at fault where the parts that are never cut do not fit.
func (f *fitting) check() error {
	system, pinned := f.Count.Reply(), 0
	for _, u := range f.units {
		for _, it := range u.items {
			switch {
			case it.message.Role == yiku.RoleSystem:
				system += it.tokens
			case it.message.Pinned:
				pinned += it.tokens
			}
		}
	}
	switch {
	case system > f.Budget && system > f.Count.Reply():
		return tooLarge("system", system, f.Budget)
	case system+pinned > f.Budget && pinned > 0:
		return tooLarge("pinned", system+pinned, f.Budget)
	case system > f.Budget:
		return tooLarge("messages", system, f.Budget)
	}
	return nil
}

func tooLarge(part string, need, budget int) error {
	return &yiku.Error{
		Sentinel: yiku.ErrTooLarge,
		Detail:   "what may not be trimmed does not fit",
		Fields:   []yiku.FieldError{{Field: part, Message: fmt.Sprintf("needs %d tokens, and there are %d", need, max(budget, 0))}},
	}
}

// leastCut is the smallest size, in tokens, that a message is cut to so that
// something of it remains to be read.
const leastCut = 64

// classes in the order in which they go.
const (
	classSmallTalk = iota
	classAssistant
	classUser
	classes
)

// fill takes in what fits beside what must stay: class by class and newest
// first, the reverse of the order in which units go. A message that is larger
// than the room for all of them could never stay whole; it is cut to half of
// that room. From the first unit that does not fit on, the rest goes, and need
// not be counted.
func (f *fitting) fill() {
	var order [classes][]*unit
	for _, u := range f.units {
		if !u.gone && !u.keep {
			class := f.class(u)
			order[class] = append(order[class], u)
		}
	}
	room, full := f.Budget-f.total, false
	left := room
	for _, u := range slices.Backward(slices.Concat(order[:]...)) {
		if !full {
			f.take(u, room)
			full = u.tokens > left
		}
		if u.gone = full; !full {
			left -= u.tokens
			f.total += u.tokens
		}
	}
}

// take counts a unit that may go, and cuts what is larger than the room.
func (f *fitting) take(u *unit, room int) {
	total := f.total
	for i := range u.items {
		f.measure(u, i, room)
		if u.items[i].tokens > room && room >= 2*leastCut {
			f.cutItem(u, i, room/2)
		}
	}
	f.total = total // the unit is not part of it yet
}

// class says when a unit goes.
func (f *fitting) class(u *unit) int {
	switch {
	case u.user():
		return classUser
	case len(u.items) == 1 && len(u.items[0].message.ToolCalls) == 0 && f.SmallTalk(u.items[0].message):
		return classSmallTalk
	}
	return classAssistant
}

// result puts the units that stay together.
func (f *fitting) result() Result {
	r := Result{Messages: []yiku.Message{}, Tokens: f.total}
	kept := 0
	for _, u := range f.units {
		if u.gone {
			continue
		}
		kept += len(u.items)
		for _, it := range u.items {
			if it.cut {
				r.Cut = append(r.Cut, it.message.ID)
			}
			if u.system && f.Format == yiku.FormAnthropic {
				r.System = append(r.System, it.message)
				continue
			}
			r.Messages = append(r.Messages, it.message)
		}
	}
	r.Trimmed = len(f.Messages) - kept
	if f.opener == 0 {
		return r
	}
	if len(r.Messages) > 0 && r.Messages[0].Role != yiku.RoleUser {
		r.Messages = append([]yiku.Message{Opener()}, r.Messages...)
	} else {
		r.Tokens -= f.opener
	}
	return r
}
