package carry_test

import (
	"fmt"
	"os"

	"github.com/gonbext/gonbext/gonbext/carry"
)

// What the kernel makes of two cells: the first ends in Keep, the second begins with Load.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	os.Setenv(carry.Folder, folder)
	defer os.Unsetenv(carry.Folder)

	x := []int{1, 2, 3}
	first := &x[0]
	carry.Keep("cell", carry.Others{}, carry.At("x", &x), carry.At("first", &first))

	sections, _, _ := carry.Read(folder, "cell")
	for _, s := range sections { // of variables that share memory
		var x []int
		var first *int
		carry.Load(s.File, s.At, carry.Held(), carry.At("x", &x), carry.At("first", &first))
		*first = 10
		fmt.Println(s.Names, s.Types, x)
	}
	// Output: [x first] [[]int *int] [10 2 3]
}
