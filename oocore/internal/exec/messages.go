package exec

import (
	"encoding/json"
	"io"

	"github.com/gonbext/gonbext/oocore/record"
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
	Tasks Range       `json:"tasks"`
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

// Report is what a process has done of a range of tasks. Everything that Done names is in
// files and durable.
type Report struct {
	Busy   bool          `json:"busy,omitempty"` // the report is still to come
	Done   Tasks         `json:"done,omitempty"`
	Rows   record.Rows   `json:"rows,omitempty"` // of the record; times count from the request
	Memory record.Sample `json:"memory"`
	Peak   record.Bytes  `json:"peak"` // of the process's buffers, when the most was reserved
	Error  *remoteError  `json:"error,omitempty"`
	// Retries is how often these tasks were begun before, by processes that ended.
	Retries int `json:"retries,omitempty"`
}

// Failure is the report of a process that has done nothing, for a reason.
func Failure(err error) Report { return Report{Error: remote(err)} }

// Err returns the error that is reported, if there is one.
func (r Report) Err() error {
	if r.Error == nil {
		return nil
	}
	return r.Error.err
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
