//go:build race

package oocore_test

import "testing"

// smallBudget leaves out a test whose budget the race detector's own memory exceeds.
func smallBudget(t *testing.T) { t.Skip("the race detector's memory counts in a budget") }
