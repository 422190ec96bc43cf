package relay

import "sync"

// Rewriter gives magics their meaning. The relay knows messages and processes;
// a Rewriter knows text. One value serves one kernel session and is called from
// one goroutine at a time.
type Rewriter interface {
	// Rewrite turns a cell as the user wrote it into what GoNB is to run. A
	// cell of declarations comes back with Code equal to code. An error is the
	// user's (a wrong flag, or Faults): its text is shown as it is, and GoNB runs
	// nothing.
	//
	// Rewritten code keeps every line of the user's on its own line number, or as many
	// lines below it as Cell.Lines says.
	Rewrite(code string) (Cell, error)

	// Explain says what to do about a fault that the compiler has found at a line and a column of a
	// cell, from 1 or 0 where it has no place; "" where it is not known. The text is the fault, or
	// what is one in its place.
	Explain(code string, line, column int, fault string) (text, hint string)

	// Compiled says how the compilation of a cell with an ID ended, when GoNB has
	// answered it, before the next cell is rewritten: GoNB keeps the declarations of cells that
	// compile. Count is the cell's number.
	Compiled(id string, count int64, ok bool)

	// Complete answers Tab where the cursor is in a magic; ok is false where
	// GoNB is to answer. Cursor, Start and End count code points, as Jupyter's
	// protocol does. Dir is the folder that cells run in, "" where it is not known.
	Complete(code string, cursor int, dir string) (c Completion, ok bool)

	// Pad returns code with its magics blanked to the same length, so that
	// GoNB completes Go at positions that are unchanged but for the characters that it puts
	// before the code.
	Pad(code string) (padded string, before int)

	// Inspect answers Shift-Tab and Contextual Help, or says what to ask GoNB.
	// Cursor counts code points.
	Inspect(code string, cursor int) Inspection
}

// Inspection is the answer to a request for help.
type Inspection struct {
	Pass   bool   // GoNB is to answer, to Code and Cursor
	Code   string // with magics blanked
	Cursor int    // in UTF-16 units, which GoNB counts in

	Help map[string]any // by MIME type; nil where there is nothing to say
}

// Cell is a rewritten cell.
type Cell struct {
	Code     string   // what GoNB gets
	Displays []Bundle // outputs of the magics themselves, shown before the cell runs
	Late     []Late   // more of them, made only when the cell's turn has come
	Watch    bool     // show progress and report of the runs that carry ID
	Plain    bool     // of those runs, show what takes its time and one line at the end of each
	Lines    int      // how far below their own the lines of main are, where they come twice; else 0
	ID       string   // the record's Header.Cell, passed into the generated call; "" where Code is the user's and declares nothing
	Hint     string   // of faults in earlier cells, and in what stands below the cell's lines
	Chart    string   // how the report draws: auto, svg or none; "" is auto
}

// display is the display_id of the cell's progress.
func (c *Cell) display() string { return "gonbext-" + c.ID }

// Bundle is one output in several forms, by MIME type: the content of a
// display_data message.
type Bundle struct {
	Data     map[string]any `json:"data"`
	Metadata map[string]any `json:"metadata"`
}

// Completion is the answer to Tab: Matches replace the text between Start and
// End.
type Completion struct {
	Matches    []string
	Start, End int
}

// Library decides which of a notebook's outputs carries the chart library, of
// which a notebook needs one: the first that draws, and what replaces it when its
// cell is run again.
type Library struct {
	mu      sync.Mutex
	carrier *string // the notebook cell whose output carries it
}

// carries reports whether an output of a cell is to carry the library. Origin is
// the front end's name for the cell, "" where it gives none.
func (l *Library) carries(origin string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.carrier == nil || *l.carrier == origin && origin != ""
}

func (l *Library) carried(origin string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.carrier = &origin
}
