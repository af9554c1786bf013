// Package yiku is the vocabulary of Yiku (忆库), a memory service for AI
// agents: the types, the filter, the error sentinels and the one interface,
// [Service], that every door uses.
//
// Two implementations exist: engine.Engine, in the caller's process, and
// client.Client, over HTTP. Code written against Service runs on either.
//
// # Shapes
//
// Every operation has one shape, Verb(ctx, VerbRequest) (VerbResponse, error).
// A request is one flat struct. Where a field travels is said once, in its
// tags, and read by internal/wire:
//
//	json:"name"            the field's name everywhere; a field without
//	                       omitempty or omitzero is required
//	in:"path"              part of the URL's path
//	in:"query"             part of the URL's query
//	in:"header:X-Name"     a header
//	(no in tag)            query for GET and DELETE, body for the others
//	minimum, maximum, minLength, maxLength, minItems, maxItems, enum, doc
//	                       limits that hold on every path, and the OpenAPI text
//
// Lengths are counted in Unicode code points unless the text says bytes.
// Times are UTC inside and RFC 3339 outside. Scores are 0 to 1.
package yiku
