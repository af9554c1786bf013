package mutant

// authMutants: who may come in.
func authMutants() []mutant {
	const tests = "internal/auth, internal/credential, internal/app"
	const auth, credential = "internal/auth/auth.go", "internal/credential/credential.go"
	return []mutant{
		{"auth: a key is known by its whole secret", auth, `subtle.ConstantTimeCompare(row.Hash, hash) != 1 || !found || row.ID != id || `, `subtle.ConstantTimeCompare(row.Hash, hash) > 1 || found && id == "" || `, tests},
		{"auth: a key is compared in constant time", auth, `subtle.ConstantTimeCompare(row.Hash, hash) != 1`, `string(row.Hash) != string(hash) && subtle.ConstantTimeEq(0, 0) == 1`, "internal/archtest TestRules/call"},
		{"auth: a key ends", auth, `row.ID != id || !a.valid(row) {`, `row.ID != id {`, tests},
		{"auth: a revoked key is refused", auth, `if row.RevokedAt.IsZero() && a.valid(&row)`, `if a.valid(&row)`, tests},
		{"auth: a key speaks for its user", auth, `User: row.UserID, Key: row.ID}`, `Key: row.ID}`, tests},
		{"auth: a key has its role", auth, `Access: row.Access, User`, `Access: yiku.AccessAdmin, User`, tests},
		{"auth: a token speaks for its user", auth, `User: t.User, Key: t.Key}`, `Key: t.Key}`, tests},
		{"auth: a token is never an admin's", auth, ` || (t.Access != yiku.AccessRead && t.Access != yiku.AccessWrite) {`, ` {`, tests},
		{"auth: a token needs a user", auth, `t.Tenant == "" || t.User == "" || `, `t.Tenant == "" || `, tests},
		{"auth: a token ends with its key", auth, `row.Tenant != t.Tenant || !a.valid(row) {`, `row.Tenant != t.Tenant {`, tests},
		{"auth: a token belongs to its key's tenant", auth, `!found || row.Tenant != t.Tenant || `, `!found || `, tests},
		{"auth: a token of a revoked key is refused", auth, `if row, found := k.byID[t.Key]; !found || row.Tenant`, `if row, found := k.byID[t.Key]; found && row.Tenant`, tests},
		{"auth: a token ends", credential, `return t, now.Unix() < t.Expires`, `return t, true`, tests},
		{"auth: a token is signed", credential, `if !hmac.Equal(given, mac(m.tokens, string(payload))) || !ok1`, `if !hmac.Equal(given, given) || !ok1`, tests},
		{"auth: a signature is compared in constant time", credential, `!hmac.Equal(given, mac(m.tokens, string(payload)))`, `string(given) != string(mac(m.tokens, string(payload)))`, "internal/archtest TestRules/call"},
		{"auth: the local secret is compared", credential, `if !same(given, secret) || !ok`, `if !same(given, given) || !ok`, tests},
		{"auth: the local secret is compared in constant time", credential, `return subtle.ConstantTimeCompare(x[:], y[:]) == 1`, `return x == y && subtle.ConstantTimeEq(0, 0) == 1`, "internal/archtest TestRules/call"},
		{"auth: without a local secret nobody is local", credential, ` || !found || secret == "" {`, ` || !found {`, tests},
		{"auth: once there is a key one is needed", auth, "	case keyed:\n", "	case keyed && false:\n", tests},
		{"auth: without keys, strangers of a store with keys are refused", auth, `if a.opts.Keyless == nil {`, `if a.opts.Keyless == nil && false {`, tests},
		{"auth: two credentials are none", auth, `if len(values) > 1 || len(value) > credential.MaxBytes {`, `if len(value) > credential.MaxBytes {`, tests},
		{"auth: a long credential is not looked at", auth, `if len(values) > 1 || len(value) > credential.MaxBytes {`, `if len(values) > 1 {`, tests},
		{"auth: keys are read anew", auth, `if age := a.opts.Now().Sub(k.at); age < 0 || age >= MaxAge {`, `if age := a.opts.Now().Sub(k.at); age < 0 {`, tests},
	}
}

