#!/usr/bin/env python3
"""Times gonbext, Dask array and Cubed on the same Dask workers: a process each of one core, by
turns, medians of ROUNDS.

  PYTHON .ci/bench/cluster.py FOLDER GONBEXT [--workers 2] [--rounds 3]
  PYTHON .ci/bench/cluster.py FOLDER GONBEXT --scaling 0.6 [--rounds 1]

PYTHON has distributed, zarr and cubed (pip install distributed zarr cubed). FOLDER takes 10 GB.
Jobs are 2 GB of tanh(sqrt(x)*2), file to file by chunks of 8 MB, and a product of 4,000 × 4,000
float32. The ideal is what gonbext takes in one process with a worker for each of theirs. gonbext's
figures have the start of its command and of a Python with distributed, which the others have behind
them: a line says what that takes.

--scaling holds predicted seconds to measured ones instead, on one, two and three workers that a cgroup
gives that part of a core each (as root), so that three do not share two cores. The rates come from runs of
other expressions in such a cgroup. A FOLDER in memory leaves the disk out, whose writes may differ by half from
minute to minute."""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

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


def compute(command, folder, log, *arguments):
    """Runs the command with a run log, and returns what it said and how long it took."""
    shutil.rmtree(folder / "out.zarr", ignore_errors=True)
    os.sync()
    began = time.perf_counter()
    done = subprocess.run([command, "compute", *arguments, "-o", "out.zarr", "--fresh"],
                          cwd=folder, env={**os.environ, "GONBEXT_RUNS": str(log)}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr, time.perf_counter() - began


@contextmanager
def part_of_a_core(share):
    """A cgroup that has this part of a core, as the text of a shell that joins it."""
    unified = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
    groups = pathlib.Path("/sys/fs/cgroup" if unified else "/sys/fs/cgroup/cpu")
    for left in groups.glob("gonbext-bench-*"):  # by one that was killed
        if not pathlib.Path("/proc", left.name.split("-")[2]).exists():
            with suppress(OSError):  # a process is in it yet
                left.rmdir()
    group = groups / f"gonbext-bench-{os.getpid()}-{time.monotonic_ns()}"
    group.mkdir()
    period = 10_000  # microseconds
    if unified:
        (group / "cpu.max").write_text(f"{share * period:.0f} {period}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(period))
        (group / "cpu.cfs_quota_us").write_text(f"{share * period:.0f}")
    try:
        yield f'echo $$ >{group}/cgroup.procs && exec "$@"'
    finally:
        group.rmdir()


@contextmanager
def workers(folder, address, share):
    """One worker more of a scheduler, in a cgroup of its own."""
    with part_of_a_core(share) as join:
        worker = subprocess.Popen(["sh", "-c", join, "sh", sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1",
                                   "--memory-limit", "3GiB", "--no-dashboard", "--local-directory", str(folder / "worker")], stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            worker.terminate()
            worker.wait()


def scaling(folder, command, share, rounds):
    half = f'slice(x, "0:{ROWS // 2}")'  # 1 GB
    rows, tiles = (["--codec", "none", "--chunks", f"{a}x{b}"] for a, b in (CHUNKS, TILES))
    columns = ["--chunks", f"{ROWS // 2}x200"]  # compressed, so that no two workers write into one file: a cgroup may halt one that has its lock
    jobs = {  # and another of the kind and size, which tells the rates: smaller ones stay in the page cache
        "elementwise": ([f"tanh(sqrt({half})*2)", "x=x.zarr", *rows], [f"tanh(sqrt({half}))", "x=x.zarr", *rows]),
        "reduction": ([f"mean({half}, 0)", "x=x.zarr"], [f"sum({half}, 0)", "x=x.zarr"]),
        "product": (["matmul(a, b)", "a=a.zarr", "b=b.zarr", *tiles], ["matmul(b, a)", "a=a.zarr", "b=b.zarr", *tiles]),
        "rechunk": ([f"{half}*1", "x=x.zarr", *columns], [f"{half}*2", "x=x.zarr", *columns]),
    }
    log = folder / "rates"
    shutil.rmtree(log, ignore_errors=True)
    with part_of_a_core(share) as join:
        shell = folder / "joined"
        shell.write_text(f"#!/bin/sh\n{join.replace('exec ', f'exec {command} ')}\n")
        shell.chmod(0o755)
        for _ in range(2):
            for _, other in jobs.values():
                compute(str(shell), folder, log, *other, "--workers", "1", "--memory", "4GiB")  # which has an output in memory
    with LocalCluster(n_workers=0, processes=True, dashboard_address=None) as cluster, Client(cluster) as client, ExitStack() as stack:
        address = cluster.scheduler_address
        on = "dask://" + address.removeprefix("tcp://")
        for n in (1, 2, 3):
            stack.enter_context(workers(folder, address, share))
            client.wait_for_workers(n)
            there = ["--on", on, "--processes", str(n), "--memory", "512MiB"]
            compute(command, folder, folder / "log", "arange(8)*1.5", "--chunks", "1", *there)  # they have imported what they need
            for name, (job, _) in jobs.items():
                took, predicted = [], 0.0
                for _ in range(rounds):
                    shutil.rmtree(folder / "log", ignore_errors=True)
                    shutil.copytree(log, folder / "log")
                    said, seconds = compute(command, folder, folder / "log", *job, *there)
                    number, unit = re.search(r"predicted ([\d.]+) (ms|s|min)", said).groups()
                    predicted = float(number) * {"ms": 1e-3, "s": 1, "min": 60}[unit]
                    took.append(seconds)
                median = statistics.median(took)
                print(f"{name} on {n} workers of {share} cores: predicted {predicted:.2f} s, measured {median:.2f} s ({predicted / median - 1:+.0%})", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("gonbext", type=pathlib.Path)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--scaling", type=float, metavar="CORES")
    args = p.parse_args()
    folder, command = args.folder.resolve(), str(args.gonbext.resolve())
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    os.environ["GONBEXT_PYTHON"] = sys.executable
    if args.scaling:
        return scaling(folder, command, args.scaling, args.rounds)
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
