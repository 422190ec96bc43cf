package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	for _, name := range slices.Sorted(maps.Keys(o)) {
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

// bareWords are the numbers that Python's json writes and JSON does not have, as a file has them and as JSON: texts
// with an escaped letter, which tells them from other texts. Each comes after those that it ends with.
var bareWords = [][2]string{{"NaN", `"\u004eaN"`}, {"Infinity", `"\u0049nfinity"`}, {"-Infinity", `"-\u0049nfinity"`}}

// bareNumbers makes texts of bareWords, where that has not been done. Most files have none and are returned as they are.
func bareNumbers(b []byte) []byte {
	if !bytes.Contains(b, []byte("aN")) && !bytes.Contains(b, []byte("nfinity")) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		end, as := i+1, ""
		if b[i] == '"' {
			end = stringEnd(b, i)
		}
		for _, w := range bareWords {
			switch {
			case bytes.HasPrefix(b[i:], []byte(w[0])):
				end, as = i+len(w[0]), w[1]
			case string(b[i:end]) == w[1] && bytes.HasPrefix(bytes.TrimLeft(b[end:], " \t\r\n"), []byte(":")): // a name
				as = `"` + w[0] + `"`
			}
		}
		if as == "" {
			as = string(b[i:end])
		}
		out, i = append(out, as...), end
	}
	return out
}

// withBareNumbers is JSON as a file has it: see bareNumbers.
func withBareNumbers(b []byte) []byte {
	for _, w := range bareWords {
		b = bytes.ReplaceAll(b, []byte(w[1]), []byte(w[0]))
	}
	return b
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