// doorMutants: what may be asked, from where and how.
func doorMutants() []mutant {
	const tests = "internal/httpapi, internal/app"
	const body, guard, read, serve = "internal/httpapi/body.go", "internal/httpapi/guard.go", "internal/httpapi/read.go", "internal/httpapi/serve.go"
	return []mutant{
		{"door: who asks is known before anything else", serve, "		if err != nil {\n			s.fail(out, r, err)\n			return\n		}\n		here, ok", "		_ = err\n		here, ok", tests},
		{"door: metrics are closed", serve, ` || path == "/metrics"`, ``, tests},
		{"door: metrics are an admin's", "internal/httpapi/httpapi.go", `if !who.Access.Allows(yiku.AccessAdmin) || who.User != "" {`, `if who.User != "" {`, tests},
		{"door: metrics are not a user's", "internal/httpapi/httpapi.go", `if !who.Access.Allows(yiku.AccessAdmin) || who.User != "" {`, `if !who.Access.Allows(yiku.AccessAdmin) {`, tests},
		{"door: the role is checked before the body is read", "internal/httpapi/httpapi.go", "		if err := op.Permits(who); err != nil {\n			s.fail(w, r, err)\n			return\n		}\n", "", tests},
		{"door: without keys only this machine is served", serve, `if s.Loopback() {`, `if false {`, tests},
		{"door: without keys the host is a loopback name", guard, `if !isLoopbackHost(r.Host) {`, `if false {`, tests},
		{"door: without keys no other origin calls", guard, `if len(origins) > 1 || (len(origins) == 1 && !isOrigin(origins[0], r.Host)) {`, `if len(origins) > 1<<20 && !isOrigin(origins[0], r.Host) {`, tests},
		{"door: without keys no other site calls", guard, `if site != "same-origin" && site != "none" && !isVisit(r) {`, `if site == "nobody" && !isVisit(r) {`, tests},
		{"door: a body is JSON by its type", read, ` || (media != "application/json" && !merge) {`, ` || merge && false {`, tests},
		{"door: a body is not compressed", read, `if len(h.Values("Content-Encoding")) > 0 {`, `if false {`, tests},
		{"door: a body is in UTF-8 by its type", read, `ok && !strings.EqualFold(charset, "utf-8") {`, `ok && strings.EqualFold(charset, "") {`, tests},
		{"door: a body that says that it is too long is not read", read, `if r.ContentLength > in.maxBytes {`, `if false {`, tests},
		{"door: a body that is too long is not read", read, `http.MaxBytesReader(w, r.Body, in.maxBytes)`, `http.MaxBytesReader(w, r.Body, 1<<40)`, tests},
		{"door: a read takes no body", read, `if r.ContentLength != 0 {`, `if false {`, tests},
		{"door: an unknown field is refused", body, `json.RejectUnknownMembers(true)`, `json.RejectUnknownMembers(false)`, tests},
		{"door: a name twice is refused", body, `json.RejectUnknownMembers(true),`, `json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true),`, tests},
		{"door: bad Unicode is refused", body, `json.RejectUnknownMembers(true),`, `json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true),`, tests},
		{"door: deep nesting is refused", body, `if check.Depth(raw) > MaxNesting {`, `if check.Depth(raw) > 1<<20 {`, tests},
		{"door: an unknown parameter is refused", read, `case !known:`, `case !known && false:`, tests},
		{"door: a parameter twice is refused", read, `case len(values[name]) > 1:`, `case false:`, tests},
		{"door: a condition that is not looked at is refused", read, `if !conditional && in.op.Method`, `if false && in.op.Method`, tests},
		{"door: a foreign error is not told", "internal/wire/problem.go", `	var e *yiku.Error
	if r.code != CodeInternal`, `	var e *yiku.Error
	p.Detail = err.Error()
	if r.code != CodeInternal`, tests},
		{"door: a foreign error is not logged", "internal/httpapi/answer.go", `reflect.TypeOf(err).String()`, `reflect.TypeOf(err).String() + err.Error()`, tests},
		{"door: a panic's value is not logged", serve, `	cause := "panic"
`, `	cause, _ := v.(string)
`, tests},
		{"door: answers are not kept by others", "internal/httpapi/answer.go", `h.Set("Cache-Control", "no-store")`, ``, tests},
		{"door: answers are what they say", "internal/httpapi/answer.go", `h.Set("X-Content-Type-Options", "nosniff")`, ``, tests},
		{"door: what waits and runs is bounded", serve, "		if !ok {\n			return\n		}\n", "		_ = ok\n", tests},
		{"door: a key has a rate", "internal/limit/limit.go", "	if wait > 0 {\n		return Visit{}, new(l.refuse(Rate", "	if wait > 1<<60 {\n		return Visit{}, new(l.refuse(Rate", "internal/limit, internal/httpapi"},
		{"door: a tenant has a day", "internal/limit/limit.go", `if n > 0 && d.used+n > quota {`, `if n > 0 && d.used+n > 1<<60 {`, "internal/limit, internal/httpapi"},
		{"door: the queue has an end", "internal/limit/gate.go", `if g.waiting < g.Queue {`, `if g.waiting < 1<<30 {`, "internal/limit"},
		{"door: reads have a bound", "internal/limit/gate.go", `(!reads || g.reading < g.Reads)`, `(!reads || g.reading < 1<<30)`, "internal/limit"},
		{"door: a full queue makes room for others", "internal/limit/gate.go", `if loser == nil || len(loser.waiters)*weight <= own*loser.weight {`, `if loser == nil || len(loser.waiters)*weight <= own*loser.weight || true {`, "internal/limit"},
		{"door: the server answers strangers on loopback only", "internal/app/door.go", `!config.IsLoopback(host)`, `false && config.IsLoopback(host)`, "internal/app"},
	}
}

