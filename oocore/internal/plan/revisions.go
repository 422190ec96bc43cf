package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// firstRevisions says that all is at revision 1. It is the name that the release before
// revisions gave itself, whose results have the same bits.
const firstRevisions = "gonbext-7e2f50edf8c0"

// revisions counts the changes of the bits of results, from 2 on: of an operation by the name
// of its kernel, its reduction or its blockwise.Op, and of an algorithm by the words below.
// What is not in it is at revision 1. The corpus of package corpus fails where bits change
// and the revision does not.
var revisions = map[string]int{
	TuckerRevision: 2, // begins with the truncated HOSVD
}

// The algorithms that have revisions.
const (
	castRevision   = "cast"        // conversions of types
	iotaRevision   = "arange"      // numbers at equal distances
	randomRevision = "random"      // random numbers
	matmulRevision = "matmul"      // products
	mergeRevision  = "merge"       // the order in which a reduction adds up
	planRevision   = "plan format" // what the fields of a plan mean

	TuckerRevision = "tucker" // of package decomp, which runs before the plans that use its results
)

// Revision returns the present revision of an operation or algorithm.
func Revision(name string) int { return max(revisions[name], 1) }

// CurrentRevisions is the revisions of what a plan uses, as text.
func (p *Plan) CurrentRevisions() string {
	used := map[string]bool{planRevision: true}
	p.revised(used)
	text := firstRevisions
	for _, name := range slices.Sorted(maps.Keys(revisions)) {
		if used[name] {
			text += fmt.Sprintf(", %s %d", name, revisions[name])
		}
	}
	return text
}

// revised adds the names of what a plan's stages use.
func (p *Plan) revised(used map[string]bool) {
	for i := range p.Stages {
		s := &p.Stages[i]
		for k := range s.Programs {
			s.Programs[k].revised(used)
		}
		for _, f := range s.Folds {
			used[f.Kind.String()], used[mergeRevision] = true, true
		}
		if s.MatMul != nil {
			used[matmulRevision] = true
		}
	}
}

// revised adds the names of what a program uses.
func (p *Program) revised(used map[string]bool) {
	for i := range p.Code {
		if op := p.Code[i].Op; op == kernel.Invalid {
			used[castRevision] = true
		} else {
			used[op.String()] = true
		}
	}
	for i := range p.Loads {
		l := &p.Loads[i]
		switch l.Kind {
		case LoadIota:
			used[iotaRevision] = true
		case LoadRandom:
			used[randomRevision] = true
		case LoadBlocks:
			used[blockwise.Name(l.Op.Op)] = true
			if r, ok := l.Rows(); ok {
				r.Plan.revised(used)
			}
		}
		for k := range l.Inputs {
			l.Inputs[k].revised(used)
		}
	}
}

// revisionDifference says how the revisions of what an earlier version made differ from the
// present ones; "" where they do not.
func revisionDifference(present, earlier string) string {
	if present == earlier {
		return ""
	}
	was, ok := parseRevisions(earlier)
	if !ok {
		return "it was begun by another version of gonbext"
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if was[name] > max(revisions[name], 1) {
			return "it was begun by a later version of gonbext"
		}
	}
	now, _ := parseRevisions(present)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] != was[name] {
			return fmt.Sprintf("it was begun by an earlier version of gonbext, whose %s was another", name)
		}
	}
	return "it was begun by another version of gonbext"
}

func parseRevisions(text string) (map[string]int, bool) {
	entries := strings.Split(text, ", ")
	all := map[string]int{}
	for _, entry := range entries[1:] {
		at := max(strings.LastIndexByte(entry, ' '), 0)
		n, err := strconv.Atoi(strings.TrimSpace(entry[at:]))
		if err != nil {
			return nil, false
		}
		all[entry[:at]] = n
	}
	return all, entries[0] == firstRevisions
}
