package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/servicetest"

	"context"
	"net/http"
)

// BenchmarkAppend is the cost of the door alone: routing, strict reading of a
// 300-byte body, and the answer, over a service that does nothing.
func BenchmarkAppend(b *testing.B) {
	h := httpapi.New(httpapi.Options{
		Authenticate: func(*http.Request) (yiku.Principal, error) {
			return yiku.Principal{Tenant: "t", Access: yiku.AccessAdmin}, nil
		},
		Service: func(yiku.Principal) yiku.Service {
			return servicetest.Stub{Handle: func(context.Context, string, any) (any, error) {
				return yiku.AppendMessagesResponse{Messages: []yiku.MessageRef{{ID: "m", Seq: 1}}}, nil
			}}
		},
	})
	body := `{"user_id":"u","messages":[{"id":"m-1","role":"user","content":"` + strings.Repeat("hello 世界 ", 18) + `"}]}`
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/sessions/s/messages", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != 201 {
			b.Fatal(rec.Body)
		}
	}
}
