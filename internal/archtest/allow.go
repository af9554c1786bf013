package archtest

// allowed is the allow-list: findings that stay, each with its reason.
var allowed = []Allowed{
	{"context", "store/sqlite/writer.go", "member", "a queued update carries its caller's context to the goroutine that runs it, as http.Request does"},
	{"sql", "store/sqlite/conn.go", "openConn", "pragmas cannot be bound; their names and values come from a literal table"},
	{"sql", "store/sqlite/conn.go", "conn.assert", "pragmas cannot be bound; their names come from a literal table"},
}
