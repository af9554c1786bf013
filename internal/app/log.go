package app

import (
	"io"
	"log/slog"

	"github.com/yiku-ai/yiku/internal/config"
)

// NewLog returns the logger that the configuration asks for. Both forms quote
// what is not printable, so that an entry stays one line.
func NewLog(w io.Writer, cfg config.Log) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.Level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
