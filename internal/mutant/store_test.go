package mutant

// storeMutants: whose row it is, and that a row is what was written.
func storeMutants() []mutant {
	const tests = "store/sqlite, engine"
	return []mutant{
		{"store: a memory is read by its id within its owner", "store/sqlite/memory.go", `WHERE m.owner = ? AND m.id = ?`, `WHERE m.owner > 0 * ? AND m.id = ?`, tests},
		{"store: keys of other owners are not followed", "store/sqlite/owner.go", `return key>>ownerShift == o.number`, `return key != 0 || o.number > 0`, tests},
		{"store: memories are listed within their owner", "store/sqlite/memoryquery.go", "`m.key BETWEEN ? AND ?`, o.first(), last", "`m.key BETWEEN ? AND ?`, int64(0), last", tests},
		{"store: memories of a type are listed within their owner's keys", "store/sqlite/receipt.go", `return max(o.first(), after+1), o.first()`, `return after + 1, o.first()`, tests},
		{"store: a snapshot is read by its id within its owner", "store/sqlite/record.go", `WHERE owner = ? AND id = ? AND (expires_at`, `WHERE owner > 0 * ? AND id = ? AND (expires_at`, tests},
		{"store: a snapshot that is over is not read", "store/sqlite/record.go", `expires_at IS NULL OR expires_at > ?)`, `expires_at IS NULL OR ? > 0)`, tests},
		{"store: a receipt is read by its id within its owner", "store/sqlite/receipt.go", `FROM receipts WHERE owner = ? AND id = ?`, `FROM receipts WHERE owner > 0 * ? AND id = ?`, tests},
		{"store: a tenant revokes its own keys only", "store/sqlite/key.go", `WHERE tenant = ?2 AND +id = ?1`, `WHERE ?2 > 0 AND +id = ?1`, tests},
		{"store: a tenant lists its own keys only", "store/sqlite/key.go", `WHERE tenant = ?1 AND rowid > ?2`, `WHERE ?1 > 0 AND rowid > ?2`, tests},
		{"store: a tenant counts its own keys only", "store/sqlite/key.go", `WHERE ?1 = 0 OR tenant = ?1`, `WHERE ?1 >= 0`, tests},
		{"store: the project narrows a list of memories", "store/sqlite/memoryquery.go", "`m.project_mark = ?`", "`length(?) >= 0`", tests},
		{"store: the task narrows a list of memories", "store/sqlite/memoryquery.go", "`m.task_mark = ?`", "`length(?) >= 0`", tests},
		{"store: the statuses narrow a list of memories", "store/sqlite/memoryquery.go", "	where.in(status, texts(q.Statuses))\n", "	_ = status\n", tests},
		{"store: the project narrows a list of sessions", "store/sqlite/session.go", "` AND project_mark = ?`", "` AND length(?) >= 0`", tests},
		{"store: open work is found in its project only", "store/sqlite/working.go", `AND project_mark = ? AND open = 1`, `AND length(?) >= 0 AND open = 1`, tests},
		{"store: a duplicate is one of the same scope", "store/sqlite/memory.go", `m.scope_mark = ? AND m.content_mark = ?`, `length(?) >= 0 AND m.content_mark = ?`, tests},
		{"store: a duplicate is an active one", "store/sqlite/memory.go", `AND m.status = 'active' AND m.content_mark <> x''`, `AND m.content_mark <> x''`, tests},
		{"store: a forget takes nothing that came after it", "store/sqlite/receipt.go", `o.first() | min(max(upTo, 0), 1<<ownerShift-1)`, `o.last() - 0*upTo`, tests},
		{"store: a deleted memory leaves a tombstone", "store/sqlite/memory.go", `return t.bury(store.ItemMemory, keys)`, `return nil`, tests},
		{"store: a deleted message leaves a tombstone", "store/sqlite/message.go", `return t.bury(store.ItemMessage, found)`, `return nil`, tests},
		{"store: what is deleted takes the snapshots that cite it", "store/sqlite/lineage.go", `{sqlDropCites, &removed.Snapshots}, `, ``, tests},
		{"store: what is deleted makes its idempotency record forgotten", "store/sqlite/lineage.go", "	return t.forgetRecords(keys, removed)\n", "	return t.c.run(sqlDropMade, keys)\n", tests},
		{"store: what is deleted leaves the lineage", "store/sqlite/lineage.go", `{sqlDropUp, nil}, {sqlDropDown, nil},`, ``, tests},
		{"store: lineage names what is there", "store/sqlite/lineage.go", `if err == nil && n == 0 {`, `if false && n == 0 {`, tests},
		{"store: an access count needs its memory", "store/sqlite/memory.go", `SELECT key, ?2, 1 FROM memories WHERE key = ?1`, `SELECT ?1, ?2, 1 WHERE ?1 > 0`, tests},
		{"store: an update that fails is undone", "store/sqlite/writer.go", `errors.Join(c.run(sqlUndo), c.run(sqlRelease))`, `c.run(sqlRelease)`, "store/sqlite AFailedUpdateOfAGroup"},
		{"store: a call that fails is undone", "store/sqlite/owner.go", "		if e := t.c.run(sqlUndoCall); e != nil {\n			return foreign(op, e)\n		}\n", "", tests},
		{"store: a failed sync stops the writes", "store/sqlite/writer.go", `if full && undo == nil {`, `if full || undo == nil {`, tests},
		{"store: a migration that changed since is refused", "store/sqlite/migrate.go", `if !bytes.Equal(sum, m.checksum()) {`, `if !bytes.Equal(sum, m.checksum()) && false {`, tests},
		{"store: a newer schema is refused", "store/sqlite/migrate.go", `if have > latest {`, `if have > latest+9 {`, tests},
		{"store: a row whose MAC does not fit is refused", "internal/keyring/keyring.go", `return nil, yiku.Errorf(yiku.ErrUnavailable, "open envelope: its MAC does not fit")`, `return plain, nil`, "internal/keyring, store/sqlite"},
		{"store: the MAC covers where a row belongs", "internal/keyring/keyring.go", `envelope = key.seal.Seal(envelope, nil, nil, append(associated, plain...))`, `envelope = key.seal.Seal(envelope, nil, nil, append(associated[:0:0], plain...))`, "internal/keyring, store/sqlite"},
		{"store: pages carry checksums", "store/sqlite/checksum.go", `return foreign("add checksums to pages", db.EnableChecksums("main"))`, `return nil`, tests},
		{"store: a database without its checksums is refused", "store/sqlite/checksum.go", `if reserved != 0 || old > 0 {`, `if false && old > 0 {`, tests},
		{"store: blind marks of different parts differ", "internal/keyring/keyring.go", `buf = binary.BigEndian.AppendUint64(buf, uint64(len(s)))`, `buf = binary.BigEndian.AppendUint64(buf, 0)[:len(buf)]`, "internal/keyring"},
	}
}

