package app

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
)

// TestR14_WholeServer starts the server with everything in it, uses it, and
// stops it; main_test.go looks for what is left. Events and metrics tell of the
// operations (G4, G5), and nothing of their text.
func TestR14_WholeServer(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Events = filepath.Join(t.TempDir(), "events.jsonl")
	s, err := Start(t.Context(), cfg, &Options{Version: "v-test"})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	c, err := client.New(s.URL(), &client.Options{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"以后不要再发短信", "Lin drinks green tea"} {
		if _, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "林", Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.GetContext(t.Context(), yiku.GetContextRequest{UserID: "林", Query: "绿茶 tea"}); err != nil {
		t.Fatal(err)
	}
	metrics := fetch(t, transport, s.URL()+"/metrics")
	for _, want := range []string{
		`yiku_operations_total{operation="save_memory",outcome="ok"} 2`, `yiku_build_info{version="v-test"} 1`, "yiku_store_commits",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("missing in the metrics: %s", want)
		}
	}
	transport.CloseIdleConnections()
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	events, err := os.ReadFile(cfg.Events)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(events), "\n"); n != 3 {
		t.Errorf("%d events, want 3:\n%s", n, events)
	}
	for _, text := range []string{"短信", "green tea", "绿茶"} {
		if strings.Contains(string(events)+metrics, text) {
			t.Errorf("%q stands in events or metrics", text)
		}
	}
	if info, err := os.Stat(cfg.Events); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of events: %v, %v", info.Mode(), err)
	}
}

func fetch(t *testing.T, transport *http.Transport, url string) string {
	t.Helper()
	res, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.StatusCode, err)
	}
	return string(body)
}
