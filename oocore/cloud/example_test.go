package cloud_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/cloud"
)

// An array of a web server: of its elements, those are read that the expression takes.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	if _, err := oocore.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3).Save(ctx, filepath.Join(dir, "x.npy")); err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()

	x := oocore.Open(server.URL + "/x.npy")
	row, err := oocore.Collect[int32](ctx, x.Slice("1").Mul(10))
	fmt.Println(x.Shape(), row, err)
	// Output: [2 3] [40 50 60] <nil>
}
