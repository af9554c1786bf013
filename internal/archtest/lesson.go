package archtest

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed lessons.txt
var lessonsText string

// Lessons returns what broke in other memory systems. A later row's title ends
// with what it waits for, behind a bar; see [Waits].
func Lessons() ([]Requirement, error) { return ParseRequirements(lessonsText) }

// Waits splits a row's title from what it waits for, "" for nothing.
func Waits(row Requirement) (title, reason string) {
	title, reason, _ = strings.Cut(row.Title, "|")
	return strings.TrimSpace(title), strings.TrimSpace(reason)
}

// Unlearnt returns the ids of lessons that have neither a test nor, where they
// are later, a reason.
func Unlearnt(all []Requirement, proofs map[string][]Proof) []string {
	ids := Unproven(all, proofs)
	for _, row := range all {
		if _, reason := Waits(row); row.Now == (reason != "") {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// RenderLessons writes docs/lessons.md.
func RenderLessons(all []Requirement, proofs map[string][]Proof) string {
	var b strings.Builder
	b.WriteString("# Lessons\n\n" +
		"What users of other memory systems have reported as broken, by the numbers of a list of public issues, and the test\n" +
		"that shows that it holds here: of its whole kind, in Chinese and English, where it can be through the engine and\n" +
		"through client and server. A row without a test says what it waits for. Written by `make generate` from\n" +
		"`internal/archtest/lessons.txt` and the ids in the names and comments of tests; a row without either fails.\n")
	section := ""
	for _, row := range all {
		if row.Section != section {
			section = row.Section
			fmt.Fprintf(&b, "\n## %s\n\n| row | what broke elsewhere | the test here, or what it waits for |\n| --- | --- | --- |\n", section)
		}
		title, reason := Waits(row)
		tests := cell(proofs[row.ID])
		if reason != "" {
			tests = strings.TrimSuffix("*waits for* "+reason+"; "+tests, "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.TrimPrefix(row.ID, "L"), title, tests)
	}
	return b.String()
}
