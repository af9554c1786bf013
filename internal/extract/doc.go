// Package extract turns a conversation into candidate operations on memory
// (C3–C6, C10, C11): what is to be created, updated or deleted, which messages
// it came from, and what could not be understood. A language model and rules
// in Chinese and English stand behind one type, [Extractor]; what a candidate
// does to what is known already is internal/reconcile's to decide.
//
// Nothing is lost on the way: of every answer of a model the operations that
// can be read are given, and the rest is [Parked] with a reason.
package extract
