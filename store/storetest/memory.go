package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func memoryTests() map[string]func(*env) {
	return map[string]func(*env){
		"RoundTrip": memoryRoundTrip,
		"Update":    memoryUpdate,
		"Norms":     memoryNorms,
		"Unique":    memoryUnique,
		"Single":    memorySingle,
		"Duplicate": memoryDuplicate,
		"Delete":    memoryDelete,
		"Touch":     memoryTouch,
		"Kinds":     memoryKinds,
		"Outcomes":  memoryOutcomes,
	}
}

func memoryRoundTrip(e *env) {
	m := &store.Memory{Memory: yiku.Memory{
		ID: "0197f0c2-0000-7000-8000-000000000001", Content: "住在上海 lives in Shanghai\x02", Kind: yiku.KindSemantic, Type: yiku.TypeProfile,
		Level: yiku.LevelTask, ProjectID: "p", TaskID: "t", AgentID: "a", SessionID: "s", Subject: "用户", Attribute: "residence", Value: "上海",
		Single: true, Topics: []string{"生活", "city", ""}, Status: yiku.StatusActive, Importance: 0.8, Confidence: 0.9, Origin: yiku.OriginAgent, Trust: 0.6,
		Pinned: true, ValidFrom: At(-9), ValidTo: At(9), ExpiresAt: At(99), ConfirmedAt: At(2), CreatedAt: At(0), UpdatedAt: At(1).Add(1999),
		LastAccess: At(3), AccessCount: 4, DerivedFrom: []string{"m0"}, Sources: []string{"1", "2"}, Supersedes: "m9",
		Metadata: yiku.Metadata{"n": 1.0, "deep": map[string]any{"x": []any{"y"}}},
	}, ContentNorm: "c", SubjectNorm: "s", AttributeNorm: "a"}
	plain := fact("plain")
	e.update(func(tx store.Tx) error { return errors.Join(tx.AddMemory(m), tx.AddMemory(plain)) })
	if m.Key == 0 || m.Seq == 0 || m.Version != 1 || m.Hash == "" || m.Reason != "created" || m.UserID != e.owner.User() {
		e.t.Error("AddMemory does not set key, seq, version, hash, reason and user")
	}
	if plain.Hash == m.Hash || plain.Key <= m.Key {
		e.t.Error("hashes or keys do not tell memories apart")
	}
	e.view(func(r store.Reader) error {
		got, err := r.Memory(e.owner, m.ID)
		e.same("by id", *m, got)
		list, err2 := r.MemoriesByKey(e.owner, []int64{plain.Key, m.Key + 50, m.Key, plain.Key})
		e.same("by key", []store.Memory{*m, *plain}, list)
		_, err3 := r.Memory(e.owner, "none")
		e.want("an unknown id", err3, yiku.ErrNotFound)
		return errors.Join(err, err2)
	})
	zero := &store.Memory{}
	zero.ID, zero.CreatedAt, zero.UpdatedAt = "zero", At(0), At(0)
	e.update(func(tx store.Tx) error { return tx.AddMemory(zero) })
	e.view(func(r store.Reader) error {
		got, err := r.Memory(e.owner, "zero")
		e.same("nearly empty", *zero, got)
		return err
	})
}

func memoryUpdate(e *env) {
	m := e.memories("m")[0]
	first := m.Memory
	e.update(func(tx store.Tx) error { return tx.Touch([]int64{m.Key}, At(5)) })
	m.Content, m.ContentNorm, m.UpdatedAt, m.Subject, m.Version, m.ID, m.AccessCount = "new", "new", At(6), "subject", 40, "other", 90
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(m, "patched") })
	second := m.Memory
	e.same("what the store decides", []any{"m", int64(2), int64(1), "patched"}, []any{m.ID, m.Version, m.AccessCount, m.Reason})
	m.Subject, m.UpdatedAt, m.Metadata = "", At(7), yiku.Metadata{"k": "v"}
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(m, "confirmed") })
	first.LastAccess, first.AccessCount = At(5), 1
	e.view(func(r store.Reader) error {
		got, err := r.Memory(e.owner, "m")
		e.same("present", *m, got)
		versions, err2 := r.Versions(e.owner, m.Key)
		e.same("versions", []store.Version{
			{Memory: second, ReplacedAt: At(7), Reason: "patched"},
			{Memory: first, ReplacedAt: At(6), Reason: "created"},
		}, versions)
		changes, err3 := r.Changes(e.owner, 0, 0)
		e.same("changes", []store.Change{{Item: memoryItem(m), Seq: m.Seq}}, changes)
		return errors.Join(err, err2, err3)
	})
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		other := *m
		other.Key += 1000
		return tx.UpdateMemory(&other, "patched")
	})
	e.want("an unknown key", err, yiku.ErrNotFound)
}

