// Package eval measures how well a service finds what was said, through
// yiku.Service only, so that it runs against an engine in process and a server
// alike. Sets are folders with conversations.jsonl and questions.jsonl in one
// uniform form; [Load] reads them, [Run] asks every question and reports recall,
// rank and cost.
package eval
