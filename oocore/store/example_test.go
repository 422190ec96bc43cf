package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/gonbext/gonbext/oocore" // which registers the formats
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Every second column of a stored array.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	raw := filepath.Join(dir, "x.bin")
	if err := os.WriteFile(raw, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	a, err := store.Open(raw + "?shape=2x4&dtype=" + dtype.Uint8.String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	elements := make([]byte, 4)
	err = a.Read(context.Background(), elements, types.Region{Start: []int{0, 0}, Count: []int{2, 2}, Step: []int{1, 2}})
	fmt.Println(a.Info().Format, a.Info().Shape, elements, err)
	// Output: raw [2 4] [1 3 5 7] <nil>
}
