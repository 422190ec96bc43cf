//go:build cuda && cgo && linux && (amd64 || arm64)

package gorgonia_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/gonbext/gonbext/cuda/internal/driver/double"
	"github.com/gonbext/gonbext/cuda/internal/driver/drivertest"
	"github.com/gonbext/gonbext/cuda/internal/driver/gorgonia"
)

var library *double.Library

func TestMain(m *testing.M) {
	folder, l, err := double.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	library = l
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func TestDriverPassesTheSuiteOfDrivers(t *testing.T) {
	d, err := gorgonia.Open()
	if err != nil {
		t.Fatal(err)
	}
	library.Memory(64 << 20)
	drivertest.Test(t, d)
}
