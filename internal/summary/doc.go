// Package summary makes the rolling summary of a session (B1–B3): what leaves
// the window as raw messages stays in view as background.
//
// A summary is a list of lines. [Extract] chooses whole sentences of the
// messages and of the summary before, and invents nothing; [Model] asks a
// language model and lets nothing of its answer pass that holds exact data
// which its sources do not hold. [Find] finds that data: numbers, telephone
// numbers, dates, ids, paths, addresses and amounts, Chinese and English.
package summary
