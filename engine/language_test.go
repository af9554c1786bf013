package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
)

// remembered plays what somebody says in as a session of their own, ends it, and
// returns what is remembered.
func remembered(t *testing.T, s yiku.Service, user string, texts ...string) []yiku.Memory {
	t.Helper()
	req := yiku.AppendMessagesRequest{UserID: user, SessionID: user + "-s"}
	for _, text := range texts {
		req.Messages = append(req.Messages, yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text)})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndSession(t.Context(), yiku.EndSessionRequest{UserID: user, SessionID: user + "-s", Reason: yiku.EndUserLeft, Wait: true}); err != nil {
		t.Fatal(err)
	}
	page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: user, Paging: yiku.Paging{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// hits are the contents that a query finds among a user's memories.
func hits(t *testing.T, s yiku.Service, user, query string) []string {
	t.Helper()
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: user, Query: query})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range res.Items {
		all = append(all, item.Memory.Content)
	}
	return all
}

// TestL82_SourceLanguage: what is said in Chinese is kept in Chinese, in English
// in English, and names are kept to the letter, also where one message has both
// (L90) and where a name of one language stands in a sentence of the other (L91).
func TestL82_SourceLanguage(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for user, said := range map[string]string{
		"zh": "我叫欧阳靖，住在青岛。", "en": "My name is Siobhán Ní Bhriain and I live in Tromsø.",
		"name-zh": "我叫Kevin Zhou，住在Wedding。", "name-en": "My sister 陈可昕 lives in Oslo.",
	} {
		items := remembered(t, s, user, said)
		if len(items) == 0 {
			t.Errorf("%s: nothing is kept of %q", user, said)
		}
		for _, m := range items {
			for _, word := range strings.FieldsFunc(m.Value, func(r rune) bool { return r == ' ' }) {
				if !strings.Contains(said, word) {
					t.Errorf("%s: the value %q is not as it was said in %q", user, m.Value, said)
				}
			}
		}
	}
	mixed := remembered(t, s, "both", "我对花生过敏。I prefer aisle seats.")
	var contents []string
	for _, m := range mixed {
		contents = append(contents, m.Content)
	}
	if !slices.Contains(contents, "我对花生过敏") || !slices.Contains(contents, "I prefer aisle seats") {
		t.Errorf("L90, L91: of a message in both languages %q is kept", contents)
	}
}

// TestL83_ChineseIsSearched: Chinese is found by words within sentences that
// have no blanks (L84), by a question whose words are cut otherwise (L85), by
// its title, without an embedder, and a query in Chinese that fits nothing
// finds nothing.
func TestL83_ChineseIsSearched(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for _, text := range []string{"季度复盘会改到周四下午", "《平原骑士手册》放在书架第三层", "猫叫年糕", "Deploys happen on Tuesdays"} {
		save(t, s, yiku.SaveMemoryRequest{UserID: "han", Content: text})
	}
	for query, want := range map[string]string{"复盘": "季度复盘会改到周四下午", "周四下午有什么会要开吗": "季度复盘会改到周四下午", "平原骑士手册": "《平原骑士手册》放在书架第三层", "我家的猫叫什么": "猫叫年糕", "deploys": "Deploys happen on Tuesdays"} {
		if got := hits(t, s, "han", query); len(got) == 0 || got[0] != want {
			t.Errorf("L84, L85: %q finds %q, want %q first", query, got, want)
		}
	}
	if got := hits(t, s, "han", "潜艇"); len(got) > 0 {
		t.Errorf("a word that nobody said finds %q", got)
	}
}

// TestL93_NULIsText: a NUL byte in a text neither breaks an append nor a search,
// in either language, and what stands behind it is found.
func TestL93_NULIsText(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for user, text := range map[string]string{"en": "before\x00behind the fence", "zh": "前面\x00后面的栅栏"} {
		if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: text}); err != nil {
			if !errors.Is(err, yiku.ErrInvalid) || !strings.Contains(err.Error(), "content") {
				t.Errorf("%s: refused without naming the field: %v", user, err)
			}
			continue
		}
		query := map[string]string{"en": "fence", "zh": "栅栏"}[user]
		if got := hits(t, s, user, query); len(got) != 1 {
			t.Errorf("%s: %q finds %q", user, query, got)
		}
	}
}