// memoryNorms: an empty Norm leaves the mark where the text stayed.
func memoryNorms(e *env) {
	m := fact("m")
	m.Subject, m.SubjectNorm, m.Attribute, m.AttributeNorm = "S", "s", "A", "a"
	e.update(func(tx store.Tx) error { return tx.AddMemory(m) })
	found := func(name string, subject, attribute, duplicate bool) {
		e.t.Helper()
		e.view(func(r store.Reader) error {
			bySubject, err1 := r.CountMemories(e.owner, store.MemoryQuery{SubjectNorm: "s"})
			byAttribute, err2 := r.CountMemories(e.owner, store.MemoryQuery{AttributeNorm: "a"})
			_, err3 := r.Duplicate(e.owner, *fact("m"))
			e.same(name, []bool{subject, attribute, duplicate}, []bool{bySubject == 1, byAttribute == 1, err3 == nil})
			return errors.Join(err1, err2)
		})
	}
	found("at first", true, true, true)
	hash := m.Hash
	read := func() *store.Memory {
		var got store.Memory
		e.view(func(r store.Reader) (err error) {
			got, err = r.Memory(e.owner, "m")
			return err
		})
		return &got
	}
	again := read()
	again.Importance = 1
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(again, "patched") })
	found("texts unchanged", true, true, true)
	e.same("hash", hash, again.Hash)
	again = read()
	again.Subject, again.Content = "other", "other"
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(again, "patched") })
	found("two texts changed", false, true, false)
	again = read()
	again.SubjectNorm, again.ContentNorm = "s", "content of m"
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(again, "patched") })
	found("marks given", true, true, true)
}

// memoryUnique: id within the owner; active content within its scope.
func memoryUnique(e *env) {
	e.memories("a")
	add := func(name string, want error, change func(m *store.Memory)) {
		e.t.Helper()
		m := fact("a")
		m.ID = name
		change(m)
		err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return tx.AddMemory(m) })
		e.want(name, err, want)
	}
	add("same content", yiku.ErrConflict, func(*store.Memory) {})
	add("same id", yiku.ErrConflict, func(m *store.Memory) { m.ID, m.ContentNorm = "a", "other" })
	add("another project", nil, func(m *store.Memory) { m.ProjectID = "p" })
	add("another task", nil, func(m *store.Memory) { m.TaskID = "p" })
	add("another agent", nil, func(m *store.Memory) { m.AgentID = "p" })
	add("another level", nil, func(m *store.Memory) { m.Level = yiku.LevelProject })
	add("not active", nil, func(m *store.Memory) { m.Status = yiku.StatusArchived })
	add("not active either", nil, func(m *store.Memory) { m.Status = yiku.StatusArchived })
	add("without a norm", nil, func(m *store.Memory) { m.ContentNorm = "" })
	add("without a norm either", nil, func(m *store.Memory) { m.ContentNorm = "" })
	activate := func(id string) error {
		return e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
			m, err := tx.Memory(e.owner, id)
			if err != nil {
				return err
			}
			m.Status = yiku.StatusActive
			return tx.UpdateMemory(&m, "restored")
		})
	}
	e.want("active again beside its like", activate("not active"), yiku.ErrConflict)
	e.update(func(tx store.Tx) error {
		m, err := tx.Memory(e.owner, "a")
		if err != nil {
			return err
		}
		return tx.DeleteMemory(m.Key)
	})
	e.want("active again in its place", activate("not active"), nil)
}

