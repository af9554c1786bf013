package rerank

import (
	"context"
	"encoding/json"

	"github.com/yiku-ai/yiku/llm"
)

// Dialect is one protocol of rerankers: how a request is written and an answer
// is read. What endpoints have in common stands in [Driver].
type Dialect struct {
	Driver string // begins the names of its models
	URL    string // the base where none is given
	Path   string // is added to the base
	// Write returns the body of a request.
	Write func(model, query string, documents []string) any
	// Read reads the body of an answer: a line a document, in any order.
	Read func(body []byte) ([]Ranked, Tokens, error)
}

// Driver is one model behind one endpoint. It does one exchange a call.
type Driver struct {
	dialect  Dialect
	name     string
	endpoint llm.Endpoint
}

var _ Reranker = (*Driver)(nil)

// NewDriver returns the reranker of that name over a dialect; nil is an endpoint
// of which nothing is given.
func NewDriver(dialect Dialect, name string, endpoint *llm.Endpoint) *Driver {
	d := &Driver{dialect: dialect, name: name}
	if endpoint != nil {
		d.endpoint = *endpoint
	}
	return d
}

// Name returns the driver's and the model's name.
func (d *Driver) Name() string { return d.dialect.Driver + "/" + d.name }

// Rerank runs one exchange.
func (d *Driver) Rerank(ctx context.Context, query string, documents []string) (Response, error) {
	if len(documents) == 0 {
		return Response{}, nil
	}
	var body json.RawMessage
	if err := d.endpoint.Exchange(ctx, d.dialect.URL, d.dialect.Path, d.dialect.Write(d.name, query, documents), &body); err != nil {
		return Response{}, err
	}
	lines, tokens, err := d.dialect.Read(body)
	if err != nil {
		return Response{}, llm.Unreadable()
	}
	scores, err := Scores(lines, len(documents))
	if err != nil {
		return Response{}, err
	}
	return Response{Scores: scores, Tokens: tokens}, nil
}
