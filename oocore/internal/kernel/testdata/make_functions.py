# Writes functions.json.gz: functions of float64 and float32 to twice float64's digits, at
# special numbers, around which functions change, and at random. Needs NumPy, SciPy and
# mpmath.
# Run: python make_functions.py
import base64
import gzip
import json
import math
import mpmath
import numpy as np
from scipy import special as scipy_special

mpmath.mp.prec = 200
rng = np.random.default_rng(6)
inf, nan = math.inf, math.nan
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 10.0, 0.75, 1.5, 1e-300, 5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, inf,
           709.782712893384, 709.7827128933841, 745.1332191019411, 745.1332191019412, 708.4, 710.4758600739439, 710.475860073944,
           1024.0, 1074.0, 1075.0, 1e22, 1e300, math.pi, math.pi / 2, math.pi / 4, 2.0**30, 2.0**30 - 1, 5.319372648326541e255,
           22.0, 18.7, 37.42, 0.386, 0.296875, 0.578125, 1.7297297297, 352.644, 0.739427, 1.4847, 0.702326, 18.5,
           0.9375, 5.9375, 4.0, 88.72283, 89.41598, 103.97208, 131072.0, 3.4028234663852886e38, 1.401298464324817e-45, 0.55]
ONE = dict(exp=mpmath.exp, exp2=lambda x: mpmath.mpf(2) ** x, expm1=mpmath.expm1, sinh=mpmath.sinh, cosh=mpmath.cosh, tanh=mpmath.tanh,
           log=mpmath.log, log2=lambda x: mpmath.log(x) / mpmath.log(2), log10=lambda x: mpmath.log(x) / mpmath.log(10),
           log1p=lambda x: mpmath.log1p(x), erf=mpmath.erf, sin=mpmath.sin, cos=mpmath.cos, tan=mpmath.tan, arctan=mpmath.atan, arcsin=mpmath.asin,
           arccos=mpmath.acos, arcsinh=mpmath.asinh, arccosh=mpmath.acosh, arctanh=mpmath.atanh,
           cbrt=lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)))
TWO = dict(power=lambda x, y: x**y, arctan2=mpmath.atan2, hypot=mpmath.hypot)


def draw(n):
    parts = [rng.normal(size=n), rng.uniform(-750, 750, n), rng.normal(size=n) * np.exp(rng.normal(size=n) * 8),
             1 + rng.uniform(-1, 1, n) * 2.0 ** rng.uniform(-50, 0, n), rng.uniform(-1.2, 1.2, n),
             np.round(rng.uniform(-1000, 1000, n)) * (math.pi / 4) + rng.uniform(-1, 1, n) * 2.0 ** rng.uniform(-50, 0, n),
             rng.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)]
    return np.concatenate(parts)


def exact(name, f, *x):
    """The value and what is left of it, or NumPy's where one is not finite, zero or out of a domain."""
    with np.errstate(all="ignore"):
        plain = float(getattr(scipy_special if name == "erf" else np, name)(*(np.array([v, v]) for v in x))[0])  # not NumPy's way with one exponent
    if not all(map(math.isfinite, x)) or name == "arctan2" and 0 in x or plain == 0 or math.isnan(plain):
        if plain == 0 and all(map(math.isfinite, x)) and not far(name, x):
            v = f(*map(mpmath.mpf, x))
            return (plain, 0.0) if v == 0 else (plain, float(v))
        return plain, 0.0
    if math.isinf(plain):
        if name in ("log", "log2", "log10", "log1p", "arctanh") or x[0] == 0:
            return plain, 0.0
        return plain, 0.0 if too_large(name, f, x) else -1.0
    v = f(*map(mpmath.mpf, x))
    assert mpmath.im(v) == 0, (name, x)
    v = mpmath.re(v)
    high = float(v)
    return high, float(v - high)


def far(name, x):
    """Whether an exponential is beyond any doubt out of range."""
    if name == "power":
        return x[0] == 0 or abs(x[1] * math.log(abs(x[0]))) > 2000
    return name in ("exp", "exp2", "expm1", "sinh", "cosh") and abs(x[0]) > 2000


def too_large(name, f, x):
    return far(name, x) or math.isinf(float(f(*map(mpmath.mpf, x))))


def text(a):
    return base64.b64encode(np.array(a, dtype=np.float64).tobytes()).decode()


special = np.array(SPECIAL + [-x for x in SPECIAL] + [nan])


def of(name, f, dtype):
    x = np.concatenate([special, draw(40)])
    operands = [x]
    if name in TWO:
        few = rng.permutation(special)[:24]
        few = np.concatenate([few, [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -inf, inf, nan]])
        u, v = map(np.ravel, np.meshgrid(few, few))
        a, b = draw(60), rng.permutation(draw(60))
        if name == "power":
            a = np.abs(a)
            with np.errstate(all="ignore"):
                b = np.where(rng.random(a.size) < 0.7, rng.uniform(-1, 1, a.size) * 746 / np.log(a), b)
        operands = [np.concatenate([u, a]), np.concatenate([v, b])]
    with np.errstate(all="ignore"):
        operands = [o.astype(dtype).astype(float) for o in operands]
    out = []
    for args in zip(*map(np.ndarray.tolist, operands)):
        if name in ("sin", "cos", "tan") and abs(args[0]) > 1e15:
            mpmath.mp.prec = 1400
        out.append(exact(name, f, *args))
        mpmath.mp.prec = 200
    assert all(low != -1.0 for _, low in out)
    case = {"op": name, "type": dtype, "a": text(operands[0]), "high": text([h for h, _ in out]), "low": text([l for _, l in out])}
    if name in TWO:
        case["b"] = text(operands[1])
    return case


cases = [of(name, f, t) for t in ("float64", "float32") for name, f in (ONE | TWO).items()]
with gzip.GzipFile("functions.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps({"numpy": np.__version__, "mpmath": mpmath.__version__, "cases": cases}).encode())
