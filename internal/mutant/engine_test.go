package mutant

// engineMutants: roles, owners, conditions, repetitions and pages.
func engineMutants() []mutant {
	const tests = "engine, internal/app"
	return []mutant{
		{"engine: a credential of one user speaks for that user", "engine/engine.go", `if c.principal.User != "" && c.principal.User != userID {`, `if false {`, tests},
		{"engine: the role is checked", "engine/engine.go", "		if err := op.Permits(s.principal); err != nil {\n			return res, err\n		}\n", "", tests},
		{"engine: limits of a request are checked", "engine/engine.go", "		if err := s.engine.checker.Request(req); err != nil {\n			return res, err\n		}\n", "", tests},
		{"engine: consent that was withdrawn refuses writes", "engine/engine.go", `if state.ConsentWithdrawn {`, `if state.ConsentWithdrawn && false {`, tests},
		{"engine: the role that an operation needs", "internal/wire/wire.go", `case !who.Access.Allows(o.Access):`, `case false:`, "internal/wire, engine, internal/app"},
		{"engine: what is the tenant's is not for a user's credential", "internal/wire/wire.go", `case who.User != "" && o.Scope != ScopeUser:`, `case false:`, "internal/wire, engine, internal/app"},
		{"engine: shared memories are written by operators", "engine/save.go", `if !c.principal.Access.Allows(yiku.AccessAdmin) || c.principal.User != "" {`, `if false {`, tests},
		{"engine: shared memories are not written by a user's admin key", "engine/save.go", `Allows(yiku.AccessAdmin) || c.principal.User != "" {`, `Allows(yiku.AccessAdmin) {`, tests},
		{"engine: shared memories are changed by operators", "engine/memory.go", `if err == nil && owner.IsShared() {`, `if false {`, tests},
		{"engine: a session stays in its project", "engine/append.go", `if req.ProjectID != "" && req.ProjectID != session.ProjectID {`, `if false {`, tests},
		{"engine: a context stays in the session's project", "engine/context.go", `if p.project != "" && session.ProjectID != p.project {`, `if false {`, tests},
		{"engine: a search stays in the session's project", "engine/search.go", `case project != "" && project != session.ProjectID:`, `case false:`, tests},
		{"engine: a message id stands for one content", "engine/append.go", `if !sameMessage(known.Message, given[i]) {`, `if false {`, tests},
		{"engine: a condition is met", "engine/session.go", `if header != "" && !wire.MatchETag(header, etag) {`, `if header == "never" && !wire.MatchETag(header, etag) {`, tests},
		{"engine: a session is deleted under its condition", "engine/session.go", `err = ifMatch(req.IfMatch, session.ETag())`, `err = ifMatch("", session.ETag())`, tests},
		{"engine: a memory is deleted under its condition", "engine/memory.go", `err = ifMatch(req.IfMatch, row.ETag())`, `err = ifMatch("", row.ETag())`, tests},
		{"engine: a memory is changed under its condition", "engine/memory.go", `if err := ifMatch(match, row.ETag()); err != nil {`, `if err := ifMatch("", row.ETag()); err != nil {`, tests},
		{"engine: working memory is changed under its condition", "engine/working.go", `if err := ifMatch(match, row.ETag()); err != nil {`, `if err := ifMatch("", row.ETag()); err != nil {`, tests},
		{"engine: working memory is cleared under its condition", "engine/working.go", `if err := ifMatch(req.IfMatch, row.ETag()); err != nil {`, `if err := ifMatch("", row.ETag()); err != nil {`, tests},
		{"engine: a read-only block is not changed", "engine/working.go", `if w.Blocks[name].ReadOnly {`, `if false {`, tests},
		{"engine: an idempotency key is kept", "engine/idempotency.go", `return tx.PutIdempotency(&store.Idempotency{Operation: c.event.Operation, Key: key, Request: fingerprint, Result: kept, At: c.now}, makes)`, `_, _ = kept, makes; return nil`, tests},
		{"engine: an idempotency key stands for one request", "engine/idempotency.go", `case !hmac.Equal(record.Request, fingerprint):`, `case !hmac.Equal(record.Request, fingerprint) && false:`, tests},
		{"engine: a repetition of what was forgotten is told", "engine/idempotency.go", `case record.Forgotten:`, `case record.Forgotten && false:`, tests},
		{"engine: an idempotency key ends", "engine/idempotency.go", `case c.now.Sub(record.At) > c.settings.IdempotencyKeep:`, `case false:`, tests},
		{"engine: fingerprints are compared in constant time", "engine/idempotency.go", `!hmac.Equal(record.Request, fingerprint)`, `string(record.Request) != string(fingerprint)`, "internal/archtest TestRules/call"},
		{"engine: keys of shared writes are each user's own", "engine/idempotency.go", `if owner.IsShared() && key != "" {`, `if false {`, tests},
		{"engine: a cursor is ours", "engine/cursor.go", `if !hmac.Equal(raw[:cursorMAC], mac) {`, `if !hmac.Equal(raw[:cursorMAC], mac) && false {`, tests},
		{"engine: a cursor is compared in constant time", "engine/cursor.go", `!hmac.Equal(raw[:cursorMAC], mac)`, `string(raw[:cursorMAC]) != string(mac)`, "internal/archtest TestRules/call"},
		{"engine: a cursor belongs to its tenant", "engine/cursor.go", `c.principal.Tenant, scope}`, `"", scope}`, tests},
		{"engine: a cursor belongs to its list and owner", "engine/cursor.go", `c.principal.Tenant, scope}`, `c.principal.Tenant, nil}`, tests},
		{"engine: a cursor belongs to its operation", "engine/cursor.go", `[]any{c.event.Operation, `, `[]any{"", `, tests},
		{"engine: an imported document is checked", "engine/transfer.go", "		if !errors.As(err, &e) {\n			continue", "		if errors.As(err, &e) || true {\n			continue", tests},
		{"engine: a derived memory is not trusted more than its sources", "engine/save.go", `m.Trust = min(m.Trust, source.Trust)`, `_ = source.Trust`, tests},
		{"summary: an exact datum that its sources do not hold takes its sentence with it", "internal/summary/model.go", `case !m.trusted && !known.Holds(s, last):`, `case !m.trusted && !known.Holds(s, last) && false:`, "internal/summary"},
		{"summary: what was forgotten meanwhile is not summarised", "engine/summary.go", `if state.Epoch != z.epoch || present.To`, `if present.To`, tests},
		{"summary: a pinned message is never part of one", "engine/summary.go", `m.Role != yiku.RoleSystem && !m.Pinned }`, `m.Role != yiku.RoleSystem }`, tests},
		{"engine: what depends on a changed memory becomes stale", "engine/memory.go", `if before.Content != m.Content || before.Value`, `if false && before.Value`, tests},
		{"engine: what depends on a memory that no longer holds becomes stale", "engine/save.go", "	return c.stale(tx, owner, row.Key, map[int64]bool{row.Key: true})", "	return nil", "engine"},
		{"engine: a skill that a tool tells of waits for a person", "engine/save.go", `review: m.Skill != nil && m.Trust < trusted`, `review: false`, tests},
		{"engine: steps of somebody less trusted do not replace those of a skill", "engine/skill.go", `case review || m.Trust < known.Trust:`, `case false:`, tests},
		{"graph: what a scope does not see is not walked", "engine/relate.go", `if k.filter.Match(store.MemoryFields(m.Memory)) {`, `if true {`, "engine C14_|C16_"},
		{"graph: the user of a shared memory is nobody in particular", "engine/relate.go", `if !ok || owner.IsShared() && (`, `if !ok || false && (`, "engine C14_|C16_|Service"},
		{"promotion: only preferences hold wider", "engine/promote.go", `m.Type != yiku.TypePreference || `, ``, "engine C16_|Service"},
		{"promotion: what is hedged or little trusted holds nowhere else", "engine/promote.go", ` || m.Trust < trusted || m.Confidence < firm {`, ` {`, "engine C16_|Service"},
		{"promotion: hedged or little trusted memories are no evidence", "engine/promote.go", `!c.states(row.Memory, m.Memory) || row.Trust < trusted || row.Confidence < firm || `, `!c.states(row.Memory, m.Memory) || `, "engine C16_|Service"},
		{"promotion: what was demoted comes back on new evidence only", "engine/promote.go", `if len(fresh) < promoteAt {`, `if false {`, "engine C16_|Service"},
		{"promotion: what was forgotten is no evidence", "engine/promote.go", `!row.CreatedAt.After(forgotten)`, `false`, "engine C16_|Service"},
		{"engine: what rests on what no longer holds waits for a person", "engine/apply.go", `review: !firmly || `, `review: firmly && false || `, "engine"},
	}
}

