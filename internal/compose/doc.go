// Package compose turns recalled memory into the text that stands in a prompt
// (D4–D7, D12): which memories are shown, in which order, under which labels,
// within which budget, behind a fence that recalled text cannot close or forge.
// It is pure: everything that it needs is given.
package compose
