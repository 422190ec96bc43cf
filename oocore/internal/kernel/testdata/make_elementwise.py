# Writes elementwise.json.gz: NumPy's results of each operation and conversion.
# Functions are computed in the next wider type and rounded, so that NumPy's own
# errors are not held against the kernels. Run: python make_elementwise.py
import base64
import gzip
import json
import warnings
import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(4)
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
TYPES = ["bool"] + INTS + ["float16"] + FLOATS + COMPLEX
PAIRS = """add subtract multiply divide floor_divide remainder power minimum maximum fmin fmax arctan2 hypot copysign
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less
less_equal greater greater_equal""".split()
ONES = """negative abs sign square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos
arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint invert logical_not isnan isinf isfinite real imag
conjugate""".split()
# What is rounded only once, or not at all, and so must agree to the last bit.
EXACT = set("""add subtract multiply divide floor_divide remainder minimum maximum fmin fmax copysign negative abs sign
square sqrt reciprocal floor ceil trunc rint real imag conjugate""".split()) | set(PAIRS[PAIRS.index("logical_and"):]) | {
    "invert", "logical_not", "isnan", "isinf", "isfinite"}
WIDER = {"float32": "float64", "float64": "longdouble", "complex64": "clongdouble", "complex128": "clongdouble"}


def text(a):
    return base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()


def special(t):
    k = np.dtype(t).kind
    if t == "bool":
        return np.array([False, True])
    if k in "iu":
        i = np.iinfo(t)
        return np.unique(np.array([i.min, i.min + 1, 0, 1, 2, 3, 7, i.max // 2 + 1, i.max - 1, i.max] + ([-1, -2, -7] if k == "i" else []), dtype=t))
    f = np.finfo(t)
    return np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-3, -1e4, f.max, f.tiny, -f.smallest_subnormal, np.inf, -np.inf, np.nan, 100], dtype=t)


def inputs(t):
    if t in COMPLEX:
        part = "float32" if t == "complex64" else "float64"
        s = np.array([0.0, -0.0, 1, -2.5, 1e3, np.inf, -np.inf, np.nan], dtype=part)
        x, y = np.meshgrid(s, s)
        z = np.empty(x.size, t)
        z.real, z.imag = x.ravel(), y.ravel()
        r = (rng.normal(0, 2, 64) + 1j * rng.normal(0, 2, 64)).astype(t)
        return np.concatenate([z, r]), np.concatenate([rng.permutation(z), rng.permutation(r)])
    s = special(t)
    x, y = np.meshgrid(s, s)
    k = np.dtype(t).kind
    if k in "iu":
        i = np.iinfo(t)
        r = rng.integers(i.min, i.max, 40, dtype=t, endpoint=True)
    elif k == "b":
        r = rng.random(40) < 0.5
    else:
        r = (rng.normal(0, 1, 80) * 10.0 ** rng.uniform(-3, 3, 80)).astype(t)
    return np.concatenate([x.ravel(), r]), np.concatenate([y.ravel(), rng.permutation(r)])


def result_type(name, t):
    if name.startswith(("equal", "not_equal", "less", "greater", "is", "logical")):
        return "bool"
    if name in ("abs", "real", "imag") and t in COMPLEX:
        return "float32" if t == "complex64" else "float64"
    return t


def apply(name, t, *x):
    f = {"real": np.real, "imag": np.imag}.get(name) or getattr(np, name)
    try:
        plain = f(*x)
    except TypeError:
        return None
    if plain.dtype != result_type(name, t):
        return None
    if name in EXACT or t not in WIDER:
        return plain
    return f(*(v.astype(WIDER[t]) for v in x)).astype(plain.dtype)


values, cases, casts = {}, [], []
for t in TYPES:
    a, b = inputs(t)
    values[t] = {"n": len(a), "a": text(a), "b": text(b)}
    for name in PAIRS + ONES if t != "float16" else []:
        if name.startswith("logical") and t != "bool":
            continue
        second = b
        if name == "power" and t in INTS:  # NumPy refuses negative powers of integers
            second = (np.abs(b.astype("float64")) % 11).astype(t)
        out = apply(name, t, a, second) if name in PAIRS else apply(name, t, a)
        case = {"op": name, "type": t, "exact": name in EXACT}
        if out is not None:
            case["out"] = text(out)
            if name == "power" and t in INTS:
                case["b"] = text(second)
        cases.append(case)
    for to in TYPES:
        casts.append({"from": t, "to": to, "out": text(a.astype(to))})
with gzip.GzipFile("elementwise.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps({"numpy": np.__version__, "values": values, "cases": cases, "casts": casts}).encode())
