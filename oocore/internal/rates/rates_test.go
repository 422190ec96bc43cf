package rates

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// made is a machine whose rates are known: by how much each kind of work differs.
var made = []struct {
	work   record.Work
	factor float64
}{
	{record.Work{Of: record.Reading, Kind: "file"}, 2},
	{record.Work{Of: record.Computing, Kind: "exp"}, 0.5},
	{record.Work{Of: record.Computing, Kind: "add"}, 3},
	{record.Work{Of: record.Decoding, Kind: "zstd:3"}, 1.5},
	{record.Work{Of: record.Writing, Kind: "file"}, 0.8},
	{record.Work{Of: record.Organising, Kind: "tasks"}, 1.2},
	{record.Work{Of: record.Encoding, Kind: "blosc:lz4:5"}, 4},
}

// mixture is work of some of the kinds, and the time of cores that the machine takes.
func mixture(r *rand.Rand) (work []record.Work, cpu float64) {
	for _, m := range made {
		if r.IntN(2) == 0 {
			m.work.Nanos = 1e7 * (1 + 99*r.Float64())
			work = append(work, m.work)
			cpu += m.work.Nanos / 1e9 * m.factor
		}
	}
	return work, cpu
}

// asRuns are runs of one stage each, which take nothing besides.
func asRuns(stages []stage) (runs []run) {
	for _, s := range stages {
		runs = append(runs, run{stages: []stage{s}})
	}
	return runs
}

// Kinds are held to their activity, which draws what sixty stages tell little of towards
// it: of 5,000 seeds the worst prediction is off by 3 % in the median, by 16 % in one of a
// hundred.
func TestLearnedRatesPredictOtherMixtures(t *testing.T) {
	var worst []float64 // of each seed, relative
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var stages []stage
		for len(stages) < 60 {
			if work, cpu := mixture(r); cpu > 0 {
				stages = append(stages, stage{work, cpu / 2, cpu, 2})
			}
		}
		rates := learn(asRuns(stages))
		worst = append(worst, 0)
		for range 50 {
			work, cpu := mixture(r)
			for _, cores := range []float64{1, 2, 8} {
				got, want := rates.stage(work, cores), cpu/cores
				off := math.Abs(got.Likely - want)
				if off > 0.16*want || got.Low > got.Likely || got.High < got.Likely {
					t.Errorf("seed %d: %v on %g cores: %+v, want %g", seed, work, cores, got, want)
				}
				if want > 0 {
					worst[seed] = max(worst[seed], off/want)
				}
			}
		}
	}
	if m := quantile(worst, 0.5); m > 0.05 {
		t.Errorf("the worst predictions are off by %.3g in the median", m)
	}
}

func TestStageWithIdleCoresIsLimitedByTheDisk(t *testing.T) {
	const rate = 400e6 // bytes a second
	var stages []stage
	for i := range 20 {
		bytes := int64(i+1) * 50e6
		work := []record.Work{{Of: record.Reading, Kind: "file", Nanos: float64(bytes) * 0.1, Bytes: bytes, Disk: bytes}}
		stages = append(stages, stage{work, float64(bytes) / rate, float64(bytes) * 0.1e-9, 2})
		cached := []record.Work{{Of: record.Reading, Kind: "file", Nanos: float64(bytes) * 0.1, Bytes: bytes}}
		stages = append(stages, stage{cached, float64(bytes) * 0.05e-9, float64(bytes) * 0.1e-9, 2})
	}
	rates := learn(asRuns(stages))
	work := []record.Work{{Of: record.Reading, Kind: "file", Nanos: 1e8, Bytes: 1e9, Disk: 1e9}}
	if got := rates.stage(work, 2); math.Abs(got.Likely-1e9/rate) > 0.1*1e9/rate || got.Limit != "the disk" {
		t.Errorf("a gigabyte from the disk: %+v", got)
	}
	work[0].Disk = 0
	if got := rates.stage(work, 2); got.Likely > 0.1 || got.Limit != string(record.Reading) {
		t.Errorf("a gigabyte from the page cache: %+v", got)
	}
}

