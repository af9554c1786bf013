package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	accessQueue   = 4096            // accesses that may wait; more are dropped and logged
	accessTimeout = 5 * time.Second // of one batch's write
)

// accessLog counts accesses of memories, and contexts, behind the reads that make them: a
// read never waits for it. Counts are hints for ranking and retention; those
// of the last moment before a crash are lost, and nothing else is.
type accessLog struct {
	store store.Store
	log   *slog.Logger
	queue chan accessed
	flush chan chan struct{}
	quit  chan struct{}
	done  sync.WaitGroup
}

// accessed are accesses of one owner's memories, or a row of the ledger for a
// context that the owner was given.
type accessed struct {
	owner yiku.Owner
	keys  []int64
	at    time.Time
	spent *store.Spending
}

func startAccessLog(s store.Store, log *slog.Logger) *accessLog {
	a := &accessLog{store: s, log: log, queue: make(chan accessed, accessQueue), flush: make(chan chan struct{}), quit: make(chan struct{})}
	a.done.Add(1)
	go a.run()
	return a
}

// add queues accesses; where the queue is full they are dropped.
func (a *accessLog) add(owner yiku.Owner, keys []int64, at time.Time) {
	if len(keys) == 0 {
		return
	}
	a.queued(accessed{owner: owner, keys: keys, at: at})
}

// spend queues a row of the ledger of the owner's tenant.
func (a *accessLog) spend(owner yiku.Owner, row store.Spending) {
	a.queued(accessed{owner: owner, spent: &row})
}

func (a *accessLog) queued(acc accessed) {
	select {
	case a.queue <- acc:
	default:
		a.log.Warn("counts dropped: the queue is full", "count", len(acc.keys))
	}
}

// run writes what waits, an owner's accesses together.
func (a *accessLog) run() {
	defer a.done.Done()
	for {
		select {
		case first := <-a.queue:
			a.write(first)
		case done := <-a.flush:
			a.writeAll()
			close(done)
		case <-a.quit:
			a.writeAll()
			return
		}
	}
}

// writeAll writes until nothing waits.
func (a *accessLog) writeAll() {
	for {
		select {
		case rest := <-a.queue:
			a.write(rest)
		default:
			return
		}
	}
}

// settle waits until what was added before is written.
func (a *accessLog) settle(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case a.flush <- done:
		<-done
		return nil
	case <-a.quit: // stop writes the rest
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *accessLog) write(first accessed) {
	batch := map[yiku.Owner][]accessed{first.owner: {first}}
	for more := true; more; {
		select {
		case next := <-a.queue:
			batch[next.owner] = append(batch[next.owner], next)
		default:
			more = false
		}
	}
	for owner, list := range batch {
		ctx, cancel := context.WithTimeout(context.Background(), accessTimeout)
		err := a.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
			for _, acc := range list {
				if acc.spent != nil {
					if err := tx.Spend(*acc.spent); err != nil {
						return err
					}
					continue
				}
				if err := tx.Touch(acc.keys, acc.at); err != nil {
					return err
				}
			}
			return nil
		})
		cancel()
		if err != nil {
			a.log.Warn("access counts lost", "error", err)
		}
	}
}

// stop writes what waits and ends. No add may follow.
func (a *accessLog) stop() {
	close(a.quit)
	a.done.Wait()
}
