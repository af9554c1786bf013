// Package lang is what finding and judging need of language: folding a text
// for comparison, cutting it into terms, telling its script, and putting a
// time into the words in which people ask for it.
//
// Chinese and English are equal here: an [Analyzer] takes mixed text as it
// comes. Han text is cut into single characters and pairs of neighbours, so
// that words of two characters match without a dictionary; English words are
// stemmed; identifiers, paths, numbers, versions and addresses are kept whole
// and in parts; other scripts fall back to whole words, or to pairs of
// neighbours where words are not set apart.
//
// Nothing here is for storing: what is stored stays as it was written.
package lang
