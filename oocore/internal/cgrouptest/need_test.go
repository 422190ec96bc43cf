package cgrouptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// commands are of all kinds. IN/ is the folder of inputs, and OUT/ that of outputs.
var commands = strings.Split(`compute sqrt(x) x=IN/x.npy -o OUT/o.npy
compute tanh(sqrt(x)*2+exp(-x)) x=IN/x.npy -o OUT/o.zarr
compute x-mean(x,0) x=IN/x.npy -o OUT/o.npy
compute std(x,0) x=IN/x.npy -o OUT/o.npy
compute std(x) x=IN/x.npy
compute argmax(x,1) x=IN/tall.npy -o OUT/o.npy
compute softmax(x,1) x=IN/x.npy -o OUT/o.npy
compute softmax(x,1) x=IN/x.zarr -o OUT/o.zarr --codec zstd:3
compute softmax(reshape(v,12,250000),1) v=IN/v.npy -o OUT/o.npy
compute x/norm(x,1,"keepdims") x=IN/x.npy -o OUT/o.npy
compute x/norm(x,2,1,"keepdims") x=IN/x.npy -o OUT/o.npy --processes 2
compute cumsum(x,0) x=IN/tall.npy -o OUT/o.npy
compute where(x>0.5,x,0) x=IN/x.npy -o OUT/o.safetensors#w
compute sort(x,0) x=IN/x.npy -o OUT/o.npy
compute sort(x,1) x=IN/x.npy -o OUT/o.npy
compute sort(v) v=IN/v.npy -o OUT/o.npy
compute unique(i) i=IN/i.npy -o OUT/o.npy
compute unique(x) x=IN/x.npy -o OUT/o.npy
compute mask(x,x>0.5) x=IN/x.npy -o OUT/o.npy
compute mask(v,v>0.9) v=IN/v.npy -o OUT/o.npy
compute argwhere(x>0.9) x=IN/x.npy -o OUT/o.npy
compute quantile(x,0.3,0) x=IN/x.npy -o OUT/o.npy
compute median(x) x=IN/x.npy
compute histogram(x,10) x=IN/x.npy -o OUT/o.npy
compute bincount(slice(i,":,0")) i=IN/i.npy -o OUT/o.npy
compute groupby(x,slice(i,":,0"),"mean") x=IN/x.npy i=IN/i.npy -o OUT/o.npy
compute matmul(s,s) s=IN/s.npy -o OUT/o.npy
compute matmul(transpose(x),x) x=IN/x.npy -o OUT/o.zarr
compute fft(x) x=IN/x.npy -o OUT/o.npy
compute fft2(s) s=IN/s.npy -o OUT/o.npy
compute gaussian_filter(s,2) s=IN/s.npy -o OUT/o.zarr
compute median_filter(s,3) s=IN/s.npy -o OUT/o.npy
compute transpose(s) s=IN/s.npy -o OUT/o.npy
compute concatenate(x,x) x=IN/x.npy -o OUT/o.npy
compute svd(x,"s") x=IN/x.npy -o OUT/o.npy
compute solve(slice(s,"0:500,0:500"),slice(s,"0:500,0:4")) s=IN/s.npy -o OUT/o.npy
compute inv(slice(s,"0:700,0:700")) s=IN/s.npy -o OUT/o.npy
compute cp(x,3) x=IN/x.npy -o OUT/o.npy
compute cp(tall,4,"factor=0","iterations=5") tall=IN/tall.npy -o OUT/o.npy
compute normal(7,4000,1000) -o OUT/o.npy
compute m=mean(x,0);d=x-m;s=sort(d,0) x=IN/x.npy -o m=OUT/m.npy -o s=OUT/s.npy
compute m=mean(x,0);d=mask(x,x>m) x=IN/x.npy -o m=OUT/m.npy -o d=OUT/d.npy
compute sqrt(x) x=IN/x.npy -o OUT/o.npy --processes 2
compute sort(std(x,0)) x=IN/x.npy -o OUT/o.npy --processes 2
compute slice(x,"0:3,0:3") x=IN/x.npy -o OUT/o.npy
compute x*2 x=FORMATS/tiff/testdata/float.tif -o OUT/o.npy
compute x-mean(x) x=FORMATS/hdf5/testdata/new.h5#fixed -o OUT/o.zarr
convert IN/x.npy OUT/o.zarr --chunks 1000x256 --codec blosc:lz4:5:shuffle
convert IN/x.npy OUT/o.zarr --chunks 10x64 --codec zstd:3
convert IN/x.npy OUT/o.zarr --chunks 100x64 --shards 2000x256 --codec gzip:5
convert IN/x.zarr OUT/o.zarr --chunks 20000x4 --codec none
convert IN/x.zarr OUT/o.npz#a
convert IN/x.npy OUT/o.safetensors#a --dtype bfloat16
convert IN/s.npy OUT/o.zarr --levels 3
convert IN/x.npy OUT/t.parquet
convert IN/x.npy OUT/o.npy?order=F`, "\n")

