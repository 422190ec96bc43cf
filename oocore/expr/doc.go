package expr

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
