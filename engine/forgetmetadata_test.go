package engine_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

func titled(t *testing.T, s yiku.Service) map[string]yiku.Metadata {
	t.Helper()
	given := map[string]yiku.Metadata{
		"one": {"title": "About Ａlpha", "color": "red"}, "two": {"阿尔法": true, "标题": "天气"}, "three": {"summary": map[string]any{"n": []any{4711.0}}},
	}
	for id, metadata := range given {
		project := map[string]string{"three": "p"}[id]
		if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: id, ProjectID: project, Metadata: metadata}); err != nil {
			t.Fatal(err)
		}
	}
	return given
}

// TestE1_KeywordInSessionMetadata: what the metadata of sessions says of a
// keyword goes, and nothing else of it; a dry run counts the same. A client
// that opens its session as ever finds it.
func TestE1_KeywordInSessionMetadata(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		req  yiku.ForgetRequest
		id   string
		want yiku.Metadata // of that session; nil: as it was
	}{
		"value":                    {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "alpha"}}, "one", yiku.Metadata{"color": "red"}},
		"键":                        {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "阿尔法"}}, "two", yiku.Metadata{"标题": "天气"}},
		"number":                   {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "4711"}, ProjectID: "p"}, "three", yiku.Metadata{}},
		"control: other project":   {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "4711"}, ProjectID: "q"}, "three", nil},
		"control: archive":         {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "alpha"}, Mode: yiku.ForgetArchive}, "one", nil},
		"control: nothing says it": {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "quince 木瓜"}}, "two", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			want := titled(t, s)
			given := want[test.id]
			n := 0
			if test.want != nil {
				want[test.id], n = test.want, 1
			}
			test.req.DryRun = true
			would := forget(t, s, test.req)
			test.req.DryRun = false
			did := forget(t, s, test.req)
			if would.Removed != did.Removed || did.Removed.Sessions != n {
				t.Errorf("would remove %+v, removed %+v", would.Removed, did.Removed)
			}
			for id, metadata := range want {
				got, err := s.GetSession(t.Context(), yiku.GetSessionRequest{UserID: "ann", SessionID: id})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(metadata, got.Metadata); len(metadata)+len(got.Metadata) > 0 && diff != "" {
					t.Errorf("%s (-want +got):\n%s", id, diff)
				}
			}
			project := map[string]string{"three": "p"}[test.id]
			got, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: test.id, ProjectID: project, Metadata: given})
			if err != nil || len(got.Metadata) != len(want[test.id]) {
				t.Errorf("opened again: %v, %v", got.Metadata, err)
			}
			proven(t, s, did)
		})
	}
}

// hoarder is a store that does not let go of sessions' metadata.
type hoarder struct{ store.Store }

func (s hoarder) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, owner, p, func(tx store.Tx) error { return fn(hoarderTx{tx}) })
}

type hoarderTx struct{ store.Tx }

func (t hoarderTx) PutSession(s *store.Session) error {
	if s.Key != 0 {
		return nil
	}
	return t.Tx.PutSession(s)
}

// TestE2_ReceiptTellsOfMetadata: where metadata still says the keyword the
// receipt does not say verified, and a later look finds it.
func TestE2_ReceiptTellsOfMetadata(t *testing.T) {
	t.Parallel()
	for _, hoards := range []bool{false, true} {
		st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var used store.Store = st
		if hoards {
			used = hoarder{st}
		}
		s := open(t, used, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		titled(t, s)
		res := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "阿尔法"}})
		if res.Verified == hoards {
			t.Errorf("hoards %v, verified %v", hoards, res.Verified)
		}
		look, err := s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{UserID: "ann", ID: res.ReceiptID})
		if err != nil || look.Clean == hoards || (look.Found["sessions.metadata"] > 0) != hoards || look.LookedAt["sessions.metadata"] == 0 {
			t.Errorf("hoards %v; a later look: %+v, %v", hoards, look, err)
		}
	}
}
