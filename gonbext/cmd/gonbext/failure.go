package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
)

// failureFigures are what --json prints of a command that fails.
type failureFigures struct {
	Status string `json:"status"` // failed, cancelled
	Error  string `json:"error"`
	Need   int64  `json:"need,omitempty"`  // bytes: the smallest budget that would do; of a plan that cannot be made, that of the run
	Limit  int64  `json:"limit,omitempty"` // bytes of the budget that is too small
}

// printsJSON reports whether a command was asked for JSON, also where another flag before
// that was wrong.
func printsJSON(c *cobra.Command) bool {
	flag := c.Flags().Lookup("json")
	return flag != nil && (flag.Value.String() == "true" || slices.Contains(os.Args[1:], "--json"))
}

// printFailure writes an error as one JSON object, unless it has been told.
func printFailure(w io.Writer, err error) {
	if _, told := errors.AsType[printedError](err); told {
		return
	}
	f := failureFigures{Status: oocore.StatusFailed, Error: errorText(err)}
	if _, ended := errors.AsType[interruptedError](err); ended {
		f.Status = oocore.StatusCancelled
	}
	if small, ok := errors.AsType[*oocore.MemoryError](err); ok {
		f.Need, f.Limit = small.Need, small.Limit
	}
	if plan, ok := errors.AsType[*unplannedError](err); ok {
		f.Need = plan.need
	}
	_ = printJSON(w, f) // which leaves the line on stderr
}
