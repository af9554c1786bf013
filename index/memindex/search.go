package memindex

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/lang"
)

// The parameters of BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009): k1 bounds what repetition adds, b is how much length counts,
// k3 bounds what repetition in the query adds. Near the usual values 1.2 and
// .75; a little more of both serves sets with long messages and costs the
// others nothing.
const (
	k1 = 1.4
	b  = 0.85
	k3 = 1.0
)

// priorDocuments is how many documents without any of the query's terms every
// shard is taken to hold beside its own, so that a person's first few memories
// do not make every word look common.
const priorDocuments = 100

// Limits that keep every query cheap. Terms are taken rarest first until one
// of them is reached; a query of one person's words stays far below.
const (
	MaxQueryTerms = 128 // distinct terms that occur in the shard
	postingBudget = 3   // times the shard's documents plus postingFloor
	postingFloor  = 200_000
)

// maxQueryBytes is how much of a query is read at its beginning, and as much at
// its end.
const maxQueryBytes = 8192

// queryTerm is a distinct term of a query.
type queryTerm struct {
	hash   uint64
	weight float64 // the language's weight times what repetition adds
	df     int
}

// queryTerms returns a query's distinct terms by hash.
func queryTerms(a *lang.Analyzer, text string) []queryTerm {
	if text == "" {
		return nil
	}
	if len(text) > 2*maxQueryBytes {
		text = strings.ToValidUTF8(text[:maxQueryBytes], "") + " " + strings.ToValidUTF8(text[len(text)-maxQueryBytes:], "")
	}
	terms := a.Query(text)
	slices.SortFunc(terms, func(x, y lang.Term) int { return cmp.Compare(x.Hash, y.Hash) })
	out := make([]queryTerm, 0, len(terms))
	for i := 0; i < len(terms); {
		j := i
		for j < len(terms) && terms[j].Hash == terms[i].Hash {
			j++
		}
		n := float64(j - i)
		out = append(out, queryTerm{hash: terms[i].Hash, weight: float64(terms[i].Weight) * n * (k3 + 1) / (n + k3)})
		i = j
	}
	return out
}

// scratch is the memory that one search works in.
type scratch struct {
	score   []float32 // by slot
	tf      []uint32  // by group, of the present term
	context []float32 // by group
	touched []uint32
	posts   []uint32 // of the present term
	heap    []hit
	dense   []float32 // by slot: cosine, NaN without a vector; empty where that arm is off
	sums    [scanned]int32
	slots   []uint32        // of the candidates
	chosen  map[uint32]bool // the same, by slot
}

// hit is a candidate while the best are chosen.
type hit struct {
	order float32
	slot  uint32
}

func (c *scratch) reset(t *table) {
	c.score = zeroed(c.score, len(t.docs))
	c.tf = zeroed(c.tf, len(t.group))
	c.context = zeroed(c.context, len(t.group))
	c.heap, c.dense, c.slots = c.heap[:0], c.dense[:0], c.slots[:0]
	if c.chosen == nil {
		c.chosen = map[uint32]bool{}
	}
	clear(c.chosen)
}

func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// search implements Search; terms are the query's, by hash.
func (s *shard) search(c *scratch, terms []queryTerm, query index.Query) index.Result {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.t
	if t.alive == 0 {
		return index.Result{At: s.pos}
	}
	c.reset(t)
	matches := t.columns.compile(index.Relax(query.Filter, t.columns.supported))
	result := index.Result{At: s.pos}
	if len(terms) > 0 {
		result.MaxLexical = t.score(c, terms)
		result.More = t.choose(c, query, matches, t.lexical(c))
	}
	c.take()
	if result.Background = t.scan(c, query.Vector); result.Background.N > 0 {
		more := t.choose(c, query, matches, t.dense(c))
		result.More = result.More || more
		c.take()
	}
	if len(query.Times) > 0 {
		more := t.choose(c, query, matches, t.timely(c, query.Times))
		result.More = result.More || more
		c.take()
	}
	result.Candidates = make([]index.Candidate, len(c.slots))
	for i, slot := range c.slots {
		result.Candidates[i] = t.candidate(c, slot, query.Times)
	}
	return result
}

// take moves what an arm has chosen to the candidates, each slot once.
func (c *scratch) take() {
	for _, h := range c.heap {
		if !c.chosen[h.slot] {
			c.chosen[h.slot] = true
			c.slots = append(c.slots, h.slot)
		}
	}
	c.heap = c.heap[:0]
}

