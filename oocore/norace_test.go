//go:build !race

package oocore_test

import "testing"

func smallBudget(*testing.T) {}
