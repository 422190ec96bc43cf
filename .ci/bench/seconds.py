#!/usr/bin/env python3
"""Holds predicted seconds to measured ones: sixty plans on a machine that gonbext has run
on for a minute.

  .ci/bench/seconds.py FOLDER [--gonbext COMMAND] [--rounds 2] [--seed 1] [--scale 4]

Arrays of 6 GB in all are made in FOLDER by gonbext itself. The run log is FOLDER/log, and
has the runs of the first minute only when each of the sixty plans is predicted. Prints
each plan, and of those whose time is known, which is a range at most a factor of two wide,
the part that took as long as that says. The plans of the minute and of the sixty differ;
which are which follows from the seed.

Before each run, of the minute and of the sixty alike, the last output is removed and the disk
becomes idle: a run would else wait until what the one before has left is written back, and
the blocks of what it replaces are free, which its plan does not know. That time is not of
the minute, which is of gonbext's own runs."""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

ROWS, COLUMNS = 8192, 4096  # of float32: 128 MiB
SIXTY, MINUTE, WIDEST = 60, 60, 2


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--gonbext", default="gonbext")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--scale", type=float, default=4, help="of the rows (%(default)s)")
    p.add_argument("--json", type=pathlib.Path, help="a file that takes the figures")
    return p.parse_args()


def inputs(scale):
    """Names, and what gonbext makes them of."""
    rows = max(int(ROWS * scale) // 64 * 64, 64)
    side = max(int(2048 * scale**0.5), 64)
    noise = f"random(7, {rows}, {COLUMNS})"
    return {
        "a.npy": [f'astype({noise}, "float32")'],
        "b.npy": [f'astype({noise} + 0.5, "float32")'],
        "d.npy": [noise],
        "i.npy": [f'astype({noise} * 1000, "int32")'],
        "small.npy": [f'astype(random(7, {max(rows // 4, 16)}, {COLUMNS}), "float32")'],
        "square.npy": [f'astype(random(7, {side}, {side}), "float32")'],
        "open.zarr": [f'astype({noise}, "float32")', "--chunks", f"{rows // 8}x512", "--codec", "none"],
        "zstd.zarr": [f'astype(floor({noise} * 64), "float32")', "--chunks", f"{rows // 8}x1024", "--codec", "zstd:1"],
        "lz4.zarr": [f'astype(floor({noise} * 64), "float32")', "--chunks", f"{rows // 4}x512", "--codec", "blosc:lz4:5:shuffle"],
    }


def plans(folder):
    """Expressions with their inputs, outputs and flags."""
    x = {n.split(".")[0]: f"{folder}/{n}" for n in inputs(1)}
    every = []

    def add(expression, *names, out="out.npy", flags=()):
        every.append([expression, *(f"{n}={x[n]}" for n in names), *(["-o", f"{folder}/{out}"] if out else []), *flags])

    for n in ("a", "d", "small", "open", "zstd", "lz4"):
        add(f"sqrt({n})", n)
        add(f"tanh(sqrt({n})*2+exp(-{n}))", n)
        add(f"mean({n}, 0)", n)
        add(f"std({n}, 1)", n)
        add(f"{n} - mean({n}, 0)", n)
        add(f"sum({n})", n, out="")
    for n in ("a", "d", "zstd"):
        add(f'astype({n}, "float16")', n)
        add(f"transpose({n}, 1, 0)", n)
        add(f"where({n} > 0.5, {n}, 0)", n)
        add(f"log1p(abs({n})) + sin({n})", n)
        add(f"({n} - mean({n}, 0)) / (std({n}, 0) + 1)", n)
        add(f"max({n}, 1)", n)
        add(f"argmax({n}, 1)", n)
        add(f'slice({n}, "::2, 100:2100")', n)
        for codec in ("none", "zstd:1", "zstd:3", "blosc:lz4:5:shuffle"):
            add(f"{n} * 2", n, out="out.zarr", flags=["--chunks", "512x512", "--codec", codec])
    for expression, *names in (("a + b", "a", "b"), ("a * b - a / b", "a", "b"), ("hypot(a, b)", "a", "b"), ("arctan2(a, d)", "a", "d"),
                               ("a + zstd", "a", "zstd"), ("lz4 - open", "lz4", "open"), ("i + 1", "i"), ("i % 7", "i"), ("mean(i, 0)", "i"),
                               ("cumsum(a, 0)", "a"), ("cumsum(small, 1)", "small"), ("sort(small, 1)", "small"), ("median(small, 0)", "small"),
                               ("matmul(square, square)", "square"), ("matmul(transpose(square, 1, 0), square)", "square")):
        add(expression, *names)
        add(expression, *names, flags=["--memory", "64MiB"])
    return every


def main():
    args = arguments()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log, first = folder / "log", folder / "log.minute"
    env = {**os.environ, "GONBEXT_RUNS": str(log)}

    def gonbext(*command):
        (folder / "out.npy").unlink(missing_ok=True)
        shutil.rmtree(folder / "out.zarr", ignore_errors=True)
        os.sync()
        begun = time.monotonic()
        done = subprocess.run([args.gonbext, "compute", *command, "--json"], env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"gonbext compute {' '.join(command)}: {done.stderr.strip()}")
        return {**json.loads(done.stdout), "whole": time.monotonic() - begun}

    for name, (expression, *flags) in inputs(args.scale).items():
        if not (folder / name).exists():
            gonbext(expression, "-o", name, *flags)
    rows = []
    for r in range(args.rounds):
        shuffled = plans(folder)
        random.Random(args.seed + r).shuffle(shuffled)
        sixty, others = shuffled[:SIXTY], shuffled[SIXTY:]
        for path in (log, first):
            shutil.rmtree(path, ignore_errors=True)
        spent, runs = 0, 0
        while spent < MINUTE * min(args.scale, 1):
            spent += gonbext(*others[runs % len(others)], "--fresh")["whole"]
            runs += 1
        shutil.copytree(log, first)
        print(f"round {r + 1}: {runs} runs in the first minute; load {os.getloadavg()[0]:.1f}")
        for plan in sixty:
            shutil.rmtree(log)
            shutil.copytree(first, log)
            f = gonbext(*plan, "--fresh")
            took, likely = f["seconds"], f["predicted_seconds"]
            ratio = took / likely["likely"]
            known, inside = likely["high"] <= WIDEST * likely["low"], likely["low"] <= took <= likely["high"]
            rows.append({"round": r + 1, "plan": plan[0], "flags": plan[1:], "seconds": took, **likely, "ratio": ratio, "known": known, "inside": inside, "load": os.getloadavg()[0]})
            print(f"{took:8.3f} s  {likely['likely']:8.3f} ({likely['low']:.3f} to {likely['high']:.3f})  {ratio:5.2f} "
                  f"{'?' if not known else '' if inside else 'OFF':4s} {likely['limit']:16s} {' '.join(p.replace(str(folder) + '/', '') for p in plan)}")
        known = [row["inside"] for row in rows if row["round"] == r + 1 and row["known"]]
        print(f"round {r + 1}: the time of {len(known)} of {len(sixty)} plans is known, and {100 * sum(known) / max(len(known), 1):.0f} % of these are within the range; load {os.getloadavg()[0]:.1f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
