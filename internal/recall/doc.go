// Package recall turns candidates into an answer: what text is searched in,
// how an index's raw scores become a relevance of 0 to 1, what a memory's age,
// importance and use add to it, and which of the best say the same. It is pure:
// candidates and the time come in, an order goes out.
//
// The steps of a search, in order: index.Index.Search gives candidates;
// [Calibrate] gives each its relevance; the caller reads the rows from the
// store, drops what the filter does not allow, and makes an [Item] of each
// ([OfMemory], [OfMessage]); [Rank] scores, orders, thins and cuts them.
package recall
