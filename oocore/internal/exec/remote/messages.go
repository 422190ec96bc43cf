package remote

import (
	"encoding/json"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/exec"
)

// A coordinator and its worker processes exchange lines of JSON: requests on a worker's
// standard input, reports on its standard output. A worker reports once when it is
// ready, and then once for each request; while it is busy, lines between say that it lives. A
// closed standard input ends what it does: it reports what is done of the present request, and
// exits.

// request asks a worker for tasks of its plan, to open another plan, or to leave the one
// that it has.
type request struct {
	Stage int         `json:"stage"`
	Tasks exec.Range  `json:"tasks"`
	Open  *assignment `json:"open,omitempty"`
	Leave bool        `json:"leave,omitempty"`
}

// assignment is a plan that a worker serves, with its budget of memory and so many tasks
// that compute at once.
type assignment struct {
	Plan    string `json:"plan"`
	Budget  int64  `json:"budget"`
	Workers int    `json:"workers"`
}

// lines writes and reads messages.
type lines struct {
	*json.Encoder
	*json.Decoder
}

func newLines(r io.Reader, w io.Writer) lines {
	l := lines{json.NewEncoder(w), json.NewDecoder(r)}
	l.DisallowUnknownFields()
	return l
}