// Codecs take their time by what they are given: data that takes one codec longer takes
// another one longer, too.
func TestCodecsTakeLongerForSomeData(t *testing.T) {
	take := func(codec, path string, seconds float64) stage {
		work := []record.Work{{Of: record.Encoding, Kind: codec, Path: path, Nanos: 1e9}, {Of: record.Computing, Kind: "sqrt", Nanos: 1e8}}
		return stage{work, (seconds + 0.1) / 2, seconds + 0.1, 2}
	}
	var stages []stage
	for range 10 {
		stages = append(stages, take("zstd:1", "noise.npy", 1), take("zstd:1", "counts.zarr", 3), take("zstd:3", "noise.npy", 2),
			stage{[]record.Work{{Of: record.Computing, Kind: "sqrt", Nanos: 1e9}}, 0.5, 1, 2})
	}
	rates := learn(asRuns(stages))
	for _, c := range []struct {
		codec, path string
		seconds     float64
	}{{"zstd:1", "noise.npy", 1}, {"zstd:1", "counts.zarr", 3}, {"zstd:3", "noise.npy", 2}, {"zstd:3", "counts.zarr", 6}} {
		got := rates.stage(take(c.codec, c.path, c.seconds).work, 2)
		if want := (c.seconds + 0.1) / 2; math.Abs(got.Likely-want) > 0.2*want {
			t.Errorf("%s of %s: %.3g seconds, want %.3g", c.codec, c.path, got.Likely, want)
		}
	}
}

func TestKindThatNoRunHasDoneWidensTheRange(t *testing.T) {
	work := []record.Work{{Of: record.Computing, Kind: "exp", Nanos: 1e9}}
	var stages []stage
	for range 10 {
		stages = append(stages, stage{work, 1, 2, 2})
	}
	rates := learn(asRuns(stages))
	known, new := rates.stage(work, 2), rates.stage([]record.Work{{Of: record.Computing, Kind: "tan", Nanos: 1e9}}, 2)
	if math.Abs(known.Likely-1) > 0.05 || math.Abs(new.Likely-1) > 0.05 {
		t.Errorf("likely %g and %g seconds, want 1", known.Likely, new.Likely)
	}
	if new.High/new.Low < 2*known.High/known.Low {
		t.Errorf("the ranges are %+v and %+v", known, new)
	}
}

// A machine that others have begun to use takes longer, as the latest stages tell.
func TestLatestStagesCountMost(t *testing.T) {
	work := []record.Work{{Of: record.Computing, Kind: "exp", Nanos: 1e9}}
	var stages []stage
	for i := range 100 {
		s := stage{work, 0.5, 1, 2}
		if i < 25 { // the latest come first
			s.seconds = 2
		}
		stages = append(stages, s)
	}
	if got := learn(asRuns(stages)).stage(work, 2).Likely; math.Abs(got-2) > 0.1 {
		t.Errorf("%g s are predicted, where the latest stages took 2 and those before 0.5", got)
	}
}

// Of plans that are like those that ran, at least nine of ten are within the range, whose
// width is that of the machine's own noise; and a machine that takes now this long and now
// three times as long is not predicted.
func TestRangeHoldsNineOfTenPlansOfANoisyMachine(t *testing.T) {
	for _, c := range []struct {
		noise float64 // the standard deviation of a time's logarithm
		known bool
	}{{0.02, true}, {0.12, true}, {0.6, false}} {
		inside, all, known, seeds := 0, 0, 0, 20
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 2))
			var stages []stage
			for len(stages) < 60 {
				if work, cpu := mixture(r); cpu > 0 {
					cpu *= math.Exp(c.noise * r.NormFloat64())
					stages = append(stages, stage{work, cpu / 2, cpu, 2})
				}
			}
			rates := learn(asRuns(stages))
			for range 50 {
				work, cpu := mixture(r)
				if cpu == 0 {
					continue
				}
				all++
				took, got := cpu/2*math.Exp(c.noise*r.NormFloat64()), rates.stage(work, 2)
				if got.Low <= took && took <= got.High {
					inside++
				}
				if got.Known() {
					known++
				}
			}
		}
		if inside < all*9/10 || known != map[bool]int{true: all}[c.known] {
			t.Errorf("noise of %g: %d of %d are within the range, %d are known", c.noise, inside, all, known)
		}
	}
}