// memorySingle: one active value of a single-valued attribute in its scope.
func memorySingle(e *env) {
	value := func(id string) *store.Memory {
		m := fact(id)
		m.Subject, m.SubjectNorm, m.Attribute, m.AttributeNorm, m.Value, m.Single = "我", "user", "住址", "residence", id, true
		return m
	}
	old := value("上海")
	e.update(func(tx store.Tx) error { return tx.AddMemory(old) })
	add := func(name string, want error, change func(m *store.Memory)) {
		e.t.Helper()
		m := value(name)
		change(m)
		err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return tx.AddMemory(m) })
		e.want(name, err, want)
	}
	add("北京", yiku.ErrConflict, func(*store.Memory) {})
	add("many-valued", nil, func(m *store.Memory) { m.Single = false })
	add("another subject", nil, func(m *store.Memory) { m.SubjectNorm = "other" })
	add("another attribute", nil, func(m *store.Memory) { m.AttributeNorm = "other" })
	add("in a project", nil, func(m *store.Memory) { m.Level, m.ProjectID = yiku.LevelProject, "p" })
	add("history", nil, func(m *store.Memory) { m.Status = yiku.StatusSuperseded })
	add("with an end", nil, func(m *store.Memory) { m.ValidTo = At(1) })
	add("no attribute", nil, func(m *store.Memory) { m.AttributeNorm = "" })
	e.update(func(tx store.Tx) error {
		old.Status, old.ValidTo = yiku.StatusSuperseded, At(3)
		return errors.Join(tx.UpdateMemory(old, "superseded"), tx.AddMemory(value("北京")))
	})
	e.view(func(r store.Reader) error {
		list, err := r.Memories(e.owner, store.MemoryQuery{
			SubjectNorm: "user", AttributeNorm: "residence", Levels: []yiku.Level{yiku.LevelUser},
			Statuses: []yiku.Status{yiku.StatusActive, yiku.StatusSuperseded},
		})
		e.same("values", []string{"北京", "with an end", "history", "many-valued", "上海"}, ids(list))
		return err
	})
}

func memoryDuplicate(e *env) {
	m := e.memories("a")[0]
	e.view(func(r store.Reader) error {
		got, err := r.Duplicate(e.owner, *fact("a"))
		e.same("duplicate", *m, got)
		elsewhere, without := fact("a"), fact("a")
		elsewhere.ProjectID, without.ContentNorm = "p", ""
		_, err1 := r.Duplicate(e.owner, *elsewhere)
		_, err2 := r.Duplicate(e.owner, *without)
		_, err3 := r.Duplicate(e.owner, *fact("b"))
		for _, err := range []error{err1, err2, err3} {
			e.want("Duplicate", err, yiku.ErrNotFound)
		}
		return err
	})
	e.update(func(tx store.Tx) error {
		m.Status = yiku.StatusArchived
		return tx.UpdateMemory(m, "patched")
	})
	e.view(func(r store.Reader) error {
		_, err := r.Duplicate(e.owner, *fact("a"))
		e.want("Duplicate of an archived one", err, yiku.ErrNotFound)
		return nil
	})
}

func memoryDelete(e *env) {
	s := e.session("s", 0)
	source := e.messages(s, "a")[0]
	list := e.memories("m", "child", "other")
	m, child, other := list[0], list[1], list[2]
	e.update(func(tx store.Tx) error {
		m.Importance = 1
		return errors.Join(tx.UpdateMemory(m, "patched"), tx.Touch([]int64{m.Key}, At(1)),
			tx.AddLineage(memoryItem(m), []store.Item{messageItem(source)}),
			tx.AddLineage(memoryItem(child), []store.Item{memoryItem(m), memoryItem(other)}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "cites", CreatedAt: At(0)}, Cites: []store.Item{memoryItem(other), memoryItem(m)}}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "stays", CreatedAt: At(0)}, Cites: []store.Item{memoryItem(other)}}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0), Result: []byte(`["m"]`)}, []store.Item{memoryItem(m)}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "l", At: At(0)}, []store.Item{memoryItem(other)}))
	})
	before := e.state()
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.DeleteMemory(m.Key), ignore(tx.DeleteMemory(m.Key), yiku.ErrNotFound))
	})
	e.view(func(r store.Reader) error {
		_, err1 := r.Memory(e.owner, "m")
		_, err2 := r.Snapshot(e.owner, "cites", At(0))
		for _, err := range []error{err1, err2} {
			e.want("read of what went", err, yiku.ErrNotFound)
		}
		versions, err1 := r.Versions(e.owner, m.Key)
		e.same("versions", 0, len(versions))
		derived, err2 := r.Derived(e.owner, messageItem(source))
		e.same("derived from the message", 0, len(derived))
		sources, err3 := r.Sources(e.owner, memoryItem(child))
		e.same("sources of the child", []store.Item{memoryItem(other)}, sources)
		_, err4 := r.Snapshot(e.owner, "stays", At(0))
		k, err5 := r.Idempotency(e.owner, "o", "k")
		l, err6 := r.Idempotency(e.owner, "o", "l")
		e.same("forgotten records", []bool{true, false}, []bool{k.Forgotten, l.Forgotten})
		changes, err7 := r.Changes(e.owner, before.Seq, 0)
		e.same("tombstone", []store.Change{{Item: memoryItem(m), Seq: before.Seq + 1, Deleted: true}}, changes)
		return errors.Join(err1, err2, err3, err4, err5, err6, err7)
	})
	if again := e.memories("m")[0]; again.Key <= m.Key || again.AccessCount != 0 {
		e.t.Error("a deleted memory's key or accesses came back")
	}
}

