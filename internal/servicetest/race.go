package servicetest

import "runtime/debug"

// UnderRace tells whether the test was built with the race detector: long tests
// do less then, since everything takes ten times as long.
func UnderRace() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
