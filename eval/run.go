package eval

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/recall"
)

// Searcher is the part of yiku.Service that is measured.
type Searcher interface {
	AppendMessages(context.Context, yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error)
	SearchMemory(context.Context, yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error)
}

// settler is a service that does some of its work behind the appends.
type settler interface {
	// Settle returns when what was appended is found by all arms.
	Settle(context.Context) error
}

// Options are the settings of Run.
type Options struct {
	Limit        int                            // items asked for each question; 100 where 0
	Batch        int                            // messages an append; 200 where 0
	MaxQuestions int                            // of each set; all where 0
	Foreign      int                            // questions of other conversations that each conversation is asked too; 50 where 0, none where negative
	Now          func() time.Time               // for durations; time.Now where nil
	Progress     func(set string, done, of int) // called after every conversation and every 50 questions
}

// Run measures a fresh service, made by open, on each set. A service that is an
// io.Closer is closed after its set. Every conversation becomes one user;
// turns keep their ids, sessions, times and speakers.
func Run(ctx context.Context, sets []*Set, open func() (Searcher, error), options *Options) (*Report, error) {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Limit == 0 {
		o.Limit = 100
	}
	if o.Batch == 0 {
		o.Batch = 200
	}
	if o.Foreign == 0 {
		o.Foreign = 50
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	report := &Report{Limit: o.Limit}
	for _, set := range sets {
		r, err := runSet(ctx, set, open, o)
		if err != nil {
			return nil, fmt.Errorf("measure set %s: %w", set.Name, err)
		}
		report.Sets = append(report.Sets, r)
	}
	return report, nil
}

func runSet(ctx context.Context, set *Set, open func() (Searcher, error), o Options) (report SetReport, err error) {
	service, err := open()
	if err != nil {
		return SetReport{}, err
	}
	if c, ok := service.(io.Closer); ok {
		defer func() {
			if cerr := c.Close(); err == nil {
				err = cerr
			}
		}()
	}
	begun := o.Now()
	books := make(map[string]book, len(set.Conversations))
	for i := range set.Conversations {
		c := &set.Conversations[i]
		if err := appendConversation(ctx, service, c, o.Batch); err != nil {
			return SetReport{}, fmt.Errorf("append conversation %d: %w", i, err)
		}
		books[c.ID] = bookOf(c)
		o.Progress(set.Name, i+1, len(set.Conversations))
	}
	if s, ok := service.(settler); ok {
		if err := s.Settle(ctx); err != nil {
			return SetReport{}, fmt.Errorf("settle: %w", err)
		}
	}
	t := newTally(set)
	t.appendTime = o.Now().Sub(begun)
	questions := set.Questions
	if o.MaxQuestions > 0 && len(questions) > o.MaxQuestions {
		questions = questions[:o.MaxQuestions]
	}
	for i, q := range questions {
		if _, ok := books[q.Conversation]; !ok {
			continue
		}
		if err := ask(ctx, service, q, books[q.Conversation], t, o); err != nil {
			return SetReport{}, fmt.Errorf("ask question %d: %w", i, err)
		}
		if (i+1)%50 == 0 || i+1 == len(questions) {
			o.Progress(set.Name, i+1, len(questions))
		}
	}
	if err := askForeign(ctx, service, set, t, o); err != nil {
		return SetReport{}, err
	}
	return t.report(), nil
}

// askForeign asks each conversation questions of the others, evenly chosen: it
// knows nothing of what they ask, and should recall nothing.
func askForeign(ctx context.Context, service Searcher, set *Set, t *tally, o Options) error {
	for _, c := range set.Conversations {
		var others []Question
		for _, q := range set.Questions {
			if q.Conversation != c.ID {
				others = append(others, q)
			}
		}
		n := min(o.Foreign, len(others))
		for i := range n {
			q := others[i*len(others)/n]
			threshold := recall.DefaultMinRelevance
			recalled, err := service.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: userID(c.ID), Query: q.Text, Limit: 1, MinRelevance: &threshold, IncludeMessages: true})
			if err != nil {
				return fmt.Errorf("ask foreign question %d: %w", i, err)
			}
			t.foreign++
			if len(recalled.Items) == 0 {
				t.foreignSilent++
			}
		}
	}
	return nil
}

