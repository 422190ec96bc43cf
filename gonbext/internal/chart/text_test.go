package chart

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestMostCostlyKeepsOrderAndNoParts(t *testing.T) {
	var operations []operation
	var want []string
	for i := range 2 * longestText {
		name := fmt.Sprint(i)
		operations = append(operations, operation{Name: name, Head: true, Time: time.Duration(i % 2)}, operation{Name: "part", Time: time.Hour})
		if i%2 == 1 {
			want = append(want, name)
		}
	}
	var got []string
	for _, o := range mostCostly(operations) {
		got = append(got, o.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}
