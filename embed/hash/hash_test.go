package hash_test

import (
	"testing"

	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/hash"
)

func TestContract(t *testing.T) { embedtest.Run(t, hash.New(256)) }
