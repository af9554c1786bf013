package engine

import (
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/compose"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

const (
	summaryShare = 8       // the summary takes at most this part of the room: one in eight
	bridgeBytes  = 2 << 10 // of messages out of view that sentences are chosen from, the newest
	summaryWho   = "summary"
)

// bridge is what was chosen from the messages out of view when the context was
// fitted last: fitting it again mostly leaves the same ones out.
type bridge struct {
	first, last int64
	n, tokens   int
	chosen      []summary.Line
}

func (b *bridge) lines(batch summary.Batch) []summary.Line {
	first, last, n := batch.Messages[0].Key, batch.Messages[len(batch.Messages)-1].Key, len(batch.Messages)
	if b.n != n || b.first != first || b.last != last || b.tokens != batch.Tokens {
		*b = bridge{first, last, n, batch.Tokens, summary.Extract(batch)}
	}
	return slices.Clone(b.chosen)
}

// summaryRoom is what of the room is kept for the summary: nothing where there
// is nothing to be shown in it.
func (c *call) summaryRoom(p plan, d *desk) int {
	if !p.layers.Summary {
		return 0
	}
	turns := 0
	for _, m := range d.messages {
		if m.Role == yiku.RoleUser {
			turns++
		}
	}
	if len(d.summary.Lines) == 0 && (p.turns == 0 || turns <= p.turns && d.session.RawTokens <= p.room-p.memory) {
		return 0
	}
	return min(c.settings.SummaryTokens+p.overhead, p.room/summaryShare)
}

// summaryInto chooses what the context shows of what its window leaves out: the
// summary, and sentences of messages that no summary covers yet. They fit into
// the room that was kept for them.
func (c *call) summaryInto(p plan, d *desk, fit window.Result) {
	d.lines = nil
	if d.summaryRoom == 0 {
		return
	}
	lines := linesOf(d.summary)
	if hidden := d.outOfView(fit); len(hidden) > 0 && p.turns != 0 {
		lines = d.bridge.lines(summary.Batch{Present: lines, Messages: hidden, Zone: clockOf(d.session), Tokens: d.summaryRoom})
	}
	if len(lines) == 0 {
		return
	}
	shown := make([]compose.Line, len(lines))
	for i, l := range lines {
		shown[i] = compose.Line{Date: day(l.At, p.zone), Who: string(l.Role), Name: l.Name, Text: l.Text}
		if l.Role == "" {
			shown[i].Who = summaryWho
		}
	}
	cost := compose.Compose(compose.Input{Summary: shown, Script: d.script, Count: p.counter.Text}).SummaryTokens + p.overhead
	for cost > d.summaryRoom && len(lines) > 0 {
		worst := 0
		for i, l := range lines {
			if l.Score < lines[worst].Score {
				worst = i
			}
		}
		cost -= compose.LineTokens(shown[worst], p.counter.Text)
		lines, shown = slices.Delete(lines, worst, worst+1), slices.Delete(shown, worst, worst+1)
	}
	d.lines = shown
	for _, l := range lines {
		if l.From != 0 {
			d.cites = append(d.cites, store.Item{Kind: store.ItemMessage, Key: l.From})
		}
	}
}

func day(at time.Time, zone *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(zone).Format(time.DateOnly)
}

// outOfView are the messages of the recent list that neither the window shows
// nor the summary covers, the newest of them, oldest first.
func (d *desk) outOfView(fit window.Result) []summary.Message {
	shown := map[string]bool{}
	for _, m := range append(slices.Clone(fit.Messages), fit.System...) {
		shown[messageKey(m)] = true
	}
	var hidden []summary.Message
	size := 0
	for _, m := range slices.Backward(d.messages) {
		row, ok := d.rows[m.ID]
		if !ok || row.Key <= d.summary.To {
			break
		}
		if shown[messageKey(m)] || !summarized(m) || window.SmallTalk(m) {
			continue
		}
		if size += len(m.Content.PlainText()); size > bridgeBytes && len(hidden) > 0 {
			break
		}
		hidden = append(hidden, toSummarize(row))
	}
	slices.Reverse(hidden)
	return hidden
}
