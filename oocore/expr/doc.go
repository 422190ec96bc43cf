package expr

import "github.com/gonbext/gonbext/oocore/kernel"

// Doc is what the list of operations says of one.
type Doc struct {
	NumPy   string // its name there: "np.sort"
	Passes  string // over the data: "1", "2 read, 1 written"
	Working string // what it holds at once, beside one chunk of its inputs and its result
}

// docs are by the functions' names.
var docs = make(map[string]Doc)

// document adds what is to be said of a function.
func document(name string, d Doc) { docs[name] = d }

// fused are the passes of what is part of whatever reads it.
const fused = "none of its own"

func init() {
	for kind := kernel.Sum; kind <= kernel.CountNonzero; kind++ {
		document(kind.String(), Doc{NumPy: "np." + kind.String(), Passes: "1, shared with others along the same axes", Working: "an accumulator for each result"})
	}
	for _, name := range []string{"transpose", "reshape", "broadcast_to", "expand_dims", "squeeze", "arange", "full", "zeros", "ones"} {
		document(name, Doc{NumPy: "np." + name, Passes: fused, Working: "a block"})
	}
	document("slice", Doc{NumPy: "x[...]", Passes: fused, Working: "a block"})
	document("matmul", Doc{NumPy: "np.matmul", Passes: "each operand once for every group of tiles of the other, as many as fit",
		Working: "a group of tiles and a panel of each operand"})
}
