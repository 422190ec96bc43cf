package chart

import (
	"slices"
	"testing"
)

func TestJoinEqualMakesOneRowOfCardsThatSayTheSame(t *testing.T) {
	card := func(name, memory, time string) []string {
		return []string{name, memory, "1 of 1", time, "the disk"}
	}
	got := joinEqual([][]string{card("model:8GiB", "8 GiB", "1 s"), card("T4", "15 GiB", "1 s"), card("L4", "22 GiB", "1 s"), card("H200", "140 GiB", "1 s"), card("slow", "1 GiB", "2 s")})
	want := [][]string{card("model:8GiB", "8 GiB", "1 s"), card("T4 to H200: 3 cards", "15 GiB to 140 GiB", "1 s"), card("slow", "1 GiB", "2 s")}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	if joinEqual(nil) != nil {
		t.Error("no cards are a row")
	}
}
