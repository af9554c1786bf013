package engine

import (
	"context"
	"math"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/compose"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/window"
)

// plan is a context's request with its defaults and its budget, in tokens.
type plan struct {
	req     yiku.GetContextRequest
	owner   yiku.Owner
	project string
	zone    *time.Location
	counter *counter
	layers  Layers
	variant yiku.Variant // of the experiment that runs; zero: none does

	window   int // the model's window
	output   int // kept free for the answer
	caller   int // the caller's own system prompt
	room     int // what is left for memory and messages
	memory   int // the most that memory may take of it
	overhead int // what joining memory to the system text costs at most

	turns    int
	maxItems int
}

// joinTokens is what the blank line between two texts may cost.
const joinTokens = 2

// plan works out a request's budget (A3, D5).
func (c *call) plan(ctx context.Context, owner yiku.Owner, req yiku.GetContextRequest) (plan, error) {
	p := plan{req: req, owner: owner, project: req.ProjectID, counter: c.counterFor(owner, req.Model), turns: c.settings.Turns, maxItems: c.settings.MaxItems}
	var err error
	if p.zone, err = zoneOf("options.timezone", req.Options.Timezone); err != nil {
		return p, err
	}
	p.window = req.WindowTokens
	if p.window == 0 {
		p.window = c.settings.WindowTokens
		if known, ok := token.Window(req.Model); ok {
			p.window = known
		}
	}
	if req.Turns != nil {
		p.turns = *req.Turns
	}
	served, err := c.setup(ctx, owner, req.Options.Layers)
	if err != nil {
		return p, err
	}
	p.layers, p.variant = served.layers, served.variant
	if v := p.variant.MaxItems; v != nil {
		p.maxItems = *v
	}
	if req.Options.MaxItems != nil {
		p.maxItems = *req.Options.MaxItems
	}
	return p, c.budget(&p)
}

func (c *call) budget(p *plan) error {
	req := p.req
	p.output = int(math.Ceil(c.settings.OutputShare * float64(p.window)))
	if req.Options.ReserveOutput != nil {
		p.output = *req.Options.ReserveOutput
	}
	bare := p.counter.Message(yiku.Message{Role: yiku.RoleSystem})
	if req.System != "" {
		p.caller = p.counter.Message(yiku.Message{Role: yiku.RoleSystem, Content: yiku.Text(req.System)})
	} else {
		p.overhead = bare
	}
	p.overhead += joinTokens
	p.room = p.window - p.output - req.ReservedTokens - p.caller
	for _, part := range []struct {
		field string
		size  int
	}{{"options.reserve_output", p.output}, {"reserved_tokens", p.output + req.ReservedTokens}, {"system", p.output + req.ReservedTokens + p.caller}} {
		if part.size >= p.window {
			return &yiku.Error{Sentinel: yiku.ErrTooLarge, Fields: []yiku.FieldError{{Field: part.field, Message: "leaves no room in the window"}}}
		}
	}
	p.memory = min(int(c.settings.MemoryShare*float64(p.window)), c.settings.MemoryTokens)
	if p.variant.MemoryBudget != nil {
		p.memory = *p.variant.MemoryBudget
	}
	if req.Options.MemoryBudget != nil {
		p.memory = *req.Options.MemoryBudget
	}
	if !p.layers.Longterm {
		p.memory = 0
	}
	p.memory = min(p.memory, p.room)
	return nil
}

func (p plan) windowInput(messages []yiku.Message, budget int) window.Input {
	format := yiku.FormOpenAI
	if p.req.Options.Format == string(yiku.FormAnthropic) {
		format = yiku.FormAnthropic
	}
	return window.Input{Messages: messages, Count: p.counter, Budget: budget, Turns: p.turns, Format: format}
}

func (p plan) composeInput(d desk, budget int) compose.Input {
	return compose.Input{Entries: append(append([]compose.Entry(nil), d.always...), d.recalled...), Episodes: d.episodes, Working: d.working, Summary: d.lines,
		Script: d.script, Zone: p.zone, Count: p.counter.Text, Budget: budget, ItemTokens: p.itemTokens()}
}

func (p plan) itemTokens() int { return p.counter.itemTokens }

// workingTokens is what working memory costs where it stands alone.
func (p plan) workingTokens(d desk) int {
	if d.working == nil {
		return 0
	}
	return compose.Compose(p.composeInput(desk{working: d.working, script: d.script}, 0)).WorkingTokens + p.overhead
}

// compose writes the memory text in a budget and counts it as it will stand in
// the prompt, split into memory, working memory and summary.
func (p plan) compose(d desk, budget int) compose.Output {
	out := compose.Compose(p.composeInput(d, max(budget, 0)))
	if out.Text == "" {
		out.MemoryTokens, out.WorkingTokens, out.SummaryTokens = 0, 0, 0
		return out
	}
	total := p.counter.Text(out.Text) + p.overhead
	out.WorkingTokens = min(out.WorkingTokens, total)
	out.SummaryTokens = min(out.SummaryTokens, total-out.WorkingTokens)
	rest := total - out.WorkingTokens - out.SummaryTokens
	switch { // what stands around the parts is counted with the first that is shown
	case len(out.Memories)+len(out.Episodes) > 0:
		out.MemoryTokens = rest
	case d.working != nil:
		out.MemoryTokens, out.WorkingTokens = 0, out.WorkingTokens+rest
	default:
		out.MemoryTokens, out.SummaryTokens = 0, out.SummaryTokens+rest
	}
	return out
}

// fullHistory is what sending the whole session would cost: the recent list
// counted (see counter.history), what lies before it estimated by the list's mean.
func (p plan) fullHistory(d desk) int {
	if len(d.messages) == 0 {
		return p.caller + p.req.ReservedTokens
	}
	sum := p.counter.history(d.messages)
	if d.session.MessageCount > len(d.messages) {
		sum = int(float64(sum) * float64(d.session.MessageCount) / float64(len(d.messages)))
	}
	return p.caller + p.req.ReservedTokens + sum + p.counter.Reply()
}