// inputs are made by expressions.
var inputs = [][2]string{
	{"x.npy", `astype(random(1,20000,256),"float32")`}, {"s.npy", `astype(random(2,2048,2048),"float32")`},
	{"i.npy", `astype(floor(random(3,20000,64)*1000),"int32")`}, {"v.npy", "random(4,3000000)"}, {"tall.npy", "random(5,1000000,4)"},
	{"x.zarr", `astype(random(1,20000,256),"float32")`},
}

// numbers are what the command prints as JSON.
type numbers struct {
	Status string
	Need   int64
	Budget int64
}

// What a plan needs is a limit of the whole process under which it finishes, with outputs on a disk, and with outputs, home
// and temporary files in memory, where the kernel charges them to the process.
func TestCommandFinishesWithinItsNeed(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: commands in memory cgroups of what they need, which GONBEXT_TEST=full runs as root")
	}
	gonbext := filepath.Join(t.TempDir(), "gonbext")
	if out, err := exec.Command("go", "build", "-o", gonbext, "../../../gonbext/cmd/gonbext").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	in := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(in, "runs"))
	for _, made := range inputs {
		if out, err := exec.Command(gonbext, "compute", made[1], "-o", filepath.Join(in, made[0])).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	formats, err := filepath.Abs("../format")
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{"disk": t.TempDir()}
	if shm, err := os.MkdirTemp("/dev/shm", "gonbext-test-"); err == nil && disk.InMemory(shm) {
		t.Cleanup(func() { os.RemoveAll(shm) })
		at["tmpfs"] = shm
	}
	for where, dir := range at {
		for _, line := range commands {
			t.Run(where+"/"+line, func(t *testing.T) {
				dir := filepath.Join(dir, "c")
				home, out := filepath.Join(dir, "home"), filepath.Join(dir, "out")
				for _, d := range []string{home, out} {
					if err := os.MkdirAll(d, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				defer os.RemoveAll(dir)
				args := strings.Fields(strings.NewReplacer("IN/", in+"/", "OUT/", out+"/", "FORMATS/", formats+"/").Replace(line))
				env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home, "GONBEXT_RUNS=")
				planned := needed(t, gonbext, env, append(args, "--plan", "--memory", "1GiB")...)
				if planned.Need <= 0 || planned.Need > 1<<30 {
					t.Fatalf("it needs %d bytes of 1 GiB", planned.Need)
				}
				var ran numbers
				inGroup(t, planned.Need, 10*time.Minute, &ran, env, gonbext, append(args, "--json", "--memory", strconv.FormatInt(planned.Need, 10))...)
				if ran.Status != "done" || ran.Need > planned.Need || ran.Budget != planned.Need {
					t.Errorf("planned %+v, ran %+v", planned, ran)
				}
			})
		}
	}
}

// needed is what a command prints of a plan, or of one that cannot be made before values are known.
func needed(t *testing.T, gonbext string, env []string, args ...string) (n numbers) {
	t.Helper()
	c := exec.Command(gonbext, append(slices.Clone(args), "--json")...)
	c.Env = env
	out, err := c.Output()
	if json.Unmarshal(out, &n) != nil || n.Need == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return n
}
