"""Writes reduce.json: NumPy's reductions of small arrays of every dtype.

Each case is an array, its dtype and shape, and for every reduction that NumPy
has for it the results over axis 0, over axis 1 and over both, as the hex of
their little-endian bytes. Run: python make_reduce.py > reduce.json
"""
import json
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(4)
SHAPE = (6, 19)

REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "min": np.min, "max": np.max,
    "argmin": np.argmin, "argmax": np.argmax, "any": np.any, "all": np.all, "count_nonzero": np.count_nonzero,
    "var": np.var, "std": np.std,
    "var ddof=1": lambda a, axis: np.var(a, axis, ddof=1),
    "std ddof=400": lambda a, axis: np.std(a, axis, ddof=400),
}


def arrays():
    yield "random", rng.random(SHAPE) < 0.5
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        info = np.iinfo(name)
        yield "random", rng.integers(info.min, info.max, SHAPE, name, endpoint=True)
    for name in ["float16", "float32", "float64", "complex64", "complex128"]:
        a = rng.normal(1, 0.5, SHAPE)
        if name.startswith("complex"):
            a = a + 1j * rng.normal(0, 0.5, SHAPE)
        a[2, 3] = 0
        a = a.astype(name)
        yield "random", a
        b = a.copy()
        b[3, 5], b[4, 5], b[1, 9], b[2, 9], b[0, 11] = np.nan, np.nan, np.inf, -np.inf, np.inf
        yield "special", b
        yield "ties", np.round(a)
    yield "far", (1e9 + rng.normal(0, 1, SHAPE)).astype("float64")


cases = []
for label, a in arrays():
    results = {}
    for name, f in REDUCTIONS.items():
        results[name] = [np.asarray(f(a, axis=axis)).tobytes().hex() for axis in (0, 1, None)]
    cases.append({"label": label, "dtype": a.dtype.name, "rows": SHAPE[0], "cols": SHAPE[1],
                  "data": a.tobytes().hex(), "results": results})
json.dump(cases, sys.stdout, indent=0)
print()
