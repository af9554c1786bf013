package app

import (
	"net/http"
	"strings"
	"testing"
)

// TestF3_WhoWantedAForget: a credential that speaks for one user cannot say in
// a receipt that the operator, a policy or the law wanted a forget; one of the
// tenant may, which is the control.
func TestF3_WhoWantedAForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ops := operations(t)
	for name, c := range w.callers() {
		if c.user != "ann" && c.user != "" || !c.access.Allows(write) || c.tenant != "acme" {
			continue
		}
		for _, trigger := range []string{"", "user", "operator", "policy", "legal"} {
			r := rules()["forget"]
			if trigger != "" {
				r.body += `,"trigger":"` + trigger + `"`
			}
			want := http.StatusOK
			if c.user != "" && trigger != "" && trigger != "user" {
				want = http.StatusForbidden
			}
			res := w.send(r.request(ops["forget"], "ann", ""), c.bearer)
			if res.Code != want || want != http.StatusOK && !strings.Contains(res.Body.String(), `"field":"trigger"`) {
				t.Errorf("%s, trigger %q: %d %s, want %d", name, trigger, res.Code, res.Body, want)
			}
		}
	}
}