// textMutants: what a text may hold, and what is shown of it.
func textMutants() []mutant {
	const fence, value = "internal/compose/fence.go", "internal/check/value.go"
	const tests = "internal/compose"
	return []mutant{
		{"text: recalled text cannot close its fence", fence, `strings.NewReplacer("<", ` + "`\\u003c`, \">\", `\\u003e`)", `strings.NewReplacer("<<", "", ">>", "")`, tests},
		{"text: recalled text stays on its line", fence, `": " + quote(l.Text)`, `": " + l.Text`, tests},
		{"text: a speaker's name is quoted", fence, `head = append(head, quote(l.Name))`, `head = append(head, l.Name)`, tests},
		{"text: hidden characters are not shown", fence, "		case hidden(r):\n			continue\n", "", tests},
		{"text: hidden characters of working memory are not shown", fence, `return json.RawMessage(Visible(out))`, `return json.RawMessage(out)`, tests},
		{"text: tags of the planes beyond are hidden", fence, `r >= 0xe0000 && r <= 0xe0fff:`, `false:`, tests},
		{"text: format characters are hidden", fence, `return unicode.Is(unicode.Cf, r) || `, `return `, tests},
		{"text: joiners after nothing are hidden", fence, `if afterVisible {`, `if afterVisible || true {`, tests},
		{"text: NUL in a text", value, "	case strings.IndexByte(s, 0) >= 0:\n		w.fault(\"must not hold NUL\")\n", "", "internal/check"},
		{"text: bad UTF-8 in a text", value, "	case !utf8.ValidString(s):\n		w.fault(\"must be valid UTF-8\")\n", "", "internal/check"},
		{"text: NUL in a tree", value, "	case strings.IndexByte(s, 0) >= 0:\n		return \"must not hold NUL\"\n", "", "internal/check"},
		{"text: bad UTF-8 in a tree", value, "	case !utf8.ValidString(s):\n		return \"must be valid UTF-8\"\n", "", "internal/check"},
		{"text: NUL in raw JSON", value, `case holdsNUL(b):`, `case false && holdsNUL(b):`, "internal/check"},
		{"text: raw JSON is valid, without surrogates or a name twice", value, `case !jsontext.Value(b).IsValid():`, `case len(b) == 0:`, "internal/check"},
		{"text: a tree's depth", value, "	if depth > MaxDepth {\n		return tooDeep()\n	}\n	least, fault", "	least, fault", "internal/check"},
		{"text: a tree's size", value, `if size.values++; size.values > MaxTreeSize {`, `if size.values++; size.values > 1<<40 {`, "internal/check"},
		{"text: the length of a text", value, `if most := r.MaxLength; most != nil &&`, `if most := r.MaxLength; false &&`, "internal/check"},
		{"text: the number of items", value, `case r.MaxItems != nil && v.Len() > *r.MaxItems:`, `case false:`, "internal/check"},
		{"text: the values of an enumeration", value, `if r.Enum != nil && !slices.Contains(r.Enum, s) {
		w`, `if false {
		w`, "internal/check"},
	}
}

