package oocore

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// scripts runs Python in a folder, each time behind the same lines; SEED is that of the test.
func scripts(t *testing.T, python, dir, head string) func(script string) {
	return func(script string) {
		t.Helper()
		cmd := exec.Command(python, "-c", head+script)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), fmt.Sprint("SEED=", testcases.Seed(t)))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// A model of Hugging Face, in one file or in shards, is one again in a folder that was not there, as the safetensors package reads it.
func TestCheckpointFolderComesOutAsOne(t *testing.T) {
	python := testcases.Python(t, "the safetensors package")
	for _, shards := range []string{"1", "3"} {
		dir := t.TempDir()
		run := scripts(t, python, dir, "import json, os, sys, numpy as np\nfrom safetensors.numpy import load_file, save_file\nn = "+shards+"\n")
		run(`
os.makedirs("in/original")
x = {f"layers.{i}.weight": np.arange(12, dtype="f4").reshape(3, 4) + i for i in range(6)}
names = list(x)
files = {n_: "model.safetensors" if n == 1 else f"model-{i % n + 1:05d}-of-{n:05d}.safetensors" for i, n_ in enumerate(names)}
for f in set(files.values()):
    save_file({k: x[k] for k in names if files[k] == f}, "in/" + f, metadata={"format": "pt"})
if n > 1:
    json.dump({"metadata": {}, "weight_map": files}, open("in/model.safetensors.index.json", "w"))
open("in/config.json", "w").write("{}"); open("in/tokenizer.json", "w").write("[1]"); open("in/original/params.json", "w").write("{}")`)
		c := OpenAll(filepath.Join(dir, "in"))
		half := c.Map(func(_ string, a *Array) *Array { return a.AsType(Float16) })
		saved, err := half.Save(t.Context(), filepath.Join(dir, "new", "Llama-3.1"))
		if err != nil {
			t.Fatal(err)
		}
		if saved.Len() != 6 || c.Len() != 6 || saved.Get("layers.2.weight").DType() != Float16 {
			t.Errorf("%v of %v", saved.Names(), c.Names())
		}
		run(`
out = "new/Llama-3.1/"
have = sorted(os.listdir(out))
assert open(out + "config.json").read() == "{}" and open(out + "tokenizer.json").read() == "[1]", have
files = {"model.safetensors"} if n == 1 else set(json.load(open(out + "model.safetensors.index.json"))["weight_map"].values())
assert set(have) == files | {"config.json", "tokenizer.json"} | ({"model.safetensors.index.json"} if n > 1 else set()), have
got = {k: v for f in files for k, v in load_file(out + f).items()}
assert len(got) == 6 and all(v.dtype == np.float16 and np.array_equal(v, np.arange(12).reshape(3, 4) + int(k[7])) for k, v in got.items())`)
	}
}

