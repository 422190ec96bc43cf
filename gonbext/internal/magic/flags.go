package magic

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/units"
)

// flag is one flag of a magic. Check rejects a wrong value in one clause; a flag without
// Check takes no value. Values are examples that Tab offers, the first of which
// error messages show.
type flag struct {
	name    string
	operand string
	check   func(value string) error
	values  []string
	does    string
	option  string // the function of package gonbext that makes it an Option
}

// usage is the flag as the help writes it.
func (f flag) usage() string {
	if f.check == nil {
		return f.name
	}
	return f.name + " " + f.operand
}

const exampleChunks = "1024x512"

var (
	deviceNames = []string{"cpu", "cuda:0", "model:8GiB", "model:H200"}
	chartNames  = []string{"auto", "svg", "none"}
)

var (
	budgetFlag = flag{"--budget", "SIZE", checkSize, []string{"512MiB", "64MiB", "128MiB", "256MiB", "1GiB"}, "the memory that the cell may take", "Budget"}
	deviceFlag = flag{"--device", "cpu|cuda:0|model:SIZE", checkDevice, deviceNames, "where runs compute; model:SIZE is a modelled GPU of that memory, model:H200 one of that name", "Device"}
	chunksFlag = flag{"--chunks", "AxB", checkChunks, []string{exampleChunks}, "the chunk shape of what the cell saves", "Chunks"}
	chartFlag  = flag{"--chart", "auto|svg|none", checkChart, chartNames, "live charts, pictures only, or tables only", "Chart"}
	htmlFlag   = flag{"--html", "FILE", checkHTML, []string{"report.html"}, "writes the report as a page of its own too", ""}
	onFlag     = flag{"--on", "slurm|gridengine|dask://HOST:PORT", checkCluster, []string{"slurm", "dask://localhost:8786"}, "the cluster that runs are handed to; --budget is then a worker's, and --processes how many run at once", "On"}
	atOnceFlag = flag{"--processes", "N", checkCount, []string{"4"}, "worker processes that share the budget", "Processes"}
	freshFlag  = flag{"--fresh", "", nil, nil, "computes anew what is on disk already", "Fresh"}
)

var (
	runFlags       = []flag{budgetFlag, deviceFlag, chunksFlag, chartFlag, freshFlag, onFlag, atOnceFlag}
	footprintFlags = []flag{
		{"--chunks", "AxB", checkChunks, []string{exampleChunks}, "a chunk shape to ask about", ""},
		{"--device", "CARD|SIZE|cuda:0|cpu", checkCard, cardNames(), "a GPU to ask about, by its name or its memory; others are shown beside it; cpu for none", ""},
	}
)

// setting is a flag with the value that it was given.
type setting struct {
	flag
	value string
}

// parseFlags reads --flag value and --flag=value, in any order, and returns
// what is left over.
func parseFlags(args []string, flags []flag) (given []setting, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		if !isFlag(args[i]) {
			rest = append(rest, args[i])
			continue
		}
		name, value, joined := strings.Cut(args[i], "=")
		f, err := lookup(name, flags)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case slices.ContainsFunc(given, func(g setting) bool { return g.name == f.name }):
			return nil, nil, fmt.Errorf("%s stands twice: it is given once", f.name)
		case f.check == nil && joined:
			return nil, nil, fmt.Errorf("%s takes no value: write %s alone", f.name, f.name)
		case f.check != nil && !joined:
			if i++; i == len(args) || strings.HasPrefix(args[i], "--") {
				return nil, nil, fmt.Errorf("%s needs a value, such as %s %s", f.name, f.name, f.values[0])
			}
			value = args[i]
		}
		if f.check != nil {
			if i+1 < len(args) {
				if size := inOneWord(value, args[i+1]); size != "" && f.check(size) == nil {
					return nil, nil, fmt.Errorf("write the size in one word: %s %s", f.name, size)
				}
			}
			if err := f.check(value); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.name, err)
			}
		}
		given = append(given, setting{f, value})
	}
	return given, rest, nil
}

