package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/yiku-ai/yiku"
)

// fromThisMachine refuses what a web page could make a browser send to a
// server without keys: another Host (DNS rebinding), another Origin, another
// site. The body's Content-Type is checked where bodies are read, so that no
// form can post either. Programs send neither Origin nor Sec-Fetch-Site.
func fromThisMachine(r *http.Request) error {
	if !isLoopbackHost(r.Host) {
		return yiku.Errorf(yiku.ErrForbidden, "without keys the server answers to loopback names only")
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || (len(origins) == 1 && !isOrigin(origins[0], r.Host)) {
		return yiku.Errorf(yiku.ErrForbidden, "without keys no other origin may call")
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" && !isVisit(r) {
			return yiku.Errorf(yiku.ErrForbidden, "without keys no other site may call")
		}
	}
	return nil
}

// isVisit reports whether somebody follows a link to the panel in a window of
// its own. The other site sees nothing of it, and the page itself holds no data.
func isVisit(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.RawQuery == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isLoopbackHost reports whether a Host header names this machine, with any port.
func isLoopbackHost(host string) bool {
	name, port, found := host, "", false
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port, found = host[:i], host[i+1:], true
	}
	if found && (port == "" || strings.Trim(port, "0123456789") != "") {
		return false
	}
	return strings.EqualFold(name, "localhost") || name == "127.0.0.1" || name == "[::1]"
}

// isOrigin reports whether an Origin header is that of pages which this server
// gave out itself.
func isOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host) &&
		u.User == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == ""
}
