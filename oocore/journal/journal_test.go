package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/disk/disktest"
	"github.com/gonbext/gonbext/oocore/journal"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a journal with an entry of each kind, and says where each ends.
func write(t testing.TB, path string) (ends []int64) {
	j, err := journal.Create(path, map[string]string{"run": "a"})
	check(t, err)
	end := func() {
		check(t, j.Sync())
		st, err := os.Stat(path)
		check(t, err)
		ends = append(ends, st.Size())
	}
	end()
	for _, from := range []int64{0, 10, 5, 100} {
		var s journal.Set
		s.Add(from, 5)
		check(t, j.Tasks(1, &s))
		end()
	}
	check(t, j.Stage(0))
	end()
	check(t, j.Fold(2, 7, []byte("sums"), []byte("more")))
	end()
	check(t, j.Close())
	return ends
}

func TestJournalSaysWhatWasNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path)
	j, s, err := journal.Open(path)
	check(t, err)
	defer j.Close()
	var header map[string]string
	check(t, json.Unmarshal(s.Header, &header))
	if header["run"] != "a" {
		t.Errorf("the header is %s", s.Header)
	}
	if n := s.Done[1].Len(); n != 20 || !s.Done[1].Has(14) || s.Done[1].Has(15) || !s.Done[1].Has(104) {
		t.Errorf("%d tasks are done: %v", n, s.Done[1])
	}
	if !s.Finished[0] || s.Finished[1] {
		t.Errorf("finished stages are %v", s.Finished)
	}
	if f := s.Folds[2]; f.Next != 7 || string(f.State) != "sumsmore" {
		t.Errorf("the sums are %+v", f)
	}
}

func TestForgottenStage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path)
	j, _, err := journal.Open(path)
	check(t, err)
	for _, stage := range []int{0, 1, 2} {
		check(t, j.Forget(stage))
	}
	var again journal.Set
	again.Add(3, 2)
	check(t, j.Tasks(1, &again))
	check(t, j.Close())
	j, s, err := journal.Open(path)
	check(t, err)
	check(t, j.Close())
	if s.Done[1].Len() != 2 || len(s.Finished) > 0 || len(s.Folds) > 0 {
		t.Errorf("the journal still says %v %v %v", s.Done[1], s.Finished, s.Folds)
	}
}

// A reduction that goes on for days does not fill the disk with its sums.
func TestLongJournalIsWrittenAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path)
	j, _, err := journal.Open(path)
	check(t, err)
	sums := make([]byte, 8<<20)
	for i := range 20 {
		sums[i] = byte(i)
		check(t, j.Fold(2, int64(i), sums))
		check(t, j.Sync())
	}
	st, err := os.Stat(path)
	check(t, err)
	if st.Size() > 80<<20 {
		t.Errorf("the journal has %d bytes", st.Size())
	}
	check(t, j.Stage(3))
	check(t, j.Close())
	j, s, err := journal.Open(path)
	check(t, err)
	check(t, j.Close())
	if s.Done[1].Len() != 20 || !s.Finished[0] || !s.Finished[3] || s.Folds[2].Next != 19 || !bytes.Equal(s.Folds[2].State, sums) {
		t.Errorf("the journal says that %d tasks are done, stages %v, sums of the first %d", s.Done[1].Len(), s.Finished, s.Folds[2].Next)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	check(t, err)
	if len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// A journal that was cut anywhere, or damaged anywhere, says what its whole entries
// say, and goes on behind them.
func TestTornTailIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	ends := write(t, path)
	whole, err := os.ReadFile(path)
	check(t, err)
	entries := func(n int64) (want int) {
		for _, e := range ends[1:] {
			if e <= n {
				want++
			}
		}
		return want
	}
	count := func(s *journal.State) (n int) {
		n = len(s.Finished) + len(s.Folds)
		for _, first := range []int64{0, 10, 5, 100} {
			if s.Done[1].Has(first) {
				n++
			}
		}
		return n
	}
	for n := ends[0]; n <= int64(len(whole)); n++ {
		check(t, os.WriteFile(path, whole[:n], 0o600))
		j, s, err := journal.Open(path)
		check(t, err)
		if got := count(s); got != entries(n) {
			t.Fatalf("cut at byte %d it has %d entries, want %d", n, got, entries(n))
		}
		check(t, j.Stage(9))
		check(t, j.Close())
		j, s, err = journal.Open(path)
		check(t, err)
		check(t, j.Close())
		if !s.Finished[9] {
			t.Fatalf("cut at byte %d it does not go on", n)
		}
	}
	for n := ends[0]; n < int64(len(whole)); n++ {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0x40
		s, _, err := journal.Read(bytes.NewReader(damaged))
		check(t, err)
		if got := count(s); got > entries(n) {
			t.Fatalf("damaged at byte %d it has %d entries, at most %d are whole", n, got, entries(n))
		}
	}
}

func TestWhatIsNoJournalIsRefused(t *testing.T) {
	for _, text := range []string{"", "{}", "no json\n", "\n"} {
		if _, _, err := journal.Read(bytes.NewReader([]byte(text))); err == nil {
			t.Errorf("%q passes for a journal", text)
		}
	}
}

func TestSetIsASet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var s journal.Set
		want := map[int64]bool{}
		for range rapid.IntRange(0, 30).Draw(r, "adds") {
			from, n := rapid.Int64Range(0, 60).Draw(r, "from"), rapid.Int64Range(0, 9).Draw(r, "n")
			s.Add(from, n)
			for v := from; v < from+n; v++ {
				want[v] = true
			}
		}
		for v := range int64(80) {
			if s.Has(v) != want[v] {
				r.Fatalf("%d is in it: %v, want %v", v, s.Has(v), want[v])
			}
		}
		if s.Len() != int64(len(want)) {
			r.Fatalf("it has %d numbers, want %d", s.Len(), len(want))
		}
	})
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal")
	write(f, path)
	b, err := os.ReadFile(path)
	check(f, err)
	f.Add(b)
	f.Add([]byte("{}\n\xff\xff\xff\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, end, err := journal.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if end > int64(len(b)) {
			t.Fatalf("the entries end at byte %d of %d", end, len(b))
		}
		for _, set := range s.Done {
			if set.Len() < 0 {
				t.Fatal("a set has less than nothing")
			}
		}
	})
}

// An error of the disk, or too few descriptors, says nothing of what a journal holds,
// and leaves it as it was. A file that is none is told from that.
func TestOpenTellsDamagedFromUnreadable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	write(t, path)
	before, err := os.ReadFile(path)
	check(t, err)
	for _, op := range []disktest.Op{disktest.Open, disktest.Read} {
		for n := int64(1); ; n++ {
			f := &disktest.Fault{Op: op, N: n, Err: syscall.EIO}
			restore := disk.Use(f)
			j, _, err := journal.Open(path)
			restore()
			if !f.Hit() {
				check(t, j.Close())
				break
			}
			if !errors.Is(err, syscall.EIO) || errors.Is(err, journal.ErrDamaged) {
				t.Errorf("%s %d: %v", op, n, err)
			}
			if after, err := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("%s %d: the journal is another, %v", op, n, err)
			}
		}
	}
	for _, text := range []string{"", "no header", "no json\n"} {
		check(t, os.WriteFile(path, []byte(text), 0o600))
		if _, _, err := journal.Open(path); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
