"""Filters of 30,000 × 6,000 float32 as users of SciPy and dask-image write them, to be
measured within 512 MiB beside gonbext's median_filter(x, 5), gaussian_filter(x, 2) and
convolve(x, w): bands of rows with their borders by hand, and dask's chunks of 1024².

    peers.py make|check.JOB|JOB.scipy|JOB.dask|convolve.oaconvolve FOLDER

A JOB is median, gaussian or convolve. The folder has image.npy (x), weights.npy (w) and
out.npy."""
import os
import sys

import numpy as np

ROWS, COLUMNS, BAND = 6_000, 30_000, 256
BORDER = {"median": 2, "gaussian": 8, "convolve": 15}


def path(name):
    return os.path.join(sys.argv[2], name)


def make():
    generator = np.random.default_rng(0)
    x = np.lib.format.open_memmap(path("image.npy"), "w+", "f4", (ROWS, COLUMNS))
    for at in range(0, ROWS, 500):
        x[at:at + 500] = generator.random((500, COLUMNS), dtype="f4")
    x.flush()
    np.save(path("weights.npy"), generator.random((31, 31), dtype="f4"))


def by_scipy(job):
    from scipy import ndimage

    w = np.load(path("weights.npy"))
    return {"median": lambda a: ndimage.median_filter(a, 5), "gaussian": lambda a: ndimage.gaussian_filter(a, 2),
            "convolve": lambda a: ndimage.convolve(a, w)}[job]


def by_transforms(a):
    from scipy import signal

    return signal.oaconvolve(np.pad(a, 15, mode="symmetric"), np.load(path("weights.npy")), mode="valid")


def bands(x, out, job, f):
    border = BORDER[job]
    for at in range(0, ROWS, BAND):
        low, high = max(at - border, 0), min(at + BAND + border, ROWS)
        out[at:at + BAND] = f(np.asarray(x[low:high]))[at - low:at - low + min(BAND, ROWS - at)]


def by_dask(x, out, job):
    import dask
    import dask.array as da
    from dask_image import ndfilters

    a = da.from_array(x, chunks=(1024, 1024))
    y = {"median": lambda: ndfilters.median_filter(a, 5), "gaussian": lambda: ndfilters.gaussian_filter(a, 2),
         "convolve": lambda: ndfilters.convolve(a, np.load(path("weights.npy")))}[job]()
    with dask.config.set(scheduler="threads"):
        da.store(y, out, lock=False)


def check(job):
    """Holds gonbext's out.npy to SciPy in rows at the edge and within."""
    x, out = np.load(path("image.npy"), mmap_mode="r"), np.load(path("out.npy"), mmap_mode="r")
    border = BORDER[job]
    for at in (0, 2987, ROWS - 20):
        low, high = max(at - border, 0), min(at + 20 + border, ROWS)
        want = by_scipy(job)(np.asarray(x[low:high]))[at - low:at - low + 20]
        np.testing.assert_allclose(out[at:at + 20], want, rtol=0 if job == "median" else 2e-6)


if __name__ == "__main__":
    job, _, peer = sys.argv[1].partition(".")
    if job == "make":
        make()
    elif job == "check":
        check(peer)
    else:
        x = np.load(path("image.npy"), mmap_mode="r")
        out = np.lib.format.open_memmap(path("out.npy"), "w+", "f4", x.shape)
        if peer == "dask":
            by_dask(x, out, job)
        else:
            bands(x, out, job, by_transforms if peer == "oaconvolve" else by_scipy(job))
        out.flush()
