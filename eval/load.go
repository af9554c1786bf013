package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Set is one data set.
type Set struct {
	Name          string
	Conversations []Conversation
	Questions     []Question
}

// Conversation is what one user has said and heard, in order.
type Conversation struct {
	ID    string
	Turns []Turn
}

// Turn is one message or record. ID is unique within its conversation.
type Turn struct {
	ID      string
	Session string
	Speaker string
	Time    time.Time // zero where the source has none or it cannot be read
	Text    string
}

// Question is a query with the turns that hold its answer. Without evidence it
// has no answer in the conversation, or none that is known.
type Question struct {
	Conversation string
	ID           string
	Category     string
	Text         string
	Answer       string
	Evidence     []string
}

// Everything is the conversation of a question that is about all conversations
// of its set; Load makes one conversation of them.
const Everything = "*"

// maxLine is the longest line that Load reads, in bytes.
const maxLine = 16 << 20

type turnLine struct {
	Conv, Session, Turn, Speaker, Time, Text, Caption string
}

type questionLine struct {
	Conv, QID, Category, Question, Answer string
	Evidence                              []string
}

// Load reads the set in dir; its name is the folder's. Evidence that names no
// turn is left out.
func Load(dir string) (*Set, error) {
	set := &Set{Name: filepath.Base(filepath.Clean(dir))}
	err := eachLine(filepath.Join(dir, "questions.jsonl"), func(b []byte) error {
		var q questionLine
		if err := json.Unmarshal(b, &q); err != nil {
			return err
		}
		set.Questions = append(set.Questions, Question{Conversation: q.Conv, ID: q.QID, Category: q.Category,
			Text: q.Question, Answer: q.Answer, Evidence: q.Evidence})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load questions: %w", err)
	}
	together := false
	for _, q := range set.Questions {
		together = together || q.Conversation == Everything
	}
	place := make(map[string]int)
	err = eachLine(filepath.Join(dir, "conversations.jsonl"), func(b []byte) error {
		var l turnLine
		if err := json.Unmarshal(b, &l); err != nil {
			return err
		}
		if together {
			l.Conv = Everything
		}
		i, ok := place[l.Conv]
		if !ok {
			i = len(set.Conversations)
			place[l.Conv] = i
			set.Conversations = append(set.Conversations, Conversation{ID: l.Conv})
		}
		set.Conversations[i].Turns = append(set.Conversations[i].Turns, l.turn())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load conversations: %w", err)
	}
	set.dropUnknownEvidence(place)
	return set, nil
}

// turn puts what a picture shows beside what was said with it.
func (l turnLine) turn() Turn {
	text := l.Text
	if l.Caption != "" {
		text = strings.TrimSpace(text + " [" + l.Caption + "]")
	}
	return Turn{ID: l.Turn, Session: l.Session, Speaker: l.Speaker, Time: ParseTime(l.Time), Text: text}
}

func (s *Set) dropUnknownEvidence(place map[string]int) {
	turns := make([]map[string]bool, len(s.Conversations))
	for i, c := range s.Conversations {
		turns[i] = make(map[string]bool, len(c.Turns))
		for _, t := range c.Turns {
			turns[i][t.ID] = true
		}
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		var known []string
		if c, ok := place[q.Conversation]; ok {
			seen := make(map[string]bool)
			for _, id := range q.Evidence {
				if turns[c][id] && !seen[id] {
					known = append(known, id)
					seen[id] = true
				}
			}
		}
		q.Evidence = known
	}
}

func eachLine(path string, fn func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := fn(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return lines.Err()
}

// timeLayouts are the forms of times in the sets.
var timeLayouts = [...]string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"2006-01-02T15:04:05",
	"2006-01-02",
	"2006-01",
	"3:04 pm on 2 January, 2006",
	"January-02-2006",
	"January-2-2006",
	"January 2, 2006",
	"2 January, 2006",
	"2006年1月2日",
}

// ParseTime reads a time in one of the forms that the sets use, as UTC; the
// zero time where it is empty or in another form.
func ParseTime(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
