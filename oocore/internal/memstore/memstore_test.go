package memstore_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

func TestArray(t *testing.T) {
	storetest.TestArray(t, dtype.All(), func(_ testing.TB, m store.Meta, data []byte) store.Array {
		return memstore.New(m.Shape, m.DType, data)
	})
}

func TestFolder(t *testing.T) {
	place := func(testing.TB) storetest.Place {
		var f memstore.Folder
		return storetest.Place{
			Create: func(m store.Meta) (store.Writer, error) { return f.Create("a", m) },
			Open:   func(store.Meta) (store.Array, error) { return f.Open("a") },
			Left: func() []string {
				if a, err := f.Open("a"); err == nil {
					return []string{a.Info().Path}
				}
				return nil
			},
		}
	}
	storetest.TestWriter(t, dtype.All(), place)
	t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
	t.Run("region", func(t *testing.T) { storetest.TestRegion(t, dtype.All(), place) })
}
