package sqlite

import (
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// TestQueriesAreSearches (part of R25): no query of the contract reads a whole
// table, and those in the way of every request do not sort.
// Lessons: L122.
func TestQueriesAreSearches(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	owner := testOwner(t, "acme", "u")
	write(t, s, owner, func(tx store.Tx) error {
		// Enough rows that the planner has a choice, and statistics where it wants them.
		return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: "m"}})
	})
	memories := func(q store.MemoryQuery) string {
		var sql string
		err := s.View(t.Context(), func(r store.Reader) error {
			o, err := r.(*reader).find(owner)
			where, _ := r.(*reader).memoryFilter(o, q)
			sql = memorySelect + where + sqlMemoryOrder
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return sql
	}
	graph := func(e store.EntityQuery, q store.RelationQuery, relations bool) (sql string) {
		err := s.View(t.Context(), func(r store.Reader) error {
			o, err := r.(*reader).find(owner)
			sql = sqlEntities + r.(*reader).entityFilter(o, e).sql.String() + sqlEntityOrder
			if relations {
				sql = sqlRelations + r.(*reader).relationFilter(o, q).sql.String() + sqlRelationRows
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return sql
	}
	active := []yiku.Status{yiku.StatusActive}
	for name, c := range map[string]struct {
		sql   string
		sorts bool // few rows are left to sort
	}{
		"owner":              {sql: sqlOwnerByMark},
		"owners":             {sql: sqlOwnersAfter},
		"session":            {sql: sqlSession},
		"sessions":           {sql: sqlSessions + sqlSessionAfter + sqlSessionOrder},
		"sessions as of":     {sql: sqlSessions + sqlSessionUpTo + sqlSessionAfter + sqlSessionOrder},
		"sessions since":     {sql: sqlSessions + sqlSessionSince + sqlSessionOrder, sorts: true},
		"count sessions":     {sql: sqlSessionCount},
		"session's tasks":    {sql: sqlSessionTasks, sorts: true},
		"messages":           {sql: sqlMessages + sqlMessagesFirst},
		"last messages":      {sql: sqlMessages + sqlMessagesLast},
		"kept messages":      {sql: sqlMessages + sqlMessagesKept + sqlMessagesFirst},
		"message":            {sql: sqlMessageByID},
		"messages by range":  {sql: sqlMessageRange},
		"task":               {sql: sqlTask},
		"working":            {sql: sqlWorking},
		"open working":       {sql: sqlOpen + sqlOpenOf + sqlNewest},
		"memory":             {sql: sqlMemory},
		"memories by range":  {sql: sqlMemoryRange},
		"duplicate":          {sql: sqlDuplicate},
		"all memories":       {sql: memories(store.MemoryQuery{})},
		"active memories":    {sql: memories(store.MemoryQuery{Statuses: active})},
		"active constraints": {sql: memories(store.MemoryQuery{Statuses: active, Types: []yiku.Type{yiku.TypeConstraint}})},
		"some types":         {sql: memories(store.MemoryQuery{Statuses: active, Types: []yiku.Type{yiku.TypeConstraint, yiku.TypeProfile}}), sorts: true},
		"of a subject":       {sql: memories(store.MemoryQuery{Statuses: active, SubjectNorm: "s", AttributeNorm: "a"}), sorts: true},
		"pinned":             {sql: memories(store.MemoryQuery{Statuses: active, Pinned: true})},
		"versions":           {sql: sqlVersions},
		"sources":            {sql: sqlSources, sorts: true},
		"derived":            {sql: sqlDerived, sorts: true},
		"entities":           {sql: graph(store.EntityQuery{}, store.RelationQuery{}, false)},
		"entities of a name": {sql: graph(store.EntityQuery{Names: []string{"n"}}, store.RelationQuery{}, false), sorts: true},
		"entities of a base": {sql: graph(store.EntityQuery{Bases: []string{"n"}}, store.RelationQuery{}, false), sorts: true},
		"of a given name":    {sql: graph(store.EntityQuery{Givens: []string{"n"}}, store.RelationQuery{}, false), sorts: true},
		"of a family":        {sql: graph(store.EntityQuery{Families: []string{"n"}}, store.RelationQuery{}, false), sorts: true},
		"entities by id":     {sql: graph(store.EntityQuery{IDs: []string{"n"}}, store.RelationQuery{}, false), sorts: true},
		"relations":          {sql: graph(store.EntityQuery{}, store.RelationQuery{Typed: true}, true)},
		"relations of a m.":  {sql: graph(store.EntityQuery{}, store.RelationQuery{Memories: []int64{1}}, true), sorts: true},
		"relations around":   {sql: graph(store.EntityQuery{}, store.RelationQuery{Around: []int64{1}, Types: []string{"t"}}, true), sorts: true},
		"drop relations":     {sql: sqlDropRelations},
		"drop entities":      {sql: sqlDropEntities},
		"changes":            {sql: sqlChanges, sorts: true},
		"snapshot":           {sql: sqlSnapshot},
		"record":             {sql: sqlRecord},
		"waiting job":        {sql: sqlWaitingJob},
		"suppressed":         {sql: sqlSuppressed},
		"drop snapshots":     {sql: sqlDropOldSnapshots},
		"drop records":       {sql: sqlDropOldRecords},
		"drop cites":         {sql: sqlDropCites},
		"forget records":     {sql: sqlForgetIt},
		"drop edges":         {sql: sqlDropDown},
		"drop memory":        {sql: sqlDropMemories},
		"drop jobs":          {sql: sqlDropJobsOf},
		"drop snapshots of":  {sql: sqlDropSnapshotsOf},
		"drop working of":    {sql: sqlDropWorkingOf},
		"records of an item": {sql: sqlMadeBy, sorts: true},
		"drop made":          {sql: sqlDropMade},
		"drop summaries":     {sql: sqlDropSummaries},
		"drop extractions":   {sql: sqlDropExtractions},
		"tasks of a session": {sql: sqlTasksOf},
		"drop copies":        {sql: sqlDropSnapshots},
		"drop reports":       {sql: sqlDropReports},
		"all snapshots":      {sql: sqlAllSnapshots},
		"drop snapshot":      {sql: sqlDropSnapshot},
		"drop all tasks":     {sql: sqlDropAllTasks},
		"owner's memories":   {sql: sqlOwnerMemories},
		"owner's messages":   {sql: sqlOwnerMessages},
		"receipts":           {sql: sqlReceiptsOld},
		"audit":              {sql: sqlAudit},
		"ledger":             {sql: sqlSpent},
		"a tenant's key":     {sql: sqlTenantKeyPlace},
		"a key to revoke":    {sql: sqlOneKey},
	} {
		plan := explain(t, s, c.sql)
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "VIRTUAL TABLE") && // a list of keys
				!strings.Contains(step, "(subquery") && !strings.Contains(step, "CONSTANT ROW") {
				t.Errorf("%s reads a whole table: %v", name, plan)
			}
			if strings.Contains(step, "TEMP B-TREE") && !c.sorts {
				t.Errorf("%s sorts: %v", name, plan)
			}
		}
	}
}

// TestStatementsArePreparedOnce: a statement is not prepared again because it
// is run for another owner or with other values.
func TestStatementsArePreparedOnce(t *testing.T) {
	t.Parallel()
	s := openTest(t, &Options{Readers: 1})
	owners := []yiku.Owner{testOwner(t, "acme", "u"), testOwner(t, "acme", "v")}
	for _, o := range owners {
		write(t, s, o, func(tx store.Tx) error { return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: "m"}}) })
	}
	for i := range 20 {
		err := s.View(t.Context(), func(r store.Reader) error {
			if _, err := r.Memory(owners[i%2], "m"); err != nil {
				return err
			}
			_, err := r.Memories(owners[i%2], store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive, yiku.StatusStale}[i%2 : i%2+1], Pinned: i%3 == 0})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := s.View(t.Context(), func(r store.Reader) error {
		for sql, st := range r.(*reader).c.statements {
			if n := st.Status(sqlite3.STMTSTATUS_REPREPARE, false); n > 0 {
				t.Errorf("prepared again %d times: %s", n, sql)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func explain(t *testing.T, s *Store, sql string) (steps []string) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		return r.(*reader).c.each("EXPLAIN QUERY PLAN "+sql, func(st *sqlite3.Stmt) error {
			steps = append(steps, st.ColumnText(3))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
