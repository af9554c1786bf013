package engine

import (
	"context"
	"sync"
	"time"

	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

const (
	wordsKeep   = time.Minute // after which what another replica has set is seen
	wordsAtMost = 1000        // tenants whose words are kept
	wordsWait   = 5 * time.Second
)

// words are the names of attributes and relations, and what reads by them.
type words struct {
	vocabulary *reconcile.Vocabulary
	names      graph.Reader
	rules      *extract.Rules
}

func newWords(v *reconcile.Vocabulary) *words {
	return &words{vocabulary: v, names: graph.NewReader(v), rules: extract.NewRules(v)}
}

// with are the words with a tenant's own entries.
func (w *words) with(own string) (*words, error) {
	if own == "" {
		return w, nil
	}
	v, err := w.vocabulary.With(own)
	if err != nil {
		return nil, err
	}
	return newWords(v), nil
}

// tenantWords keeps the words of tenants: every call needs them, and they
// seldom change.
type tenantWords struct {
	mu   sync.Mutex
	kept map[string]keptWords // guarded by mu
}

type keptWords struct {
	words *words
	until time.Time
}

func (t *tenantWords) get(tenant string, now time.Time) (*words, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.kept[tenant]
	return k.words, ok && now.Before(k.until)
}

func (t *tenantWords) put(tenant string, w *words, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil || len(t.kept) >= wordsAtMost {
		t.kept = map[string]keptWords{}
	}
	t.kept[tenant] = keptWords{w, until}
}

// drop forgets what was kept of a tenant, because it has set something else.
func (t *tenantWords) drop(tenant string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.kept, tenant)
}

// wordsOf are a tenant's words: the server's with its own. Where they cannot be
// read now they are the server's, for this call.
func (e *Engine) wordsOf(tenant string, now time.Time) *words {
	if w, ok := e.ownWords.get(tenant, now); ok {
		return w
	}
	ctx, cancel := context.WithTimeout(context.Background(), wordsWait)
	defer cancel()
	own := ""
	err := e.store.View(ctx, func(r store.Reader) error {
		s, err := settingsOf(r, tenant)
		own = s.Attributes
		return err
	})
	if err != nil {
		return e.words
	}
	w, err := e.words.with(own)
	if err != nil { // it was read when it was set, by a version that knew more
		w = e.words
	}
	e.ownWords.put(tenant, w, now.Add(wordsKeep))
	return w
}
