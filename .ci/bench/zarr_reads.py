#!/usr/bin/env python3
"""Times reads of Zarr arrays beside zarr-python's two pipelines of codecs and that of zarrs: whole arrays, and a band of rows.

  zarr_reads.py FOLDER GONBEXT EVALUATE [ROUNDS [MIB [ARRAY]]]
Run by a Python that has zarr >= 3.3 and zarrs; prints seconds of wall and of processors, medians

Arrays are warm in the page cache, contenders take turns, and each is a process that has read the same before: EVALUATE is the program of that
folder, built. It takes the maximum besides, within 512 MiB. The command's seconds are those of a process of its own, from its start."""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

folder, gonbext, evaluate = sys.argv[1:4]
rounds, mib, only = (sys.argv[4:] + ["3", "1024", ""][len(sys.argv) - 4:])[:3]
rounds, mib = int(rounds), int(mib)
SHAPE = (mib // 4, 1024, 1024)
CODECS = {"none": None, "zstd": ZstdCodec(level=1), "blosc-lz4": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"), "gzip": GzipCodec(level=1), "shards": ZstdCodec(level=1)}
CHUNKS = {"64KiB": (1, 128, 128), "1MiB": (1, 512, 512), "16MiB": (4, 1024, 1024)}
PIPELINES = {"zarr": "zarr.core.codec_pipeline.BatchedCodecPipeline", "fused": "zarr.core.codec_pipeline.FusedCodecPipeline", "zarrs": "zarrs.ZarrsCodecPipeline"}
READS = {"all": ("max(x)", lambda a: [a[z:z + 32] for z in range(0, SHAPE[0], 32)]), "band": ("max(slice(x, \":, 256:320, :\"))", lambda a: a[:, 256:320, :])}


def make():
    y, x = np.mgrid[0:1024, 0:1024].astype("f4")
    for codec, compressor in CODECS.items():
        for size, chunks in CHUNKS.items():
            path = f"{folder}/{codec}-{size}.zarr"
            if os.path.exists(path + "/zarr.json") or (codec == "shards" and size == "16MiB"):
                continue
            a = zarr.create_array(path + ".part", shape=SHAPE, dtype="f4", chunks=chunks, shards=(4, 1024, 1024) if codec == "shards" else None, compressors=compressor, overwrite=True)
            for z in range(0, SHAPE[0], 4):
                a[z:z + 4] = [np.round((np.sin(x / 61 + k / 17) * np.cos(y / 47 - k / 23) + 0.3 * np.sin((x + y) / 13 + k / 5)) * 2048) / 2048 for k in range(z, z + 4)]
            os.rename(path + ".part", path)


def clocked(f):
    t, c = time.perf_counter(), os.times()
    f()
    d = os.times()
    return time.perf_counter() - t, sum(d[:4]) - sum(c[:4])


os.makedirs(folder, exist_ok=True)
if not only:
    make()
print("| array | read |" + "".join(f" {c} |" for c in ("evaluate", *PIPELINES, "the command")) + " load |")
for name in sorted(n for n in os.listdir(folder) if n.endswith(".zarr") and only in ("", n[:-5])):
    path = f"{folder}/{name}"
    ours = subprocess.Popen([evaluate, path, "512MiB"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for read, (expression, f) in READS.items():
        def resident():
            print(expression, file=ours.stdin, flush=True)
            return tuple(map(float, ours.stdout.readline().split()))

        def command():
            return clocked(lambda: subprocess.run([gonbext, "compute", expression, "x=" + path, "--memory", "512MiB"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

        def peer(pipeline):
            zarr.config.set({"codec_pipeline.path": PIPELINES[pipeline]})
            a = zarr.open_array(path, mode="r")
            return lambda: clocked(lambda: f(a))

        runs = {"evaluate": resident, **{p: peer(p) for p in PIPELINES}, "the command": command}
        taken = {c: [] for c in runs}
        for k in range(rounds + 1):
            for c, run in runs.items():
                taken[c].append(run())
        cells = []
        for c in runs:
            wall, cpu = (statistics.median(t[i] for t in taken[c][1:]) for i in (0, 1))
            cells.append(f"{wall:.2f} ({cpu:.2f})")
        print(f"| {name[:-5]} | {read} | " + " | ".join(cells) + f" | {os.getloadavg()[0]:.0f} |", flush=True)
    ours.stdin.close()
    ours.wait()
