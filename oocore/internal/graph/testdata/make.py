"""Writes numpy.json: result types, shapes and errors of NumPy's operations.

python3 make.py > numpy.json, with NumPy 2.
"""
import json
import random
import warnings
import numpy as np

warnings.simplefilter("ignore")
random.seed(1)
names = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64", "complex64", "complex128"]
weak = {"int": 1, "float": 1.0, "complex": 1j}

unary = """negative abs sign square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos
arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint invert logical_not isnan isinf isfinite real imag
conjugate""".split()
binary = """add subtract multiply divide floor_divide remainder power minimum maximum fmin fmax arctan2 hypot copysign
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less
less_equal greater greater_equal""".split()
reductions = "sum prod mean var std min max argmin argmax any all count_nonzero".split()


def result(f, *args):
    try:
        return str(np.asarray(f(*args)).dtype)
    except (TypeError, ValueError, OverflowError):
        return ""


def ones(name):
    return np.ones(2, name)


def shape(f):
    try:
        return list(f().shape)
    except (TypeError, ValueError, IndexError):
        return None


def shapes(n, dims=4):
    return [[random.choice([0, 1, 1, 2, 3, 5]) for _ in range(random.randrange(dims))] for _ in range(n)]


broadcasts = [[a, b] for a, b in zip(shapes(300), shapes(300))]
products = [[a, b] for a, b in zip(shapes(400), shapes(400))]
for _ in range(300):
    m, n, k = random.choices([0, 1, 2, 3], k=3)
    a, b = random.choice([[1], [2], [3, 1], []]), random.choice([[1], [2], [3, 2], []])
    products.append([a + [m, k], b + [k, n]])


def zeros(s):
    return np.zeros(s, np.int8)


def reduced(s, axes, keep):
    return list(np.sum(zeros(s), axis=tuple(axes) if axes else None, keepdims=keep).shape)


cases = []
for s in shapes(200, 5):
    axes = random.sample(range(len(s)), random.randrange(len(s) + 1))
    axes = [a - len(s) if random.random() < 0.5 else a for a in axes]
    keep = random.random() < 0.5
    cases.append({"shape": s, "axes": axes, "keep": keep, "out": reduced(s, axes, keep)})

print(json.dumps({
    "numpy": np.__version__,
    "unary": {f: {a: result(getattr(np, f), ones(a)) for a in names} for f in unary},
    "binary": {f: {a: {b: result(getattr(np, f), ones(a), weak[b] if b in weak else ones(b))
                       for b in names + list(weak)} for a in names} for f in binary},
    "where": {a: {b: result(np.where, ones("bool"), ones(a), weak[b] if b in weak else ones(b))
                  for b in names + list(weak)} for a in names},
    "reductions": {f: {a: result(getattr(np, f), ones(a)) for a in names} for f in reductions},
    "matmul": {a: {b: result(np.matmul, np.ones((2, 2), a), np.ones((2, 2), b)) for b in names} for a in names},
    "arange": {a: {b: result(np.arange, getattr(np, a)(0) if a in names else 0 * weak[a],
                             getattr(np, b)(3) if b in names else 3 * weak[b],
                             1) for b in ["int", "float", "int8", "float32"]} for a in ["int", "float", "int16"]},
    "broadcast": [{"in": p, "out": shape(lambda: zeros(p[0]) + zeros(p[1]))} for p in broadcasts],
    "product": [{"in": p, "out": shape(lambda: np.matmul(zeros(p[0]), zeros(p[1])))} for p in products],
    "reduce": cases,
}, indent=None).replace('}, "', '},\n"'))