func TestEndsCountBytesThatArePagesToBeMadeDurable(t *testing.T) {
	h := header("this")
	h.Stages[0].Written = 3 << 20
	h.Stages[0].Work = []record.Work{{Of: record.Writing, Kind: record.PagesWritten, Nanos: 1, Bytes: 1 << 20}, {Of: record.Writing, Kind: "file, written behind", Nanos: 1, Bytes: 2 << 20},
		{Of: record.Writing, Kind: "file, past the page cache", Nanos: 1, Bytes: 2 << 20}}
	if got, want := endsOf(&h), [ends]float64{1, 1, 0, 1 << 20}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	h.Stages[0].Work[0].Bytes = 8 << 30
	if got := endsOf(&h)[3]; got != mostPages {
		t.Errorf("of 8 GiB %v bytes are left to a run's end, want %d: a run makes them durable about once a second", got, mostPages)
	}
}

// header is of a plan of one stage.
func header(processor string) record.Header {
	work := []record.Work{{Of: record.Computing, Kind: "exp", Nanos: 1e9}}
	return record.Header{Title: "exp(x)", Output: "y.npy", Processor: processor, Workers: 2,
		Stages: []record.Stage{{Name: "exp(x)", Kind: "map", Tasks: 4, Slots: 4, Work: work}}}
}

func end() record.End {
	return record.End{Status: record.Done, Duration: 1100 * time.Millisecond, Stages: []record.Spent{{Tasks: 4, Seconds: 1, CPU: 2}}}
}

func write(t *testing.T, dir string, h record.Header, e record.End) {
	t.Helper()
	w, err := record.Create(dir, h)
	if err == nil {
		err = w.End(e)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadLeavesOutRecordsThatSayNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, header("another processor"), end())
	h := header("this")
	for _, change := range []func(*record.Header, *record.End){
		func(_ *record.Header, e *record.End) { e.Status = record.Failed },
		func(_ *record.Header, e *record.End) { e.Skipped = 2 },
		func(_ *record.Header, e *record.End) { e.Stages = nil },
		func(_ *record.Header, e *record.End) { e.Stages[0].Tasks = 3 },
		func(_ *record.Header, e *record.End) { e.Stages[0].CPU = 0 },
		func(_ *record.Header, e *record.End) { e.Stages[0].Seconds = 0 },
		func(_ *record.Header, e *record.End) { e.Stages[0].Seconds = -1 },
		func(_ *record.Header, e *record.End) { e.Stages[0].CPU = 1e6 },
		func(_ *record.Header, e *record.End) { e.Stages[0].Seconds = 1e300 },
		func(h *record.Header, _ *record.End) { h.Stages[0].Work = nil },
		func(h *record.Header, _ *record.End) { h.Stages[0].Work = []record.Work{{Nanos: -1}} },
		func(h *record.Header, _ *record.End) { h.Stages[0].Work = []record.Work{{Nanos: 1e300}} },
		func(h *record.Header, _ *record.End) { h.Stages[0].Work = []record.Work{{Nanos: 1, Bytes: 1, Disk: 2}} },
		func(h *record.Header, _ *record.End) { h.Stages[0].Transfers = &record.Transfers{Seconds: 1} },
	} {
		h, e := header("this"), end()
		change(&h, &e)
		write(t, dir, h, e)
	}
	for name, text := range map[string]string{"torn": "gonbrun\x01\xff\x00\x00\x00{\"run\":", "newer": "gonbrun\x02\x02\x00\x00\x00{}", "foreign": "{}", "empty": ""} {
		testcases.WriteFile(t, filepath.Join(dir, name+".gonbrun"), []byte(text), 0o600)
	}
	if r := Read(dir, "this"); r != nil {
		t.Errorf("rates were learned: %+v", r)
	}
	Read(dir, "this").Predict(&h)
	if h.Seconds != nil || h.Stages[0].Seconds != nil {
		t.Errorf("a time was predicted: %v", h.Seconds)
	}
	if Read(filepath.Join(dir, "none"), "this") != nil {
		t.Error("a folder that is not there has rates")
	}

	write(t, dir, header("this"), end())
	Read(dir, "this").Predict(&h)
	if h.Seconds == nil || math.Abs(h.Seconds.Likely-1.1) > 0.1 || math.Abs(h.Stages[0].Seconds.Likely-1) > 0.05 || h.Seconds.Limit != "computing" {
		text, _ := json.Marshal(h)
		t.Errorf("after a run of 1.1 s: %s", text)
	}
}

