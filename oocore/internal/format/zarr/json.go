package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object's members by their exact names.
type object map[string]json.RawMessage

// parseObject reads a file of metadata.
func parseObject(b []byte) (object, error) {
	var o object
	if err := json.Unmarshal(bareNumbers(b), &o); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, errors.New("not a JSON object")
		}
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if o == nil {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

// field decodes a member that has to be there.
func (o object) field(name string, into any) error {
	raw, ok := o[name]
	if !ok {
		return fmt.Errorf("%s is missing", name)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %s is not of the right form", name, shorten(raw))
	}
	return nil
}

// lengths decodes a list of lengths, each from least on.
func (o object) lengths(name string, least int) ([]int, error) {
	var list []int
	if err := o.field(name, &list); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, fmt.Errorf("%s: null is not a list of lengths", name)
	}
	for _, n := range list {
		if n < least {
			return nil, fmt.Errorf("%s: %d is too small, the least is %d", name, n, least)
		}
	}
	return list, nil
}

// absent reports a member that is not there, or null.
func (o object) absent(name string) bool {
	raw, ok := o[name]
	return !ok || string(raw) == "null"
}

// only rejects members that it does not know, unless they say that they may be
// ignored.
func (o object) only(known ...string) error {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		var extension object
		if json.Unmarshal(o[name], &extension) != nil || string(extension["must_understand"]) != "false" {
			return fmt.Errorf("%s: this extension is not supported", shorten([]byte(name)))
		}
	}
	return nil
}

// named is an extension point of v3: a name with a configuration, or a name alone.
type named struct {
	name          string
	configuration object
}

func parseNamed(raw json.RawMessage) (n named, err error) {
	if json.Unmarshal(raw, &n.name) == nil && n.name != "" {
		return n, nil
	}
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return n, fmt.Errorf("%s is neither a name nor an object with one", shorten(raw))
	}
	if err := o.field("name", &n.name); err != nil {
		return n, err
	}
	if o.absent("configuration") {
		return n, nil
	}
	return n, o.field("configuration", &n.configuration)
}

// named decodes a member that is an extension point.
func (o object) named(name string) (named, error) {
	raw, ok := o[name]
	if !ok {
		return named{}, fmt.Errorf("%s is missing", name)
	}
	n, err := parseNamed(raw)
	if err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// bareWords are the numbers that Python's json writes and JSON does not have; each
// comes after those that it ends with.
var bareWords = []string{"NaN", "Infinity", "-Infinity"}

// bareNumbers puts quotes around bareWords. Most files have none and are returned as
// they are.
func bareNumbers(b []byte) []byte { return quoteBare(b, "") }

// quoteBare is bareNumbers with a mark in the quotes, by which they are told from text.
func quoteBare(b []byte, mark string) []byte {
	if !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		if b[i] == '"' {
			end := stringEnd(b, i)
			out, i = append(out, b[i:end]...), end
			continue
		}
		bare := ""
		for _, word := range bareWords {
			if strings.HasPrefix(string(b[i:min(i+len(word), len(b))]), word) {
				bare = word
			}
		}
		if bare == "" {
			out = append(out, b[i])
			i++
			continue
		}
		out = append(append(append(append(out, '"'), mark...), bare...), '"')
		i += len(bare)
	}
	return out
}

// stringEnd is behind the closing quote of the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
