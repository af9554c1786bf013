package extract

import (
	"regexp"
	"strings"
)

// Command is one memory command of a model's reply (C11). Its target is named
// by the id or the content hash of a memory.
type Command struct {
	Candidate
	ID   string
	Hash string
}

// commandBlock is where commands stand: a tagged block, or a fenced one of that
// language. A block that broke off goes to the end.
var commandBlock = regexp.MustCompile("(?is)\\s*(?:<memory_commands>(.*?)(?:</memory_commands>|$)|```\\s*memory_commands\\s*\\n(.*?)(?:```|$)|```(?:json)?\\s*\\n(\\s*\\{\\s*\"memory_commands\".*?)(?:```|$))")

// Commands takes the memory commands out of a reply: what the user is to see,
// the commands, and what of them could not be read.
func Commands(reply string) (visible string, commands []Command, parked []Parked) {
	blocks := commandBlock.FindAllStringSubmatch(reply, -1)
	if blocks == nil {
		return reply, nil, nil
	}
	for _, block := range blocks {
		found := operations(strings.Join(block[1:], ""))
		if !found.ok {
			parked = append(parked, Parked{NoJSON, clip(block[0])})
			continue
		}
		parked = append(parked, found.parked()...)
		for i, v := range found.list {
			c, reason := command(v)
			if found.cut && i == len(found.list)-1 && !isObject(v, opNames()) {
				reason = Truncated
			}
			switch {
			case reason != "":
				parked = append(parked, Parked{reason, clip(text(v))})
			case c.Op != OpNone:
				commands = append(commands, c)
			}
		}
	}
	return strings.TrimSpace(commandBlock.ReplaceAllString(reply, "")), commands, parked
}

// command reads one command. What it names is looked up by who applies it: an
// update of what is not there is a create, as in an answer.
func command(v any) (Command, Reason) {
	m, _ := v.(map[string]any)
	var c Command
	c.ID, c.Hash = short(str(first(m, []string{"id", "memory_id", "target"})), 256), strings.ToLower(short(str(first(m, []string{"hash", "content_hash"})), 128))
	if c.ID == "" && c.Hash == "" {
		candidate, reason := candidate(v, 0, 0)
		c.Candidate = candidate
		return c, reason
	}
	shown := map[string]any{}
	for k, v := range m {
		if k != "id" && k != "memory_id" && k != "hash" && k != "content_hash" {
			shown[k] = v
		}
	}
	shown["target"] = 1.0 // stands for the one that is named
	candidate, reason := candidate(shown, 0, 1)
	c.Candidate = candidate
	return c, reason
}
