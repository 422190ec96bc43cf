package graph

import (
	"runtime"
	"testing"
)

// A function literal of this module that the compiler has inlined is named after the user's function.
func TestInlinedLiteralsAreNotTheUsers(t *testing.T) {
	for _, f := range []struct {
		runtime.Frame
		own bool
	}{
		{runtime.Frame{Function: "main.main", File: "/home/user/main.go"}, false},
		{runtime.Frame{Function: "main.main.(*Collection).Map.func1", File: oocoreFiles + "collection.go"}, true},
		{runtime.Frame{Function: module + "/oocore.Open", File: oocoreFiles + "array.go"}, true},
	} {
		if own(f.Frame) != f.own {
			t.Errorf("%s of %s: own is %v", f.Function, f.File, !f.own)
		}
	}
}
