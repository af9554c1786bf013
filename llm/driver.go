package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/yiku-ai/yiku"
)

// Dialect is one protocol of language models: how a request is written and an
// answer is read. What endpoints of a protocol have in common stands in
// [Driver], so that a dialect holds its forms only.
type Dialect struct {
	Driver string // begins the names of its models
	URL    string // the base where none is given
	Path   string // is added to the base
	Header func(key string) http.Header
	// Write returns the body of a request, in the manner that the endpoint takes.
	Write func(model string, req Request, m Manner) any
	// Read reads the body of an answer; its errors are those of Model.
	Read func(body []byte) (Response, error)
}

// Options are what need not be given; nil is all of it.
type Options struct {
	URL    string // the base; "" is the dialect's own
	Key    string // "" sends none
	Client *http.Client
	// Structured is what is asked for at first: "json_schema" or "" a schema,
	// "json_object" JSON of any form, "none" neither. What an endpoint refuses is
	// not asked for again, see [Manner].
	Structured string
}

// Driver is one model behind one endpoint. It remembers the manner in which
// the endpoint takes requests for this model. Its methods may be called at once.
type Driver struct {
	dialect Dialect
	name    string
	options Options

	mu     sync.Mutex
	manner Manner // guarded by mu
}

// NewDriver returns the model of that name over a dialect.
func NewDriver(dialect Dialect, name string, options *Options) *Driver {
	d := &Driver{dialect: dialect, name: name}
	if options != nil {
		d.options = *options
	}
	if d.options.URL == "" {
		d.options.URL = dialect.URL
	}
	if d.options.Client == nil {
		d.options.Client = NoRedirects
	}
	d.manner.Structured = structureOf(d.options.Structured)
	return d
}

// Name returns the driver's and the model's name.
func (d *Driver) Name() string { return d.dialect.Driver + "/" + d.name }

// Complete runs one exchange. Where the endpoint refuses how it is asked, it is
// asked at once in a plainer manner; what it then answers to is remembered.
func (d *Driver) Complete(ctx context.Context, req Request) (Response, error) {
	d.mu.Lock()
	manner := d.manner
	d.mu.Unlock()
	for {
		res, err := d.exchange(ctx, req, manner)
		var no *refusal
		if errors.As(err, &no) {
			if plainer, ok := manner.after(no.said, req); ok {
				manner = plainer
				continue
			}
		}
		if err != nil {
			return Response{}, err
		}
		d.mu.Lock()
		d.manner = d.manner.and(manner)
		d.mu.Unlock()
		return res, nil
	}
}

func (d *Driver) exchange(ctx context.Context, req Request, manner Manner) (Response, error) {
	url := strings.TrimSuffix(d.options.URL, "/") + d.dialect.Path
	body, err := post(ctx, d.options.Client, url, d.dialect.Header(d.options.Key), d.dialect.Write(d.name, req, manner))
	if err != nil {
		return Response{}, err
	}
	res, err := d.dialect.Read(body)
	res.Text = unthought(res.Text)
	return res, err
}

// Unreadable is the error of an answer in another form than its protocol's.
func Unreadable() error {
	return yiku.Errorf(yiku.ErrUnavailable, "the model's answer has another form")
}

// Withheld is the error of an answer that the endpoint's own filter or the
// model keeps back; it is the same at the next attempt.
func Withheld() error {
	return yiku.Errorf(yiku.ErrInvalid, "the model's endpoint withholds its answer to this content")
}
