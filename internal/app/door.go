package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/auth"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/limit"
)

// door tells who calls the server: the holders of keys and tokens, the owner
// of the directory by the secret of this run, and, while the store has never
// had a key, everyone on this machine as its operator.
func (c *Core) door(ctx context.Context, secret string, o Options) (*auth.Authenticator, error) {
	operator := Principal()
	return auth.New(ctx, c.store, &auth.Options{Keyless: &operator, LocalSecret: secret, Now: o.Now})
}

// For each processor: how many requests that only read run at once, of which one
// computes while the others wait for the disk, and how many wait for a place.
const (
	readsAProcessor = 4
	queueAProcessor = 24
)

// newLimiter returns the limits that the configuration gives.
func newLimiter(cfg config.Limits, now func() time.Time) *limit.Limiter {
	processors := runtime.GOMAXPROCS(0)
	return limit.New(limit.Options{
		Rate: cfg.Rate, Burst: cfg.Burst, Day: cfg.TenantDay.Of(),
		Gate: limit.Bounds{Running: cfg.Concurrent, Reads: cmp.Or(cfg.Reads, readsAProcessor*processors),
			Queue: cmp.Or(cfg.Queue, queueAProcessor*processors), Wait: cfg.QueueWait, Weight: cfg.TenantWeight.Of()},
		Flight: int64(cfg.Flight), Now: now,
	})
}

// handler is everything that is served over HTTP.
func (c *Core) handler(door *auth.Authenticator, ready func(context.Context) error, o Options) http.Handler {
	return c.Metrics.Wrap(httpapi.New(httpapi.Options{
		Authenticate: door.Authenticate,
		Service:      c.Engine.As,
		Limits:       c.Limits,
		Loopback:     door.Open,
		Ready:        ready,
		Metrics:      c.Metrics.Handler(),
		Log:          o.Log,
		NewID:        o.NewID,
		Version:      o.Version,
		ReadTimeout:  c.timeouts.Read,
		WriteTimeout: c.timeouts.Write,
	}))
}

// checkKeys refuses an address that others can reach where there is no key,
// and says who is let in.
func (s *Server) checkKeys(ctx context.Context, door *auth.Authenticator) error {
	keyed, err := door.Keyed(ctx)
	if err != nil {
		return err
	}
	if keyed {
		s.log.Info("access keys are required, also on this machine")
		return nil
	}
	if err := checkUnkeyed(s.cfg.Addr); err != nil {
		return err
	}
	s.log.Warn("there is no API key: everyone on this machine can read and write; only loopback addresses are served")
	return nil
}

// checkUnmade refuses such an address before anything is made: where there is
// no data directory, or nothing in it, there is no key.
func checkUnmade(cfg config.Config) error {
	entries, err := os.ReadDir(cfg.DataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return checkUnkeyed(cfg.Addr)
	}
	return nil // what is wrong with it is said when it is opened
}

// checkUnkeyed refuses an address that others can reach.
func checkUnkeyed(addr string) error {
	if host, _, err := net.SplitHostPort(addr); err != nil || !config.IsLoopback(host) {
		return yiku.Invalid("addr", "must be a loopback address such as 127.0.0.1 as long as there is no API key, "+
			"since anyone who reaches it could read everything; make a key first with yiku key create")
	}
	return nil
}

// Service returns the service as the operator of this machine may use it.
func (c *Core) Service() yiku.Service { return c.Engine.As(Principal()) }

// As returns the service in this process: as the owner of the directory
// acts for a tenant, or as the holder of a key or token where one is given.
func (c *Core) As(ctx context.Context, tenant, bearer string) (yiku.Service, error) {
	if bearer == "" {
		return c.Engine.As(yiku.Principal{Tenant: tenant, Access: yiku.AccessAdmin}), nil
	}
	door, err := auth.New(ctx, c.store, nil)
	if err != nil {
		return nil, err
	}
	who, err := door.Bearer(ctx, bearer)
	if err != nil {
		return nil, err
	}
	return c.Engine.As(who), nil
}
