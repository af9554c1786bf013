// Package bench holds the benchmarks of the whole service; it has no code of
// its own. `make bench` runs them; docs/benchmarks.md has the numbers. Speeds
// are compared with something in the same run, since absolute times drift.
package bench
