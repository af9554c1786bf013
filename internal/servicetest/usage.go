package servicetest

import (
	"fmt"
	"time"

	"github.com/yiku-ai/yiku"
)

func usageGroups() []group {
	return []group{
		{"G6_Stats", stats},
		{"G6_Settings", settings},
		{"C8_TenantsWords", tenantsWords},
	}
}

// stats: G6, the ledger of days without calls is empty, a user's share of the
// store is told beside it, and days in the wrong order are refused.
func stats(s *suite) {
	s.append("u", "s", user("hello 你好"))
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "likes tea"})
	got := must[yiku.Stats](s)(s.GetStats(s.ctx, yiku.GetStatsRequest{UserID: "u"}))
	if got.Models == nil || len(got.Models) != 0 || got.User == nil || got.User.Messages != 1 || got.User.Memories != 1 || got.User.Bytes == 0 {
		s.Errorf("stats: %+v", got)
	}
	if days := got.To.Sub(got.From).Hours() / 24; days != 29 || got.To.Hour() != 0 || got.To.Location() != time.UTC {
		s.Errorf("from %s to %s", got.From, got.To)
	}
	if got := must[yiku.Stats](s)(s.GetStats(s.ctx, yiku.GetStatsRequest{})); got.User != nil {
		s.Errorf("of a user who was not named: %+v", got.User)
	}
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := must[yiku.Stats](s)(s.GetStats(s.ctx, yiku.GetStatsRequest{From: day, To: day}))
	same(s, "one day", yiku.Stats{Tenant: one.Tenant, From: day.Add(-12 * time.Hour), To: day.Add(-12 * time.Hour)}, one)
	names[yiku.Stats](s, "from")(s.GetStats(s.ctx, yiku.GetStatsRequest{From: day.AddDate(0, 0, 1), To: day}))
}

// settings: G6, a merge patch sets and gives back one bound at a time, an old
// version is refused, and the audit log knows.
func settings(s *suite) {
	patch := func(b yiku.Opt[yiku.Budgets], match string) (yiku.Settings, error) {
		return s.PatchSettings(s.ctx, yiku.PatchSettingsRequest{Conditional: yiku.Conditional{IfMatch: match}, Budgets: b})
	}
	first := must[yiku.Settings](s)(s.GetSettings(s.ctx, yiku.GetSettingsRequest{}))
	if first.Version != 0 || !first.Budgets.IsZero() {
		s.Errorf("at first: %+v", first)
	}
	must[yiku.Settings](s)(patch(yiku.Some(yiku.Budgets{DayCalls: yiku.Some(5), MonthTokens: yiku.Some(0)}), first.ETag()))
	fails[yiku.Settings](s, yiku.ErrPreconditionFailed)(patch(yiku.Null[yiku.Budgets](), first.ETag()))
	must[yiku.Settings](s)(patch(yiku.Some(yiku.Budgets{DayCalls: yiku.Null[int](), DayTokens: yiku.Some(7)}), ""))
	got := must[yiku.Settings](s)(s.GetSettings(s.ctx, yiku.GetSettingsRequest{}))
	if got.Version != 2 || got.Budgets != (yiku.Budgets{DayTokens: yiku.Some(7), MonthTokens: yiku.Some(0)}) {
		s.Errorf("after two patches: %+v", got)
	}
	names[yiku.Settings](s, "budgets.day_calls")(patch(yiku.Some(yiku.Budgets{DayCalls: yiku.Some(-1)}), ""))
	if got := must[yiku.Settings](s)(patch(yiku.Null[yiku.Budgets](), "")); !got.Budgets.IsZero() {
		s.Errorf("given back: %+v", got)
	}
	if audit := must[yiku.VerifyAuditResponse](s)(s.VerifyAudit(s.ctx, yiku.VerifyAuditRequest{})); !audit.Valid || audit.Entries != 3 {
		s.Errorf("audit: %+v", audit)
	}
}

// tenantsWords: C8, the names of an attribute are one attribute: the server's
// ones always, a tenant's own from when it has set them until it gives them back,
// and entries that cannot be read are refused by name.
func tenantsWords(s *suite) {
	stand := func(user string, named ...string) (active int) {
		for i, name := range named {
			s.save(yiku.SaveMemoryRequest{UserID: user, Content: fmt.Sprint(name, " 是 is ", i), Subject: "user", Attribute: name, Value: fmt.Sprint(i)})
		}
		return len(s.contents(yiku.ListMemoriesRequest{UserID: user}))
	}
	set := func(text yiku.Opt[string]) (yiku.Settings, error) {
		return s.PatchSettings(s.ctx, yiku.PatchSettingsRequest{Attributes: text})
	}
	if n := stand("server", "居住地", "住址", "residence", "lives_in"); n != 1 {
		s.Errorf("%d facts of one attribute that the server knows", n)
	}
	if n := stand("before", "plate_no", "车牌号", "落脚地", "residence"); n != 4 {
		s.Errorf("the control: %d facts of names that nobody knows", n)
	}
	got := must[yiku.Settings](s)(set(yiku.Some("plate_no! = 车牌号, licence; residence = 落脚地")))
	if got.Attributes != "plate_no! = 车牌号, licence; residence = 落脚地" || !got.Budgets.IsZero() {
		s.Errorf("settings: %+v", got)
	}
	if n := stand("own", "plate_no", "车牌号", "Licence", "落脚地", "residence"); n != 2 {
		s.Errorf("%d facts of two attributes with the tenant's names", n)
	}
	for _, bad := range []string{"= x", "a = b; b", "a, b = ;;= c"} {
		names[yiku.Settings](s, "attributes")(set(yiku.Some(bad)))
	}
	if got := must[yiku.Settings](s)(set(yiku.Null[string]())); got.Attributes != "" {
		s.Errorf("given back: %+v", got)
	}
	if n := stand("after", "plate_no", "车牌号"); n != 2 {
		s.Errorf("%d facts after they were given back", n)
	}
}
