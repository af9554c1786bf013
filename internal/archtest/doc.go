// Package archtest holds the house rules as tests over the source: who may
// import whom, how large things may grow, what must be documented, what state
// is allowed, and that every operation exists on every path.
//
// A rule is a pure function of a parsed tree. It looks at syntax only, so it
// says something useful about a tree that does not compile. Each rule has a
// control in testdata/controls: a small tree with faults that it must find and
// with their lawful neighbours that it must leave alone. What a rule finds and
// the project has a reason for stands in the table of allow.go; an entry that
// is no longer needed is a finding itself.
//
// The tests run the rules over the project:
//
//	go test ./internal/archtest
//
// The package also writes docs/requirements.md, the table of every requirement
// with the tests that prove it:
//
//	go test ./internal/archtest -run Requirements -update
package archtest
