package servicetest

import (
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// timeLessonGroups are what broke in other memory systems over time zones.
func timeLessonGroups() []group {
	return []group{
		{"L95_FiltersMeanInstants", filtersMeanInstants},
		{"L97_WordsMeanTheSpeakersDay", wordsMeanTheSpeakersDay},
		{"L98_ZoneOfAContext", zoneOfAContext},
	}
}

func shanghai() *time.Location { return time.FixedZone("", 8*3600) }

// filtersMeanInstants: L95, a time is an instant, whatever zone it is given in:
// a day of Shanghai holds what happened in it, and nothing of the day beside it.
func filtersMeanInstants(s *suite) {
	day := time.Date(2025, 3, 4, 0, 0, 0, 0, shanghai())
	for text, at := range map[string]time.Time{"早 early": day.Add(30 * time.Minute), "晚 late": day.Add(23*time.Hour + 30*time.Minute),
		"前 before": day.Add(-30 * time.Minute), "后 after": day.Add(24*time.Hour + 30*time.Minute)} {
		id := s.save(yiku.SaveMemoryRequest{UserID: "u", Type: yiku.TypeEvent, Content: "散步 a walk, " + text, ValidFrom: at}).ID
		if got := s.memory("u", id).ValidFrom; !got.Equal(at) || got.Format(time.RFC3339) != at.UTC().Format(time.RFC3339) {
			s.Errorf("%s: %s was stored as %s", text, at, got)
		}
	}
	for _, zone := range []*time.Location{shanghai(), time.UTC, time.FixedZone("", -8*3600)} {
		res := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "散步 walk", From: day.In(zone), To: day.Add(24 * time.Hour).In(zone)}))
		found := ""
		for _, item := range res.Items {
			found += item.Memory.Content
		}
		if len(res.Items) != 2 || !strings.Contains(found, "early") || !strings.Contains(found, "late") {
			s.Errorf("in %s: %s", zone, found)
		}
	}
}

// wordsMeanTheSpeakersDay: L97, "tomorrow" is the day after the speaker's own,
// not after the server's, and the memory says which day that was.
func wordsMeanTheSpeakersDay(s *suite) {
	at := time.Date(2025, 3, 4, 7, 30, 0, 0, shanghai()) // the third, 23:30, in UTC
	for session, text := range map[string]string{"zh": "请记住：明天交季度报告", "en": "Please remember: the quarterly report is due tomorrow"} {
		s.append("u", session, yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text), CreatedAt: at})
		must[yiku.JobResponse](s)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: session, Reason: yiku.EndUserLeft, Wait: true}))
	}
	all := s.contents(yiku.ListMemoriesRequest{UserID: "u"})
	days := 0
	for _, content := range all {
		days += strings.Count(content, "2025-03-05")
	}
	if days != 2 || strings.Contains(strings.Join(all, ""), "2025-03-04") {
		s.Errorf("memories: %q", all)
	}
}

// zoneOfAContext: L98, the zone that a request names is the one in which its
// context tells days, on every way to the service, and one that does not exist
// is refused.
func zoneOfAContext(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Type: yiku.TypeEvent, Content: "去看了医生 saw the doctor", ValidFrom: time.Date(2025, 3, 4, 23, 30, 0, 0, time.UTC)})
	for zone, want := range map[string]string{"Asia/Shanghai": "2025-03-05", "America/New_York": "2025-03-04", "": "2025-03-04"} {
		got := must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: "看医生 doctor", Options: yiku.ContextOptions{Timezone: zone}}))
		if !strings.Contains(got.System, want) {
			s.Errorf("in %q, want %s: %s", zone, want, got.System)
		}
	}
	fails[yiku.GetContextResponse](s, yiku.ErrInvalid)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: "x", Options: yiku.ContextOptions{Timezone: "Shanghai/Asia"}}))
}
