package storetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// The closed vocabularies of the model: few, so that values meet.
func projects() []string   { return []string{"", "p", "项目"} }
func taskIDs() []string    { return []string{"", "t", "任务"} }
func agents() []string     { return []string{"", "a"} }
func sessionIDs() []string { return []string{"s", "会话", "third"} }
func subjects() []string   { return []string{"", "我", "user"} }
func attributes() []string { return []string{"", "住址", "name"} }
func topics() []string     { return []string{"旅行", "food", "work"} }
func contents() []string   { return []string{"", "茶", "tea", "周末爬山", "hiking"} }
func types() []yiku.Type {
	return []yiku.Type{yiku.TypeFact, yiku.TypeFact, yiku.TypePreference, yiku.TypeEvent, yiku.TypeSkill}
}

func levels() []yiku.Level {
	return []yiku.Level{yiku.LevelUser, yiku.LevelUser, yiku.LevelProject, yiku.LevelTask}
}

func statuses() []yiku.Status {
	return []yiku.Status{yiku.StatusActive, yiku.StatusActive, yiku.StatusActive, yiku.StatusSuperseded, yiku.StatusArchived}
}

// recordCount is how many ids of snapshots and keys of records there are.
const recordCount = 4

// ownerModel is one owner's rows as plain maps.
type ownerModel struct {
	owner     yiku.Owner
	state     store.OwnerState
	sessions  map[int64]store.Session
	messages  map[int64]store.Message
	memories  map[int64]store.Memory
	versions  map[int64][]store.Version
	tasks     map[[2]string]store.Task
	working   map[[3]string]*workingRow
	edges     []edge
	changes   map[store.Item]store.Change
	snapshots map[string]store.Snapshot
	records   map[string]record
	jobs      map[string]job
	marks     map[string]bool
	written   int
}

type edge struct{ item, source store.Item }

type workingRow struct {
	store.Working
	present bool
	written int
}

type record struct {
	store.Idempotency
	makes []store.Item
}

type job struct {
	id      string
	session int64
}

func newOwnerModel(owner yiku.Owner) *ownerModel {
	return &ownerModel{
		owner: owner, sessions: map[int64]store.Session{}, messages: map[int64]store.Message{}, memories: map[int64]store.Memory{},
		versions: map[int64][]store.Version{}, tasks: map[[2]string]store.Task{}, working: map[[3]string]*workingRow{},
		changes: map[store.Item]store.Change{}, snapshots: map[string]store.Snapshot{}, records: map[string]record{},
		jobs: map[string]job{}, marks: map[string]bool{},
	}
}

func keysOf[V any](rows map[int64]V) []int64 { return slices.Sorted(maps.Keys(rows)) }

func rowsOf[V any](rows map[int64]V) []V {
	var list []V
	for _, k := range keysOf(rows) {
		list = append(list, rows[k])
	}
	return list
}

// changed takes the next number for a row.
func (o *ownerModel) changed(item store.Item, deleted bool) int64 {
	o.state.Seq++
	o.changes[item] = store.Change{Item: item, Seq: o.state.Seq, Deleted: deleted}
	return o.state.Seq
}

func (o *ownerModel) changesAfter(after int64) []store.Change {
	var list []store.Change
	for _, c := range o.changes {
		if c.Seq > after {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b store.Change) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func (o *ownerModel) sessionByID(id string) (store.Session, bool) {
	for _, s := range o.sessions {
		if s.ID == id {
			return s, true
		}
	}
	return store.Session{}, false
}

func (o *ownerModel) messagesOf(session int64) []store.Message {
	var list []store.Message
	for _, m := range rowsOf(o.messages) {
		if m.SessionKey == session {
			list = append(list, m)
		}
	}
	return list
}

func (o *ownerModel) tasksOf(s store.Session) []store.Task {
	var list []store.Task
	for _, t := range o.tasks {
		named := slices.ContainsFunc(o.messagesOf(s.Key), func(m store.Message) bool { return m.TaskID == t.ID })
		if named && t.ProjectID == s.ProjectID {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b store.Task) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Key, b.Key))
	})
	return list
}

func workingPlace(project, task, session string) [3]string {
	if task != "" {
		return [3]string{"task", project, task}
	}
	return [3]string{"session", session, ""}
}

func (o *ownerModel) openWorking(project string) (store.Working, bool) {
	var best *workingRow
	for _, w := range o.working {
		if w.present && w.Open && w.Project == project && (best == nil || w.written > best.written) {
			best = w
		}
	}
	if best == nil {
		return store.Working{}, false
	}
	return best.Working, true
}

func (o *ownerModel) neighbours(item store.Item, up bool) []store.Item {
	var list []store.Item
	for _, e := range o.edges {
		if up && e.item == item {
			list = append(list, e.source)
		}
		if !up && e.source == item {
			list = append(list, e.item)
		}
	}
	return list
}

// memoryConflict reports whether a memory cannot stand beside the others.
func (o *ownerModel) memoryConflict(m store.Memory) bool {
	for key, x := range o.memories {
		if key == m.Key {
			continue
		}
		if x.ID == m.ID {
			return true
		}
		if x.Status != yiku.StatusActive || m.Status != yiku.StatusActive ||
			x.Level != m.Level || x.ProjectID != m.ProjectID || x.TaskID != m.TaskID || x.AgentID != m.AgentID {
			continue
		}
		if m.ContentNorm != "" && x.ContentNorm == m.ContentNorm {
			return true
		}
		if m.Single && x.Single && m.ValidTo.IsZero() && x.ValidTo.IsZero() && m.SubjectNorm != "" && m.AttributeNorm != "" &&
			x.SubjectNorm == m.SubjectNorm && x.AttributeNorm == m.AttributeNorm {
			return true
		}
	}
	return false
}

// drop deletes a row's traces and leaves a tombstone.
func (o *ownerModel) drop(item store.Item) {
	o.edges = slices.DeleteFunc(o.edges, func(e edge) bool { return e.item == item || e.source == item })
	maps.DeleteFunc(o.snapshots, func(_ string, s store.Snapshot) bool { return slices.Contains(s.Cites, item) })
	for k, r := range o.records {
		if slices.Contains(r.makes, item) {
			r.Forgotten, r.Result = true, nil
			o.records[k] = r
		}
	}
	o.changed(item, true)
}

func (o *ownerModel) dropMessage(key int64) {
	m := o.messages[key]
	delete(o.messages, key)
	s := o.sessions[m.SessionKey]
	s.MessageCount--
	o.sessions[m.SessionKey] = s
	o.drop(store.Item{Kind: store.ItemMessage, Key: key})
}

func (o *ownerModel) dropSession(key int64) {
	s := o.sessions[key]
	for _, m := range o.messagesOf(key) {
		o.dropMessage(m.Key)
	}
	delete(o.working, workingPlace("", "", s.ID))
	maps.DeleteFunc(o.jobs, func(_ string, j job) bool { return j.session == key })
	maps.DeleteFunc(o.snapshots, func(_ string, x store.Snapshot) bool { return x.SessionID == s.ID })
	delete(o.sessions, key)
	o.drop(store.Item{Kind: store.ItemSession, Key: key})
}

// items are all rows that lineage may name.
func (o *ownerModel) items() []store.Item {
	var list []store.Item
	for _, k := range keysOf(o.memories) {
		list = append(list, store.Item{Kind: store.ItemMemory, Key: k})
	}
	for _, k := range keysOf(o.messages) {
		list = append(list, store.Item{Kind: store.ItemMessage, Key: k})
	}
	return list
}
