"""Cases of filters, with what scipy.ndimage says of them."""
import numpy as np
from scipy import ndimage

MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap", "grid-mirror", "grid-constant"]
FLOATS = ["f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4"]


def shape(rng, dims=None):
    dims = int(rng.integers(1, 4)) if dims is None else dims
    most = {0: 1, 1: 300, 2: 60, 3: 18}[dims]
    return tuple(int(rng.integers(1, most)) if rng.random() < 0.9 else 1 for _ in range(dims))


def array(rng, kinds, dims=None):
    t = np.dtype(rng.choice(kinds))
    s = shape(rng, dims)
    if t.kind == "b":
        return rng.random(s) < 0.5
    if t.kind in "iu":
        info = np.iinfo(t)
        return rng.integers(max(info.min, -1000), min(info.max, 1000), s, dtype=t, endpoint=True)
    a = rng.standard_normal(s)
    if t.kind == "c":
        a = a + 1j * rng.standard_normal(s)
    return a.astype(t)


def border(rng, a):
    """A mode and a constant, and what an expression writes for them."""
    if rng.random() < 0.2:
        return {}, ""
    mode = str(rng.choice(MODES))
    if mode in ("constant", "grid-constant") and rng.random() < 0.7 and a.dtype.kind != "b":
        value = int(rng.integers(0, 9)) if a.dtype.kind in "iu" else float(np.float32(rng.standard_normal()))
        return {"mode": mode, "cval": value}, f', "{mode}", {value}'
    return {"mode": mode}, f', "{mode}"'


def near(a, want):
    """How far sums in another order may be: a last place of the type, of the largest."""
    if a.dtype.kind in "iu":
        return {"rtol": 0, "atol": 0}
    size = float(np.abs(a).max(initial=0)) + 1
    return {"rtol": 1e-12 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 8 else 3e-6,
            "atol": size * (1e-13 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 8 else 1e-6)}


def sizes(rng, dims, most=9):
    if rng.random() < 0.4:
        return [int(rng.integers(1, most))]
    return [int(rng.integers(1, most)) for _ in range(dims)]


def of(rng, op, a, arguments, kwargs, tail, **tolerance):
    """A case of a filter of one array, whose arguments are SciPy's."""
    numbers = "".join(f", {n}" for n in arguments)
    size = list(arguments) if len(arguments) > 1 else arguments[0]
    return {"op": op, "expr": f"{op}(x{numbers}{tail})", "in": {"x": a}, "want": getattr(ndimage, op)(a, size, **kwargs), **tolerance}


def windows(rng):
    for _ in range(70):
        a = array(rng, FLOATS + INTEGERS + ["c8", "c16"])
        kwargs, tail = border(rng, a)
        yield of(rng, "uniform_filter", a, sizes(rng, a.ndim), kwargs, tail, **near(a, None))
    for op in ("minimum_filter", "maximum_filter", "median_filter"):
        for i in range(70):
            a = array(rng, FLOATS + INTEGERS + ["?"])
            kwargs, tail = border(rng, a)
            yield of(rng, op, a, sizes(rng, a.ndim, 14 if a.ndim == 1 else 6 if a.ndim == 3 else 9), kwargs, tail)
    for n in (13, 20):  # windows that are counted
        a = array(rng, ["f4", "u1", "i8"], 2)
        yield of(rng, "median_filter", a, [n], {}, "")
    a = rng.integers(0, 3, (30, 30)).astype("f8")  # many are equal
    yield of(rng, "median_filter", a, [15, 9], {"mode": "wrap"}, ', "wrap"')
    for op in ("uniform_filter", "median_filter", "minimum_filter", "maximum_filter"):
        for origin in (-1, 2):
            a = array(rng, ["f8"], 2)
            yield of(rng, op, a, [5], {"mode": "nearest", "origin": origin}, f', "nearest", "origin={origin}"', **near(a, None))
        a = array(rng, ["f4"], 2)
        for wrong in (f"{op}(x, 0)", f"{op}(x, 3, 3, 3)", f'{op}(x, 3, "none")', f"{op}(x, 2.5)"):
            yield {"op": op, "expr": wrong, "in": {"x": a}, "error": True}
        if op != "uniform_filter":
            yield {"op": op, "expr": f"{op}(x, 3)", "in": {"x": a.astype("c8")}, "error": True}
        # longer windows than the array
        a = array(rng, ["f4", "f8"], 1)[:4]
        for mode in MODES[:5]:
            kwargs, tail = {"mode": mode}, f', "{mode}"'
            yield of(rng, op, a, [11], kwargs, tail, **(near(a, None) if op == "uniform_filter" else {}))
    a = np.zeros((0, 3), "f4")
    yield {"op": "uniform_filter", "expr": "uniform_filter(x, 3)", "in": {"x": a}, "want": a}


