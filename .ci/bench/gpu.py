#!/usr/bin/env python3
"""The table of figures on a GPU: gonbext on the card and on the CPU, beside CuPy, PyTorch,
cublasXt and TensorLy where this Python has them. .ci/gpu runs it; it needs no package.

  gpu.py --gonbext FILE --data FOLDER [--seconds 300] [--scale 1] [--device cuda:0]

Prints a line of JSON for the machine, and one for each row of a table of figures.json.
Arrays are made by gonbext in a new folder of FOLDER, as large as the disk, the memory and
--scale let them. What no time is left for is said on stderr."""
import argparse
import ctypes
import datetime
import glob
import importlib.util
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROWS, COLUMNS, SIDE, CUBE = 3_075_200, 512, 40_960, 15_000
MAP, MEANS, CP = "tanh(sqrt(x)*2+exp(-x))", "mean(x,0)", 'cp(x,8,"iterations=10","tolerance=-1","errors")'
LEFT = 2 << 30  # bytes of the card that the large product may take
BUDGET = "4GiB"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gonbext", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--seconds", type=int, default=300)
    p.add_argument("--scale", type=float, default=1, help="of the numbers of elements (%(default)s)")
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--machine", default="G", help="the letter of the machine in figures.json")
    return p.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


class Table:
    def __init__(self, a):
        self.a, self.end = a, time.monotonic() + a.seconds
        self.env = dict(os.environ, GONBEXT_RUNS=self.path("runs"))
        available = int(next(line for line in open("/proc/meminfo") if line.startswith("MemAvailable")).split()[1]) << 10
        self.room = min(shutil.disk_usage(a.data).free, available) * 3 // 4

    def path(self, name):
        return os.path.join(self.a.data, name)

    def left(self):
        return self.end - time.monotonic()

    def scaled(self, n, bytes_of, axes):
        """A length of one of so many axes, which takes bytes_of(length) of the disk."""
        n = max(int(n * self.a.scale ** (1 / axes)), 64)
        while bytes_of(n) > self.room and n > 64:
            n = int(n * 0.9)
        return n

    def make(self, name, *shape):
        lengths = ", ".join(map(str, shape))
        self.compute(f'astype(random({ord(name)}, {lengths}), "float32")', out=name, device="cpu")

    def compute(self, expression, *names, out="out.npy", device=None, **env):
        """Figures of a run: an object of gonbext compute --json."""
        command = [self.a.gonbext, "compute", "--fresh", "--json", "--memory", BUDGET, "--device", device or self.a.device, expression]
        command += [f"{n}={self.path(n)}.npy" for n in names]
        if out:
            command += ["-o", self.path(out if "." in out else out + ".npy")]
        done = subprocess.run(command, env=self.env | env, capture_output=True, text=True, timeout=max(self.left(), 1))
        if done.returncode:
            raise RuntimeError(f"{expression}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def best(self, *arguments, **options):
        """The run of the median time."""
        runs = [self.compute(*arguments, **options)]
        while len(runs) < self.a.rounds and self.left() > 4 * runs[0]["seconds"]:
            runs.append(self.compute(*arguments, **options))
        return sorted(runs, key=lambda r: r["seconds"])[(len(runs) - 1) // 2]

    def peers(self, job, *contenders):
        """What others take, in words; "" for those that are not here."""
        said = []
        for name, module in contenders:
            if module and importlib.util.find_spec(module) is None:
                continue
            try:
                done = subprocess.run([sys.executable, __file__, "peer", f"{job}_{name.lower()}", self.a.data], capture_output=True, text=True,
                                      timeout=max(min(self.left(), 120), 1))
            except subprocess.TimeoutExpired:
                said.append(f"{name} more than 120")
                continue
            said.append(f"{name} {float(done.stdout):.3g}" if done.returncode == 0 else f"{name} fails ({done.stderr.strip().splitlines()[-1][:80]})")
        return said

    def row(self, what, ours, beside):
        device = ours["device"]
        said = f"**{ours['seconds']:.3g}**, {device['measured_peak'] / 2**20:.0f} MiB of the card, {device['predicted_peak'] / 2**20:.0f} predicted"
        if device.get("link_bytes"):
            said += f", {device['link_bytes'] / 1e9:.3g} GB over the link"
        self.write(what, said, " · ".join(beside))

    def write(self, *cells):
        print(json.dumps({"cells": cells, "machine": self.a.machine, "date": datetime.date.today().isoformat(), "command": ".ci/gpu"}, ensure_ascii=False), flush=True)


def on_cpu(table, expression, *names):
    return f"the CPU {table.compute(expression, *names, device='cpu')['seconds']:.3g}"


def maps(t):
    rows = t.scaled(ROWS, lambda n: 2 * n * COLUMNS * 4, 1)
    t.make("x", rows, COLUMNS)
    for what, expression, job in (("map", MAP, "map"), ("means of columns", MEANS, "means")):
        t.row(f"{what}, `{expression}` of {rows:,} × {COLUMNS} float32", t.best(expression, "x"),
              [on_cpu(t, expression, "x")] + t.peers(job, ("CuPy", "cupy"), ("PyTorch", "torch")))
    os.remove(t.path("x.npy"))


def product(t, side, what, beside, **env):
    ours = t.best("matmul(a,b)", "a", "b", **env)
    rate = 2 * side**3 / ours["seconds"] / 1e12
    t.row(f"product of {side:,}² float32, {what}", ours, [f"{rate:.3g} TFLOP/s"] + beside)


def products(t):
    side = t.scaled(SIDE, lambda n: 3 * n * n * 4, 2)
    t.make("a", side, side)
    t.make("b", side, side)
    peers = t.peers("product", ("CuPy", "cupy"), ("PyTorch", "torch"), ("cublasXt", "numpy"))
    product(t, side, "the whole card", ["in the card's memory, and cublasXt from the host's: "] + peers if peers else [])
    product(t, side, "the whole card, own kernel", [], GONBEXT_CUBLAS="none")
    holder = subprocess.Popen([sys.executable, __file__, "hold", str(LEFT), t.a.device.partition(":")[2] or "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if holder.stdout.readline().strip() == "held":
            elements = LEFT / 4
            product(t, side, "2 GiB of the card free", [f"at least {2 * side**3 / math.sqrt(elements) * 4 / 1e9:.3g} GB must cross the link"])
        else:
            say("the product with 2 GiB of the card: left out, the rest of its memory could not be taken")
    finally:
        holder.communicate("\n")
    for n in "ab":
        os.remove(t.path(n + ".npy"))


def decomposition(t):
    side = t.scaled(CUBE, lambda n: 12 * n * n * 4, 2)
    t.make("x", 12, side, side)
    t.row(f"CP of rank 8, ten iterations, of 12 × {side:,} × {side:,} float32", t.best(CP, "x"),
          [on_cpu(t, CP, "x")] + t.peers("cp", ("TensorLy", "tensorly")))
    os.remove(t.path("x.npy"))


def table(a):
    os.makedirs(a.data, exist_ok=True)
    a.data = tempfile.mkdtemp(prefix="gonbext-table-", dir=a.data)  # FOLDER may have what is others'
    try:
        measure(a)
    finally:
        shutil.rmtree(a.data, ignore_errors=True)


def measure(a):
    t = Table(a)
    smi = shutil.which("nvidia-smi")
    card = subprocess.run([smi, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip() if smi else "no nvidia-smi"
    print(json.dumps({"machines": {a.machine: f"a machine with {os.cpu_count()} processors and a GPU: {card}"}}), flush=True)
    for job in (maps, products, decomposition):
        if t.left() < 10:
            say(f"{job.__name__}: left out, for want of time")
            continue
        try:
            job(t)
        except (RuntimeError, subprocess.TimeoutExpired, OSError) as e:
            say(f"{job.__name__}: {e}")


def hold(left, device):
    """Takes the memory of a card but for so many bytes, until a line comes."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, free, total, at = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
    ok = cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and cuda.cuCtxSetCurrent(context) == 0
    ok = ok and cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0 and free.value > left
    ok = ok and cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(free.value - left)) == 0
    print("held" if ok else "no", flush=True)
    sys.stdin.readline()


# What others write for the same. Each returns seconds, with the program's start and the
# first use of the card left out.


def source(folder, name="x"):
    import numpy as np

    return np.load(os.path.join(folder, name + ".npy"), mmap_mode="r")


def blocks(x, step=1 << 17):
    return (slice(at, at + step) for at in range(0, len(x), step))


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def target(folder, shape):
    import numpy as np

    return np.lib.format.open_memmap(os.path.join(folder, "peer.npy"), "w+", "f4", shape)


def map_cupy(folder):
    import cupy as cp

    cp.zeros(1)
    x = source(folder)
    out = target(folder, x.shape)

    def work():
        for rows in blocks(x):
            d = cp.asarray(x[rows])
            out[rows] = cp.asnumpy(cp.tanh(cp.sqrt(d) * 2 + cp.exp(-d)))

    return timed(work)


def map_pytorch(folder):
    import torch

    torch.zeros(1, device="cuda")
    x = source(folder)
    out = torch.from_numpy(target(folder, x.shape))

    def work():
        for rows in blocks(x):
            d = torch.from_numpy(x[rows].copy()).cuda()
            out[rows] = torch.tanh(torch.sqrt(d) * 2 + torch.exp(-d)).cpu()

    return timed(work)


def means_cupy(folder):
    import cupy as cp

    cp.zeros(1)
    x = source(folder)
    return timed(lambda: (sum(cp.asarray(x[rows]).sum(0, dtype="f8") for rows in blocks(x)) / len(x)).get())


def means_pytorch(folder):
    import torch

    torch.zeros(1, device="cuda")
    x = source(folder)
    return timed(lambda: (sum(torch.from_numpy(x[rows].copy()).cuda().sum(0, dtype=torch.float64) for rows in blocks(x)) / len(x)).cpu())


def product_cupy(folder):
    import cupy as cp

    n = len(source(folder, "a"))
    a, b = (cp.random.random((n, n), dtype="f4") for _ in range(2))

    def work():
        a @ b
        cp.cuda.Device().synchronize()

    work()
    return statistics.median(timed(work) for _ in range(3))


def product_pytorch(folder):
    import torch

    n = len(source(folder, "a"))
    a, b = (torch.rand(n, n, device="cuda") for _ in range(2))

    def work():
        a @ b
        torch.cuda.synchronize()

    work()
    return statistics.median(timed(work) for _ in range(3))


def product_cublasxt(folder):
    import numpy as np

    names = [f"libcublas.so.{m}" for m in range(20, 10, -1)]
    files = names + [f for p in sys.path for name in names for f in glob.glob(os.path.join(p, "nvidia", "*", "lib", name))]
    for name in files:
        try:
            xt = ctypes.CDLL(name)
            break
        except OSError:
            pass
    else:
        raise OSError("there is no cuBLAS")
    a, b = np.array(source(folder, "a")), np.array(source(folder, "b"))
    n, c = len(a), np.zeros_like(a)
    handle, one, device = ctypes.c_void_p(), ctypes.c_float(1), (ctypes.c_int * 1)(0)

    def call(name, *arguments):
        if status := getattr(xt, name)(*arguments):
            raise OSError(f"{name}: error {status}")

    call("cublasXtCreate", ctypes.byref(handle))
    call("cublasXtDeviceSelect", handle, 1, device)
    length, one = ctypes.c_size_t(n), ctypes.byref(one)
    at = lambda x: ctypes.c_void_p(x.ctypes.data)
    return timed(lambda: call("cublasXtSgemm", handle, 0, 0, length, length, length, one, at(b), length, at(a), length, one, at(c), length))


def cp_tensorly(folder):
    import tensorly
    import torch
    from tensorly.decomposition import parafac

    tensorly.set_backend("pytorch")
    x = torch.from_numpy(source(folder)[:]).cuda()
    return timed(lambda: (parafac(x, rank=8, n_iter_max=10, init="random", random_state=0, tol=0), torch.cuda.synchronize()))


PEERS = (map_cupy, map_pytorch, means_cupy, means_pytorch, product_cupy, product_pytorch, product_cublasxt, cp_tensorly)

if sys.argv[1:2] == ["peer"]:
    print({f.__name__: f for f in PEERS}[sys.argv[2]](sys.argv[3]))
elif sys.argv[1:2] == ["hold"]:
    hold(int(sys.argv[2]), int(sys.argv[3]))
else:
    table(arguments())
