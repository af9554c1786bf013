package main

import (
	"context"
	"errors"

	"github.com/philippgille/chromem-go"
)

// chromemGo is chromem-go in memory, a collection a user.
type chromemGo struct {
	db *chromem.DB
}

func (p *chromemGo) open(string) (about, error) {
	p.db = chromem.NewDB()
	return about{Version: module("github.com/philippgille/chromem-go"), Licence: "MPL-2.0", Over: "process", Arms: "vectors", Threads: 1,
		What: "collection in memory, exact scan, given the vectors"}, nil
}

// noEmbedding stands where texts would be embedded: vectors are given.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("a vector is missing")
}

func (p *chromemGo) add(user string, items []item) error {
	c, err := p.db.GetOrCreateCollection(user, nil, noEmbedding)
	if err != nil {
		return err
	}
	docs := make([]chromem.Document, len(items))
	for i, it := range items {
		docs[i] = chromem.Document{ID: it.ID, Content: it.Text, Embedding: it.Vector}
	}
	return c.AddDocuments(context.Background(), docs, 1)
}

func (p *chromemGo) settle() error { return nil }

func (p *chromemGo) search(user, _ string, v vector, k int) ([]string, error) {
	c := p.db.GetCollection(user, noEmbedding)
	found, err := c.QueryEmbedding(context.Background(), v, min(k, c.Count()), nil, nil)
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return ids, err
}

func (p *chromemGo) close() error { return nil }
