package mutant

// modelMutants: what models and their endpoints may send and be sent, and what
// tenants set for themselves.
func modelMutants() []mutant {
	const rerank, manner, exact = "rerank/rerank.go", "llm/manner.go", "internal/recall/exact.go"
	const experiment, embed = "engine/experiment.go", "engine/embed.go"
	return []mutant{
		{"rerank: a line has an index and a score", rerank, `case l.Index == nil || l.Score == nil:`, `case l.Index == nil:`, "rerank, rerank/tei, rerank/cohere, rerank/dashscope, rerank/listwise"},
		{"rerank: a document that was not asked about is refused", rerank, `case *l.Index < 0 || *l.Index >= n:`, `case *l.Index < 0:`, "rerank, rerank/tei, rerank/cohere, rerank/dashscope, rerank/listwise"},
		{"rerank: a document is named once", rerank, `case seen[*l.Index]:`, `case seen[*l.Index] && false:`, "rerank, rerank/tei, rerank/cohere, rerank/dashscope, rerank/listwise"},
		{"rerank: scores are numbers", rerank, `case math.IsNaN(*l.Score) || math.IsInf(*l.Score, 0):`, `case math.IsInf(*l.Score, 0):`, "rerank, rerank/tei, rerank/cohere, rerank/dashscope, rerank/listwise"},
		{"rerank: every document has a score", rerank, `if len(lines) != n {`, `if len(lines) > n {`, "rerank, rerank/tei, rerank/cohere, rerank/dashscope, rerank/listwise"},
		{"models: a form is given up only where one was asked for", manner, `case m.Structured != AsText && req.Schema != nil:`, `case m.Structured != AsText:`, "llm"},
		{"models: what is refused is learnt, and what was learnt stays", manner, `Warm: m.Warm || o.Warm`, `Warm: o.Warm`, "llm, llm/openai"},
		{"models: key and text are not sent elsewhere", "llm/exchange.go", `cmp.Or(e.Client, NoRedirects)`, `cmp.Or(e.Client, http.DefaultClient)`, "llm, rerank, embed/remote, embed/openai, embed/ollama"},
		{"read: a datum is raised where it stands for itself", exact, `if !goesOn(before, first) && !goesOn(last, after) {`, `if !goesOn(before, first) && !goesOn(last, after) || at >= 0 {`, "internal/recall"},
		{"read: a datum that stands among the first keeps its place", exact, "			needed[at] = true\n", "", "internal/recall"},
		{"read: the rarest datum comes first", exact, `return a.said - b.said`, `return 0`, "internal/recall"},
		{"jobs: one that may be running is not begun again", "engine/job.go", `if job.State != yiku.JobParked {`, `if false {`, "engine, internal/app"},
		{"jobs: a tenant's jobs are its own", "store/sqlite/job.go", `WHERE o.tenant = ?1 AND (?2 = '' OR j.state = ?2)
`, `WHERE ?1 > 0 AND (?2 = '' OR j.state = ?2)
`, "store/sqlite"},
		{"jobs: a job is read by its id within its owner", "store/sqlite/job.go", `WHERE j.id = ? AND j.owner = ?`, `WHERE j.id = ? AND j.owner > 0 * ?`, "store/sqlite"},
		{"graph: entities are listed within their owner", "store/sqlite/graph.go", "where.add(`e.key BETWEEN ? AND ?`, o.first(), last)", "where.add(`e.key BETWEEN ? AND ?`, int64(0), last)", "store/sqlite"},
		{"graph: relations are listed within their owner", "store/sqlite/graph.go", "where.add(`r.key BETWEEN ? AND ?`, o.first(), last)", "where.add(`r.key BETWEEN ? AND ?`, int64(0), last)", "store/sqlite"},
		{"graph: relations of memories are listed within their owner", "store/sqlite/graph.go", "where.add(`+r.key BETWEEN ? AND ?`, o.first(), last)", "where.add(`+r.key BETWEEN ? AND ?`, int64(0), last)", "store/sqlite"},
		{"settings: a tenant's are its own", "store/sqlite/setting.go", `WHERE tenant = ? AND name = ?`, `WHERE tenant > 0 * ? AND name = ?`, "store/sqlite"},
		{"settings: they are changed under their condition", "engine/tenant.go", `ifMatch(req.IfMatch, s.ETag())`, `ifMatch("", s.ETag())`, "engine, internal/app"},
		{"settings: words that were set count at once", "engine/words.go", "	delete(t.kept, tenant)\n", "	_ = tenant\n", "engine"},
		{"settings: words that were set are the tenant's own", "engine/words.go", `s, err := settingsOf(r, tenant)`, `s, err := settingsOf(r, "acme")`, "engine"},
		{"experiments: one runs at a time", experiment, `if running > 1 {`, `if running > maxExperiments {`, "engine, internal/app"},
		{"experiments: the sides of one that runs stay", experiment, `e.Salt != old.Salt || !reflect.DeepEqual(e.Variants, old.Variants)`, `e.Salt != old.Salt || !reflect.DeepEqual(nil, nil)`, "engine, internal/app"},
		{"experiments: the salt of one that runs stays", experiment, `e.Salt != old.Salt || !`, `!`, "engine, internal/app"},
		{"experiments: one that has run is not begun again", experiment, `case e.Running && !old.StartedAt.IsZero():`, `case false:`, "engine, internal/app"},
		{"experiments: a request's own wish comes first", experiment, `.with(s.variant.Layers).with(wish)`, `.with(wish).with(s.variant.Layers)`, "engine, internal/app"},
		{"experiments: a name names nobody", experiment, "	if !plainName.MatchString(e.Name) {", "	if e.Name == \"\" {", "engine, internal/app"},
		{"vectors: other owners' are not read", "store/sqlite/vector.go", "		if o.has(key) {\n", "		if key > 0 {\n", "store/sqlite"},
		{"vectors: other owners' are not dropped", "store/sqlite/vector.go", `WHERE item BETWEEN ?1 AND ?2
`, `WHERE ?2 >= ?1
`, "store/sqlite"},
		{"vectors: what is gone gets none", "store/sqlite/vector.go", "			if n == 0 {\n", "			if n < 0 {\n", "store/sqlite"},
		{"vectors: a job that was forgotten meanwhile writes none", embed, `if _, err := tx.Job(job.Owner, job.ID); err != nil { // forgotten`, `if false { // forgotten`, "engine"},
		{"vectors: what changed meanwhile gets none of its former text", embed, `ok && text == u.texts[i] && vectors[i] != nil`, `ok && text != "" && vectors[i] != nil`, "engine"},
		{"vectors: an owner is found by a model once everything has its vector", embed, `whole := u.last && before.Seq == u.upTo`, `whole := true`, "engine"},
		{"vectors: an embedder that refuses everything is not believed", embed, `if len(vectors) > 0 && countNil(vectors) == len(vectors) {`, `if false {`, "engine"},
		{"engine: a tenant's users have a quota", "engine/quota.go", `after.TenantOwners > most {`, `after.TenantOwners > most<<20 {`, "engine"},
		{"engine: only who is new to a tenant is held against its quota", "engine/quota.go", `before.Bytes == 0 && after.Bytes > 0 && `, ``, "engine"},
	}
}