func ignore(err, sentinel error) error {
	if errors.Is(err, sentinel) {
		return nil
	}
	return err
}

func memoryTouch(e *env) {
	m := e.memories("m")[0]
	before := e.state()
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.Touch([]int64{m.Key, m.Key + 40}, At(9)), tx.Touch([]int64{m.Key}, At(3)))
	})
	e.same("seq", before, e.state())
	e.view(func(r store.Reader) error {
		got, err := r.Memory(e.owner, "m")
		m.AccessCount, m.LastAccess = 2, At(9)
		e.same("touched", *m, got)
		return err
	})
}

// skill is an active skill of user level.
func skill(id string) *store.Memory {
	m := fact(id)
	m.Kind, m.Type = yiku.KindProcedural, yiku.TypeSkill
	m.Skill = &yiku.Skill{Name: "发布 release", Situation: "每周四 on Thursdays", Steps: []string{"先打标签", "", "then push"}, Version: 3, Successes: 2, Failures: 1}
	return m
}

// memoryKinds: what a kind has of its own is read as it was written, goes with
// what does not have it any more, and is kept of no other kind.
func memoryKinds(e *env) {
	event, how, odd := fact("event"), skill("skill"), fact("odd")
	event.Kind, event.Type = yiku.KindEpisodic, yiku.TypeTaskResult
	event.Episode = &yiku.Episode{From: At(1).Add(1999), To: At(2), Participants: []string{"小李", "Ann"}, Outcome: yiku.TaskFailure}
	odd.Episode, odd.Skill = event.Episode, how.Skill
	e.update(func(tx store.Tx) error { return errors.Join(tx.AddMemory(event), tx.AddMemory(how), tx.AddMemory(odd)) })
	if odd.Episode != nil || odd.Skill != nil {
		e.t.Error("a fact has kept an episode or a skill")
	}
	e.same("rounded", At(1).Add(1000), event.Episode.From)
	was := how.Memory
	how.Skill = &yiku.Skill{Name: "发布 release", Steps: []string{"one"}, Version: 4}
	how.UpdatedAt = At(3)
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(how, "revised") })
	bare := *event
	bare.Episode, bare.UpdatedAt = nil, At(4)
	read := func(want ...store.Memory) {
		e.t.Helper()
		e.view(func(r store.Reader) error {
			for _, w := range want {
				got, err := r.Memory(e.owner, w.ID)
				e.same(w.ID, w, got)
				if err != nil {
					return err
				}
			}
			versions, err := r.Versions(e.owner, how.Key)
			e.same("versions", []store.Version{{Memory: was, ReplacedAt: At(3), Reason: "created"}}, versions)
			return err
		})
	}
	read(*event, *how, *odd)
	e.update(func(tx store.Tx) error { return tx.UpdateMemory(&bare, "patched") })
	read(bare, *how)
	promoted := fact("promoted")
	promoted.Reason = "promoted"
	e.update(func(tx store.Tx) error { return tx.AddMemory(promoted) })
	read(*promoted)
}

// memoryOutcomes: outcomes are counted outside the sequence and make no version.
func memoryOutcomes(e *env) {
	m, plain := skill("skill"), fact("fact")
	e.update(func(tx store.Tx) error { return errors.Join(tx.AddMemory(m), tx.AddMemory(plain)) })
	before := e.state()
	e.update(func(tx store.Tx) error {
		e.want("a fact's outcome", tx.RecordOutcome(plain.Key, true), yiku.ErrNotFound)
		e.want("nobody's outcome", tx.RecordOutcome(plain.Key+9, true), yiku.ErrNotFound)
		return errors.Join(tx.RecordOutcome(m.Key, true), tx.RecordOutcome(m.Key, false), tx.RecordOutcome(m.Key, true))
	})
	e.same("seq", before, e.state())
	m.Skill.Successes, m.Skill.Failures = 4, 2
	e.view(func(r store.Reader) error {
		got, err := r.Memory(e.owner, "skill")
		e.same("counted", *m, got)
		return err
	})
}
