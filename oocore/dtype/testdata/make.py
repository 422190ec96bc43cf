"""Writes promote.json: NumPy's result types, with ml_dtypes for bfloat16.

python3 make.py > promote.json, with NumPy 2 and ml_dtypes.
"""
import json
import ml_dtypes
import numpy as np

bfloat16 = np.dtype(ml_dtypes.bfloat16)
names = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
types = {n: bfloat16 if n == "bfloat16" else np.dtype(n) for n in names}


def promote(a, b):
    try:
        return str(np.promote_types(types[a], types[b]))
    except TypeError:
        return ""  # ml_dtypes leaves these to JAX


def weak(a, number):
    x = np.ones(1, types[a])
    try:
        return str((x + number).dtype) if a != "bfloat16" or number == 1 and isinstance(number, int) else ""
    except TypeError:
        return ""


def three():
    """Result types of three arrays that are not those of one promotion after the other."""
    plain = [n for n in names if n != "bfloat16"]
    out = {}
    for a in plain:
        for b in plain:
            for c in plain:
                t = np.result_type(types[a], types[b], types[c])
                if t != np.promote_types(np.promote_types(types[a], types[b]), types[c]):
                    out[f"{a} {b} {c}"] = str(t)
    return out


print(json.dumps({
    "numpy": np.__version__,
    "promote": {a: {b: promote(a, b) for b in names} for a in names},
    "three": three(),
    "weak": {a: {"int": weak(a, 1), "float": weak(a, 1.0), "complex": weak(a, 1j)} for a in names},
}, indent=1))