// auditMutants: nothing is done unrecorded, and no record is changed unseen.
func auditMutants() []mutant {
	const verify = "internal/audit/verify.go"
	const tests = "internal/audit, engine"
	return []mutant{
		{"audit: an entry's MAC is looked at", verify, `case !hmac.Equal(e.MAC, v.key.Seal(v.last, e)):`, `case !hmac.Equal(nil, nil):`, tests},
		{"audit: a MAC is compared in constant time", verify, `!hmac.Equal(e.MAC, v.key.Seal(v.last, e))`, `(hmac.New == nil || !bytes.Equal(e.MAC, v.key.Seal(v.last, e)))`, "internal/archtest TestRules/call"},
		{"audit: entries are numbered without gaps", verify, `case e.N != v.n+1:`, `case false:`, tests},
		{"audit: the exported head is held against its entry", verify, `case e.N == v.wantN && !bytes.Equal(e.MAC, v.wantMAC):`, `case false && bytes.Equal(nil, nil):`, tests},
		{"audit: a tail that was cut is seen", verify, `if v.wantN > 0 && !v.wantSeen {`, `if false {`, tests},
		{"audit: an entry is chained to the one before", "internal/audit/audit.go", `	buf = appendText(buf, string(previous))
`, ``, tests},
		{"audit: the MAC covers what was done", "internal/audit/audit.go", `e.Actor, e.Action, e.Trigger, e.Ref} {`, `e.Actor, e.Trigger, e.Ref} {`, tests},
		{"audit: the MAC covers the counts", "internal/audit/audit.go", `buf = appendNumber(appendText(buf, name), int64(e.Counts[name]))`, `buf = appendText(buf, name)`, tests},
		{"audit: the key outside the database is used", "engine/engine.go", `		e.chain = *opts.Audit
`, `		e.chain, _ = audit.NewKey(make([]byte, audit.KeySize))
`, tests + ", internal/app"},
		{"audit: a forget is recorded", "engine/forget.go", `receipt.Audit, err = c.audit(tx, f.Owner, store.AuditEntry{`, `receipt.Audit, err = 0, error(nil); _ = (store.AuditEntry{`, tests},
		{"audit: a deletion is recorded", "engine/journal.go", `if _, err := c.audit(tx, owner, entry); err != nil || c.journal == nil {`, `if c.journal == nil {`, tests},
		{"audit: making a key is recorded", "engine/key.go", `return c.auditKey(tx, shared, "create_key", id)`, `return nil`, tests},
		{"audit: revoking a key is recorded", "engine/key.go", `return c.auditKey(tx, shared, "revoke_key", req.ID)`, `return nil`, tests},
	}
}
