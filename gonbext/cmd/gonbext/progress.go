package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// progressEvery is how often the line is drawn anew.
const progressEvery = 200 * time.Millisecond

// showProgress draws how far the run of an id has come, or the latest of several, in
// place, while it lasts. It draws on a terminal only. The function that it returns ends
// it and clears the line.
func showProgress(w io.Writer, id string) (stop func()) {
	if p, ok := w.(plain); ok {
		w = p.File
	}
	terminal, ok := w.(*os.File)
	if !ok || quiet || os.Getenv("TERM") == "dumb" || !isatty.IsTerminal(terminal.Fd()) {
		return func() {}
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		var tail *record.Tail
		drawn := 0 // runes of the line that stands there, which others overwrite
		timer := time.NewTicker(progressEvery)
		defer timer.Stop()
		for {
			select {
			case <-done:
				if tail != nil {
					tail.Close()
				}
				if drawn > 0 {
					fmt.Fprintf(terminal, "\r%*s\r", drawn, "")
				}
				return
			case <-timer.C:
			}
			if tail == nil {
				tail = followRun(id)
			} else if p, err := tail.Poll(); err == nil {
				line := chart.Progress(&tail.Header, p, time.Since(tail.Header.Start), nil, chart.Place{}).Text
				if tail.Header.Within != "" { // whose end is not that of all
					line = strings.Replace(line, "] ", "] "+tail.Header.Title+" · ", 1)
				}
				line = fit(units.Line(line), terminal)
				fmt.Fprintf(terminal, "\r%-*s", drawn, line)
				drawn = utf8.RuneCountInString(line)
				if p.End != nil { // there may be more
					tail.Close()
					tail = followRun(id)
				}
			}
		}
	})
	return func() {
		close(done)
		group.Wait()
	}
}

// followRun is the run of an id that is active, or one of an algorithm of it, and nil where
// there is none.
func followRun(id string) *record.Tail {
	dir, err := record.Dir()
	if err != nil {
		return nil
	}
	all, err := record.List(dir)
	if err != nil {
		return nil
	}
	for _, s := range all {
		if s.End != nil || s.Header.Cell != id && s.Header.Within != id {
			continue
		}
		if tail, err := record.Follow(s.Path); err == nil {
			return tail
		}
	}
	return nil
}

// fit shortens a line to the terminal's width, as a longer one could not be
// replaced in place: first by its bar, then by what stands before its end, the
// time left.
func fit(line string, terminal *os.File) string {
	columns := 80
	if width := terminalColumns(terminal); width > 0 {
		columns = width
	}
	return shorten(line, columns-1)
}

func shorten(line string, columns int) string {
	const separator = " · "
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	if _, rest, ok := strings.Cut(line, "] "); ok {
		line = rest
	}
	parts := strings.Split(line, separator)
	for len(parts) > 2 && utf8.RuneCountInString(strings.Join(parts, separator)) > columns {
		parts = slices.Delete(parts, len(parts)-2, len(parts)-1)
	}
	runes := []rune(strings.Join(parts, separator))
	return string(runes[:min(len(runes), max(columns, 0))])
}
