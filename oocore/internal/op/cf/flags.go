package cf

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

// Flags are the names of integers, as the attributes flag_values and flag_meanings say (CF 3.5); nil where they have none. Of labels that
// are text flag_meanings is a list, since texts have spaces.
func Flags(d store.Details) map[int64]string {
	var all struct {
		Values   []int64         `json:"flag_values"`
		Meanings json.RawMessage `json:"flag_meanings"`
	}
	if d.Attributes == nil || json.Unmarshal(d.Attributes, &all) != nil {
		return nil
	}
	var names []string
	if json.Unmarshal(all.Meanings, &names) != nil {
		var text string
		_ = json.Unmarshal(all.Meanings, &text) // what is no text has no names
		names = strings.Fields(text)
	}
	if len(names) == 0 || len(names) != len(all.Values) {
		return nil
	}
	flags := map[int64]string{}
	for i, v := range all.Values {
		flags[v] = names[i]
	}
	return flags
}

// Named are the details of integers from 0 on that stand for names, which have no spaces.
func Named(names []string) *store.Details { return named(nil, strings.Join(names, " "), len(names)) }

// named are attributes, and those of the integers below n by which they stand for meanings.
func named(attributes json.RawMessage, meanings any, n int) *store.Details {
	all := map[string]any{}
	_ = json.Unmarshal(attributes, &all) // what is no object has none
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	all["flag_values"], all["flag_meanings"] = values, meanings
	b, _ := json.Marshal(all) // which are JSON's values
	return &store.Details{Attributes: b}
}

// Texts are labels that are text, as integers that stand for them: their places among those that differ, which are sorted, so that the
// integers compare as the texts do.
func Texts(texts []string, attributes json.RawMessage) ([]int64, *store.Details) {
	distinct := slices.Clone(texts)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	numbers := make([]int64, len(texts))
	for i, text := range texts {
		at, _ := slices.BinarySearch(distinct, text)
		numbers[i] = int64(at)
	}
	return numbers, named(Without(attributes, "_Encoding", "_FillValue"), distinct, len(distinct))
}

// TextAttributes are the attributes of integers that Texts made, without those that say what they stand for; ok is false of others.
func TextAttributes(d store.Details) (attributes json.RawMessage, ok bool) {
	var all struct {
		Meanings []string `json:"flag_meanings"`
	}
	if d.Attributes == nil || json.Unmarshal(d.Attributes, &all) != nil || len(all.Meanings) == 0 {
		return nil, false
	}
	return Without(d.Attributes, "flag_values", "flag_meanings"), true
}
