"""What a user of NumPy, numexpr, Blosc2 or Dask writes for the benchmark's jobs, and the
inputs that all share. peers.py make|check|JOB.PEER FOLDER"""
import os
import sys

import numpy as np

from sizes import COLUMNS, LARGE, ROWS, SQUARE


def path(name):
    return os.path.join(sys.argv[2], name)


def source(name="acts.npy"):
    return np.load(path(name), mmap_mode="r")


def target(shape, dtype="f4"):
    return np.lib.format.open_memmap(path("out.npy"), "w+", dtype, shape)


def blocks(step, rows=ROWS):
    return (slice(at, min(at + step, rows)) for at in range(0, rows, step))


def make():
    """Uniform numbers, written in pieces, and a mask that puts means above deviations."""
    generator = np.random.default_rng(0)
    for name, rows, columns in (("acts.npy", ROWS, COLUMNS), ("sq.npy", SQUARE, SQUARE), ("large.npy", LARGE, LARGE)):
        if os.path.exists(path(name)):
            continue
        with open(path(name + ".part"), "wb") as f:
            np.lib.format.write_array_header_1_0(f, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
            for piece in blocks(1 << 14, rows):
                f.write(generator.random((piece.stop - piece.start, columns), dtype="f4").tobytes())
        os.rename(path(name + ".part"), path(name))
    np.save(path("first.npy"), np.array([[True], [False]]))


def roots_numpy():
    x, out = source(), target((ROWS, COLUMNS))
    for rows in blocks(1024):
        np.sqrt(x[rows], out=out[rows])
    out.flush()


def colstats_numpy():
    x, total, squares = source(), np.zeros(COLUMNS), np.zeros(COLUMNS)
    for rows in blocks(1 << 14):
        piece = x[rows].astype("f8")
        total += piece.sum(0)
        squares += (piece * piece).sum(0)
    mean = total / ROWS
    np.save(path("out.npy"), np.stack([mean, np.sqrt(squares / ROWS - mean * mean)]))


def fused_numpy():
    x, out = source(), target((ROWS, COLUMNS))
    for rows in blocks(1024):
        b = x[rows]
        out[rows] = np.tanh(np.sqrt(b) * 2 + np.exp(-b))
    out.flush()


def fused_numexpr():
    import numexpr

    x, out = source(), target((ROWS, COLUMNS))
    for rows in blocks(1 << 14):
        b = x[rows]
        numexpr.evaluate("tanh(sqrt(b)*2 + exp(-b))", out=out[rows])
    out.flush()


def fused_blosc2():
    import blosc2

    if not os.path.exists(path("acts.b2nd")):
        blosc2.asarray(source(), chunks=(16384, COLUMNS), urlpath=path("acts.b2nd"), mode="w", cparams={"clevel": 0})
    x = blosc2.open(path("acts.b2nd"))
    blosc2.tanh(blosc2.sqrt(x) * 2 + blosc2.exp(-x)).compute(urlpath=path("out.b2nd"), mode="w", cparams={"clevel": 0})


def fused_dask():
    import dask.array as da

    x = da.from_array(source(), chunks=(16384, COLUMNS))
    da.tanh(da.sqrt(x) * 2 + da.exp(-x)).to_zarr(path("out.zarr"), mode="w", compressors=None)


def half_numpy():
    x, out = source(), target((ROWS, COLUMNS), "f2")
    for rows in blocks(1024):
        out[rows] = x[rows]
    out.flush()


def product_numpy(name="sq.npy"):
    x = np.load(path(name))
    np.save(path("out.npy"), x @ x)


def large_numpy():
    product_numpy("large.npy")


def check(job):
    """Holds gonbext's out.npy to NumPy in some rows of all."""
    out, x = source("out.npy"), source({"product": "sq.npy", "large": "large.npy"}.get(job, "acts.npy"))
    some = np.random.default_rng(1).integers(0, len(x), 200)
    if job == "colstats":
        mean, deviation = np.zeros(COLUMNS), np.zeros(COLUMNS)
        for rows in blocks(1 << 14):
            mean += x[rows].sum(0, dtype="f8") / ROWS
        for rows in blocks(1 << 14):
            deviation += ((x[rows] - mean) ** 2).sum(0) / ROWS
        got, want = out[:], np.stack([mean, np.sqrt(deviation)])
    elif job in ("product", "large"):
        some = some[:8]
        got, want = out[some], x[some].astype("f8") @ x[:].astype("f8")
    else:
        b = x[some]
        got = out[some]
        want = {"roots": lambda: np.sqrt(b), "fused": lambda: np.tanh(np.sqrt(b) * 2 + np.exp(-b)), "half": lambda: b.astype("f2")}[job]()
    if out.shape[1] != want.shape[1]:
        sys.exit(f"{job}: shape {out.shape}")
    np.testing.assert_allclose(got, want, rtol={"product": 1e-5, "large": 1e-5, "half": 0}.get(job, 1e-6))


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "make":
        make()
    elif what.startswith("check."):
        check(what[len("check."):])
    else:
        globals()[what.replace(".", "_")]()
