package oocore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestSlicesOfIntAndOfNamedTypesAreArrays(t *testing.T) {
	type metres float32
	type id uint16
	a := oocore.FromSlice([]int{3, 1, 2})
	if a.DType() != oocore.Int64 {
		t.Errorf("a slice of int is %s", a.DType())
	}
	if v, err := oocore.Collect[int](t.Context(), a.Sort(0)); err != nil || !slices.Equal(v, []int{1, 2, 3}) {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := oocore.Collect[metres](t.Context(), oocore.FromSlice([]metres{1, 4}).Sqrt()); err != nil || !slices.Equal(v, []metres{1, 2}) {
		t.Errorf("%v, %v", v, err)
	}
	for got, want := range map[*oocore.Array]oocore.DType{
		oocore.FromSlice([]id{1}): oocore.Uint16, oocore.FromSlice([]uint{1}): oocore.Uint64,
		oocore.FromSlice([]oocore.Float16Bits{1}): oocore.Float16, oocore.FromSlice([]oocore.BFloat16Bits{1}): oocore.BFloat16,
	} {
		if got.DType() != want {
			t.Errorf("%s, want %s", got.DType(), want)
		}
	}
}

func TestCollectRejectsOptionsOfStoredResults(t *testing.T) {
	x := oocore.Arange(0, 12, 1.0)
	for name, o := range map[string]oocore.Option{
		"Codec": oocore.Codec("zstd"), "DimNames": oocore.DimNames("time"), "Shards": oocore.Shards(4), "Region": oocore.Region("0:2"),
		"Attributes": oocore.Attributes(map[string]any{"units": "m"}), "FillValue": oocore.FillValue(1.0),
	} {
		_, err := oocore.Collect[float64](t.Context(), x, o)
		if _, ok := errors.AsType[*oocore.OptionError](err); !ok || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := oocore.Collect[float64](t.Context(), x, oocore.Chunks(4)); err != nil {
		t.Error(err)
	}
}

func TestMapAllWithoutArraysNeedsNoSource(t *testing.T) {
	fill := func(dst []int64, _ [][]int64, at oocore.Block) error {
		for i := range dst {
			dst[i] = int64(at.Start[0] + i)
		}
		return nil
	}
	a := oocore.MapAll(fill, nil, oocore.MapOptions{Shape: []int{5}, Chunks: []int{2}})
	if v, err := oocore.Collect[int64](t.Context(), a); err != nil || !slices.Equal(v, []int64{0, 1, 2, 3, 4}) {
		t.Errorf("%v, %v", v, err)
	}
	if err := oocore.MapAll(fill, nil, oocore.MapOptions{}).Err(); err == nil || !strings.Contains(err.Error(), "no Shape") {
		t.Errorf("without a shape: %v", err)
	}
}

func TestReportOfFailedSaveAllListsNoMissingFiles(t *testing.T) {
	dir := t.TempDir()
	x := oocore.Arange(0, 4096, 1.0)
	broken := oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { return errors.New("no") }, x, oocore.MapOptions{})
	var r oocore.RunReport
	outputs := []oocore.Output{{Array: x.Sqrt(), Path: filepath.Join(dir, "a.npy")}, {Array: broken, Path: filepath.Join(dir, "b.npy")}}
	if _, err := oocore.SaveAll(t.Context(), outputs, oocore.Report(&r)); err == nil || r.Status != oocore.StatusFailed {
		t.Errorf("%v, %+v", err, r)
	}
	for _, path := range r.Outputs {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the report lists %s: %v", path, err)
		}
	}
}
