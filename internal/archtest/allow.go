package archtest

// allowed is the allow-list: findings that stay, each with its reason.
var allowed = []Allowed{
	{"sql", "store/sqlite/conn.go", "openConn", "pragmas cannot be bound; their names and values come from a literal table"},
	{"sql", "store/sqlite/conn.go", "conn.assert", "pragmas cannot be bound; their names come from a literal table"},
	{"sql", "store/sqlite/memoryquery.go", "reader.CountMemories", "the conditions are constants that memoryFilter chooses; values are bound"},
	{"sql", "store/sqlite/memoryquery.go", "reader.eachMemory", "the conditions are constants that memoryFilter chooses; values are bound"},
	{"sql", "store/sqlite/memoryquery.go", "conditions.in", "the column is a constant of memoryFilter's; one place holder a value"},
	{"sql", "store/sqlite/graph.go", "reader.Entities", "the conditions are constants that entityFilter chooses; values are bound"},
	{"sql", "store/sqlite/graph.go", "reader.Relations", "the conditions are constants that relationFilter chooses; values are bound"},
	{"sql", "store/sqlite/session.go", "reader.Sessions", "the conditions are constants that sessionFilter chooses; values are bound"},
	{"sql", "store/sqlite/session.go", "reader.CountSessions", "the conditions are constants that sessionFilter chooses; values are bound"},
	{"sql", "store/sqlite/working.go", "reader.OpenWorking", "one more condition, a constant, where an agent is given"},
	{"environment", "internal/boardtest/boardtest.go", "Directory", "tests of all packages report into one directory, and go test hands nothing else to all of them"},
}