// scan works out the cosine of every document with the query.
func (t *table) scan(c *scratch, query []float32) index.Background {
	if len(query) == 0 {
		return index.Background{}
	}
	if cap(c.dense) < len(t.refs) {
		c.dense = make([]float32, len(t.refs), len(t.refs)+len(t.refs)/4)
	}
	c.dense = c.dense[:len(t.refs)]
	background := t.vectors.scan(c.dense, c.sums[:], query)
	if background.N == 0 {
		c.dense = c.dense[:0]
	}
	return background
}

// an order is by what an arm chooses among slots; not ok are those that it
// does not propose.
type order func(slot uint32) (value float32, ok bool)

// lexical orders by the document's own score and its surroundings', and
// proposes what holds a term or stands next to what does.
func (t *table) lexical(c *scratch) order {
	return func(slot uint32) (float32, bool) {
		own := c.score[slot] + t.neighbor(c, slot)
		return own + c.context[t.docs[slot].group], own != 0
	}
}

// dense orders by cosine.
func (t *table) dense(c *scratch) order {
	return func(slot uint32) (float32, bool) {
		d := c.dense[slot]
		return d, d == d
	}
}

// timely orders what fits a time by how well it does, then by what the other
// arms know of it, which is a small number beside a day's.
func (t *table) timely(c *scratch, times []index.Span) order {
	return func(slot uint32) (float32, bool) {
		fit := t.fit(slot, times)
		if fit == 0 {
			return 0, false
		}
		known := c.score[slot]
		if len(c.dense) > 0 && c.dense[slot] == c.dense[slot] {
			known += c.dense[slot]
		}
		return float32(fit) + known/1024, true
	}
}

// fit is how well a slot's time fits the best of some spans.
func (t *table) fit(slot uint32, times []index.Span) float64 {
	best := 0.0
	if t.at[slot] == noTime {
		return 0
	}
	at := time.Unix(t.at[slot], 0)
	for _, span := range times {
		best = max(best, span.Fit(at))
	}
	return best
}

// score adds up BM25 for documents and sessions, and returns the highest value
// that a document could have.
func (t *table) score(c *scratch, terms []queryTerm) float64 {
	at := make([]int, len(t.segments))
	for i := range terms {
		for j := range t.segments {
			var posts []byte
			posts, at[j] = t.segments[j].find(terms[i].hash, at[j])
			terms[i].df += held(posts)
		}
	}
	slices.SortFunc(terms, func(x, y queryTerm) int { return cmp.Or(cmp.Compare(x.df, y.df), cmp.Compare(x.hash, y.hash)) })
	highest, used, cost := 0.0, 0, 0
	budget := postingFloor + postingBudget*len(t.docs)
	for i := range terms {
		if terms[i].df == 0 {
			highest += terms[i].weight
			continue
		}
		if used++; used > MaxQueryTerms {
			break
		}
		if cost += terms[i].df; cost > budget && used > 1 {
			break
		}
		highest += t.scoreTerm(c, terms[i])
	}
	return highest
}

// unit is the most that one term could add which no document holds: the
// contract's measure of scores.
func (t *table) unit() float64 { return idf(0, t.alive+priorDocuments) * (k1 + 1) }

