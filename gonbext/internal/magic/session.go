// Package magic turns the magics of a notebook cell into Go.
//
// A magic only generates a call of package gonbext; all meaning lives there.
// The rewritten cell keeps every line of the user's on its own line number, so
// that compile errors and panics point at what they wrote.
package magic

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

// Session gives magics their meaning for one kernel session.
type Session struct {
	inherited inherited
	nominal   *nominal // nil where cells run
	notebook  string   // what the ids of its cells begin with
	newID     func() string
	kept      map[string]meaning // declared by the cells that have run
	running   layer              // of the cell that runs
	source    string             // the folder of this module's source
	api       func() []callable  // what programs call of this module
	goSource  func() string      // the folder of Go's library
	library   map[string][]callable

	folder      string              // of the values that cells carry; "" where they carry none
	carried     map[string]variable // by name
	functions   map[string]function // of cells, by name
	initialised map[string]bool     // variables that GoNB has with their first values
}

// nominal is how gonbext check has cells planned.
type nominal struct{ budget, workers string }

// PlanOnly makes all cells with %%memory plan and compute nothing, as %%footprint does, and
// plans those of any machine: with so many workers, within the budget where a cell has none
// of its own.
func (s *Session) PlanOnly(budget, workers string) { s.nominal = &nominal{budget, workers} }

// settings are those of a cell, with what it has none of.
func (n *nominal) settings(given []setting) []setting {
	if !slices.ContainsFunc(given, func(g setting) bool { return g.name == budgetFlag.name }) {
		given = append(given, setting{budgetFlag, n.budget})
	}
	return append(given, setting{flag{check: checkWorkers, option: "Nominal"}, n.workers})
}

// checkWorkers marks a setting that has a value.
func checkWorkers(string) error { return nil }

// inherited is what %budget and %device leave to later cells; "" where nothing.
type inherited struct{ budget, device string }

var _ relay.Rewriter = (*Session)(nil)

// NewSession returns a session in which nothing has been set. Its notebook is the
// one that Jupyter names, so that runs keep their numbers over restarts; where it
// names none, each session has runs of its own.
func NewSession() *Session {
	notebook := rand.Text()[:8]
	if path := os.Getenv("JPY_SESSION_NAME"); path != "" {
		sum := sha256.Sum256([]byte(path))
		notebook = hex.EncodeToString(sum[:4])
	}
	notebook += "-"
	return &Session{
		notebook: notebook, newID: func() string { return notebook + rand.Text() },
		kept: map[string]meaning{}, api: func() []callable { return nil },
		goSource: sync.OnceValue(setup.GoSource), library: map[string][]callable{},
		carried: map[string]variable{}, initialised: map[string]bool{}, functions: map[string]function{},
	}
}

// ReadAPI has the session know what cells call of the module whose source is in a folder.
func (s *Session) ReadAPI(source string) {
	s.source = source
	clear(s.library)
	s.api = sync.OnceValue(func() []callable { return readAPI(source) })
	go s.api()
	go s.goSource()
}

// Notebook is what the ids of the session's cells begin with.
func (s *Session) Notebook() string { return s.notebook }

// Rewrite turns a cell as the user wrote it into what GoNB is to run: statements become a
// program, and magics Go. A cell with neither comes back as it is, or with the value of its
// last line shown. An error leaves the session as it was: relay.Faults where the cell is not
// Go, else a usage error in one sentence.
func (s *Session) Rewrite(code string) (relay.Cell, error) {
	cell, err := s.rewrite(code)
	if _, faults := errors.AsType[relay.Faults](err); err != nil && !faults {
		err = plainError(err)
	}
	if err != nil {
		return relay.Cell{}, err
	}
	return cell, nil
}

func (s *Session) rewrite(code string) (relay.Cell, error) {
	lines, specials := readCell(code)
	if isForeign(specials) {
		if c := specials[0]; c.name() == "%%script" && (len(c.args) < 2 || c.args[1] == "") { // which GoNB does not survive
			return relay.Cell{}, errors.New("%%script: it takes the program that runs the cell, as in %%script python3")
		}
		return relay.Cell{Code: code}, nil
	}
	if name := indented(lines); name != "" {
		return relay.Cell{}, fmt.Errorf("%s has to begin its line: take away what stands before it", name)
	}
	for _, c := range specials {
		if !isOurs(c) {
			if err := unknown(c.name()); err != nil {
				return relay.Cell{}, err
			}
		}
	}
	r := &rewriting{session: s, lines: lines, inherited: s.inherited, nominal: s.nominal, notebook: s.notebook, api: s.api, called: s.called}
	r.ID = s.newID()
	r.answer(s, specials)
	if main, ok := r.bare(specials); ok {
		r.main = &main
	}
	r.read(specials, s.declared())
	bad := r.syntaxError() // before anything is generated
	if bad == nil {
		if err := r.carry(); err != nil {
			return relay.Cell{}, err
		}
		r.keepAtReturns()
	}
	for _, c := range specials {
		if err := r.rewrite(c); err != nil {
			return relay.Cell{}, fmt.Errorf("%s: %w", c.name(), err)
		}
	}
	if bad != nil && !r.helped {
		return relay.Cell{}, s.inGo(code, bad)
	}
	if r.main != nil {
		r.begin(*r.main)
	}
	if r.main == nil && !r.began && r.carrying.global == "" && !r.Watch && !r.shows && len(r.Displays)+len(r.Late) == 0 && !slices.ContainsFunc(specials, isOurs) && !slices.ContainsFunc(lines, func(l line) bool { return l.kind == insideLine && isSpecial(l.text) }) {
		cell := relay.Cell{Code: code}
		if s.wait(r.layer) {
			cell.ID = r.ID
		}
		return cell, nil
	}
	s.inherited = r.inherited
	if r.helped {
		return relay.Cell{Displays: r.Displays, Late: r.Late}, nil
	}
	s.wait(r.layer)
	r.Code = r.text()
	return r.Cell, nil
}

// foreignCells are GoNB's commands that make a whole cell a text of another kind.
var foreignCells = []string{"%%writefile", "%%script", "%%bash", "%%sh", "%%gx"}

func isForeign(specials []special) bool {
	return len(specials) > 0 && specials[0].at == 0 && slices.Contains(foreignCells, specials[0].name())
}

func isOurs(c special) bool { return find(c.name()) != nil || asksHelp(c) != nil }
