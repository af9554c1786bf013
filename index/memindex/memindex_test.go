package memindex_test

import (
	"testing"

	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/indextest"
	"github.com/yiku-ai/yiku/index/memindex"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(*testing.T) index.Index { return memindex.New(nil) },
		&indextest.Options{Supported: func(field string) bool { return field != "id" && field != "content" }})
}
