package exec

import "github.com/gonbext/gonbext/oocore/record"

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
