package cluster

import (
	_ "embed"
	"os"
	"regexp"
	"time"
)

//go:embed dask.py
var daskShim string

// dask is a Dask scheduler as a batch system. Its commands are requests to a shim that runs in the user's own Python:
// that of GONBEXT_PYTHON, else the one that PATH finds.
func dask(address string) *batch {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		python = "python3"
	}
	return &batch{
		Name:  "Dask",
		Begin: 0.4, HandOver: 0.025, Start: 0.015,
		Least:   time.Second,
		Short:   100 * time.Millisecond,
		Repeats: true,
		Named:   true,
		Session: []string{python, "-c", daskShim, "tcp://" + address},
		Submit:  []string{"submit", "--job={job}", "--log={log}", "--dir={dir}", "--memory={memory}"},
		Array:   "--elements={count}", Index: "DASK_ELEMENT", Self: "DASK_JOB",
		AfterOK: "--ok={jobs}", AfterAny: "--after={jobs}", Between: ",", ElementLog: "-%a",
		Job:    regexp.MustCompile(`^(gonbext-\w+-\w+)$`),
		State:  []string{"state", "--jobs={jobs}"},
		Listed: regexp.MustCompile(`^(?P<job>\S+) (?P<state>\S+)`),
		Forget: []string{"forget", "--jobs={jobs}"},
	}
}
