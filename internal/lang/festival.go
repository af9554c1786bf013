package lang

import (
	"sync"
	"time"

	"github.com/6tail/lunar-go/calendar"
)

// festival is a holiday of the Chinese calendar: a day of a month of it, and the
// days off from before that day on.
type festival struct {
	month, day   int
	before, days int  // it is kept from so many days before that day on, for so long
	ends         bool // it is at the end of a year, and so in the next year of the common calendar
}

var (
	springFestival = festival{month: 1, day: 1, before: 1, days: 8}
	newYearsEve    = festival{month: 1, day: 1, before: 1, days: 1}
	lanterns       = festival{month: 1, day: 15, days: 1}
	dragonBoats    = festival{month: 5, day: 5, before: 1, days: 3}
	midAutumn      = festival{month: 8, day: 15, before: 1, days: 3}

	// festivals are those of the Chinese calendar by their names, in lower case.
	festivals = map[string]festival{
		"春节": springFestival, "过年": springFestival, "spring festival": springFestival, "lunar new year": springFestival, "chinese new year": springFestival,
		"除夕": newYearsEve, "年三十": newYearsEve, "lunar new years eve": newYearsEve, "chinese new years eve": newYearsEve,
		"大年初一": {month: 1, day: 1, days: 1},
		"元宵":   lanterns, "lantern festival": lanterns,
		"端午": dragonBoats, "dragon boat festival": dragonBoats,
		"七夕": {month: 7, day: 7, days: 1},
		"中秋": midAutumn, "mid-autumn festival": midAutumn, "moon festival": midAutumn,
		"重阳": {month: 9, day: 9, days: 1},
		"腊八": {month: 12, day: 8, days: 1, ends: true},
	}
)

// Years that people speak of.
const (
	firstYear = 1900
	lastYear  = 2100
)

// in is the festival of a year of the common calendar; not ok where the year is
// not one that people speak of.
func (f festival) in(year int, zone *time.Location) (from, to time.Time, ok bool) {
	if year <= firstYear || year > lastYear {
		return from, to, false
	}
	if f.ends {
		year--
	}
	month := lunarYears()[year-firstYear]()[f.month-1]
	from = time.Date(month.Year(), month.Month(), month.Day()+f.day-1-f.before, 0, 0, 0, 0, zone)
	return from, from.AddDate(0, 0, f.days), true
}

// lunarYears are the first days of the twelve months of each year of the Chinese
// calendar, without leap months, at midnight UTC. A year is computed, which
// takes some milliseconds, when it is first asked for.
var lunarYears = sync.OnceValue(func() (years [lastYear - firstYear + 1]func() [12]time.Time) {
	for i := range years {
		years[i] = sync.OnceValue(func() (months [12]time.Time) {
			for m := range months {
				day := calendar.NewLunarFromYmd(firstYear+i, m+1, 1).GetSolar()
				months[m] = time.Date(day.GetYear(), time.Month(day.GetMonth()), day.GetDay(), 0, 0, 0, 0, time.UTC)
			}
			return months
		})
	}
	return years
})
