package group

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/stats"
)

// kindOf is the reduction of a name, and whether NaN does not count in it.
func kindOf(name string) (kind kernel.Reduction, skipNaN, ok bool) {
	for _, r := range kernel.Reductions() {
		if r.Name == name {
			return r.Reduction, false, true
		}
		if "nan"+r.Name == name && r.Family <= kernel.Position {
			return r.Reduction, true, true
		}
	}
	return 0, false, false
}

// names lists what groups, windows and blocks are reduced to.
func names(more ...string) string {
	var all []string
	for _, r := range kernel.Reductions() {
		all = append(all, r.Name)
	}
	return strings.Join(append(all, append(more, "median, and with nan before those that skip NaN")...), ", ")
}

// Named reduces an array along axes by the name of a reduction.
func Named(site graph.Site, name string, n *graph.Node, axes []int, ddof float64) (*graph.Node, error) {
	if name == "median" || name == "nanmedian" {
		if ddof != 0 {
			return nil, fmt.Errorf("%s has no use for a ddof, which is var's and std's", name)
		}
		return order.Median(site, n, order.QuantileOptions{Axes: axes, SkipNaN: name == "nanmedian"})
	}
	kind, skip, ok := kindOf(name)
	if !ok {
		return nil, noReduction(name)
	}
	return stats.Reduce(site, stats.ReduceArgs{Reduction: kind, SkipNaN: skip, X: n, Axes: axes, NoAxes: len(axes) == 0, DDof: ddof})
}

// SkipsNaN cuts what says so off the name of a reduction. Types without NaN have none to skip.
func skipsNaN(name string, t dtype.Type) (rest string, skips bool) {
	rest, skips = strings.CutPrefix(name, "nan")
	return rest, skips && t.Kind() >= dtype.KindFloat
}
