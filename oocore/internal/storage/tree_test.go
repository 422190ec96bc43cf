package storage

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
)

func TestNamesOfACollectionAreATree(t *testing.T) {
	for _, c := range []struct {
		arrays, group, want string
	}{
		{"a a/b", "", `"a" is an array: there can be none in it, such as "a/b"`},
		{"a b", "a/c/d", `"a" is an array: there can be none in it, such as "a/c/d"`},
		{"a b/c", "b/c", `"b/c" is an array and a group`},
		{"a b a", "", `two arrays have the name "a"`},
		{"a b/c ab", "b", ""},
	} {
		m := CollectionMeta{}
		for name := range strings.FieldsSeq(c.arrays) {
			m.Members = append(m.Members, NewMember{Name: name})
		}
		if c.group != "" {
			m.Groups = map[string]store.Details{c.group: {}}
		}
		got := ""
		if err := m.CheckTree(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, group %s: %q, want %q", c.arrays, c.group, got, c.want)
		}
	}
}
