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