// forgetMutants: what is forgotten stays so.
func forgetMutants() []mutant {
	const tests = "engine"
	return []mutant{
		{"forget: a message that was forgotten is not taken again", "engine/append.go", `if given[i].ID != "" && forgotten[i] {`, `if given[i].ID == "" && forgotten[i] {`, tests},
		{"forget: a message that is named itself takes what was learnt from it", "engine/forget.go", `if err == nil && h.selects(m) {`, `if false {`, "engine E1_"},
		{"forget: a forgotten message is suppressed", "engine/forget.go", `append(names, messageMark(row.SessionID, row.Message))`, `names`, tests},
		{"forget: a forgotten memory is suppressed", "engine/forget.go", `append(names, c.memoryMarks(row)...)`, `names`, tests},
		{"forget: a deleted memory is suppressed", "engine/memory.go", `err = c.suppress(tx, owner, c.now, c.memoryMarks(row)...)`, `_ = row`, tests},
		{"forget: messages of a deleted session are suppressed", "engine/session.go", "		if err := c.suppress(tx, owner, c.now, names...); err != nil {\n			return entry, err\n		}\n", "		_ = names\n", tests},
		{"forget: a forget raises the epoch", "engine/forget.go", `if f.Epoch, err = tx.RaiseEpoch(); err != nil {`, `if f.Epoch = 1; err != nil {`, tests},
		{"forget: a caller who leaves does not end it", "engine/detached.go", `context.WithCancel(context.WithoutCancel(ctx))`, `context.WithCancel(ctx)`, "engine E1_|E2_"},
		{"forget: a close waits for it", "engine/detached.go", `r.all.Wait()`, `r.kill()`, "engine E1_|E2_"},
		{"forget: copies in forks go too", "engine/forgetfork.go", `all = append(all, twin)`, `_ = twin`, "engine E1_|E2_"},
		{"forget: a copy is what says the same", "engine/forgetfork.go", `case messageMark("", twin.Message) == messageMark("", row.Message):`, `case true:`, "engine E1_|E2_"},
		{"forget: a fork waits for it", "engine/transfer.go", `err != nil || state.Epoch != epoch {`, `err != nil || state.Epoch < 0*epoch {`, "engine E1_|E2_"},
		{"forget: work that another session took over goes too", "engine/selection.go", `w.SessionID == id || slices.Contains(w.Origins, id)`, `w.SessionID == id`, "engine E1_|E2_"},
		{"forget: completed tasks go too", "engine/forgettask.go", `!takes(t) {`, `true {`, "engine E1_|E2_"},
		{"restore: work that another session took over is forgotten again", "engine/replay.go", `return had(carriedMark(id))`, `return false && had(carriedMark(id))`, "internal/app R39_"},
		{"restore: completed tasks are forgotten again", "engine/replay.go", `return had(taskMark(t))`, `return false && had(taskMark(t))`, "internal/app R39_"},
		{"forget: a later look sees metadata that is left", "engine/forgetmetadata.go", `res.Found[place] += len(keys)`, `_ = keys`, "engine E1_|E2_"},
		{"forget: a deletion raises the epoch", "engine/journal.go", `if note.Epoch, err = tx.RaiseEpoch(); err != nil {`, `if note.Epoch = 1; err != nil {`, tests},
		{"forget: an extraction checks the epoch", "engine/extract.go", `if state.Epoch != x.epoch || !dry && session.Cursor`, `if !dry && session.Cursor`, "engine R13_"},
		{"forget: a dry run checks the epoch", "engine/extract.go", "		if state.Epoch != x.epoch {\n			return errStale", "		if state.Epoch < 0 {\n			return errStale", "engine R13_"},
		{"echo: what the agent restates is not stored", "engine/echo.go", `if !extract.Echoes(candidate, w) {`, `if true {`, "engine C10_"},
		{"jobs: what was read meanwhile is not read again", "engine/extract.go", `!dry && session.Cursor != x.session.Cursor {`, `false {`, "engine R12_"},
		{"jobs: a job that is gone is not done again", "engine/extract.go", `if _, err := tx.Job(owner, job.ID); err != nil {
			return err
		}
	}
	record`, `if _, err := tx.Job(owner, job.ID); err != nil && job.ID == "" {
			return err
		}
	}
	record`, "engine R12_"},
		{"jobs: a job ends when nothing is left", "engine/extract.go", `unread = 0 //`, `_ = 0 //`, "engine L11_"},
		{"jobs: without consent no model sees anything", "engine/extract.go", `if state.ConsentWithdrawn { // nothing`, `if false { // nothing`, "engine L11_"},
		{"forget: a snapshot checks the epoch", "engine/snapshot.go", `if state.Epoch != d.epoch {`, `if false {`, tests + ", engine R13_"},
		{"forget: a snapshot names the memories it cites", "engine/snapshot.go", `Cites: append(cites, d.cites...)`, `Cites: cites`, tests},
		{"forget: a snapshot names the messages it cites", "engine/snapshot.go", `Cites: append(cites, d.cites...)`, `Cites: append(cites[:0], d.cites...)`, tests},
		{"forget: sources go with their memory", "engine/forget.go", `if f.Request.Sources != yiku.SourcesDelete {`, `if true {`, tests},
		{"forget: what was derived goes too", "engine/forget.go", `	if err := c.haulDerived(r, f, h, item); err != nil {
		return err
	}
	h.memories`, `	h.memories`, tests},
		{"forget: working memory goes too", "engine/forget.go", `return c.purgeWorking(tx, next, sel.working)`, `return nil`, tests},
		{"forget: copies go too", "engine/forget.go", `{ return tx.PurgeCopies(drop, &next.Removed) })`, `{ _ = drop; return nil })`, tests},
		{"forget: sessions go too", "engine/forget.go", `return tx.PurgeSession(row.Key, &f.Removed)`, `return nil`, tests},
		{"forget: another project's memories stay", "engine/selection.go", `return m.ProjectID == project && memory(m)`, `return memory(m)`, tests},
		{"forget: another project's messages stay", "engine/selection.go", `return session(m).ProjectID == project && message(m)`, `return message(m)`, tests},
		{"forget: the receipt looks for residue", "engine/receipt.go", `receipt.Verified = receipt.Verified && n == 0`, `_ = n`, tests},
		{"restore: a forget is in the journal before its receipt", "engine/forget.go", `c.record(ctx, f, &receipt.Receipt)`, `error(nil)`, "internal/app R39_|R6_"},
		{"restore: a deletion is in the journal before its answer", "engine/journal.go", `	return c.settle(ctx, note)`, `	_ = ctx; return nil`, "internal/app R39_|R6_"},
		{"restore: no forget before the journal has the earlier ones", "engine/forget.go", `err := c.settlePending(ctx, owner)`, `err := error(nil)`, "engine R39_"},
		{"restore: no deletion before the journal has the earlier ones", "engine/journal.go", `err := c.settlePending(ctx, owner)`, `err := error(nil)`, "engine R39_"},
		{"restore: an entry covers forgets that run at once", "engine/journal.go", `for _, o := range covered {`, `for _, o := range covered[len(covered)-1:] {`, "engine R39_"},
		{"restore: the replaced store's forgets are journaled first", "internal/app/restore.go", `if !r.Replace || r.WithoutJournal {`, `if true {`, "internal/app R39_"},
		{"restore: a store keeps to its journal", "internal/app/journal.go", "	if kept != \"\" && !o.NewJournal {\n		return otherJournal(path)", "	if false {\n		return otherJournal(path)", "internal/app R39_"},
		{"restore: no second journal is begun", "internal/app/journal.go", `kept != "" && !o.NewJournal && errors.Is`, `false && errors.Is`, "internal/app R39_"},
		{"forget: a keyword reaches a memory's history", "engine/selection.go", `if s.memory(row) || !s.versions {`, `if true {`, tests},
		{"forget: what selects nothing leaves copies", "engine/selection.go", `return s.copied, s.copied != nil`, `return nil, true`, tests},
		{"restore: a memory that went is named", "engine/suppress.go", `[]string{rowMark(row), mark(`, `[]string{mark(`, "internal/app R39_|R6_"},
		{"restore: epochs do not go back", "engine/replay.go", `tx.Advance(r.state)`, `error(nil)`, "internal/app R39_|R6_"},
		{"restore: a database older than its journal is not opened", "internal/app/journal.go", `if st.Epoch < epoch {`, `if st.Epoch < 0*epoch {`, "internal/app R39_"},
		{"restore: a named journal is put in its place only with the database", "internal/app/restore.go", `return staged, copyFile(r.Journal, staged)`, `return path, copyFile(r.Journal, path)`, "internal/app R39_"},
		{"restore: owners who came after the backup keep their place", "engine/replay.go", `e.store.HoldOwner(ctx, h)`, `error(nil)`, "internal/app R39_|R6_"},
		{"restore: a changed manifest is refused", "internal/backup/backup.go", `case !hmac.Equal(want, m.MAC):`, `case !hmac.Equal(want, want):`, "internal/backup"},
		{"restore: a changed database is refused", "internal/backup/backup.go", `!bytes.Equal(m.Files[0].SHA256, sum.Sum(nil))`, `len(sum.Sum(nil)) == 0`, "internal/backup"},
		{"restore: a changed journal is refused", "internal/journal/read.go", `!hmac.Equal(sum, mac(key, got.last.MAC, text))`, `mac(key, got.last.MAC, text) == nil`, "internal/journal"},
		{"restore: a database in use is not replaced over", "internal/app/restore.go", `if place.Occupied() && !r.Replace {`, `if false {`, "internal/app R39_|R6_"},
		{"forget: verify looks for residue", "engine/receipt.go", "			if n > 0 {\n", "			if n > 1<<40 {\n", tests},
		{"forget: the log is cut afterwards", "engine/forget.go", "	c.scrub(ctx)\n	return receipt, nil\n", "	return receipt, nil\n", tests},
		{"forget: an interrupted forget goes on after a restart", "engine/pending.go", `_, err := c.resume(ctx, f.Owner, f.Receipt)`, `var err error`, tests + ", engine R4_"},
		{"forget: a dry run changes nothing", "engine/preview.go", "		return errors.Join(tx.PurgeCopies(drop, &p.f.Removed), errPreview)\n	})\n	if !errors.Is(err, errPreview) {", "		return tx.PurgeCopies(drop, &p.f.Removed)\n	})\n	if err != nil {", tests},
		{"forget: a receipt is verified against every table", "store/sqlite/residue.go", "		{\"versions.memory\", sqlResidueVersionsMemory, 1, memory},\n", "", "store/sqlite"},
	}
}

