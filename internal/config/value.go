package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku/internal/usage"
)

// set puts a value, as the file or a text gives it, into a field. Its error
// says what the field needs and never holds the value.
func set(field, value any) error {
	text, isText := value.(string)
	if !isText {
		text = fmt.Sprint(value)
	}
	text = strings.TrimSpace(text)
	switch f := field.(type) {
	case *string:
		if !isText {
			return errors.New("must be text")
		}
		*f = text
	case *slog.Level:
		level, ok := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[strings.ToLower(text)]
		if !ok {
			return errors.New("must be debug, info, warn or error")
		}
		*f = level
	case *bool:
		if text != "true" && text != "false" {
			return errors.New("must be true or false")
		}
		*f = text == "true"
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("must be a whole number")
		}
		*f = n
	case *float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return errors.New("must be a number")
		}
		*f = n
	case *time.Duration:
		d, err := ParseDuration(text)
		if err != nil {
			return errors.New("must be a duration such as 90s, 24h or 7d")
		}
		*f = d
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return errors.New("must be a whole number")
		}
		*f = n
	case *usage.Prices:
		prices, err := usage.ParsePrices(text)
		if err != nil {
			return err
		}
		*f = prices
	case *Shares:
		shares, err := parseShares(text)
		if err != nil {
			return err
		}
		*f = shares
	default:
		panic(fmt.Sprintf("config: no way to set a %T", field))
	}
	return nil
}

// format writes a field as set reads it.
func format(field any) string {
	switch f := field.(type) {
	case *string:
		return *f
	case *slog.Level:
		return strings.ToLower(f.String())
	case *time.Duration:
		return formatDuration(*f)
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		return strconv.FormatFloat(*f, 'g', -1, 64)
	case *int64:
		return strconv.FormatInt(*f, 10)
	case *usage.Prices:
		return string(*f)
	case *Shares:
		return string(*f)
	}
	panic(fmt.Sprintf("config: no way to write a %T", field))
}

// formatDuration writes whole days as days and leaves out zero minutes and
// seconds at the end.
func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ParseDuration reads a duration as time.ParseDuration does, with days in
// front: "365d", "1d12h". A day is 24 hours.
func ParseDuration(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(days, 10, 32)
	if err != nil || n < 0 || n > int64(math.MaxInt64/day)/2 {
		return 0, fmt.Errorf("parse days: %w", errors.Join(err, strconv.ErrRange))
	}
	if rest == "" {
		return time.Duration(n) * day, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, errors.New("parse duration after days")
	}
	return time.Duration(n)*day + d, nil
}
