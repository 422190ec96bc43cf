package codec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// parseText reads the form of Parse.
func parseText(text string, t dtype.Type) ([]filter, error) {
	if name, configuration, ok := textOfRegistered(text); ok {
		f, err := newRegistered(name, configuration, t)
		if err != nil {
			return nil, fmt.Errorf("codec %q: %w", text, err)
		}
		return []filter{f}, nil
	}
	name, rest, more := strings.Cut(text, ":")
	var args []string
	if more {
		args = strings.Split(rest, ":")
	}
	most := map[string]int{"none": 0, "zstd": 2, "gzip": 1, "blosc": 3}
	n, known := most[name]
	switch {
	case !known:
		return nil, fmt.Errorf("chunks have no codec %q: use none, zstd:3, gzip:5 or blosc:lz4:5:shuffle, and in a GGUF file q4_k_m, q8_0 and llama.cpp's other recipes", text)
	case len(args) > n:
		return nil, fmt.Errorf("codec %q: %s takes at most %d settings", text, name, n)
	}
	f, err := parseArgs(name, args, t)
	if err != nil {
		return nil, fmt.Errorf("codec %q: %w", text, err)
	}
	if f == nil {
		return nil, nil
	}
	return []filter{f}, nil
}

func parseArgs(name string, args []string, t dtype.Type) (filter, error) {
	switch name {
	case "zstd":
		level, err := levelOf(args, 0, defaultZstd)
		if err != nil {
			return nil, err
		}
		if len(args) == 2 && args[1] != "checksum" {
			return nil, fmt.Errorf("%q is not checksum", args[1])
		}
		return newZstd(level, len(args) == 2)
	case "gzip":
		level, err := levelOf(args, 0, defaultDeflate)
		if err != nil {
			return nil, err
		}
		return newDeflate("gzip", level)
	case "blosc":
		cname, mode := "lz4", byteShuffle
		if len(args) > 0 {
			cname = args[0]
		}
		level, err := levelOf(args, 1, 5)
		if err != nil {
			return nil, err
		}
		if len(args) == 3 {
			if mode, err = shuffleOf(args[2]); err != nil {
				return nil, err
			}
		}
		return newBlosc(cname, level, mode, t.Size(), 0)
	}
	return nil, nil
}

// levelOf is the number at a place among the settings, or what is usual.
func levelOf(args []string, at, usual int) (int, error) {
	if len(args) <= at {
		return usual, nil
	}
	level, err := strconv.Atoi(args[at])
	if err != nil {
		return 0, fmt.Errorf("level %q is no number", args[at])
	}
	return level, nil
}