// A run of thousands of stages has said enough: older records are not read for more.
func TestReadLearnsFromSoManyStages(t *testing.T) {
	dir := t.TempDir()
	h := header("this")
	h.Stages[0].Work[0].Kind = "tan"
	write(t, dir, h, end())
	h, e := header("this"), end()
	h.Stages, e.Stages = slices.Repeat(h.Stages, mostStages+1), slices.Repeat(e.Stages, mostStages+1)
	e.Duration = (mostStages + 2) * time.Second
	write(t, dir, h, e)
	r := Read(dir, "this")
	if _, ok := r.Kind[kind{record.Computing, "exp"}]; !ok || len(r.Kind) != 1 {
		t.Errorf("it has learned of %v", r.Kind)
	}
}

// A clock that was set back changes the order of records, and nothing else.
func TestReadTakesRunsFromTheFuture(t *testing.T) {
	dir := t.TempDir()
	h := header("this")
	h.Start = time.Now().Add(24 * time.Hour)
	write(t, dir, h, end())
	Read(dir, "this").Predict(&h)
	if h.Seconds == nil || math.Abs(h.Seconds.Likely-1.1) > 0.1 {
		t.Errorf("predicted %v", h.Seconds)
	}
}

func TestRunsThatWaitForANetworkAreNeitherLearnedFromNorPredicted(t *testing.T) {
	dir := t.TempDir()
	h := header("this")
	h.Stages[0].Work = append(h.Stages[0].Work, record.Work{Of: record.Reading, Kind: record.Network, Nanos: 1, Bytes: 1})
	write(t, dir, h, end())
	if r := Read(dir, "this"); r != nil {
		t.Errorf("rates were learned: %+v", r)
	}
	write(t, dir, header("this"), end())
	if Read(dir, "this").Predict(&h); h.Seconds != nil {
		t.Errorf("predicted %v", h.Seconds)
	}
}

func TestLaterStagesFindInThePageCacheWhatItKeeps(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "x.npy")
	testcases.WriteFile(t, gone, make([]byte, 1<<20), 0o600)
	read := func(path string) record.Stage {
		return record.Stage{Work: []record.Work{{Of: record.Reading, Kind: "file", Nanos: 1, Bytes: 1 << 20, Path: path}}}
	}
	h := record.Header{Stages: []record.Stage{read(""), read(""), read(gone), read(gone)}}
	look(&h, 2<<20)
	for i, want := range []int64{1 << 20, 1 << 20, -1, 0} { // of the first read of the file, the system knows
		if got := h.Stages[i].Work[0].Disk; want >= 0 && got != want {
			t.Errorf("stage %d fetches %d bytes, want %d", i, got, want)
		}
	}
	if n := len(h.Stages[0].Work); n != 2 {
		t.Errorf("a stage that fetches has %d kinds of work, want one more", n)
	}
}

func TestPredictTakesDeviceThatIsSlowerThanTheHost(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, header("this"), end())
	h := header("this")
	h.Stages[0].Transfers = &record.Transfers{Seconds: 7, Limit: "the link"}
	Read(dir, "this").Predict(&h)
	if h.Stages[0].Seconds.Likely != 7 || h.Seconds.Limit != "the link" {
		t.Errorf("%+v", h.Stages[0].Seconds)
	}
}

// Rates are kept beside the records, and learned again when an eighth of these is newer.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	run := func(seconds float64) {
		e := end()
		e.Duration, e.Stages[0].Seconds, e.Stages[0].CPU = time.Duration(seconds*1.1e9), seconds, 2*seconds
		write(t, dir, header("this"), e)
	}
	if kept(dir, "this") != nil {
		t.Error("an empty log has rates")
	}
	for range 16 {
		run(1)
	}
	first := Read(dir, "this")
	for range 3 {
		if got := kept(dir, "this"); !reflect.DeepEqual(got, first) {
			t.Fatalf("kept %+v, learned %+v", got, first)
		}
		run(4)
	}
	if got := kept(dir, "this"); !reflect.DeepEqual(got, Read(dir, "this")) || reflect.DeepEqual(got, first) {
		t.Error("after more than an eighth of other runs, rates are those of before")
	}
	if kept(dir, "other") != nil {
		t.Error("another processor has these rates")
	}
	files, _ := filepath.Glob(filepath.Join(dir, ".rates-*"))
	for _, f := range files {
		testcases.WriteFile(t, f, []byte("damaged"), 0o600)
	}
	if got := kept(dir, "this"); !reflect.DeepEqual(got, Read(dir, "this")) {
		t.Error("a damaged file has rates")
	}
}
