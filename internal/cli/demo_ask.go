package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"github.com/yiku-ai/yiku/internal/sample"
)

// prompt takes questions where standard input is a terminal, and then waits
// until the user ends the demo.
func (d *demo) prompt(ctx context.Context) error {
	if terminal(d.env.Stdin) {
		d.println("", d.say(phrase{"Type any question; Ctrl-C ends.", "输入任意问题；Ctrl-C 结束。"}))
		if err := d.questions(ctx, lines(ctx, d.env.Stdin)); err != nil {
			return err
		}
	}
	d.println(d.say(phrase{"The server stays up; Ctrl-C ends.", "服务继续运行；Ctrl-C 结束。"}))
	<-ctx.Done()
	return nil
}

// questions answers each line until there are no more.
func (d *demo) questions(ctx context.Context, lines <-chan string) error {
	for {
		d.printf("\n? ")
		select {
		case <-ctx.Done():
			d.println("")
			return ctx.Err()
		case line, ok := <-lines:
			if !ok {
				d.println("")
				return nil
			}
			query := strings.TrimSpace(strings.ToValidUTF8(line, ""))
			if query == "" {
				continue
			}
			if _, err := d.ask(ctx, sample.Question{Query: query, Project: project}); err != nil {
				d.println(oneLine(d.describe(err)))
			}
		}
	}
}

// longestLine is the longest line that is read, in bytes.
const longestLine = 1 << 20

// lines reads lines in a goroutine of its own, which ends with the input. A
// read of a terminal cannot be interrupted: at Ctrl-C it ends with the process.
func lines(ctx context.Context, r io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, longestLine)
		for scanner.Scan() {
			select {
			case out <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// terminal tells whether a person types there.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