def gaussians(rng):
    for _ in range(70):
        a = array(rng, FLOATS + ["c8"])
        kwargs, tail = border(rng, a)
        sigma = [round(float(rng.random() * 3), 3) for _ in range(a.ndim if rng.random() < 0.5 else 1)]
        if rng.random() < 0.4 and tail:
            if "cval" not in kwargs:
                tail += ", 0"
            order = [int(rng.integers(0, 4)) for _ in range(a.ndim if rng.random() < 0.5 else 1)]
            tail += "".join(f", {n}" for n in order)
            kwargs["order"] = order if len(order) > 1 else order[0]
            sigma = [s + 0.5 for s in sigma]
        yield of(rng, "gaussian_filter", a, sigma, kwargs, tail, **near(a, None))
    for _ in range(10):  # integers lose their fraction, but not what rounding makes of a whole number
        a = array(rng, INTEGERS)
        want = a.astype("f8")
        for axis in range(a.ndim):
            want = ndimage.gaussian_filter1d(want, 1.5, axis)
            whole = np.round(want)
            want = np.trunc(np.where(np.abs(want - whole) < 1e-9 * (np.abs(want) + 1), whole, want))
        yield {"op": "gaussian_filter", "expr": "gaussian_filter(x, 1.5)", "in": {"x": a}, "want": want.astype(a.dtype)}
    a = array(rng, ["f4"], 2)
    yield of(rng, "gaussian_filter", array(rng, ["f8"], 2), [1.5], {"truncate": 2}, ', "truncate=2"', rtol=1e-12, atol=1e-12)
    for wrong in ("gaussian_filter(x, -1)", "gaussian_filter(x, 1, 1, 1)", 'gaussian_filter(x, 1, "reflect", 0, -1)', "gaussian_filter(x > 0, 1)"):
        yield {"op": "gaussian_filter", "expr": wrong, "in": {"x": a}, "error": True}


def sums(rng):
    for op in ("convolve", "correlate"):
        for _ in range(70):
            a = array(rng, FLOATS + INTEGERS + ["c8", "c16"])
            kwargs, tail = border(rng, a)
            window = tuple(sizes(rng, a.ndim, 12 if a.ndim == 1 else 5)) if a.ndim > 1 else (int(rng.integers(1, 20)),)
            window = window if len(window) == a.ndim else window * a.ndim
            if a.dtype.kind in "iu":
                w = rng.integers(-3, 4, window).astype(rng.choice(["i4", "f8"]))
                if a.dtype.kind == "u":
                    w = np.abs(w)
            else:
                w = rng.standard_normal(window).astype(rng.choice(["f4", "f8"]))
            if rng.random() < 0.3:
                w[rng.random(window) < 0.4] = 0
            with np.errstate(all="ignore"):
                want = getattr(ndimage, op)(a, w, **kwargs)
            tolerance = near(a, want)
            if a.dtype.kind in "iu":  # beyond the type, conversions differ
                exact = getattr(ndimage, op)(a.astype("f8"), w, **kwargs)
                if exact.max(initial=0) > np.iinfo(a.dtype).max or exact.min(initial=0) < np.iinfo(a.dtype).min:
                    continue
            else:
                tolerance["atol"] *= float(np.abs(w).sum()) + 1
            yield {"op": op, "expr": f"{op}(x, w{tail})", "in": {"x": a, "w": w}, "want": want, **tolerance}
        a = rng.standard_normal((70, 90)).astype("f4")  # weights for which transforms are taken
        for window in ((65, 64), (80, 90)):
            w = rng.standard_normal(window).astype("f4")
            mode = str(rng.choice(MODES[:5]))
            want = getattr(ndimage, op)(a, w, mode=mode)
            yield {"op": op, "expr": f'{op}(x, w, "{mode}")', "in": {"x": a, "w": w}, "want": want, "rtol": 3e-6, "atol": 1e-3}
        for wrong, w in ((f"{op}(x, w)", np.ones(3)), (f"{op}(x, w)", np.ones((3, 0))), (f'{op}(x, w, "same")', np.ones((3, 3))),
                         (f"{op}(x, w)", np.ones((3, 3), "c8")), (f"{op}(x > 0, w)", np.ones((3, 3)))):
            yield {"op": op, "expr": wrong, "in": {"x": a, "w": w}, "error": True}


def blocks(rng):
    for i in range(60):
        a = array(rng, FLOATS + INTEGERS + ["c8", "?"], i % 4)
        factors = [int(rng.integers(1, 8)) for _ in range(a.ndim if rng.random() < 0.7 and a.ndim else 1)]
        f = factors if len(factors) == a.ndim else factors * a.ndim
        want = a if a.dtype.kind in "fc" else a.astype("f8")
        wide = want.astype("c16" if a.dtype.kind == "c" else "f8")
        for axis, n in enumerate(f):  # sums of blocks, the last of what is there
            wide = np.add.reduceat(wide, np.arange(0, wide.shape[axis], n), axis)
        count = np.ones(())
        for n, length in zip(f, a.shape):
            count = np.multiply.outer(count, np.minimum(n, length - np.arange(0, length, n)))
        yield {"op": "downsample", "expr": f"downsample(x, {', '.join(map(str, factors))})", "in": {"x": a},
               "want": (wide / count).astype(want.dtype), **near(want, None)}
    a = array(rng, ["f4"], 2)
    for wrong in ("downsample(x, 0)", "downsample(x, 2, 2, 2)"):
        yield {"op": "downsample", "expr": wrong, "in": {"x": a}, "error": True}


def cases(rng):
    for make in (windows, gaussians, sums, blocks):
        yield from make(rng)
