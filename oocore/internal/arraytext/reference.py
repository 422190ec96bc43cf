"""Writes arrays and what NumPy prints of them, as JSON: of a seed, so many of each type."""

import json
import sys

import numpy as np

rng = np.random.default_rng(int(sys.argv[1]))


def numbers(dtype, size):
    """Numbers of one of the kinds that are written in different ways."""
    if dtype == "bool":
        return rng.random(size) < 0.5
    if np.issubdtype(dtype, np.integer):
        high = [3, 100, np.iinfo(dtype).max][rng.integers(3)]
        low = max(-int(high), np.iinfo(dtype).min) if rng.random() < 0.5 else 0
        return rng.integers(low, high, size, dtype, endpoint=True)
    if np.issubdtype(dtype, np.complexfloating):
        part = "float32" if dtype == "complex64" else "float64"
        return (numbers(part, size) + 1j * numbers(part, size)).astype(dtype)
    kind = rng.integers(7)
    v = rng.standard_normal(size)
    if kind == 1:
        v = np.round(v * 4) / 4
    elif kind == 2:
        v = np.round(v * 100)
    elif kind == 3:
        v = v * 10.0 ** rng.integers(-6, 5, size)
    elif kind == 4:
        v = np.abs(v) * 10.0 ** rng.integers(-12, 13)
    elif kind == 5:
        v = v * 1e-3 + 1
    elif kind == 6:
        v = np.zeros(size)
    with np.errstate(over="ignore"):
        v = v.astype(dtype)
    for special in (np.nan, np.inf, -np.inf):
        if rng.random() < 0.2:
            v[rng.random(size) < 0.2] = special
    return v


def text(x):
    """Numbers as JSON has them, exactly."""
    if np.iscomplexobj(x):
        return [[float(p.real).hex(), float(p.imag).hex()] for p in x]
    if x.dtype.kind == "f":
        return [float(p).hex() for p in x]
    return [str(int(p)) for p in x]


cases = []
for dtype in ("bool", "int8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
    for _ in range(int(sys.argv[2])):
        shape = [int(n) for n in [(), (1,), (4,), (9,), (40,), (1200,), (2, 3), (5, 7), (1, 1), (40, 30), (3, 4, 5), (9, 2, 70), (2, 0)][rng.integers(13)]]
        x = numbers(dtype, int(np.prod(shape)))
        cases.append({"dtype": dtype, "shape": shape, "values": text(x), "text": str(x.reshape(shape)[()])})
json.dump(cases, sys.stdout, indent=0)
