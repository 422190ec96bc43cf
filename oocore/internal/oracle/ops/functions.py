"""Cases of functions that other libraries have beside NumPy's array functions: windows, moments, parts of floats."""
import warnings

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH

REAL = [t for t in TYPES if t[0] != "c"]
warnings.simplefilter("ignore")


def sliding(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        w = [int(rng.integers(1, n + 1)) for n in shape]
        yield case("sliding_window_view", f"sliding_window_view(x, {joined(w)})", {"x": x}, lambda: sliding_window_view(x, w))
        axes = [int(a) for a in rng.permutation(len(shape))[: int(rng.integers(1, len(shape) + 1))]]
        some = [w[a] for a in axes]
        yield case("sliding_window_view", f'sliding_window_view(x, {joined(some)}, "axes={joined(axes)}")', {"x": x}, lambda: sliding_window_view(x, some, axes))
    x = array(rng, (300, 200), "float32")
    yield case("sliding_window_view", 'max(sliding_window_view(x, 9, "axes=0"), -1)', {"x": x}, lambda: sliding_window_view(x, 9, 0).max(-1))
    for bad in ('sliding_window_view(x, 301, "axes=0")', "sliding_window_view(x, 0, 1)", 'sliding_window_view(x, 3, "axes=2")', "sliding_window_view(x, 1, 2, 3)", 'sliding_window_view(x, 3, 3, "axes=0, 0")'):
        yield refused("sliding_window_view", bad, {"x": x})


def coarsen(rng):
    for i in range(3 * EACH):
        kind = "sum prod mean var std min max any all count_nonzero".split()[i % 10]
        shape = lengths(rng, empty=0, high=12, most=3)
        x = array(rng, shape, "int16 float64 uint8 complex128 int64".split()[i // 10 % (3 if kind in ("min", "max") else 5)], special=False)
        if kind == "prod" and x.dtype.kind in "fc":
            x = np.asarray(1 + x / 100).astype(x.dtype)
        factors = [int(rng.integers(1, min(n, 4) + 1)) for n in shape]
        trimmed = x[tuple(slice(n - n % f) for n, f in zip(shape, factors))]
        blocks = trimmed.reshape([v for n, f in zip(trimmed.shape, factors) for v in (n // f, f)])
        words = "" if trimmed.shape == shape else ', "trim"'
        kw = {}
        if kind in ("var", "std") and i % 3 == 0 and np.prod(factors) > 1:
            kw, words = {"ddof": 1}, words + ', "ddof=1"'
        size = float(np.abs(x).max(initial=1)) ** (2 if kind == "var" else 1)
        yield case("coarsen", f'coarsen(x, "{kind}", {joined(factors)}{words})', {"x": x}, lambda: getattr(np, kind)(blocks, tuple(range(1, 2 * len(shape), 2)), **kw), 1e-12, size * 1e-12 if kind in ("sum", "mean", "var", "std") else 0)
    x = array(rng, (7, 4), "int8")
    for bad in ('"sum", 2, 2', '"sum", 7', '"sum", 0, 1', '"argmax", 7, 1', '"median", 7, 1', '"sum", 7, 1, "cut"', "7, 1, 1"):
        yield refused("coarsen", f"coarsen(x, {bad})", {"x": x})


def rolling(rng):
    for i in range(4 * EACH):
        kind = "sum prod mean var std min max".split()[i % 7]
        shape = lengths(rng, empty=0.03)
        x = array(rng, shape, (REAL if kind in ("min", "max") else TYPES)[i // 7 % (12 if kind in ("min", "max") else 14)], special=i % 2 == 0)
        if kind == "prod" and x.dtype.kind in "fc":
            x = np.asarray(1 + x / 100).astype(x.dtype)
        axis = axis_of(rng, len(shape))
        if not shape[axis]:
            continue
        w = int(rng.integers(1, shape[axis] + 1))
        kw, text = ({"ddof": 1}, ', "ddof=1"') if kind in ("var", "std") and i % 3 == 0 else ({}, "")
        wide = {"f": "f8", "c": "c16"}.get(x.dtype.kind, x.dtype)
        of = lambda a: getattr(sliding_window_view(a, w, axis), kind)(-1, **kw)
        with np.errstate(all="ignore"):
            t = of(x).dtype
            want = np.asarray(of(x.astype(wide))).astype(t)
        eps = float(np.finfo(t).eps) if t.kind in "fc" else 0
        size = float(np.abs(x[np.isfinite(x)].astype("c16")).max(initial=0))
        atol = {"var": size * size, "std": size, "sum": size * w, "mean": size}.get(kind, 0) * 2e-15
        if kind == "std":
            atol = size * 1e-7
        yield case("rolling", f'rolling(x, "{kind}", {w}, {axis}{text})', {"x": x}, lambda: want, 0 if kind in ("min", "max") else 4 * eps + 1e-14 * (t.kind in "fc"), atol if t.kind in "fc" else 0)
    x = array(rng, (40_000,), "float32")
    yield case("rolling", 'rolling(x, "min", 1000)', {"x": x}, lambda: sliding_window_view(x, 1000).min(-1))
    y = array(rng, (900, 70), "float64", special=False)
    yield case("rolling", 'rolling(y, "mean", 500, 0)', {"y": y}, lambda: sliding_window_view(y, 500, 0).mean(-1), 1e-12, 1e-13)
    for bad in ('rolling(x, "median", 3)', 'rolling(x, "mean", 0)', 'rolling(x, "mean", 40001)', 'rolling(x, "mean", 3, 1)', 'rolling(x, "mean", 3, 0, "ddof=1")', 'rolling(x, "all", 3)', 'rolling(x, 3, 3)'):
        yield refused("rolling", bad, {"x": x})
    yield refused("rolling", 'rolling(x, "max", 2)', {"x": array(rng, (5,), "complex64")})


def rolling_at_each(rng):
    """As xarray's and pandas' rolling with min_periods."""
    kinds = "sum prod mean var std min max median".split()
    for i in range(4 * EACH):
        kind = kinds[i % 8]
        shape = lengths(rng, empty=0.03)
        x = array(rng, shape, ["float64", "float32", "int16", "float64", "uint8", "bool", "complex128"][i // 8 % (6 if kind in ("min", "max", "median") else 7)], special=False)
        if x.dtype.kind in "fc":
            x = np.where(rng.random(shape) < rng.choice([0.1, 0.5, 0.9]), x.dtype.type(np.nan), 1 + x / 100 if kind == "prod" else x).astype(x.dtype).reshape(shape)
        elif kind == "prod":
            x = x % 3
        axis = axis_of(rng, len(shape))
        w = int(rng.integers(1, shape[axis] + 3))
        least = int(rng.integers(1, w + 1))
        kw, text = ({"ddof": 1}, ', "ddof=1"') if kind in ("var", "std") and i % 3 == 0 else ({}, "")
        v = np.moveaxis(x if x.dtype.kind in "fc" else x.astype("f8"), axis, 0)
        want = np.empty(v.shape, v.real.dtype if kind in ("var", "std") else v.dtype)
        for k in range(len(v)):
            part = v[max(k - w + 1, 0) : k + 1].astype({"f": "f8", "c": "c16"}[v.dtype.kind])
            want[k] = np.where((~np.isnan(part)).sum(0) >= least, getattr(np, "nan" + kind)(part, 0, **kw), np.nan)
        want = np.moveaxis(want, 0, axis)
        nan = "nan" if i % 3 else ""
        eps = float(np.finfo(want.dtype).eps)
        yield case("rolling", f'rolling(x, "{nan}{kind}", {w}, {axis}{text}, "min_periods={least}")', {"x": x}, lambda: want, 0 if kind in ("min", "max") else 4 * eps + 1e-13, 0 if kind in ("min", "max") else 3e-8 * (x.dtype.itemsize == 4 or kind == "std") * 100 + 1e-10)
    x = array(rng, (9,), "float64")
    for bad in ('"mean", 3, 0, "min_periods=4"', '"mean", 3, 0, "min_periods=-1"', '"any", 3, 0, "min_periods=1"', '"argmax", 3, 0, "min_periods=1"', '"mean", 0, 0, "min_periods=1"', '"mean", 3, 1, "min_periods=1"', '"mean", 3, 0, "min_periods=1", "ddof=1"'):
        yield refused("rolling", f"rolling(x, {bad})", {"x": x})


def floats(rng):
    for i in range(EACH):
        shape = () if i % 9 == 0 else lengths(rng)
        x = array(rng, shape, REAL[i % len(REAL)])
        if x.dtype.kind == "f" and i % 3 == 0:
            x = np.asarray(x * np.finfo(x.dtype).tiny / 64).astype(x.dtype)
        m, e = np.frexp(x)
        yield case("frexp", 'frexp(x, "mantissa")', {"x": x}, lambda: m)
        yield case("frexp", 'frexp(x, "exponent")', {"x": x}, lambda: e)
        yield case("spacing", "spacing(x)", {"x": x}, lambda: np.spacing(x))
        by = array(rng, shape, ["int8", "int32", "int64", "uint8", "bool"][i % 5], special=False)
        by = (by.astype("i8") % 40 - 20).astype(by.dtype) if i % 5 < 3 else by
        yield case("ldexp", "ldexp(x, e)", {"x": x, "e": by}, lambda: np.ldexp(x, by.astype("i4")))
        yield case("ldexp", "ldexp(10, e)", {"e": by}, lambda: np.ldexp(10, by.astype("i4")))
        yield case("ldexp", "ldexp(x, -7)", {"x": x}, lambda: np.ldexp(x, -7))
        y = array(rng, shape, REAL[i % len(REAL)])
        with np.errstate(all="ignore"):
            want = np.i0(y)
        yield case("i0", "i0(x)", {"x": y}, lambda: np.i0(y.astype("f8")).astype(want.dtype), 16 * float(np.finfo(want.dtype).eps))
    for t in ("float16", "float32", "float64"):
        f = np.finfo(t)
        x = np.array([v for one in (0.0, 1, 2, 3, f.max, f.tiny, f.smallest_subnormal, np.inf) for v in (one, -one)] + [np.nan], t)
        yield case("spacing", "spacing(x)", {"x": x}, lambda: np.spacing(x))
    for f in ("frexp(x, \"mantissa\")", "ldexp(x, 1)", "i0(x)", "spacing(x)"):
        yield refused(f.split("(")[0], f, {"x": array(rng, (3,), "complex64")})
    yield refused("ldexp", "ldexp(x, x)", {"x": array(rng, (3,), "float32")})
    yield refused("frexp", 'frexp(x, "both")', {"x": array(rng, (3,), "float32")})


def whole_powers(rng):
    whole = [t for t in TYPES if "int" in t]
    for i in range(EACH):
        shape = () if i % 9 == 0 else lengths(rng)
        x, y = array(rng, shape, whole[i % 8]), array(rng, shape, whole[int(rng.integers(8))])
        y = (y.astype("i8") % 9 - (i % 5 == 0)).astype(y.dtype)
        try:
            want = np.power(x, y)
        except ValueError:
            yield refused("power", "power(x, y)", {"x": x, "y": y})
            continue
        yield case("power", "power(x, y)", {"x": x, "y": y}, lambda: want, 4e-16 if want.dtype.kind == "f" else 0)


def made(rng):
    for i in range(EACH):
        shape = () if i % 9 == 0 else lengths(rng, empty=0.1)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        yield case("zeros_like", "zeros_like(x)", {"x": x}, lambda: np.zeros_like(x))
        yield case("ones_like", "ones_like(x)", {"x": x}, lambda: np.ones_like(x))
        yield case("full_like", "full_like(x, 7)", {"x": x}, lambda: np.full_like(x, 7))
        a, b = array(rng, shape, ["float64", "int32", "float32", "complex128", "bool"][i % 5], special=False), array(rng, shape[-1:], ["float64", "int8", "float32"][i % 3], special=False)
        n = int(rng.integers(0, 7))
        t = np.linspace(a, b, n).dtype
        eps = 4 * float(np.finfo(t).eps)
        yield case("linspace", f"linspace(a, b, {n})", {"a": a, "b": b}, lambda: np.linspace(a, b, n), eps, eps * 100)
        yield case("linspace", f"linspace(a, 3, {n})", {"a": a}, lambda: np.linspace(a, 3, n), eps if t == "float32" else eps, 400 * float(np.finfo(np.linspace(a, 3, n).dtype).eps))
        yield case("linspace", f'linspace(a, b, {n}, "endpoint=false")', {"a": a, "b": b}, lambda: np.linspace(a, b, n, endpoint=False), eps, eps * 100)
    yield refused("linspace", "linspace(x, 1, -1)", {"x": array(rng, (3,), "float32")})


def chosen(rng):
    for i in range(EACH):
        shape = () if i % 9 == 0 else lengths(rng)
        c = [array(rng, shape, "bool") for _ in range(3)]
        x = [array(rng, shape, TYPES[(i + k) % len(TYPES)]) for k in range(3)]
        arrays = {"c": c[0], "d": c[1], "x": x[0], "y": x[1], "z": x[2]}
        yield case("select", "select(c, x, d, y)", {k: arrays[k] for k in "cdxy"}, lambda: np.select(c[:2], x[:2]))
        yield case("select", "select(c, x, d, y, z)", arrays, lambda: np.select(c[:2], x[:2], x[2]))
        if x[0].dtype.kind not in "ub":
            yield case("select", "select(c, x, d, 3, -1)", {k: arrays[k] for k in "cdx"}, lambda: np.select(c[:2], [x[0], 3], -1))
        rows, columns = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        heights, widths = rng.integers(1, 5, rows), rng.integers(1, 5, columns)
        flat = rows == 1 and i % 2 == 0
        b = {f"b{r}{k}": array(rng, (int(w),) if flat else (int(h), int(w))) for r, h in enumerate(heights) for k, w in enumerate(widths)}
        yield case("block", f"block({rows}, {joined(b)})", b, lambda: np.block([[b[f"b{r}{k}"] for k in range(columns)] for r in range(rows)]))
        with np.errstate(all="ignore"):
            n = x[0].dtype
            y = [v.astype(n) for v in x[1:]] if n.kind in "bc" or all(v.dtype.kind != "c" for v in x[1:]) and not (n.kind in "iu" and any(v.dtype.kind == "f" for v in x[1:])) else [x[0], x[0]]
        arrays = {"c": c[0], "d": c[1], "x": x[0], "y": y[0], "z": y[1]}
        parts = [lambda _: y[0][c[0]], lambda _: y[1][c[1]]]
        yield case("piecewise", "piecewise(x, c, y, d, z)", arrays, lambda: np.piecewise(x[0], c[:2], parts))
        yield case("piecewise", "piecewise(x, c, y, d, z, 1)", arrays, lambda: np.piecewise(x[0], c[:2], [*parts, 1]))
    x = array(rng, (3, 4), "float32")
    yield refused("select", "select(x, x)", {"x": x})
    for bad in ("piecewise(x, x, 1)", "piecewise(x, slice(x > 0, \"1:\"), 1)", "piecewise(x, x > 0, slice(x, \"1:\"))"):
        yield refused("piecewise", bad, {"x": x})
    for bad in ("block(2, x, x, x)", "block(0, x)", 'block(2, x, x, x, slice(x, "1:"))'):
        yield refused("block", bad, {"x": x})


def central(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, ["float32", "float64", "int32", "uint8"][i % 4], special=False)
        order, axis = int(rng.integers(0, 6)), axis_of(rng, len(shape))
        want = np.asarray(stats.moment(x.astype("f8"), order, axis)).astype("float32" if i % 4 == 0 else "float64")
        size = float(np.abs(x.astype("f8")).max()) ** order
        eps = 1e-5 if i % 4 == 0 else 1e-13
        yield case("moment", f"moment(x, {order}, {axis})", {"x": x}, lambda: want, eps, size * eps)
    yield refused("moment", "moment(x, -1)", {"x": x})


def complex_extremes(rng):
    for i in range(EACH):
        for name in ("nanmin", "nanmax"):
            shape = lengths(rng, empty=0)
            x = np.round(array(rng, shape, ["complex64", "complex128"][i % 2]) / 8)
            x = np.where(rng.random(shape) < 0.3, complex(np.nan, np.nan), x).astype(x.dtype)
            axis = axis_of(rng, len(shape))
            yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: getattr(np, name)(x, axis))


def cases(rng):
    yield from sliding(rng)
    yield from rolling(rng)
    yield from rolling_at_each(rng)
    yield from coarsen(rng)
    yield from floats(rng)
    yield from whole_powers(rng)
    yield from made(rng)
    yield from chosen(rng)
    yield from central(rng)
    yield from complex_extremes(rng)
