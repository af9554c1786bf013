package storetest

import (
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func memoryQueryTests() map[string]func(*env) {
	return map[string]func(*env){"Conditions": queryConditions, "Paging": queryPaging, "BadFilter": queryBadFilter}
}

// queryMemories writes memories that differ in one thing each.
func queryMemories(e *env) {
	variants := []struct {
		id     string
		change func(m *store.Memory)
	}{
		{"plain", func(*store.Memory) {}},
		{"project", func(m *store.Memory) { m.ProjectID, m.Level = "项目", yiku.LevelProject }},
		{"task", func(m *store.Memory) { m.ProjectID, m.TaskID, m.Level = "项目", "t", yiku.LevelTask }},
		{"agent", func(m *store.Memory) { m.AgentID = "a" }},
		{"event", func(m *store.Memory) { m.Kind, m.Type = yiku.KindEpisodic, yiku.TypeEvent }},
		{"archived", func(m *store.Memory) { m.Status = yiku.StatusArchived }},
		{"subject", func(m *store.Memory) { m.Subject, m.SubjectNorm = "S", "s" }},
		{"attribute", func(m *store.Memory) { m.SubjectNorm, m.AttributeNorm = "s", "属性" }},
		{"topic", func(m *store.Memory) { m.Topics = []string{"旅行", "food"} }},
		{"pinned", func(m *store.Memory) { m.Pinned, m.Importance, m.Metadata = true, 0.9, yiku.Metadata{"颜色": "红"} }},
	}
	e.update(func(tx store.Tx) error {
		for _, v := range variants {
			m := fact(v.id)
			v.change(m)
			if err := tx.AddMemory(m); err != nil {
				return err
			}
		}
		return nil
	})
}

func queryConditions(e *env) {
	queryMemories(e)
	for _, c := range []struct {
		name  string
		query store.MemoryQuery
		want  []string
	}{
		{"all", store.MemoryQuery{}, []string{"pinned", "topic", "attribute", "subject", "archived", "event", "agent", "task", "project", "plain"}},
		{"project", store.MemoryQuery{ProjectID: "项目"}, []string{"task", "project"}},
		{"task", store.MemoryQuery{TaskID: "t"}, []string{"task"}},
		{"agent", store.MemoryQuery{AgentID: "a"}, []string{"agent"}},
		{"kinds", store.MemoryQuery{Kinds: []yiku.Kind{yiku.KindEpisodic, yiku.KindProcedural}}, []string{"event"}},
		{"types", store.MemoryQuery{Types: []yiku.Type{yiku.TypeEvent}}, []string{"event"}},
		{"levels", store.MemoryQuery{Levels: []yiku.Level{yiku.LevelTask, yiku.LevelProject}}, []string{"task", "project"}},
		{"statuses", store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusArchived, yiku.StatusStale}}, []string{"archived"}},
		{"subject", store.MemoryQuery{SubjectNorm: "s"}, []string{"attribute", "subject"}},
		{"attribute", store.MemoryQuery{AttributeNorm: "属性"}, []string{"attribute"}},
		{"subject and attribute", store.MemoryQuery{SubjectNorm: "s", AttributeNorm: "属性", Types: []yiku.Type{yiku.TypeFact}, Statuses: []yiku.Status{yiku.StatusActive}}, []string{"attribute"}},
		{"topic", store.MemoryQuery{Topic: "旅行"}, []string{"topic"}},
		{"part of a topic", store.MemoryQuery{Topic: "旅"}, nil},
		{"pinned", store.MemoryQuery{Pinned: true}, []string{"pinned"}},
		{"filter", store.MemoryQuery{Filter: &yiku.Filter{Field: "importance", Op: yiku.OpGt, Value: 0.6}}, []string{"pinned"}},
		{"metadata", store.MemoryQuery{Filter: &yiku.Filter{Field: "metadata.颜色", Op: yiku.OpEq, Value: "红"}}, []string{"pinned"}},
		{
			"status and type in their index",
			store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive}, Types: []yiku.Type{yiku.TypeFact, yiku.TypeEvent}, Limit: 4},
			[]string{"pinned", "topic", "attribute", "subject"},
		},
		{"three at once", store.MemoryQuery{ProjectID: "项目", Levels: []yiku.Level{yiku.LevelTask}, TaskID: "t", Statuses: []yiku.Status{yiku.StatusActive}}, []string{"task"}},
		{"conditions that exclude each other", store.MemoryQuery{Pinned: true, Topic: "旅行"}, nil},
		{"filter beside a limit", store.MemoryQuery{Filter: &yiku.Filter{Field: "kind", Op: yiku.OpEq, Value: "semantic"}, Limit: 3}, []string{"pinned", "topic", "attribute"}},
	} {
		e.view(func(r store.Reader) error {
			got, err := r.Memories(e.owner, c.query)
			e.same(c.name, c.want, ids(got))
			q := c.query
			q.Limit = 0
			all, err2 := r.Memories(e.owner, q)
			n, err3 := r.CountMemories(e.owner, c.query)
			e.same(c.name+": count", len(all), n)
			return errors.Join(err, err2, err3)
		})
	}
}

func queryPaging(e *env) {
	queryMemories(e)
	for _, q := range []store.MemoryQuery{
		{Limit: 3},
		{Limit: 2, Statuses: []yiku.Status{yiku.StatusActive}, Types: []yiku.Type{yiku.TypeFact}},
		{Limit: 2, Filter: &yiku.Filter{Field: "level", Op: yiku.OpEq, Value: "user"}},
		{Limit: 1, SubjectNorm: "s"},
	} {
		e.view(func(r store.Reader) error {
			whole := q
			whole.Limit = 0
			want, err := r.Memories(e.owner, whole)
			var got []store.Memory
			for page := q; ; {
				list, err := r.Memories(e.owner, page)
				if err != nil || len(list) == 0 {
					break
				}
				if len(list) > q.Limit {
					e.t.Errorf("a page of %d has %d", q.Limit, len(list))
				}
				got = append(got, list...)
				page.Before = list[len(list)-1].Key
			}
			e.same("pages together", want, got)
			return err
		})
	}
}

func queryBadFilter(e *env) {
	queryMemories(e)
	q := store.MemoryQuery{Filter: &yiku.Filter{Field: "colour", Op: yiku.OpEq, Value: "red"}}
	e.view(func(r store.Reader) error {
		_, err := r.Memories(e.owner, q)
		e.want("Memories", err, yiku.ErrInvalid)
		_, err = r.CountMemories(e.owner, q)
		e.want("CountMemories", err, yiku.ErrInvalid)
		return nil
	})
}
