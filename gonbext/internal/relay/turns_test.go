package relay

import (
	"slices"
	"sync"
	"testing"
)

// ordered is a Rewriter that notes in which order it is asked.
type ordered struct {
	words
	mu   *sync.Mutex
	said *[]string
}

func (o ordered) say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*o.said = append(*o.said, text)
}

func (o ordered) Rewrite(code string) (Cell, error) {
	o.say("rewrite " + code)
	return Cell{Code: code, ID: code}, nil
}
func (o ordered) Compiled(id string, _ int64, _ bool) { o.say("compiled " + id) }

// Cells that come at once are rewritten one after the other, each when the one before has ended, also where that
// fails.
func TestACellIsRewrittenWhenTheOneBeforeHasEnded(t *testing.T) {
	magic := ordered{mu: &sync.Mutex{}, said: &[]string{}}
	x := start(t, magic, nil)
	var ids []string
	var want []string
	for _, code := range []string{"print a", "fail exit status 3", "print b", "print c"} {
		ids = append(ids, x.ask(x.shell, "execute_request", executeContent(code)))
		want = append(want, "rewrite "+code, "compiled "+code)
	}
	for _, id := range ids {
		x.until(id)
		x.reply()
	}
	magic.mu.Lock()
	defer magic.mu.Unlock()
	if !slices.Equal(*magic.said, want) {
		t.Errorf("%q, want %q", *magic.said, want)
	}
}
