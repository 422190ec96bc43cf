package model_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/cuda/internal/driver/drivertest"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/device"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestModelPassesTheSuiteOfDrivers(t *testing.T) {
	for name, order := range map[string]model.Order{"concurrent": model.Concurrent, "lazy": model.Lazy, "hasty": model.Hasty} {
		t.Run(name, func(t *testing.T) {
			drivertest.Test(t, &model.Driver{Name: "model", Memory: 64 << 20, Order: order, Rates: device.Rates{Upload: 1e9, Download: 1e9, Memory: 1e10, Arithmetic: 1e10}})
		})
	}
}
