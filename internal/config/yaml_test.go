package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written is read again as the same configuration.
func TestYAMLRoundTrip(t *testing.T) {
	t.Parallel()
	want := Default()
	secret := want
	secret.APIKey = "yk_SECRET"
	want.DataDir, want.Lang, want.Context.Turns, want.Recall.Use = "/数据: #1", "zh", 3, 0.05
	var out strings.Builder
	if err := want.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	got, err := Load(nil, map[string]string{"config": write(t, out.String())})
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, k := range Keys() {
		if strings.Contains(out.String(), k.Env()) == k.IsSecret() {
			t.Errorf("%s is missing, or a secret", k.Env())
		}
	}
	out.Reset()
	if err := secret.WriteYAML(&out); err != nil || strings.Contains(out.String(), "SECRET") {
		t.Errorf("the key is written, or %v", err)
	}
}
