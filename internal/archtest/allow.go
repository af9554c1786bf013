package archtest

// allowed is the allow-list: findings that stay, each with its reason.
var allowed = []Allowed{
	{"sql", "store/sqlite/conn.go", "openConn", "pragmas cannot be bound; their names and values come from a literal table"},
	{"sql", "store/sqlite/conn.go", "conn.assert", "pragmas cannot be bound; their names come from a literal table"},
	{"environment", "internal/boardtest/boardtest.go", "Report", "tests of all packages report into one directory, and go test hands nothing else to all of them"},
}
