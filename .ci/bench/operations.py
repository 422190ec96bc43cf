"""What users of NumPy, SciPy, Dask, Blosc2 and TensorLy write for the benchmark's
operations, and their inputs. operations.py make.JOB|check.JOB|JOB.PEER FOLDER"""
import glob
import os
import sys

import numpy as np

from sizes import CUBE, HUGE, IMAGE, SMALL, SORTED, SQUARE, TENSOR, scaled

BAND = 256
BORDER = {"median": 2, "gaussian": 8, "convolve": 15}
PAIRS = {"tensordot01": (0, 1), "tensordot02": (0, 2), "tensordot12": (1, 2)}


def path(name):
    return os.path.join(sys.argv[2], name)


def source(name):
    return np.load(path(name), mmap_mode="r")


def random(name, shape, seed):
    """Uniform float32, written in pieces."""
    if os.path.exists(path(name)):
        return
    generator = np.random.default_rng(seed)
    x = np.lib.format.open_memmap(path("part.npy"), "w+", "f4", shape)
    flat = x.reshape(-1)
    for at in range(0, flat.size, 1 << 24):
        flat[at:at + (1 << 24)] = generator.random(min(1 << 24, flat.size - at), dtype="f4")
    x.flush()
    os.rename(path("part.npy"), path(name))


def make(job):
    if job == "sort":
        random("billion.npy", (SORTED,), 1)
    elif job in BORDER:
        random("image.npy", (IMAGE, IMAGE), 2)
        np.save(path("weights.npy"), np.random.default_rng(3).random((31, 31), dtype="f4"))
    elif job in PAIRS:
        random("a.npy", (CUBE,) * 3, 4)
        random("b.npy", (CUBE,) * 3, 5)
        try:
            import blosc2
        except ImportError:
            return
        for n in "ab":
            if not os.path.exists(path(n + ".b2nd")):
                blosc2.asarray(np.load(path(n + ".npy")), urlpath=path(n + ".b2nd"), mode="w", cparams={"clevel": 0})
    elif job == "line":
        for name in sys.argv[3:]:
            if name == "image":
                random("image.npy", (IMAGE, IMAGE), 2)
            elif not os.path.exists(path(name + ".npy")):
                np.save(path(name + ".npy"), sample(name))
    elif job in ("cp", "tucker"):
        random("cube.npy", TENSOR, 6)
    elif job == "huge":
        random("huge.npy", HUGE, 7)
    elif job in ("files", "manyfiles"):
        os.makedirs(path(job), exist_ok=True)
        for i, row in enumerate(np.random.default_rng(8).random((SMALL[job], 50), dtype="f4")):
            np.save(path(f"{job}/{i:06d}.npy"), row)
    elif job in ("chunks", "manychunks"):
        np.save(path(f"{job}.npy"), np.random.default_rng(9).random(50 * SMALL[job], dtype="f4"))
        write_chunks(job, f"{job}.zarr")


