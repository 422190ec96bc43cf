package relay

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
)

// tardy is a Rewriter whose outputs are late: of what is known when the cell's
// turn comes.
type tardy struct {
	words
	known   *atomic.Value
	waiting chan struct{}
}

func (x tardy) Rewrite(code string) (Cell, error) {
	word, rest, _ := strings.Cut(code, "\n")
	show := func(show func(ctx context.Context) (string, error)) (Cell, error) {
		return Cell{Code: rest, Late: []Late{func(ctx context.Context, now Now) (chart.Output, error) {
			text, err := show(ctx)
			return chart.Output{Text: text, Library: now.Library}, err
		}}}, nil
	}
	switch word {
	case "%late":
		return show(func(context.Context) (string, error) { return x.known.Load().(string), nil })
	case "%where":
		return Cell{Code: rest, Late: []Late{func(_ context.Context, now Now) (chart.Output, error) { return chart.Output{Text: now.Dir}, nil }}}, nil
	case "%fails":
		return show(func(context.Context) (string, error) { return "", errors.New("there is no such array") })
	case "%waits":
		return show(func(ctx context.Context) (string, error) {
			close(x.waiting)
			<-ctx.Done()
			return "", ctx.Err()
		})
	}
	return Cell{Code: code}, nil
}

func TestLateOutputs(t *testing.T) {
	magic := tardy{known: &atomic.Value{}, waiting: make(chan struct{})}
	magic.known.Store("what was there when the cell was sent")
	x := start(t, magic, nil)

	first := x.ask(x.shell, "execute_request", executeContent("wait\nprint first"))
	second := x.ask(x.shell, "execute_request", executeContent("%late\nprint second"))
	time.Sleep(20 * time.Millisecond) // both are with GoNB now, or will be
	magic.known.Store("what the first cell left")
	interrupt(t)
	x.until(first)
	x.reply()
	equal(t, summary(x.until(second)), "busy\ninput 2 \"%late\\nprint second\"\ndisplay_data map[text/plain:what the first cell left]\nstdout \"second\"\nidle\n")
	x.reply()

	reply, outputs := x.execute("%fails")
	equal(t, outputs, "busy\ninput 3 \"%fails\"\nerror UsageError: there is no such array\nidle\n")
	if reply["status"] != "error" || reply["evalue"] != "there is no such array" {
		t.Errorf("reply %v", reply)
	}

	if dir, err := os.Getwd(); err != nil || runtime.GOOS == "linux" {
		_, outputs = x.execute("%where")
		equal(t, outputs, "busy\ninput 4 \"%where\"\ndisplay_data map[text/plain:"+dir+"]\nidle\n")
	}

	id := x.ask(x.shell, "execute_request", executeContent("%waits"))
	<-magic.waiting
	interrupt(t)
	if got := summary(x.until(id)); !strings.Contains(got, "error UsageError: context canceled") {
		t.Errorf("interrupted: %s", got)
	}
	x.reply()
}
