package observe

import (
	"testing"

	"go.uber.org/goleak"
)

// R14: no test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
