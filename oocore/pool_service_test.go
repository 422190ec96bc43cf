package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gonbext/gonbext/oocore"
)

// tiles serves parts of a stored picture as PNG, at /tile?z=2&y=0&x=1: level z has one pixel for each block of
// 2^z × 2^z. Each request has a share of a pool, so that memory does not grow with the number of requests: those that find no
// room wait in the order in which they came, as long as their client does.
type tiles struct {
	picture *oocore.Array // uint8, height × width
	pool    *oocore.Pool
}

// tileSize is the number of pixels of a tile in each direction.
const tileSize = 256

func (s *tiles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number := func(name string) int {
		n, err := strconv.Atoi(r.URL.Query().Get(name))
		if err != nil || n < 0 || n > 1<<20 {
			return 0
		}
		return n
	}
	block, shape := 1<<min(number("z"), 8), s.picture.Shape()
	top, left := number("y")*tileSize*block, number("x")*tileSize*block
	if top >= shape[0] || left >= shape[1] {
		http.Error(w, "the picture ends before this tile", http.StatusNotFound)
		return
	}
	height, width := min(shape[0]-top, tileSize*block)/block, min(shape[1]-left, tileSize*block)/block
	if height == 0 || width == 0 {
		http.Error(w, "the picture is smaller than a pixel of this level", http.StatusNotFound)
		return
	}
	tile := s.picture.Slice(fmt.Sprintf("%d:%d, %d:%d", top, top+height*block, left, left+width*block)).
		Reshape(height, block, width, block).Mean(1, 3).AsType(oocore.Uint8)
	pixels, err := oocore.Collect[uint8](r.Context(), tile, oocore.In(s.pool), oocore.Memory("16MiB"), oocore.Workers(1))
	switch {
	case r.Context().Err() != nil: // the client has gone
		return
	case errors.As(err, new(*oocore.BusyError)): // only with oocore.NoWait
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		log.Print(err)
		http.Error(w, "the tile cannot be computed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	if err := png.Encode(w, &image.Gray{Pix: pixels, Stride: width, Rect: image.Rect(0, 0, width, height)}); err != nil {
		log.Print(err)
	}
}

// A service of tiles, each request with its share of the memory, which a large run in the same program has a share of too.
func ExampleNewPool() {
	dir, err := os.MkdirTemp("", "tiles")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rows := oocore.Arange(0, 1024, 1).Reshape(1024, 1)
	picture, err := rows.Add(oocore.Arange(0, 1500, 1)).Mod(256).AsType(oocore.Uint8).Save(context.Background(), filepath.Join(dir, "picture.npy"))
	if err != nil {
		log.Fatal(err)
	}
	pool := oocore.NewPool("256MiB")
	server := httptest.NewServer(&tiles{picture, pool})
	defer server.Close()

	large := make(chan error, 1)
	go func() {
		_, err := picture.Sort(0).Save(context.Background(), filepath.Join(dir, "sorted.npy"), oocore.In(pool), oocore.Memory("64MiB"), oocore.Workers(1))
		large <- err
	}()
	for _, tile := range []string{"z=0&y=0&x=0", "z=2&y=0&x=1", "z=0&y=9&x=0"} {
		response, err := http.Get(server.URL + "/tile?" + tile)
		if err != nil {
			log.Fatal(err)
		}
		if response.StatusCode != http.StatusOK {
			fmt.Println(tile, response.Status)
		} else if m, err := png.Decode(response.Body); err != nil {
			log.Fatal(err)
		} else {
			fmt.Println(tile, m.Bounds().Max, m.At(1, 2))
		}
		response.Body.Close()
	}
	if err := <-large; err != nil {
		log.Fatal(err)
	}
	// Output:
	// z=0&y=0&x=0 (256,256) {3}
	// z=2&y=0&x=1 (119,256) {15}
	// z=0&y=9&x=0 404 Not Found
}