// readMutants: nothing is found that is not in scope, true and relevant.
func readMutants() []mutant {
	const tests = "engine"
	return []mutant{
		{"read: a candidate memory is filtered again", "engine/find.go", `if !q.filter.Match(store.MemoryFields(m.Memory)) {`, `if false {`, tests},
		{"read: a candidate message is filtered again", "engine/find.go", `case !q.filter.Match(store.MessageFields(m.Message, session)):`, `case false && session.ID == "":`, tests},
		{"read: messages beyond retention are not found", "engine/find.go", `m.RecordedAt.Before(q.recorded)`, `false`, tests},
		{"read: what is shown already is not recalled", "engine/find.go", `case q.skip[m.SessionID+"\x00"+m.ID]:`, `case false:`, tests},
		{"read: the ranking has a threshold", "internal/recall/rank.go", `if item.Scores.Relevance < least {`, `if item.Scores.Relevance < least-9 {`, "internal/recall"},
		{"read: only active memories are found", "engine/scope.go", `all(is("status", yiku.OpEq, string(yiku.StatusActive)), is("valid_from"`, `all(is("valid_from"`, tests},
		{"read: what is to come is not yet found", "engine/scope.go", `is("valid_from", yiku.OpLte, now), *activeAt(now)`, `*activeAt(now)`, tests},
		{"read: what is over is not found", "engine/scope.go", `all(until("expires_at", now), until("valid_to", now))`, `all(until("valid_to", now))`, tests},
		{"read: what was true until then is not found", "engine/scope.go", `all(until("expires_at", now), until("valid_to", now))`, `all(until("expires_at", now))`, tests},
		{"read: project memories are seen in their project", "engine/scope.go", `all(is("level", yiku.OpEq, string(yiku.LevelProject)), is("project_id", yiku.OpEq, project))`, `is("level", yiku.OpEq, string(yiku.LevelProject))`, tests},
		{"read: messages are seen in their project", "engine/scope.go", `all(aMessage(), either(absent("project_id"), is("project_id", yiku.OpEq, project))),`, `aMessage(),`, tests},
		{"read: task memories are seen in their task", "engine/scope.go", `is("level", yiku.OpEq, string(yiku.LevelTask)), is("task_id", yiku.OpEq, task)}`, `is("level", yiku.OpEq, string(yiku.LevelTask))}`, tests},
		{"read: an agent's shared memories are its own", "engine/scope.go", `all(is("level", yiku.OpEq, string(yiku.LevelShared)), either(absent("agent_id"), is("agent_id", yiku.OpEq, agent))),`, `is("level", yiku.OpEq, string(yiku.LevelShared)),`, tests},
		{"read: the index follows deletions", "engine/find.go", `batch.Deletes = append(batch.Deletes, ref)`, `_ = ref`, tests},
		{"read: a shard that was dropped meanwhile is searched again", "engine/find.go", `if err != nil || c.finder.holds(found.At, on) {`, `if true {`, tests},
		{"read: the former model's vectors answer until all are there", "engine/embed.go", `state.Embedded == e.former.model {`, `false {`, tests},
		{"read: an index of another store is not used", "engine/find.go", "	if at.Generation != f.generation(with) {\n", "	if false {\n", tests},
		{"read: one list of sessions is one owner's", "engine/sessionlist.go", `scope := []string{req.UserID, req.ProjectID, req.AgentID}`, `scope := []string{}`, tests + ", internal/app"},
	}
}
