package cluster

import (
	_ "embed"
	"os"
	"regexp"
)

//go:embed dask.py
var daskShim string

// dask is a Dask scheduler as a batch system. Its command is a shim that runs in the user's own Python:
// that of GONBEXT_PYTHON, else the one that PATH finds.
func dask(address string) *batch {
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		python = "python3"
	}
	shim := func(args ...string) []string { return append([]string{python, "-c", daskShim}, args...) }
	return &batch{
		Name:   "Dask",
		Start:  0.2,
		Submit: shim("submit", "tcp://"+address, "--log={log}", "--dir={dir}", "--memory={memory}"),
		Array:  "--elements={count}", Index: "DASK_ELEMENT", Self: "DASK_JOB",
		AfterOK: "--ok={jobs}", AfterAny: "--after={jobs}", Between: ",", ElementLog: "-%a",
		Job:    regexp.MustCompile(`^(gonbext-\w+-\w+)$`),
		State:  shim("state", "tcp://"+address, "--jobs={jobs}"),
		Listed: regexp.MustCompile(`^(\S+) (\S+)`),
		Forget: shim("forget", "tcp://"+address, "--jobs={jobs}"),
	}
}
