package wire

import "strings"

// MatchETag reports whether the value of an If-Match header names etag, the
// entity tag of something that exists (RFC 9110, 13.1.1): it is "*", or a list
// with this tag. Weak tags never match; a header that cannot be read matches
// nothing.
func MatchETag(header, etag string) bool { return match(header, etag, false) }

// MatchWeakETag is [MatchETag] for If-None-Match, where weak tags match too.
func MatchWeakETag(header, etag string) bool { return match(header, etag, true) }

// ValidETags reports whether the value of an If-Match or If-None-Match header
// can be read: "*", or a list of at least one entity tag.
func ValidETags(header string) bool {
	star, tags, ok := parseETags(header)
	return ok && (star || len(tags) > 0)
}

func match(header, etag string, weak bool) bool {
	star, tags, ok := parseETags(header)
	if !ok || star {
		return ok && star
	}
	for _, t := range tags {
		opaque, isWeak := strings.CutPrefix(t, "W/")
		switch {
		case weak && opaque == strings.TrimPrefix(etag, "W/"), !weak && !isWeak && t == etag:
			return true
		}
	}
	return false
}

// parseETags reads "*" or a list of entity tags, in which empty members are
// allowed (RFC 9110, 5.6.1.2).
func parseETags(s string) (star bool, tags []string, ok bool) {
	s = strings.Trim(s, " \t")
	if s == "*" {
		return true, nil, true
	}
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return false, tags, true
		}
		if s[0] == ',' {
			s = s[1:]
			continue
		}
		n := tagLength(s)
		if n == 0 {
			return false, nil, false
		}
		tags, s = append(tags, s[:n]), strings.TrimLeft(s[n:], " \t")
		if s != "" && s[0] != ',' {
			return false, nil, false
		}
	}
}

// tagLength returns the length of the entity tag that s begins with; 0 where
// it begins with none.
func tagLength(s string) int {
	i := 0
	if strings.HasPrefix(s, "W/") {
		i = 2
	}
	if i >= len(s) || s[i] != '"' {
		return 0
	}
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < 0x21 || c == 0x7f:
			return 0
		}
	}
	return 0
}