def sample(name):
    """An array that lines name."""
    g, n = np.random.default_rng(10), scaled(10**8)
    side = scaled(4096, 2)
    return {"ints": lambda: g.integers(0, 1 << 31, n, "i4"), "list": lambda: np.unique(g.integers(0, 1 << 31, 10_000, "i4")),
            "few": lambda: g.integers(0, 10_000, n, "i4"), "waves": lambda: g.random((8192, scaled(16_384)), "f4"),
            "double": lambda: g.random((SQUARE, SQUARE)), "tall": lambda: g.random((scaled(10**6), 64), "f4"), "thin": lambda: g.random((64, 64), "f4"),
            "batch": lambda: g.random((scaled(2000), 256, 256), "f4"), "whole": lambda: g.integers(-100, 100, (side // 2, side // 2), "i4"),
            "half": lambda: g.random((side, side), "f4").astype("f2"),
            "small": lambda: g.random((scaled(2 * 10**6), 4, 4)), "middle": lambda: g.random((scaled(10**5), 32, 32), "f4"),
            "narrow": lambda: g.random((scaled(2 * 10**6), 2, 3)), "photo": lambda: g.random((side, side, 3), "f4"), "channels": lambda: np.array([2, 0])}[name]()


class Files(dict):
    """What a line names: the arrays of FOLDER, NumPy, and SciPy's transforms."""

    def __missing__(self, name):
        if name == "fft":
            from scipy import fft
            return fft
        if not os.path.exists(path(name + ".npy")):
            raise KeyError(name)
        return np.load(path(name + ".npy"))


def line():
    return eval(sys.argv[3], {"np": np}, Files())


def line_memory():
    np.save(path("out.npy"), line())


def write_chunks(job, name):
    import tensorstore
    grid = {"name": "regular", "configuration": {"chunk_shape": [50]}}
    metadata = {"shape": [50 * SMALL[job]], "data_type": "float32", "chunk_grid": grid}
    x = tensorstore.open(chunks(name) | {"metadata": metadata}, create=True, delete_existing=True).result()
    x.write(np.load(path(f"{job}.npy"))).result()


def chunks(name):
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": path(name)}}


def small(job, peer):
    """The mean of each of many files, the largest element of many chunks, and many chunks written."""
    if peer == "numpy":
        np.save(path("out.npy"), np.array([np.mean(np.load(name)) for name in sorted(glob.glob(path(f"{job}/*.npy")))]))
    elif peer == "tensorstore":
        import tensorstore
        np.save(path("out.npy"), tensorstore.open(chunks(f"{job}.zarr")).result().read().result().max())
    else:
        write_chunks(job, "out.zarr")


def sort_numpy():
    x = np.load(path("billion.npy"))
    x.sort()
    np.save(path("out.npy"), x)


def sort_dask():
    """Dask sorts tables, not arrays."""
    import dask.array as da
    import dask.dataframe as dd

    x = dd.from_dask_array(da.from_array(source("billion.npy"), chunks=10**7), columns="x").to_frame()
    x.sort_values("x").to_parquet(path("out.parquet"))


def filtered(job):
    from scipy import ndimage

    w = np.load(path("weights.npy"))
    return {"median": lambda a: ndimage.median_filter(a, 5), "gaussian": lambda a: ndimage.gaussian_filter(a, 2),
            "convolve": lambda a: ndimage.convolve(a, w)}[job]


def bands(job, f):
    """Bands of rows with their borders, by hand."""
    x, border = source("image.npy"), BORDER[job]
    out = np.lib.format.open_memmap(path("out.npy"), "w+", "f4", x.shape)
    for at in range(0, IMAGE, BAND):
        low, high = max(at - border, 0), min(at + BAND + border, IMAGE)
        out[at:at + BAND] = f(np.asarray(x[low:high]))[at - low:at - low + min(BAND, IMAGE - at)]
    out.flush()


def median_scipy():
    bands("median", filtered("median"))


def gaussian_scipy():
    bands("gaussian", filtered("gaussian"))


def convolve_scipy():
    bands("convolve", filtered("convolve"))


def convolve_transforms():
    from scipy import signal

    w = np.load(path("weights.npy"))

    def f(a):
        return signal.oaconvolve(np.pad(a, 15, mode="symmetric"), w, mode="valid")

    bands("convolve", f)


def by_dask(y):
    import dask
    import dask.array as da

    out = np.lib.format.open_memmap(path("out.npy"), "w+", y.dtype, y.shape)
    with dask.config.set(scheduler="threads"):
        da.store(y, out, lock=False)
    out.flush()


def image():
    import dask.array as da

    return da.from_array(source("image.npy"), chunks=(1024, 1024))


def median_dask():
    from dask_image import ndfilters

    by_dask(ndfilters.median_filter(image(), 5))


def gaussian_dask():
    from dask_image import ndfilters

    by_dask(ndfilters.gaussian_filter(image(), 2))


def convolve_dask():
    from dask_image import ndfilters

    by_dask(ndfilters.convolve(image(), np.load(path("weights.npy"))))


def tensordot_blosc2(pair):
    import blosc2

    a, b = blosc2.open(path("a.b2nd")), blosc2.open(path("b.b2nd"))
    blosc2.tensordot(a, b, axes=(pair, pair), urlpath=path("out.b2nd"), mode="w")


def tensordot_dask(pair):
    import dask.array as da

    a, b = (da.from_array(source(n), chunks=150) for n in ("a.npy", "b.npy"))
    by_dask(da.tensordot(a, b, axes=(pair, pair)))


def svd_dask():
    import dask
    import dask.array as da

    x = da.from_array(source("acts.npy"), chunks=(16384, 512))
    u, s, v = da.linalg.svd_compressed(x, 20, n_power_iter=2, seed=1)
    out = np.lib.format.open_memmap(path("out.npy"), "w+", "f4", u.shape)
    dask.compute(da.store(u, out, lock=False, compute=False), s, v)
    out.flush()


def cp_tensorly():
    from tensorly.decomposition import parafac

    parafac(np.load(path("cube.npy")), rank=8, n_iter_max=10, init="random", random_state=0, tol=0)


def tucker_tensorly():
    from tensorly.decomposition import tucker

    tucker(np.load(path("cube.npy")), rank=[8, 8, 8], n_iter_max=5, tol=0)


def check(job):
    """Holds gonbext's out.npy to NumPy and SciPy."""
    if job in ("cp", "tucker", "huge"):
        return  # the package's tests hold them to TensorLy
    out = source("out.npy")
    if job == "line":
        want = line()
        error = 2e-3 if want.dtype == "f2" else 2e-5 if want.dtype.kind in "fc" else 0
        np.testing.assert_allclose(out, want, rtol=error, atol=error * float(np.abs(want[:1]).max()))
    elif job == "sort":
        x = source("billion.npy")
        edges = np.linspace(0, 1, 1001)
        counts, last = np.zeros((2, 1000), "i8"), -1.0
        for at in range(0, SORTED, 10**7):
            counts[0] += np.histogram(x[at:at + 10**7], edges)[0]
            piece = out[at:at + 10**7]
            counts[1] += np.histogram(piece, edges)[0]
            assert piece[0] >= last and np.all(piece[1:] >= piece[:-1]), at
            last = piece[-1]
        np.testing.assert_array_equal(counts[0], counts[1])
    elif job in BORDER:
        x, border = source("image.npy"), BORDER[job]
        for at in (0, IMAGE // 10, IMAGE - 20):
            low, high = max(at - border, 0), min(at + 20 + border, IMAGE)
            want = filtered(job)(np.asarray(x[low:high]))[at - low:at - low + 20]
            np.testing.assert_allclose(out[at:at + 20], want, rtol=0 if job == "median" else 2e-6)
    elif job in ("chunks", "manychunks"):
        np.testing.assert_array_equal(out, np.load(path(f"{job}.npy")).max())
    elif job in ("files", "manyfiles"):
        want = [np.load(path(f"{job}/{i:06d}.npy")).mean() for i in range(SMALL[job])]
        np.testing.assert_allclose(out, want, rtol=1e-6)
    elif job in PAIRS:
        a, b = np.load(path("a.npy")), np.load(path("b.npy"))
        np.testing.assert_allclose(out, np.tensordot(a, b, (PAIRS[job], PAIRS[job])), rtol=1e-4)
    elif job == "svd":
        # Orthonormal, and it carries as much of the array as the 20 largest singular values.
        u, x = out[:].astype("f8"), source("acts.npy")
        np.testing.assert_allclose(u.T @ u, np.eye(20), atol=1e-4)
        gram, projected = np.zeros((512, 512)), np.zeros((20, 512))
        for at in range(0, len(x), 1 << 16):
            piece = x[at:at + (1 << 16)].astype("f8")
            gram += piece.T @ piece
            projected += u[at:at + (1 << 16)].T @ piece
        best = np.linalg.eigvalsh(gram)[-20:].sum()
        assert 0.995 < (projected**2).sum() / best <= 1 + 1e-6, (projected**2).sum() / best


if __name__ == "__main__":
    job, _, peer = sys.argv[1].partition(".")
    if job in ("make", "check"):
        globals()[job](peer)
    elif job in PAIRS:
        globals()["tensordot_" + peer](PAIRS[job])
    elif job in SMALL:
        small(job, peer)
    else:
        globals()[f"{job}_{peer}"]()
