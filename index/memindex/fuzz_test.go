package memindex

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// filteredItems are what filters are tried on: every kind of field, given and
// absent, in Chinese and English.
func filteredItems() []index.Doc {
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	item := func(fields map[string]any, metadata map[string]any) index.Doc {
		return index.Doc{Fields: func(name string) (any, bool) { v, ok := fields[name]; return v, ok }, Metadata: metadata}
	}
	return []index.Doc{
		item(nil, nil),
		item(map[string]any{"type": "fact", "subject": "茶", "topics": []string{"喝", "tea"}, "pinned": true, "importance": 0.5, "created_at": day}, map[string]any{"城": "杭州", "n": 1.0}),
		item(map[string]any{"type": "preference", "subject": "tea", "topics": []string{}, "pinned": false, "importance": 1.0, "created_at": day.Add(time.Nanosecond)}, map[string]any{"城": []any{"杭州", "Beijing", 1.0}, "n": "1"}),
		item(map[string]any{"subject": "", "topics": []string{""}, "importance": 0.0, "valid_to": day.Add(-time.Hour)}, map[string]any{"城": map[string]any{"a": true}, "n": nil}),
		item(map[string]any{"type": "fact", "level": "user", "status": "active", "origin": "web", "trust": 0.2, "confidence": 1e-300}, map[string]any{"n": false, "": "empty"}),
	}
}

// FuzzFilter (R15, D1): whatever JSON comes as a filter, it is refused with the
// place at fault, or it decides every item: the compiled filter as the filter
// itself, its negation the other way, and what is written of it the same.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{
		`{"field":"subject","op":"eq","value":"茶"}`, `{"field":"topics","op":"contains","value":"tea"}`, `{"field":"importance","op":"gte","value":0.5}`,
		`{"field":"created_at","op":"lt","value":"2026-05-01T12:00:00.000000001Z"}`, `{"field":"created_at","op":"in","value":["2026-05-01T20:00:00+08:00"]}`,
		`{"field":"pinned","op":"ne","value":true}`, `{"field":"metadata.城","op":"in","value":["杭州",1]}`, `{"field":"metadata.n","op":"exists","value":false}`,
		`{"and":[{"field":"type","op":"eq","value":"fact"},{"not":{"or":[{"field":"trust","op":"lt","value":0.5},{"field":"content","op":"contains","value":"x"}]}}]}`,
		`{"field":"importance","op":"gt","value":0.25}`, `{"field":"trust","op":"lte","value":1}`, `{"field":"confidence","op":"in","value":[0,1e-300]}`, `{"field":"importance","op":"exists","value":true}`,
		`{"field":"valid_to","op":"exists","value":true}`, `{"field":"valid_to","op":"gte","value":"2026-05-01T11:00:00Z"}`, `{"field":"created_at","op":"gt","value":"yesterday"}`,
		`{"field":"metadata.城","op":"contains","value":"杭"}`, `{"field":"metadata.n","op":"eq","value":false}`, `{"field":"metadata.n","op":"gt","value":0}`, `{"field":"metadata.n","op":"eq","value":"1"}`, `{"field":"metadata.n","op":"lte","value":"2"}`,
		`{"field":"topics","op":"eq","value":"喝"}`, `{"field":"topics","op":"in","value":["",5]}`, `{"field":"subject","op":"contains","value":"茶"}`, `{"field":"subject","op":"in","value":[]}`, `{"field":"subject","op":"exists","value":"true"}`,
		`{"or":[{"field":"type","op":"eq","value":"event"},{"field":"type","op":"eq","value":"fact"}]}`, `{"and":[{"field":"type"}],"or":[{}]}`, `{"and":[{"field":"type","op":"ne","value":5}]}`, `{"or":[{}]}`, `{"op":"eq","value":1}`,
		`{"and":[` + strings.TrimSuffix(strings.Repeat(`{"field":"pinned","op":"exists","value":false},`, 65), ",") + `]}`,
		`{"field":"importance","op":"contains","value":1}`, `{"field":"topics","op":"gt","value":"a"}`, `{"field":"pinned","op":"eq","value":"true"}`,
		`{}`, `{"and":[]}`, `{"field":"odd","op":"eq","value":1}`, `{"field":"subject","op":"like","value":"a"}`, `{"field":"pinned","op":"gt","value":true}`,
		`{"Field":"subject"}`, `{"field":"importance","op":"eq","value":1e999}`, strings.Repeat(`{"not":`, 9) + `{}` + strings.Repeat(`}`, 9), `null`, `[]`,
	} {
		f.Add(text)
	}
	items := filteredItems()
	columns, kinds := newColumns(), yiku.FilterFields()
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	for slot := range items {
		columns.set(uint32(slot), readFields(&items[slot], names), kinds)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var filter yiku.Filter
		if json.Unmarshal([]byte(text), &filter) != nil {
			return
		}
		if err := filter.Validate("filter"); err != nil {
			var e *yiku.Error
			if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) || len(e.Fields) != 1 || !strings.HasPrefix(e.Fields[0].Field, "filter") {
				t.Errorf("%v", err)
			}
			return
		}
		written, err := json.Marshal(filter)
		if err != nil {
			t.Fatal(err)
		}
		var again yiku.Filter
		if err := json.Unmarshal(written, &again); err != nil || again.Validate("filter") != nil {
			t.Fatalf("%s is valid, and what is written of it is not: %s", text, written)
		}
		relaxed := index.Relax(&filter, columns.supported)
		decide := columns.compile(relaxed)
		for slot, item := range items {
			get := func(name string) (any, bool) {
				if key, ok := strings.CutPrefix(name, "metadata."); ok {
					v, ok := item.Metadata[key]
					return v, ok && v != nil
				}
				return item.Fields(name)
			}
			match := filter.Match(get)
			if not := (&yiku.Filter{Not: &filter}).Match(get); not == match {
				t.Errorf("item %d: %s and its negation are both %v", slot, text, match)
			}
			if again.Match(get) != match {
				t.Errorf("item %d: %s says %v, and what is written of it does not", slot, text, match)
			}
			if got := decide == nil || decide(uint32(slot)); got != relaxed.Match(get) || match && !got {
				t.Errorf("item %d: %s says %v, relaxed %v, compiled %v", slot, text, match, relaxed.Match(get), got)
			}
		}
	})
}