// settingMutants: what the database, its directory and its files must be.
func settingMutants() []mutant {
	const tests = "store/sqlite"
	pragma := func(name, old, weak string) mutant {
		return mutant{"setting: pragma " + name, "store/sqlite/conn.go", `{"` + name + `", ` + old + `}`, `{"` + name + `", ` + weak + `}`, tests}
	}
	return []mutant{
		pragma("journal_mode", `"WAL", "wal"`, `"DELETE", "delete"`),
		pragma("synchronous", `"FULL", "2"`, `"NORMAL", "1"`),
		pragma("foreign_keys", `"ON", "1"`, `"OFF", "0"`),
		pragma("secure_delete", `"ON", "1"`, `"OFF", "0"`),
		pragma("trusted_schema", `"OFF", "0"`, `"ON", "1"`),
		pragma("temp_store", `"MEMORY", "2"`, `"FILE", "1"`),
		pragma("query_only", `queryOnly, queryOnly`, `queryOnly[:0] + "0", queryOnly[:0] + "0"`),
		{"setting: pragmas are asserted", "store/sqlite/conn.go", `if !strings.EqualFold(have, p.want) {`, `if !strings.EqualFold(have, p.want) && false {`, tests},
		{"setting: an old SQLite is refused", "store/sqlite/conn.go", `return [3]int{3, 51, 3}`, `return [3]int{3, 51, 2}`, tests},
		{"setting: the floor of the version is asserted", "store/sqlite/conn.go", `if !atLeast(version, minVersion()) {`, `if !atLeast(version, [3]int{}) {`, "internal/archtest TestRules/call"},
		{"setting: one process has the directory", "store/sqlite/directory.go", "	if !ok {\n		holder", "	if !ok && false {\n		holder", tests},
		{"setting: an open directory is tightened", "store/sqlite/directory.go", `if err := os.Chmod(path, mode); err != nil {`, `if err := error(nil); err != nil {`, tests},
		{"setting: the directory is made private", "store/sqlite/directory.go", `os.MkdirAll(abs, 0o700)`, `os.MkdirAll(abs, 0o755)`, tests},
		{"setting: files are made private", "store/sqlite/directory.go", `os.O_RDWR|os.O_CREATE, 0o600)`, `os.O_RDWR|os.O_CREATE, 0o644)`, tests},
		{"setting: the directory is synced before the first request", "store/sqlite/sqlite.go", `return s.dir.sync()`, `return nil`, tests + ", internal/archtest TestRules/call"},
		{"setting: the audit key is private", "internal/audit/file.go", `case info.Mode().Perm() != keyMode:`, `case false:`, "internal/audit"},
		{"setting: the audit key is made anew only where there is none", "internal/audit/file.go", `os.O_WRONLY|os.O_CREATE|os.O_EXCL`, `os.O_WRONLY|os.O_CREATE`, "internal/audit"},
		{"setting: the audit key is synced", "internal/audit/file.go", `errors.Join(err, f.Sync(), f.Close())`, `errors.Join(err, f.Close())`, "internal/archtest TestRules/call"},
	}
}