// idf is what a term says: its inverse document frequency, always positive.
func idf(df, n int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// scoreTerm adds one term's scores and returns the most that it could add.
func (t *table) scoreTerm(c *scratch, term queryTerm) float64 {
	c.posts = c.posts[:0]
	for i := range t.segments {
		posts, _ := t.segments[i].find(term.hash, 0)
		c.posts = read(c.posts, posts)
	}
	df := 0
	c.touched = c.touched[:0]
	for _, p := range c.posts {
		d := t.docs[p>>tfBits]
		if d.length == 0 {
			continue
		}
		df++
		if d.group == 0 {
			continue
		}
		if c.tf[d.group] == 0 {
			c.touched = append(c.touched, d.group)
		}
		c.tf[d.group] += p & maxTF
	}
	top := idf(df, t.alive+priorDocuments) * term.weight * (k1 + 1) / t.unit()
	base, slope := float32(k1*(1-b)), float32(k1*b*float64(t.alive)/float64(max(t.length, 1)))
	for _, p := range c.posts {
		if d := t.docs[p>>tfBits]; d.length > 0 {
			tf := float32(p & maxTF)
			c.score[p>>tfBits] += float32(top) * tf / (tf + base + slope*float32(d.length))
		}
	}
	t.scoreGroups(c, term.weight, base)
	return top
}

// scoreGroups adds the present term's scores of the sessions that hold it.
func (t *table) scoreGroups(c *scratch, weight float64, base float32) {
	if len(c.touched) == 0 {
		return
	}
	top := float32(idf(len(c.touched), t.sessions) * weight * (k1 + 1) / t.unit())
	slope := float32(k1 * b * float64(t.sessions) / float64(max(t.grouped, 1)))
	for _, g := range c.touched {
		tf := float32(c.tf[g])
		c.context[g] += top * tf / (tf + base + slope*float32(t.group[g].length))
		c.tf[g] = 0
	}
}

// apart is how long a session may be silent before what comes is not about what
// was said before.
const apart = 24 * 60 * 60

// beside are the slots of the documents before and behind a slot's in its
// session that were said about then; -1 where there is none.
func (t *table) beside(slot uint32) [2]int32 {
	out := [2]int32{t.prev[slot], t.next[slot]}
	for i, other := range out {
		if other < 0 {
			out[i] = -1
		} else if far := t.at[other] - t.at[slot]; far > apart || far < -apart {
			out[i] = -1
		}
	}
	return out
}

// neighbor is the better score of the two documents beside a slot's.
func (t *table) neighbor(c *scratch, slot uint32) float32 {
	best := float32(0)
	for _, other := range t.beside(slot) {
		if other >= 0 {
			best = max(best, c.score[other])
		}
	}
	return best
}

// choose leaves the K best of an order in c.heap, which is empty, and reports
// whether there were more.
func (t *table) choose(c *scratch, query index.Query, matches predicate, by order) bool {
	more := false
	for i := range t.docs {
		slot := uint32(i)
		if t.prev[slot] == gone || !wanted(query.Kinds, t.refs[slot].Kind) {
			continue
		}
		value, ok := by(slot)
		if !ok {
			continue
		}
		h := hit{value, slot}
		full := len(c.heap) == query.K
		if full && more && !t.before(h, c.heap[0]) {
			continue
		}
		if matches != nil && !matches(slot) {
			continue
		}
		if !full {
			c.heap = append(c.heap, h)
			t.up(c.heap)
			continue
		}
		more = true
		if t.before(h, c.heap[0]) {
			c.heap[0] = h
			t.down(c.heap)
		}
	}
	return more
}

func wanted(kinds []index.Kind, kind index.Kind) bool {
	return len(kinds) == 0 || slices.Contains(kinds, kind)
}

// before reports whether a is better than b; ties go to the newer key, so that
// the choice does not depend on how the shard was built.
func (t *table) before(a, b hit) bool {
	if a.order != b.order {
		return a.order > b.order
	}
	x, y := t.refs[a.slot], t.refs[b.slot]
	if x.Key != y.Key {
		return x.Key > y.Key
	}
	return x.Kind < y.Kind
}

// up and down keep the worst of a heap first.
func (t *table) up(heap []hit) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !t.before(heap[parent], heap[i]) {
			return
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
}

func (t *table) down(heap []hit) {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if t.before(heap[worst], heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		heap[worst], heap[i] = heap[i], heap[worst]
		i = worst
	}
}

func (t *table) candidate(c *scratch, slot uint32, times []index.Span) index.Candidate {
	g := t.docs[slot].group
	out := index.Candidate{
		Ref:      t.refs[slot],
		Session:  t.group[g].session,
		Lexical:  float64(c.score[slot]),
		Context:  float64(c.context[g]),
		Neighbor: float64(t.neighbor(c, slot)),
		Time:     t.fit(slot, times),
	}
	if len(c.dense) > 0 && c.dense[slot] == c.dense[slot] {
		out.Dense = float64(c.dense[slot])
	}
	if len(c.dense) > 0 {
		for _, beside := range t.beside(slot) {
			if beside >= 0 && c.dense[beside] == c.dense[beside] {
				out.DenseNeighbor = max(out.DenseNeighbor, float64(c.dense[beside]))
			}
		}
	}
	return out
}
