package servicetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
)

// clientsAtOnce is how many clients say something at the same time.
const clientsAtOnce = 64

func atOnceGroups() []group {
	return []group{
		{"C7_SameFactAtOnce", func(s *suite) {
			s.holds(SameFactAtOnce(s.ctx, s))
			boardtest.Report(s, boardtest.Row{ID: "C7", Part: "at-once", Trials: 2 * clientsAtOnce, What: "saves made another row"})
		}},
		{"C7_ThousandRepeats", func(s *suite) {
			s.holds(ThousandRepeats(s.ctx, s))
			boardtest.Report(s, boardtest.Row{ID: "C7", Part: "repeats", Trials: 1000, What: "repetitions made another row"})
		}},
		{"C8_OneValueAtOnce", func(s *suite) {
			s.holds(OneValueAtOnce(s.ctx, s))
			boardtest.Report(s, boardtest.Row{ID: "C8", Trials: clientsAtOnce, What: "values at once stayed active beside another"})
		}},
	}
}

func (s *suite) holds(err error) {
	s.Helper()
	if err != nil {
		s.Error(err)
	}
}

// SameFactAtOnce lets 64 clients save the same fact at once, in each language,
// with and without subject, attribute and value: it is one row with at most
// one version before the present one, one answer says that it was created, and
// the others that it was reinforced (C7).
func SameFactAtOnce(ctx context.Context, s yiku.Service) error {
	facts := []yiku.SaveMemoryRequest{
		{Content: "对花生过敏", Subject: "我", Attribute: "allergy", Value: "花生"},
		{Content: "Lin drinks green tea"},
	}
	for i, fact := range facts {
		fact.UserID = fmt.Sprint("same-", i)
		if err := oneRow(ctx, s, fact, clientsAtOnce); err != nil {
			return err
		}
	}
	return nil
}

// ThousandRepeats saves the same content 1,000 times from 64 clients: it is one
// row (C7).
func ThousandRepeats(ctx context.Context, s yiku.Service) error {
	return oneRow(ctx, s, yiku.SaveMemoryRequest{UserID: "repeats", Content: "以后不要再发短信"}, 1000)
}

// oneRow saves one fact many times and finds one row.
func oneRow(ctx context.Context, s yiku.Service, fact yiku.SaveMemoryRequest, times int) error {
	answers, err := atOnce(times, func(int) (yiku.SaveMemoryResponse, error) { return s.SaveMemory(ctx, fact) })
	if err != nil {
		return err
	}
	outcomes, ids := map[yiku.Outcome]int{}, map[string]int{}
	for _, a := range answers {
		outcomes[a.Outcome]++
		ids[a.ID]++
	}
	if len(ids) != 1 || outcomes[yiku.OutcomeCreated] != 1 || outcomes[yiku.OutcomeReinforced] != times-1 {
		return fmt.Errorf("%d saves of one fact gave %d ids and the outcomes %v", times, len(ids), outcomes)
	}
	page, err := s.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: fact.UserID})
	if err != nil {
		return err
	}
	if len(page.Items) != 1 {
		return fmt.Errorf("%d saves of one fact: %d rows", times, len(page.Items))
	}
	if used := page.Items[0].AccessCount; used != int64(times-1) {
		return fmt.Errorf("%d saves of one fact: used %d times", times, used)
	}
	history, err := s.MemoryHistory(ctx, yiku.MemoryHistoryRequest{UserID: fact.UserID, ID: answers[0].ID})
	if err == nil && len(history.Items) > 2 {
		return fmt.Errorf("%d saves of one fact made %d versions", times, len(history.Items))
	}
	return err
}

// OneValueAtOnce lets 64 clients give one single-valued attribute different
// values at once: exactly one is active, the others are history, and each
// answer names the memory that its client had saved (C8).
func OneValueAtOnce(ctx context.Context, s yiku.Service) error {
	answers, err := atOnce(clientsAtOnce, func(n int) (yiku.SaveMemoryResponse, error) {
		value := fmt.Sprintf("城市%d", n)
		return s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: "values", Content: "我住在" + value, Subject: "user", Attribute: "residence", Value: value})
	})
	if err != nil {
		return err
	}
	for n, a := range answers {
		if want := fmt.Sprintf("城市%d", n); a.Memory.Value != want {
			return fmt.Errorf("the save of %s was answered with %s", want, a.Memory.Value)
		}
	}
	for status, want := range map[yiku.Status]int{yiku.StatusActive: 1, yiku.StatusSuperseded: clientsAtOnce - 1} {
		page, err := s.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: "values", Status: status, Paging: yiku.Paging{Limit: 200}})
		if err != nil {
			return err
		}
		if len(page.Items) != want {
			return fmt.Errorf("%d values at once: %d are %s, want %d", clientsAtOnce, len(page.Items), status, want)
		}
	}
	return nil
}

// atOnce makes a call many times from 64 clients that begin together, and
// gives the answers by the number of the call.
func atOnce[R any](times int, call func(n int) (R, error)) ([]R, error) {
	answers, errs := make([]R, times), make([]error, times)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for client := range min(clientsAtOnce, times) {
		wg.Go(func() {
			<-begin
			for n := client; n < times; n += clientsAtOnce {
				answers[n], errs[n] = call(n)
			}
		})
	}
	close(begin)
	wg.Wait()
	return answers, errors.Join(errs...)
}
