package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// TestD1_EveryFieldHasAValue: each field that a filter may name is given by a
// memory or a message, with the kind that the filter expects.
func TestD1_EveryFieldHasAValue(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	memory := store.MemoryFields(yiku.Memory{
		ID: "m", Kind: yiku.KindSemantic, Type: yiku.TypeFact, Level: yiku.LevelTask, Status: yiku.StatusActive, ProjectID: "项目", TaskID: "t",
		SessionID: "s", AgentID: "a", Subject: "我", Attribute: "住址", Value: "上海", Content: "住在上海", Origin: yiku.OriginUser, Topics: []string{"生活"},
		CreatedAt: at, UpdatedAt: at, ValidFrom: at, ValidTo: at, ExpiresAt: at, Metadata: yiku.Metadata{"颜色": "红"},
	})
	message := store.MessageFields(yiku.Message{
		ID: "1", Role: yiku.RoleUser, Name: "小明", Content: yiku.Text("你好"), TaskID: "t", CreatedAt: at, Origin: yiku.OriginTool,
		Metadata: yiku.Metadata{"颜色": "红"},
	}, yiku.Session{ID: "s", ProjectID: "p", AgentID: "a"})
	for field, kind := range yiku.FilterFields() {
		found := false
		for _, get := range []yiku.Fields{memory, message} {
			v, ok := get(field)
			if !ok {
				continue
			}
			found = true
			have := map[bool]yiku.FieldKind{}
			switch v.(type) {
			case string:
				have[true] = yiku.FieldText
			case float64:
				have[true] = yiku.FieldNumber
			case time.Time:
				have[true] = yiku.FieldTime
			case bool:
				have[true] = yiku.FieldBool
			case []string:
				have[true] = yiku.FieldList
			}
			if got, known := have[true]; !known || got != kind {
				t.Errorf("%s is a %T", field, v)
			}
		}
		if !found {
			t.Errorf("neither memories nor messages have %s", field)
		}
	}
	for _, get := range []yiku.Fields{memory, message} {
		if v, ok := get("metadata.颜色"); !ok || v != "红" {
			t.Errorf("metadata gives %v, %v", v, ok)
		}
		if _, ok := get("metadata.none"); ok {
			t.Error("a key that is not there has a value")
		}
		if _, ok := get("colour"); ok {
			t.Error("a field that is not there has a value")
		}
	}
	if v, _ := message("content"); v != "你好" {
		t.Errorf("content is %v", v)
	}
	if v, _ := message("trust"); v != yiku.OriginTool.Trust() {
		t.Errorf("trust is %v", v)
	}
}

// TestD1_AbsentIsAbsent: what is empty or zero has no value, but for numbers
// and pinned.
func TestD1_AbsentIsAbsent(t *testing.T) {
	t.Parallel()
	var memory, message []string
	for field := range yiku.FilterFields() {
		if _, ok := store.MemoryFields(yiku.Memory{})(field); ok {
			memory = append(memory, field)
		}
		if _, ok := store.MessageFields(yiku.Message{}, yiku.Session{})(field); ok {
			message = append(message, field)
		}
	}
	sorted := cmp.Transformer("set", func(list []string) map[string]bool {
		set := map[string]bool{}
		for _, s := range list {
			set[s] = true
		}
		return set
	})
	if diff := cmp.Diff([]string{"pinned", "importance", "confidence", "trust"}, memory, sorted); diff != "" {
		t.Error("memory:", diff)
	}
	if diff := cmp.Diff([]string{"kind", "pinned"}, message, sorted); diff != "" {
		t.Error("message:", diff)
	}
}
