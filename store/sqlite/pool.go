package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// pool holds the connections of a store: one for writing, the others for
// reading. With a single connection both are the same one.
type pool struct {
	size    int
	reading int        // connections that come back to idle
	idle    chan *conn // readers
	writing chan *conn // the writer's; idle where there is one connection in all
	all     []*conn
	quit    chan struct{}
}

func openPool(ctx context.Context, setup connSetup, o Options) (opened *pool, err error) {
	p := &pool{size: o.Readers, idle: make(chan *conn, o.Readers), quit: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
			opened = nil // it is closed already
		}
	}()
	c, err := openConn(ctx, setup)
	if err != nil {
		return p, err
	}
	p.all = append(p.all, c)
	if o.SingleConnection {
		p.size, p.reading = 1, 1
		p.idle <- c
		p.writing = p.idle
		return p, nil
	}
	p.writing = make(chan *conn, 1)
	p.writing <- c
	setup.readOnly = true
	for range o.Readers {
		c, err := openConn(ctx, setup)
		if err != nil {
			return p, err
		}
		p.all = append(p.all, c)
		p.reading++
		p.idle <- c
	}
	return p, nil
}

// take waits for a reading connection.
func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.quit:
		return nil, errClosed()
	default:
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
	}
	select {
	case c := <-p.idle:
		return c, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
	case <-p.quit:
		return nil, errClosed()
	}
}

// give returns a connection that was taken.
func (p *pool) give(c *conn) { p.idle <- c }

// close waits until all connections are back and closes them, the writer's
// last: it empties the log into the database.
func (p *pool) close() error {
	close(p.quit)
	for range p.reading {
		<-p.idle
	}
	if p.writing != nil && p.writing != p.idle {
		<-p.writing
	}
	var errs []error
	for i := len(p.all) - 1; i >= 0; i-- {
		if err := p.all[i].close(); err != nil {
			errs = append(errs, foreign("close database", err))
		}
	}
	return errors.Join(errs...)
}
