package extract_test

import (
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/extract"
)

// TestC11_Commands takes commands out of replies: the visible text is without
// them, what cannot be read is parked, and half a block never shows.
func TestC11_Commands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reply, visible string
		ops                  string
		parked               int
	}{
		{"none", "Hello.", "Hello.", "", 0},
		{"a block", "好的。\n\n<memory_commands>\n[{\"op\":\"create\",\"content\":\"爱喝绿茶\"}]\n</memory_commands>", "好的。", "create 爱喝绿茶", 0},
		{"by id and hash", `Done. <memory_commands>[{"op":"update","id":"m-1","content":"Lives in Oslo"},{"op":"delete","hash":"AB12"}]</memory_commands>`, "Done.", "update m-1 Lives in Oslo; delete ab12", 0},
		{"fenced", "Fine.\n```memory_commands\n{\"op\":\"create\",\"content\":\"x y\"}\n```\nBye.", "Fine.\nBye.", "create x y", 0},
		{"an object in a fence", "Fine.\n```json\n{\"memory_commands\":[{\"op\":\"create\",\"content\":\"x y\"}]}\n```", "Fine.", "create x y", 0},
		{"broken off", `Fine. <memory_commands>[{"op":"create","content":"a b"},{"op":"cre`, "Fine.", "create a b", 1},
		{"prose in it", "Fine. <memory_commands>remember tea</memory_commands>", "Fine.", "", 1},
		{"delete without a target", `<memory_commands>[{"op":"delete"}]</memory_commands>`, "", "", 1},
		{"other JSON stays", "See:\n```json\n{\"a\":1}\n```", "See:\n```json\n{\"a\":1}\n```", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			visible, commands, parked := extract.Commands(test.reply)
			var ops []string
			for _, c := range commands {
				ops = append(ops, strings.Join(strings.Fields(string(c.Op)+" "+c.ID+c.Hash+" "+c.Content), " "))
			}
			if visible != test.visible || strings.Join(ops, "; ") != test.ops || len(parked) != test.parked {
				t.Errorf("visible %q, commands %q, %d parked", visible, ops, len(parked))
			}
		})
	}
	for _, language := range []string{"zh", "en"} {
		text, err := extract.Instruct(language)
		if err != nil {
			t.Fatal(err)
		}
		if _, commands, parked := extract.Commands(text); len(commands) != 1 || len(parked) != 0 {
			t.Errorf("%s: the example in the instructions gives %d commands, %d parked", language, len(commands), len(parked))
		}
	}
	if _, err := extract.Instruct("fr"); err == nil {
		t.Error("French is not served")
	}
}
