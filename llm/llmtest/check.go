package llmtest

import (
	"errors"
	"strings"
	"testing"
)

// check holds that an error is of its kind and holds neither a prompt nor a key.
func check(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "key-") {
		t.Errorf("the error tells too much: %v", err)
	}
}
