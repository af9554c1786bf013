// Command chromem is chromem-go as a peer. It is a module of its own, so that
// its library is nobody else's.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"runtime/debug"

	"github.com/philippgille/chromem-go"

	"github.com/yiku-ai/yiku/eval/peers/protocol"
)

// chromemGo is chromem-go in memory, a collection a user.
type chromemGo struct {
	db *chromem.DB
}

func (p *chromemGo) Open(string) (protocol.About, error) {
	p.db = chromem.NewDB()
	return protocol.About{Version: version(), Licence: "MPL-2.0", Over: "process", Arms: "vectors", Threads: 1,
		What: "collection in memory, exact scan, given the vectors"}, nil
}

// noEmbedding stands where texts would be embedded: vectors are given.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("a vector is missing")
}

func (p *chromemGo) Add(user string, items []protocol.Item) error {
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

func (p *chromemGo) Settle() error { return nil }

func (p *chromemGo) Search(user, _ string, v protocol.Vector, k int) ([]string, error) {
	c := p.db.GetCollection(user, noEmbedding)
	found, err := c.QueryEmbedding(context.Background(), v, min(k, c.Count()), nil, nil)
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return ids, err
}

func (p *chromemGo) Close() error { return nil }

// version is that of the library that this was built with.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/philippgille/chromem-go" {
				return m.Version
			}
		}
	}
	return ""
}

func main() {
	if err := protocol.Serve(&chromemGo{}, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