// isFlag tells a flag from an operand, which may be a negative number.
func isFlag(word string) bool {
	return strings.HasPrefix(word, "-") && (len(word) == 1 || word[1] < '0' || word[1] > '9')
}

func lookup(name string, flags []flag) (flag, error) {
	for _, f := range flags {
		if f.name == name {
			return f, nil
		}
	}
	if len(flags) == 0 {
		return flag{}, fmt.Errorf("it takes no flags, such as %s", name)
	}
	return flag{}, fmt.Errorf("there is no flag %s, did you mean %s?", name, nearest(name, flagNames(flags)))
}

func flagNames(flags []flag) []string {
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = f.name
	}
	return names
}

// inOneWord joins a number and its unit, which someone wrote apart; "" where the
// words are none.
func inOneWord(number, unit string) string {
	if _, err := strconv.ParseFloat(number, 64); err != nil || !isLetter(unit) {
		return ""
	}
	if _, err := units.ParseSize(number + unit); err != nil {
		return ""
	}
	return number + unit
}

// checkSize rejects a number of bytes that was meant in MiB, too.
func checkSize(value string) error {
	n, err := units.ParseSize(value)
	if err != nil {
		return err
	}
	if _, err := strconv.ParseUint(value, 10, 64); err == nil && n < 1<<20 {
		return fmt.Errorf("%s has no unit, did you mean %sMiB?", value, value)
	}
	return nil
}

func checkDevice(value string) error {
	if value == "cpu" {
		return nil
	}
	kind, rest, _ := strings.Cut(value, ":")
	switch kind {
	case "cuda":
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 {
			return checkGPU(n)
		}
	case "model":
		if rest != "" {
			return checkCard(rest)
		}
	}
	return fmt.Errorf("there is no device %q, did you mean %s?", value, nearest(value, deviceNames))
}

// checkCard rejects what is neither a device, nor a card of the table, nor a size of memory.
func checkCard(value string) error {
	if value == "cpu" || strings.HasPrefix(value, "cuda:") {
		return checkDevice(value)
	}
	value = strings.TrimPrefix(value, "model:")
	if value != "" && value[0] >= '0' && value[0] <= '9' {
		if err := checkSize(value); err != nil {
			return err
		}
	}
	_, err := cuda.CardOf(value)
	return err
}

// cardNames are what Tab offers for a GPU to ask about.
func cardNames() []string {
	names := []string{"8GiB", "24GiB", "80GiB"}
	for _, c := range cuda.Cards() {
		names = append(names, c.Name)
	}
	return names
}

// checkGPU rejects a GPU that this machine does not have.
func checkGPU(n int) error {
	list, err := cuda.Devices()
	switch {
	case n < len(list):
		return nil
	case len(list) > 0:
		return fmt.Errorf("there is no cuda:%d: the last GPU of this machine is cuda:%d", n, len(list)-1)
	case err != nil:
		return fmt.Errorf("there is no cuda:%d: %w", n, err)
	}
	return fmt.Errorf("there is no cuda:%d: this machine has no GPU; model:8GiB models one", n)
}

func checkChunks(value string) error {
	shape, err := host.ParseShape(value)
	if err != nil {
		return err
	}
	if len(shape) == 0 || slices.Min(shape) < 1 {
		return fmt.Errorf("%q is not a chunk shape: each length is at least 1, as in %s", value, exampleChunks)
	}
	return nil
}

func checkHTML(value string) error {
	if ext := filepath.Ext(value); ext != ".html" && ext != ".htm" {
		return fmt.Errorf("%q is no name of a page, as report.html is", value)
	}
	return nil
}

func checkCluster(value string) error {
	_, err := cluster.On(value, cluster.Options{})
	return err
}

func checkCount(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 1 {
		return fmt.Errorf("%q is no number of processes: give one or more", value)
	}
	return nil
}

func checkChart(value string) error {
	if slices.Contains(chartNames, value) {
		return nil
	}
	return fmt.Errorf("there is no chart %q, did you mean %s?", value, nearest(value, chartNames))
}
