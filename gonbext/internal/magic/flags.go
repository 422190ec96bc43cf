package magic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/units"
)

// flag is one flag of a magic. Check refuses a wrong value in one clause; a flag without
// Check takes no value. Values are examples that Tab offers, the first of which
// error messages show.
type flag struct {
	name    string
	operand string
	check   func(value string) error
	values  []string
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
	deviceNames = []string{"cpu", "cuda:0", "model:8GiB"}
	chartNames  = []string{"auto", "svg", "none"}
)

var (
	budgetFlag = flag{"--budget", "SIZE", checkSize, []string{"512MiB", "64MiB", "128MiB", "256MiB", "1GiB"}, "Budget"}
	deviceFlag = flag{"--device", "cpu|cuda:0|model:SIZE", checkDevice, deviceNames, "Device"}
	chunksFlag = flag{"--chunks", "AxB", checkChunks, []string{exampleChunks}, "Chunks"}
	chartFlag  = flag{"--chart", "auto|svg|none", checkChart, chartNames, "Chart"}
	freshFlag  = flag{"--fresh", "", nil, nil, "Fresh"}
)

var (
	runFlags       = []flag{budgetFlag, deviceFlag, chunksFlag, chartFlag, freshFlag}
	footprintFlags = []flag{chunksFlag, {"--device", "SIZE", checkSize, []string{"8GiB", "16GiB", "24GiB", "80GiB"}, ""}}
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
		if !strings.HasPrefix(args[i], "-") {
			rest = append(rest, args[i])
			continue
		}
		name, value, joined := strings.Cut(args[i], "=")
		f, err := lookup(name, flags)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case f.check == nil && joined:
			return nil, nil, fmt.Errorf("%s takes no value: write %s alone", f.name, f.name)
		case f.check != nil && !joined:
			if i++; i == len(args) {
				return nil, nil, fmt.Errorf("%s needs a value, such as %s %s", f.name, f.name, f.values[0])
			}
			value = args[i]
		}
		if f.check != nil {
			if err := f.check(value); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.name, err)
			}
		}
		given = append(given, setting{f, value})
	}
	return given, rest, nil
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

func checkSize(value string) error {
	_, err := units.ParseSize(value)
	return err
}

func checkDevice(value string) error {
	if value == "cpu" {
		return nil
	}
	kind, rest, _ := strings.Cut(value, ":")
	switch kind {
	case "cuda":
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 {
			return nil
		}
	case "model":
		if rest != "" {
			return checkSize(rest)
		}
	}
	return fmt.Errorf("there is no device %q, did you mean %s?", value, nearest(value, deviceNames))
}

func checkChunks(value string) error {
	shape, err := grid.Parse(value)
	if err != nil {
		return err
	}
	if len(shape) == 0 || slices.Min(shape) < 1 {
		return fmt.Errorf("%q is not a chunk shape: each length is at least 1, as in %s", value, exampleChunks)
	}
	return nil
}

func checkChart(value string) error {
	if slices.Contains(chartNames, value) {
		return nil
	}
	return fmt.Errorf("there is no chart %q, did you mean %s?", value, nearest(value, chartNames))
}
