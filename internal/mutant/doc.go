// Package mutant removes guards one at a time and expects the tests to notice
// (row R32 of the reliability board).
//
// The lists in the tests of this package name each guard: a file, the text
// that is the guard, the text without it, and the packages whose tests must
// fail. A text that does not stand exactly once in its file fails make house,
// so a change that moves a guard moves its entry too. The guards are removed in
// one compilation (schemata_test.go), each is tried with the tests that reach
// it (trial_test.go), and what does not fit is compiled alone. The run is part
// of make nightly; one guard, or all whose names match, is tried with
//
//	go test ./internal/mutant -run R32_ -mutants 'cursor' -v
//
// Where RELIABILITY_DIR names the directory of the board's figures, what was
// seen is kept in R32-guards.txt there, guard by guard, and the figure counts
// what it holds; -missing tries only what it lacks.
package mutant
