package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/units"
)

// Traffic is what an object store or a web server is asked for. Requests are by kind: GET, ranged GET, PUT, part, POST, LIST,
// HEAD and DELETE, without those that are sent again because one failed. A POST begins or completes an object of parts; a DELETE may be of
// many objects. Bytes are those of objects, metadata included: what listings and errors say is not counted.
type Traffic struct {
	Place    string           `json:"place"` // such as s3://bucket or https://host
	Requests map[string]int64 `json:"requests"`
	Read     int64            `json:"read_bytes"`
	Written  int64            `json:"written_bytes"`
}

// kinds are the kinds of requests in the order in which they are told.
var kinds = []string{"GET", "ranged GET", "PUT", "part", "POST", "LIST", "HEAD", "DELETE"}

// String tells all counts in a line.
func (t Traffic) String() string {
	var words []string
	for _, kind := range kinds {
		if n := t.Requests[kind]; n > 0 {
			words = append(words, units.Count(n)+" "+kind)
		}
	}
	return fmt.Sprintf("%s: %s; %s read, %s written", t.Place, strings.Join(words, ", "), units.Traffic(t.Read), units.Traffic(t.Written))
}

// Requests returns how many requests of all kinds a row has.
func (w WhatIf) Requests() (n int64) {
	for _, t := range w.Traffic {
		for _, k := range t.Requests {
			n += k
		}
	}
	return n
}

// AddTraffic returns the sum of two lists, by place.
func AddTraffic(a, b []Traffic) []Traffic {
	var all []Traffic
	for _, t := range slices.Concat(a, b) {
		i := slices.IndexFunc(all, func(u Traffic) bool { return u.Place == t.Place })
		if i < 0 {
			t.Requests = maps.Clone(t.Requests)
			all = append(all, t)
			continue
		}
		for kind, n := range t.Requests {
			all[i].Requests[kind] += n
		}
		all[i].Read, all[i].Written = all[i].Read+t.Read, all[i].Written+t.Written
	}
	slices.SortFunc(all, func(a, b Traffic) int { return cmp.Compare(a.Place, b.Place) })
	return all
}
