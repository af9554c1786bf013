package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/limit"
)

// maxHeaderBytes is the largest header of a request.
const maxHeaderBytes = 64 << 10

// lastWait is how long a stop waits for requests that it has cancelled.
const lastWait = 3 * time.Second

// backend is what a server serves. Tests put their own.
type backend struct {
	handler http.Handler
	limits  *limit.Limiter
	tend    func(context.Context) error
	jobs    func(*slog.Logger) *jobs.Runner // nil: nobody runs jobs
	close   func() error
}

// Server is a running server.
type Server struct {
	secret   string // for the owner of the directory
	cfg      config.Config
	log      *slog.Logger
	listener net.Listener
	http     *http.Server
	backend  backend
	loop     *Loop
	jobs     *jobs.Runner // nil where this server runs none
	stopping atomic.Bool
	cancel   context.CancelFunc // of every request
	requests sync.WaitGroup
	served   chan error
	stopOnce sync.Once
	stopErr  error
}

// Start opens everything and listens. When it returns, requests are answered.
func Start(ctx context.Context, cfg config.Config, opts *Options) (*Server, error) {
	o := opts.orDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := checkUnmade(cfg); err != nil {
		return nil, err
	}
	core, err := Open(ctx, cfg, &o)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: o.Log, secret: credential.NewLocalSecret()}
	door, err := core.door(ctx, s.secret, o)
	if err == nil {
		err = s.checkKeys(ctx, door)
	}
	if err != nil {
		return nil, errors.Join(err, core.Close())
	}
	b := backend{limits: core.Limits, tend: core.tend, jobs: core.startJobs, close: core.Close}
	b.handler = core.handler(door, s.ready(core.Engine.Ready), o)
	if err := s.start(ctx, b, o); err != nil {
		return nil, errors.Join(err, core.Close())
	}
	return s, nil
}

// start listens and serves the backend.
func (s *Server) start(ctx context.Context, b backend, o Options) error {
	listener, err := listen(ctx, s.cfg.Addr)
	if err != nil {
		return err
	}
	s.listener, s.backend = listener, b
	file := ServerFile{Address: s.localURL(), PID: os.Getpid(), Version: o.Version, StartedAt: o.Now().UTC(), Secret: s.secret}
	if err := file.write(s.cfg.DataDir); err != nil { // a full disk must not keep what is stored from being read
		o.Log.Warn("other commands will not find this server", "error", err)
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.cfg.Server.ReadHeader,
		ReadTimeout:       s.cfg.Server.Read,
		WriteTimeout:      s.cfg.Server.Write,
		IdleTimeout:       s.cfg.Server.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	s.served = make(chan error, 1)
	connections := httpapi.NewConnections(listener, b.limits, s.cfg.Limits.Connections, s.cfg.Server.Idle)
	go func() { s.served <- connections.Serve(s.http) }()
	s.loop = StartLoop(s.cfg.Maintenance.Every, o.Log, b.tend)
	if b.jobs != nil && s.cfg.Extract.Jobs {
		s.jobs = b.jobs(o.Log)
	}
	o.Log.Info("server started", "address", s.URL(), "data_dir", s.cfg.DataDir, "version", o.Version)
	return nil
}

// listen opens the port. No name is looked up.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, yiku.Invalid("addr", "must be host:port")
	}
	if host == "localhost" {
		host = "127.0.0.1" // nothing is looked up
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &yiku.Error{Sentinel: yiku.ErrUnavailable, Detail: "address " + addr + " is in use; port 0 picks a free one"}
	}
	if err != nil {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "cannot listen on %s: %v", addr, err)
	}
	return listener, nil
}

// PortTaken tells whether nothing can listen on the address because another
// program does.
func PortTaken(ctx context.Context, addr string) bool {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return errors.Is(err, syscall.EADDRINUSE)
	}
	_ = listener.Close()
	return false
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	defer s.requests.Done()
	s.backend.handler.ServeHTTP(w, r)
}

// ready is what /readyz asks: a server that stops is not ready.
func (s *Server) ready(engine func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if s.stopping.Load() {
			return yiku.Errorf(yiku.ErrUnavailable, "the server is stopping")
		}
		return engine(ctx)
	}
}

// URL is where the server answers: http://host:port.
func (s *Server) URL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	return "http://" + net.JoinHostPort(addr.IP.String(), strconv.Itoa(addr.Port))
}

// localURL is how this machine reaches the server: that of the loopback address
// where the server listens on all.
func (s *Server) localURL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	if !addr.IP.IsUnspecified() {
		return s.URL()
	}
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(addr.Port))
}

// Failed delivers the error that ended serving before a stop was asked for.
func (s *Server) Failed() <-chan error { return s.served }

// Stop ends the server: /readyz turns red, nothing new is taken in, running
// requests have the configured time to finish and are cancelled after it, and
// everything is closed in reverse order. A second call returns the result of
// the first.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() { s.stopErr = s.stop(ctx) })
	return s.stopErr
}

func (s *Server) stop(ctx context.Context) error {
	begun := time.Now()
	s.stopping.Store(true)
	s.log.Info("server stopping")
	grace, cancel := context.WithTimeout(ctx, s.cfg.Server.Stop)
	defer cancel()
	var all []error
	if err := s.http.Shutdown(grace); err != nil {
		s.log.Warn("requests did not finish in time and are cancelled", "after_ms", time.Since(begun).Milliseconds())
		s.cancel()
		if !s.wait(lastWait) {
			s.log.Error("requests do not end although they are cancelled")
		}
		all = append(all, s.http.Close())
	}
	s.cancel()
	s.loop.Stop()
	if s.jobs != nil {
		s.jobs.Stop()
	}
	all = append(all, removeServerFile(s.cfg.DataDir), s.backend.close())
	s.log.Info("server stopped", "duration_ms", time.Since(begun).Milliseconds())
	return errors.Join(all...)
}

// wait reports whether all requests ended in time.
func (s *Server) wait(limit time.Duration) bool {
	done := make(chan struct{})
	go func() { s.requests.Wait(); close(done) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Run starts a server, says on stdout where it listens, and stops it when ctx
// is done. The line is the first that is written there.
func Run(ctx context.Context, cfg config.Config, stdout io.Writer, opts *Options) error {
	s, err := Start(ctx, cfg, opts)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "listening on %s\n", s.URL()); err != nil {
		return errors.Join(fmt.Errorf("write address: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
	select {
	case <-ctx.Done():
		return s.Stop(context.WithoutCancel(ctx))
	case err := <-s.Failed():
		return errors.Join(fmt.Errorf("serve: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
}
