#!/usr/bin/env python3
"""Measures the machine's own limits, on all cores at once, and prints them as JSON, in units a second:
bytes read from and written to FOLDER's disk past the page cache, also both at once; bytes
copied in memory; bytes of random float32 decoded from zstd level 1; operations of fused
multiply-adds, two each, on float32, by a product in the caches. limits.py FOLDER"""
import json
import mmap
import os
import sys
import threading
import time

import numcodecs
import numpy as np

BLOCK, CHUNK, FILE, MEMORY, ROUNDS = 4 << 20, 16 << 20, 1 << 30, 256 << 20, 3
CORES = len(os.sched_getaffinity(0))


def together(*work):
    """Seconds that all take side by side."""
    threads = [threading.Thread(target=w) for w in work]
    begun = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return time.perf_counter() - begun


def best(amount, *work):
    return amount / min(together(*work) for _ in range(ROUNDS))


def direct(path, move, flags, thread):
    """Moves a thread's blocks of a file past the page cache."""
    buffer = mmap.mmap(-1, BLOCK)  # begins at a page, as direct reads and writes want it
    fd = os.open(path, flags | os.O_DIRECT)
    try:
        for at in range(thread * BLOCK, FILE, CORES * BLOCK):
            move(fd, [buffer], at)
    finally:
        os.close(fd)


def main():
    first, second = (os.path.join(sys.argv[1], f"limits-{i}") for i in range(2))
    for path in (first, second):
        with open(path, "wb") as f:
            os.posix_fallocate(f.fileno(), 0, FILE)
    try:
        def writes(path):
            return [lambda i=i: direct(path, os.pwritev, os.O_WRONLY, i) for i in range(CORES)]

        def reads(path):
            return [lambda i=i: direct(path, os.preadv, os.O_RDONLY, i) for i in range(CORES)]
        limits = {"write": best(FILE, *writes(first)), "read": best(FILE, *reads(first))}
        best(FILE, *writes(second))  # blocks that were never written are not read
        limits["both"] = best(2 * FILE, *reads(first), *writes(second))
    finally:
        os.unlink(first)
        os.unlink(second)
    source, target = (np.full((CORES, MEMORY // 4), i, "f4") for i in range(2))
    limits["copy"] = best(CORES * MEMORY, *(lambda i=i: np.copyto(target[i], source[i]) for i in range(CORES)))
    zstd, block = numcodecs.Zstd(1), np.random.default_rng(0).random(CHUNK // 4, "f4")
    encoded, decoded = zstd.encode(block), [np.empty_like(block) for _ in range(CORES)]
    times = 8
    limits["zstd"] = best(CORES * times * CHUNK, *(lambda i=i: [zstd.decode(encoded, decoded[i]) for _ in range(times)] for i in range(CORES)))
    a = np.ones((1536, 1536), "f4")
    a @ a
    limits["fma"] = best(times * 2 * len(a) ** 3, lambda: [a @ a for _ in range(times)])
    print(json.dumps(limits))


if __name__ == "__main__":
    main()
