// Package reconcile decides what becomes of a candidate memory, given what is
// known: a pure function from a candidate and its neighbours to operations
// (C7, C8). It reads nothing and writes nothing.
package reconcile
