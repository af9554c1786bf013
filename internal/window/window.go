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

// AllTurns as [Input.Turns] lays no window of turns.
const AllTurns = -1

// Input is what [Fit] decides upon.
type Input struct {
	// Messages is the session's recent list, oldest first. It is not changed.
	Messages []yiku.Message
	// Count counts each message at most once, and messages that were cut again.
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
	f.shorten()
	f.trim()
	if err := f.squeeze(); err != nil {
		return Result{}, err
	}
	return f.result(), nil
}

// fitting is one run of [Fit].
type fitting struct {
	Input
	units  []*unit
	total  int // tokens of the units that are not gone, of the reply and the opener
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

// count counts what is not gone, each message once.
func (f *fitting) count() {
	f.total = f.Count.Reply() + f.opener
	for _, u := range f.units {
		if u.gone {
			continue
		}
		for i := range u.items {
			u.items[i].tokens = f.Count.Message(u.items[i].message)
			u.tokens += u.items[i].tokens
		}
		f.total += u.tokens
	}
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

// must returns what the units that must stay cost, with reply and opener.
func (f *fitting) must() int {
	n := f.total
	for _, u := range f.units {
		if !u.gone && !u.keep {
			n -= u.tokens
		}
	}
	return n
}

// leastCut is the smallest size, in tokens, that a message is cut to so that
// something of it remains to be read.
const leastCut = 64

// shorten cuts each message that may go and is larger than the room for all of
// its kind, to half of that room. It could never stay whole.
func (f *fitting) shorten() {
	if f.total <= f.Budget {
		return
	}
	room := f.Budget - f.must()
	if room < 2*leastCut {
		return
	}
	for _, u := range f.units {
		if u.gone || u.keep {
			continue
		}
		for i := range u.items {
			if u.items[i].tokens > room {
				f.cutItem(u, i, room/2)
			}
		}
	}
}

// classes in the order in which they go.
const (
	classSmallTalk = iota
	classAssistant
	classUser
	classes
)

// trim lets units go, class by class and oldest first, until the rest fits.
func (f *fitting) trim() {
	if f.total <= f.Budget {
		return
	}
	var order [classes][]*unit
	for _, u := range f.units {
		if u.gone || u.keep {
			continue
		}
		class := classAssistant
		switch {
		case u.user():
			class = classUser
		case len(u.items) == 1 && len(u.items[0].message.ToolCalls) == 0 && f.SmallTalk(u.items[0].message):
			class = classSmallTalk
		}
		order[class] = append(order[class], u)
	}
	for _, u := range slices.Concat(order[:]...) {
		if f.total <= f.Budget {
			return
		}
		u.gone = true
		f.total -= u.tokens
	}
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