// appendConversation appends the turns in their order, those of one session
// that follow each other in batches.
func appendConversation(ctx context.Context, service Searcher, c *Conversation, batch int) error {
	for i := 0; i < len(c.Turns); {
		session := c.Turns[i].Session
		request := yiku.AppendMessagesRequest{SessionID: sessionID(session), UserID: userID(c.ID)}
		for i < len(c.Turns) && c.Turns[i].Session == session && len(request.Messages) < batch {
			request.Messages = append(request.Messages, message(c.Turns[i]))
			i++
		}
		if _, err := service.AppendMessages(ctx, request); err != nil {
			return err
		}
	}
	return nil
}

// userID and sessionID make ids that the service takes of names that it may not.
func userID(conversation string) string {
	if conversation == Everything || conversation == "" {
		return "everything"
	}
	return conversation
}

func sessionID(session string) string {
	if session == "" {
		return "session"
	}
	return session
}

// message makes a message of a turn. The speaker's name stands beside it unless
// it only says which role it is.
func message(t Turn) yiku.Message {
	m := yiku.Message{ID: t.ID, Role: yiku.RoleUser, Content: yiku.Text(t.Text), CreatedAt: t.Time}
	switch role := yiku.Role(strings.ToLower(t.Speaker)); role {
	case yiku.RoleUser, yiku.RoleAssistant:
		m.Role = role
	default:
		m.Name = t.Speaker
	}
	return m
}

// book is what scoring needs to know of a conversation's turns.
type book struct {
	tokens  map[string]float64 // by turn
	history float64            // of all turns
}

func bookOf(c *Conversation) book {
	b := book{tokens: make(map[string]float64, len(c.Turns))}
	for _, t := range c.Turns {
		n := Tokens(t)
		b.tokens[t.ID] = n
		b.history += n
	}
	return b
}

// Tokens estimates what a turn costs in a prompt: the characters (code points)
// of its speaker, its text and, where it has a time, a date of ten characters,
// divided by 4. It is the sets' own measure, the same for both languages; it is
// for comparing, not for budgets.
func Tokens(t Turn) float64 {
	n := utf8.RuneCountInString(t.Speaker) + utf8.RuneCountInString(t.Text)
	if !t.Time.IsZero() {
		n += len("2006-01-02")
	}
	return float64(n) / 4
}

// ask searches twice: without a threshold for the ranks, and with that of a
// context for what would be recalled.
func ask(ctx context.Context, service Searcher, q Question, b book, t *tally, o Options) error {
	zero := 0.0
	request := yiku.SearchMemoryRequest{UserID: userID(q.Conversation), Query: q.Text, Limit: o.Limit, MinRelevance: &zero, IncludeMessages: true}
	begun := o.Now()
	all, err := service.SearchMemory(ctx, request)
	if err != nil {
		return err
	}
	took := o.Now().Sub(begun)
	threshold := recall.DefaultMinRelevance // what would be recalled into a context
	request.MinRelevance = &threshold
	recalled, err := service.SearchMemory(ctx, request)
	if err != nil {
		return err
	}
	t.add(q, b, ranking(all), ranking(recalled), took)
	return nil
}

// ranking returns the turns of the messages found, best first. An item that is
// no message keeps its rank, without a name.
func ranking(r yiku.SearchMemoryResponse) []ranked {
	out := make([]ranked, len(r.Items))
	for i, item := range r.Items {
		if item.Message != nil {
			out[i].turn = item.Message.ID
		}
		out[i].relevance = item.Scores.Relevance
	}
	return out
}

type ranked struct {
	turn      string
	relevance float64
}
