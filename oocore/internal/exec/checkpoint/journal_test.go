package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func note(t testing.TB, j *journal, stage int, done Tasks, snapshot *Snapshot) {
	t.Helper()
	if noted, err := j.tasks(stage, done, snapshot); err != nil || !noted {
		t.Fatal(noted, err)
	}
}

// write makes a journal with an entry of each kind, and says where each ends.
func write(t testing.TB, path string) (ends []int64) {
	j, err := createJournal(path, map[string]string{"run": "a"})
	check(t, err)
	end := func() {
		check(t, j.sync())
		st, err := os.Stat(path)
		check(t, err)
		ends = append(ends, st.Size())
	}
	end()
	for _, from := range []int{0, 10, 5, 100} {
		note(t, j, 1, Tasks{{from, from + 5}}, nil)
		end()
	}
	check(t, j.stage(0))
	end()
	note(t, j, 2, Tasks{{0, 7}}, &Snapshot{1, []byte("sums")})
	end()
	check(t, j.close())
	return ends
}

func TestJournalSaysWhatWasNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path)
	j, s, err := openJournal(path)
	check(t, err)
	defer j.close()
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
	if f := s.Snapshots[2]; s.Done[2].Len() != 7 || f.file != 1 || string(f.Meta) != "sums" {
		t.Errorf("the snapshot is %+v, of %v", f, s.Done[2])
	}
}

func TestForgottenStage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path)
	j, _, err := openJournal(path)
	check(t, err)
	for _, stage := range []int{0, 1, 2} {
		check(t, j.forget(stage))
	}
	note(t, j, 1, Tasks{{3, 5}}, nil)
	check(t, j.close())
	j, s, err := openJournal(path)
	check(t, err)
	check(t, j.close())
	if s.Done[1].Len() != 2 || len(s.Finished) > 0 || len(s.Snapshots) > 0 {
		t.Errorf("the journal still says %v %v %v", s.Done[1], s.Finished, s.Snapshots)
	}
}

// A journal that was cut anywhere, or damaged anywhere, says what its whole entries
// say, and continues behind them.
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
	count := func(s *State) (n int) {
		n = len(s.Finished) + len(s.Snapshots)
		for _, first := range []int{0, 10, 5, 100} {
			if s.Done[1].Has(first) {
				n++
			}
		}
		return n
	}
	for n := ends[0]; n <= int64(len(whole)); n++ {
		check(t, os.WriteFile(path, whole[:n], 0o600))
		j, s, err := openJournal(path)
		check(t, err)
		if got := count(s); got != entries(n) {
			t.Fatalf("cut at byte %d it has %d entries, want %d", n, got, entries(n))
		}
		check(t, j.stage(9))
		check(t, j.close())
		j, s, err = openJournal(path)
		check(t, err)
		check(t, j.close())
		if !s.Finished[9] {
			t.Fatalf("cut at byte %d it does not continue", n)
		}
	}
	for n := ends[0]; n < int64(len(whole)); n++ {
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0x40
		s, _, err := ReadJournal(bytes.NewReader(damaged))
		check(t, err)
		if got := count(s); got > entries(n) {
			t.Fatalf("damaged at byte %d it has %d entries, at most %d are whole", n, got, entries(n))
		}
	}
}

func TestWhatIsNoJournalIsRejected(t *testing.T) {
	for _, text := range []string{"", "{}", "no json\n", "\n"} {
		if _, _, err := ReadJournal(bytes.NewReader([]byte(text))); err == nil {
			t.Errorf("%q passes for a journal", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal")
	write(f, path)
	b, err := os.ReadFile(path)
	check(f, err)
	f.Add(b)
	f.Add([]byte("{}\n\xff\xff\xff\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, end, err := ReadJournal(bytes.NewReader(b))
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
			restore := disk.Use(f.FS())
			j, _, err := openJournal(path)
			restore()
			if !f.Hit() {
				check(t, j.close())
				break
			}
			if !errors.Is(err, syscall.EIO) || errors.Is(err, errDamaged) {
				t.Errorf("%s %d: %v", op, n, err)
			}
			if after, err := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("%s %d: the journal is another, %v", op, n, err)
			}
		}
	}
	for _, text := range []string{"", "no header", "no json\n"} {
		check(t, os.WriteFile(path, []byte(text), 0o600))
		if _, _, err := openJournal(path); !errors.Is(err, errDamaged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
