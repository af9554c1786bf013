package archtest

// allowed is the allow-list: findings that stay, each with its reason.
var allowed = []Allowed{
	{"sql", "store/sqlite/conn.go", "openConn", "pragmas cannot be bound; their names and values come from a literal table"},
	{"sql", "store/sqlite/conn.go", "conn.assert", "pragmas cannot be bound; their names come from a literal table"},
}