// Floats of four bits are those of ml_dtypes, with the scales of MXFP4, in blocks of their own and not, and of NVFP4.
func TestDequantizeFP4(t *testing.T) {
	python := testcases.Python(t, "the ml_dtypes package")
	dir := t.TempDir()
	run := scripts(t, python, dir, "import os, numpy as np, ml_dtypes as m\nfrom safetensors.numpy import save_file\n")
	run(`
r = np.random.default_rng(int(os.environ["SEED"]))
q = r.integers(0, 256, (2, 3, 4, 16), "u1")
q.ravel()[:256] = np.arange(256)
e = r.integers(0, 256, (2, 3, 4), "u1")
e.ravel()[:3] = 0, 254, 255
s = r.standard_normal((6, 8)).astype(m.float8_e4m3fn)
save_file({"w_blocks": q, "w_scales": e, "v": q.reshape(6, 64), "v_scale": s}, "x.safetensors")
np.savez("q.npz", q=q, e=e, s=s.view("u1"))`)
	path := filepath.Join(dir, "x.safetensors#")
	mx := Eval("dequantize_fp4(q, s)", Names{"q": Open(path + "w_blocks"), "s": Open(path + "w_scales")})
	nv := Eval("dequantize_fp4(q, s)", Names{"q": Open(path + "v"), "s": Open(path + "v_scale")})
	if _, err := SaveAll(t.Context(), []Output{{Array: mx, Path: filepath.Join(dir, "mx.npy")}, {Array: nv, Path: filepath.Join(dir, "nv.npy")}}); err != nil {
		t.Fatal(err)
	}
	run(`
z = np.load("q.npz")
q, e, s = z["q"], z["e"].view(m.float8_e8m0fnu).astype("f4"), z["s"].view(m.float8_e4m3fn).astype("f4")
x = np.stack([q & 15, q >> 4], -1).view(m.float4_e2m1fn).astype("f4").reshape(2, 3, 4, 32)
with np.errstate(all="ignore"):
    mx = (x * e[..., None]).reshape(2, 3, 128)
    nv = (x.reshape(6, 8, 16) * s[..., None]).reshape(6, 128)
for name, want in ("mx", mx), ("nv", nv):
    got = np.load(name + ".npy")
    assert got.dtype == np.float32 and got.shape == want.shape and np.array_equal(got, want, equal_nan=True) and np.array_equal(np.signbit(got), np.signbit(want)), (name, got, want)`)
	if err := Eval("dequantize_fp4(q, q)", Names{"q": FromSlice([]int32{1})}).Err(); err == nil {
		t.Error("int32 are bytes")
	}
}

// Tensors of types that nothing is computed in, and blocks of GGUF files, come along with their bytes where the others are changed.
func TestCollectionCopiesEncodedTensors(t *testing.T) {
	python := testcases.Python(t, "the safetensors and gguf packages")
	dir := t.TempDir()
	run := scripts(t, python, dir, "import json, struct, sys, gguf\nfrom safetensors import safe_open\n")
	run(`
h, data = {}, b""
for name, dtype, shape, size in ("a", "F32", [2, 3], 24), ("u", "U64", [2], 16), ("b", "BOOL", [5], 5), ("e", "F8_E8M0", [3, 2], 6), ("f", "F4", [2, 6], 6), ("g", "F6_E2M3", [2, 4], 6):
    h[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
    data += bytes(range(size)) if dtype != "BOOL" else b"\1\0\1\1\0"
text = json.dumps(h).encode()
open("in.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)`)
	double := func(name string, a *Array) *Array {
		if name == "a" || name == "F32" {
			return a.Mul(2)
		}
		return a
	}
	c := OpenAll(filepath.Join(dir, "in.safetensors")).Map(double)
	for _, to := range []string{"out.safetensors", "out.safetensors.index.json"} {
		if _, err := c.Save(t.Context(), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Save(t.Context(), filepath.Join(dir, "out.npz")); err == nil {
		t.Error("an npz file has floats of four bits")
	}
	if _, err := OpenAll(filepath.Join(dir, "in.safetensors")).Map(func(_ string, a *Array) *Array { return a.AsType(Float32) }).Save(t.Context(), filepath.Join(dir, "f.safetensors")); err == nil {
		t.Error("floats of four bits are converted")
	}
	fixture, err := filepath.Abs(ggufFixture)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAll(fixture).Map(double).Save(t.Context(), filepath.Join(dir, "out.gguf")); err != nil {
		t.Fatal(err)
	}
	run(`
def parts(f):
    b = open(f, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    return {k: (v["dtype"], v["shape"], b[8 + n:][slice(*v["data_offsets"])]) for k, v in json.loads(b[8:8 + n]).items() if k != "__metadata__"}
old = parts("in.safetensors")
for f in "out.safetensors", "out-00001-of-00001.safetensors":
    new = parts(f)
    assert len(list(safe_open(f, "np").keys())) == 6 and set(new) == set(old)
    assert all(new[k] == old[k] for k in old if k != "a") and new["a"] != old["a"], (f, old, new)
read = lambda f: {t.name: (t.tensor_type, list(t.shape), t.data.tobytes()) for t in gguf.GGUFReader(f).tensors}
old, new = read("` + fixture + `"), read("out.gguf")
assert set(old) == set(new)
other = [k for k in old if old[k] != new[k]]
assert other in ([], ["F32"]), other`)
}
