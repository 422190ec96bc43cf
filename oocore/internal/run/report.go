package run

import "github.com/gonbext/gonbext/oocore/record"

// Report is told how runs end. Those of a group come one after the other.
type Report interface {
	Reset()                                                  // a run, or a group, is the first
	Add(h *record.Header, end *record.End, outputs []string) // of a run that has ended
	Rejected(title string)                                   // of a run that did not begin
	Group(status record.Status, title, run string)           // of a group that has ended
}
