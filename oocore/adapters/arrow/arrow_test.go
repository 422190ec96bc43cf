package arrow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/adapters/arrow"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small has columns of ten rows in groups of four, by pyarrow: price, vector (of three), day, name and gap.
const small = "testdata/small.parquet"

func Example() {
	ctx := context.Background()
	fmt.Println(oocore.OpenAll("testdata/small.parquet"))
	vectors := oocore.Open("testdata/small.parquet#vector")
	fmt.Println(vectors.Shape(), vectors.DType())
	fmt.Println(oocore.Collect[float32](ctx, vectors.Mean(0), oocore.Memory("64MiB")))
	// Output:
	// 5 arrays: price, vector, day, name, gap
	// [10 3] float32
	// [13.5 14.5 15.5] <nil>
}

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that pyarrow writes", "testdata/make.py", 150)
}

func TestKerchunkReferencesInParquet(t *testing.T) {
	storetest.Foreign(t, "references that fsspec writes", "testdata/references.py", 100)
}

func TestRegionsOfColumns(t *testing.T) {
	for name, data := range map[string][]byte{
		"price":  dtype.Bytes([]float64{0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5, 12, 13.5}),
		"day":    dtype.Bytes([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
		"vector": vector(),
	} {
		a, err := store.Open(small + "#" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		info := a.Info()
		if info.Chunks[0] != 4 {
			t.Errorf("%s: chunks %v, want row groups of 4", name, info.Chunks)
		}
		storetest.TestCoded(t, a, data, info.Work.Whole)
	}
}

func vector() []byte {
	v := make([]float32, 30)
	for i := range v {
		v[i] = float32(i)
	}
	return dtype.Bytes(v)
}

func TestColumnsThatAreNoArraysAreRejected(t *testing.T) {
	for path, words := range map[string]string{
		small:              `the file has "price", "vector", "day", "gap": add #NAME to the path, or #table for all`,
		small + "#missing": `there is no column "missing": the file has "price"`,
		small + "#name":    "its elements are String: arrays have numbers",
		small + "#table":   `column "vector": its elements are lists or dates; a table is of numbers alone`,
		"go.parquet":       "no such file",
	} {
		if err := oocore.Open(path).Err(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", path, err, words)
		}
	}
	if got, err := oocore.Collect[float64](t.Context(), oocore.Open(small+"#gap")); err != nil || !math.IsNaN(got[5]) || math.IsNaN(got[4]) {
		t.Errorf("a missing value: %v: %v", got, err)
	}
	if _, err := oocore.Zeros(oocore.Uint8, 4).Save(t.Context(), filepath.Join(t.TempDir(), "o.parquet")); err == nil || !strings.Contains(err.Error(), "gonbext convert or by Write of package oocore/adapters/arrow") {
		t.Errorf("saving a Parquet file: %v", err)
	}
}

func TestDatesHaveUnits(t *testing.T) {
	a, err := store.Open(small + "#day")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := string(a.Info().Details.Attributes); !strings.Contains(got, `"days since 1970-01-01"`) || a.Info().DType != dtype.Int32 {
		t.Errorf("%s of %v", got, a.Info().DType)
	}
}

func TestColumnsOfAFileAreSavedWithinABudget(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	saved, err := oocore.OpenAll(small).Match("[pv]*").Save(t.Context(), filepath.Join(t.TempDir(), "o.npz"), oocore.Memory("64MiB"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := oocore.Collect[float32](t.Context(), saved.Get("vector"))
	if err != nil || !bytes.Equal(dtype.Bytes(got), vector()) || !slices.Equal(saved.Names(), []string{"price", "vector"}) {
		t.Errorf("%v of %v: %v", got, saved.Names(), err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, small, testcases.Rand(t), 1500, "#price", "#vector", "#gap")
}

// written is a Parquet file of a column of float64, in row groups of so many, by arrow-go.
func written(t *testing.T, groups, rows int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	field := schema.NewFloat64Node("x", parquet.Repetitions.Required, -1)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{field}, -1)
	if err != nil {
		t.Fatal(err)
	}
	w := file.NewParquetWriter(f, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Snappy))))
	values := make([]float64, rows)
	for g := range groups {
		for i := range values {
			values[i] = float64(g*rows + i)
		}
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		column, err := group.NextColumn()
		if err == nil {
			_, err = column.(*file.Float64ColumnChunkWriter).WriteBatch(values, nil, nil)
		}
		if err = errors.Join(err, column.Close(), group.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// What Go's heap is given while a row group is decoded is at most what the plan is told.
func TestHeapOfDecodingIsAsTold(t *testing.T) {
	a, err := store.Open(written(t, 1, 500_000))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	s, err := a.(storage.Coded).Session(make([]byte, info.Work.Whole))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	region := storetest.All(info.Shape)
	dst := make([]byte, region.Size()*8)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = s.Read(t.Context(), dst, region)
	runtime.ReadMemStats(&after)
	if took := int64(after.TotalAlloc - before.TotalAlloc); err != nil || took > info.Work.Heap || took < info.Work.Heap/8 {
		t.Errorf("decoding took %d bytes, the plan is told %d: %v", took, info.Work.Heap, err)
	}
}

func TestBudgetHoldsRowGroups(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.Open(written(t, 4, 500_000)).Sum()
	_, err := oocore.Collect[float64](t.Context(), x, oocore.Memory("16MiB"))
	var small *oocore.MemoryError
	if !errors.As(err, &small) {
		t.Fatalf("within 16 MiB: %v", err)
	}
	sum, err := oocore.Collect[float64](t.Context(), x, oocore.Memory(fmt.Sprint(small.Need)))
	if want := 2e6 * (2e6 - 1) / 2; err != nil || sum[0] != want {
		t.Errorf("within the %d bytes that are needed: %v, want %v: %v", small.Need, sum, want, err)
	}
}
