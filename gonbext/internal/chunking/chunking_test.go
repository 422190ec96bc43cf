package chunking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slowly counts by looking at each place.
func slowly(n, w, chunk int) float64 {
	all := 0
	for from := 0; from+w <= n; from++ {
		all += (from+w-1)/chunk - from/chunk + 1
	}
	return float64(all) / float64(n-w+1)
}

func TestTouchedIsTheMeanOfAllPlaces(t *testing.T) {
	for n := 1; n < 40; n++ {
		for w := 1; w <= n; w++ {
			for c := 1; c <= n; c++ {
				if got, want := touched(n, w, c), slowly(n, w, c); math.Abs(got-want) > 1e-9 {
					t.Fatalf("%d of %d by chunks of %d: %v, want %v", w, n, c, got, want)
				}
			}
		}
	}
}

// The proposal takes at most 1.2 times the bytes of the best of all chunk shapes, whichever the reads.
func TestChooseIsNearTheBestOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 1.0
	for range 60 {
		dims := 1 + r.IntN(3)
		a := Array{Item: 4, Limits: Limits{Least: 4 << 10, Most: 32 << 10}}
		for range dims {
			a.Shape = append(a.Shape, 1+r.IntN([]int{0, 50_000, 400, 60}[dims]))
		}
		var reads []Read
		for range 1 + r.IntN(4) {
			read := Read{Weight: math.Exp(6 * r.Float64())}
			for _, n := range a.Shape {
				read.Lengths = append(read.Lengths, []int{1, n, 1 + r.IntN(n)}[r.IntN(3)])
			}
			reads = append(reads, read)
		}
		// Each length of each axis, with what each read touches by enumeration.
		tables := make([][][]float64, dims)
		for d, n := range a.Shape {
			for c := range n {
				if dims == 1 && c > 20_000/a.Item {
					break
				}
				row := make([]float64, len(reads))
				for i, read := range reads {
					if row[i] = touched(n, read.Lengths[d], c+1); dims > 1 {
						row[i] = slowly(n, read.Lengths[d], c+1)
					}
				}
				tables[d] = append(tables[d], row)
			}
		}
		least := math.Inf(1)
		small := min(float64(a.Limits.Least), a.bytes(a.Shape))
		chunk := make([]int, dims)
		var sweep func(d int)
		sweep = func(d int) {
			if d < dims {
				for chunk[d] = 1; chunk[d] <= len(tables[d]); chunk[d]++ {
					sweep(d + 1)
				}
				return
			}
			bytes := a.bytes(chunk)
			if bytes < small || bytes > float64(a.Limits.Most) {
				return
			}
			sum, weights := 0.0, 0.0
			for i, read := range reads {
				n := read.Weight
				for d, c := range chunk {
					n *= tables[d][c-1][i]
				}
				sum, weights = sum+n*bytes, weights+read.Weight
			}
			least = min(least, sum/weights)
		}
		sweep(0)
		got := a.Choose(reads)
		if n := a.bytes(got.Chunks); n < small || n > float64(a.Limits.Most) {
			t.Errorf("chunks %v of %v have %v bytes", got.Chunks, a.Shape, n)
		}
		if worst = max(worst, got.Bytes/least); got.Bytes > 1.2*least {
			t.Errorf("%v, reads %v: chunks %v take %v bytes, the best take %v", a.Shape, reads, got.Chunks, got.Bytes, least)
		}
	}
	t.Logf("the worst takes %v of the best", worst)
}

func TestShardsAreWholeChunksOfManyChunks(t *testing.T) {
	a := NewArray([]int{40_000, 1200, 600}, 4)
	reads := []Read{{10, []int{40_000, 1, 1}}, {1, []int{1, 1200, 600}}}
	all := a.Candidates([]int{1, 1200, 600}, nil, reads)
	got := all[0]
	if got.Shards == nil {
		t.Fatalf("no shards for %v", got.Chunks)
	}
	for d, n := range got.Shards {
		if n%got.Chunks[d] != 0 {
			t.Errorf("shards %v of chunks %v", got.Shards, got.Chunks)
		}
	}
	if n := a.bytes(got.Shards); n < shardBytes || n > 2*shardBytes {
		t.Errorf("shards of %v bytes", n)
	}
	i := slices.IndexFunc(all, func(c Candidate) bool { return slices.Equal(c.Chunks, []int{1, 1200, 600}) })
	if i < 1 || all[i].Reads[0].Requests != 40_000 || all[i].Reads[1] != (Count{1200 * 600 * 4, 1}) {
		t.Errorf("maps are not counted as they are: %+v", all)
	}
	for _, c := range all[1:] {
		if c.Bytes < got.Bytes {
			t.Errorf("%v takes less than the proposal %v", c, got)
		}
	}
}

func TestParseReads(t *testing.T) {
	reads, err := Parse(strings.NewReader("# mine\n100 :x1x1  # time series\n\n.5 1x500x9\n"), []int{30, 20, 10})
	if want := "[{100 [30 1 1]} {0.5 [1 20 9]}]"; err != nil || fmt.Sprint(reads) != want {
		t.Errorf("%v, %v, want %s", reads, err, want)
	}
	for text, want := range map[string]string{
		"": "no reads", "1": "line 1", "1 2x3": "2 lengths", "0 1x1x1": "not a weight", "nan 1x1x1": "not a weight", "1 0x1x1": "not a length", "1 ax1x1": "not a length",
		"\n1 1x1x1 5": "line 2", strings.Repeat("1 1x1x1\n", 200): "more than 100", "\x00": "not a weight",
	} {
		if _, err := Parse(strings.NewReader(text), []int{3, 3, 3}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}
