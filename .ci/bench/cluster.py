#!/usr/bin/env python3
"""Times gonbext, Dask array and Cubed on the same Dask workers: a process each of one core, by
turns, medians of ROUNDS.

  PYTHON .ci/bench/cluster.py FOLDER GONBEXT [--workers 2] [--rounds 3]

PYTHON has distributed, zarr and cubed (pip install distributed zarr cubed). FOLDER takes 10 GB.
Jobs are 2 GB of tanh(sqrt(x)*2), file to file by chunks of 8 MB, and a product of 4,000 × 4,000
float32. The ideal is what gonbext takes in one process with a worker for each of theirs. gonbext's
figures have the start of its command and of a Python with distributed, which the others have behind
them: a line says what that takes."""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import cubed
import cubed.array_api as xp
import dask.array as da
import numpy as np
import zarr
from cubed.runtime.executors import dask as cubed_on_dask
from distributed import Client, LocalCluster

# Its check of the workers' memory reads a list that recent clients fill on request only: it finds no workers.
cubed_on_dask.check_runtime_memory = lambda spec, client: None

ROWS, COLUMNS, SIDE = 25_600, 20_000, 4_000
CHUNKS = (100, COLUMNS)
TILES = (1_000, 1_000)


def make(folder):
    """Random arrays, without compression, so that all measure the same bytes."""
    random = np.random.default_rng(1)
    for name, shape, chunks in (("x", (ROWS, COLUMNS), CHUNKS), ("a", (SIDE, SIDE), TILES), ("b", (SIDE, SIDE), TILES)):
        if (folder / f"{name}.zarr").exists():
            continue
        z = zarr.create_array(str(folder / "part.zarr"), shape=shape, chunks=chunks, dtype="f4", compressors=None, overwrite=True)
        for at in range(0, shape[0], chunks[0]):
            z[at:at + chunks[0]] = random.random((chunks[0], shape[1]), dtype="f4")
        os.rename(folder / "part.zarr", folder / f"{name}.zarr")


def gonbext(command, folder, job, *where):
    expression, inputs, chunks = {
        "elementwise": ("tanh(sqrt(x)*2)", ["x=x.zarr"], f"{CHUNKS[0]}x{CHUNKS[1]}"),
        "product": ("matmul(a, b)", ["a=a.zarr", "b=b.zarr"], f"{TILES[0]}x{TILES[1]}"),
    }[job]
    subprocess.run([command, "compute", expression, *inputs, "-o", "out.zarr", "--chunks", chunks, "--codec", "none",
                    "--memory", "512MiB", "--fresh", *where], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def dask_array(folder, job):
    def stored(name):
        return da.from_zarr(str(folder / f"{name}.zarr"))
    out = da.tanh(da.sqrt(stored("x")) * 2) if job == "elementwise" else stored("a") @ stored("b")
    out.to_zarr(str(folder / "out.zarr"), mode="w", compressors=None)


def cubed_array(folder, job, address):
    spec = cubed.Spec(work_dir=str(folder / "cubed"), allowed_mem="2GB", reserved_mem="200MB")

    def stored(name):
        return cubed.from_zarr(str(folder / f"{name}.zarr"), spec=spec)
    out = xp.tanh(xp.sqrt(stored("x")) * 2) if job == "elementwise" else xp.matmul(stored("a"), stored("b"))
    cubed.to_zarr(out, str(folder / "out.zarr"), executor=cubed_on_dask.DaskExecutor(compute_kwargs={"address": address}))


def check(folder, job):
    """Whoever wrote it last wrote the values."""
    out = zarr.open_array(str(folder / "out.zarr"), mode="r")
    if job == "elementwise":
        x = zarr.open_array(str(folder / "x.zarr"), mode="r")[:200]
        np.testing.assert_allclose(out[:200], np.tanh(np.sqrt(x) * 2), rtol=2e-6)
        return
    a, b = (zarr.open_array(str(folder / f"{n}.zarr"), mode="r") for n in "ab")
    np.testing.assert_allclose(out[:10, :10], a[:10] @ b[:, :10], rtol=1e-4)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("gonbext", type=pathlib.Path)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--rounds", type=int, default=3)
    args = p.parse_args()
    folder, command = args.folder.resolve(), str(args.gonbext.resolve())
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    os.environ["GONBEXT_PYTHON"] = sys.executable
    with LocalCluster(n_workers=args.workers, threads_per_worker=1, processes=True, memory_limit="3GiB", dashboard_address=None) as cluster, Client(cluster):
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        contenders = {
            "ideal": lambda job: gonbext(command, folder, job, "--workers", str(args.workers)),
            "gonbext": lambda job: gonbext(command, folder, job, "--on", address, "--processes", str(args.workers)),
            "Dask array": lambda job: dask_array(folder, job),
            "Cubed": lambda job: cubed_array(folder, job, cluster.scheduler_address),
        }
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "from distributed import Client"], check=True)
        print(f"a Python with distributed starts in {time.perf_counter() - began:.2f} s", flush=True)
        for job in ("elementwise", "product"):
            times = {name: [] for name in contenders}
            for _ in range(args.rounds):
                for name, run in contenders.items():
                    for left in ("out.zarr", "cubed"):
                        shutil.rmtree(folder / left, ignore_errors=True)
                    os.sync()
                    began = time.perf_counter()
                    run(job)
                    times[name].append(time.perf_counter() - began)
                    check(folder, job)
            medians = {name: statistics.median(t) for name, t in times.items()}
            print(job, "on", args.workers, "workers:", ", ".join(
                f"{name} {m:.2f} s ({m / medians['ideal']:.2f})" for name, m in medians.items()), flush=True)


if __name__ == "__main__":
    main()
