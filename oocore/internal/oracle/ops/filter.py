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


def transforms(rng):
    for i in range(220):
        a = array(rng, FLOATS + (["u1", "i2", "i4"] if i % 3 == 0 else []), int(rng.integers(1, 4)))
        a = a[tuple(slice(0, {1: 200, 2: 30, 3: 10}[a.ndim]) for _ in a.shape)]
        order, value = int(rng.integers(0, 6)), int(rng.integers(0, 9))
        more = f', "order={order}", "cval={value}"' if rng.random() < 0.8 else ""
        kwargs = {"order": order, "cval": value} if more else {}
        floats = a.dtype.kind == "f"
        near = {"rtol": 1e-11, "atol": 1e-11} if a.dtype == "f8" else {"rtol": 1e-5, "atol": 1e-5} if floats else {"atol": 1}
        f = [round(float(v), 2) for v in rng.uniform(0.4, 2.6, a.ndim)]
        n = tuple(int(round(k * z)) for k, z in zip(a.shape, f))
        if min(n) > 0:
            yield {"op": "zoom", "expr": f"zoom(x, {', '.join(map(str, f))}{more})", "in": {"x": a}, "want": ndimage.zoom(a, f, **kwargs), **near}
        by = [round(float(v), 2) + 0.003 for v in rng.uniform(-4, 4, a.ndim)]
        yield {"op": "image_shift", "expr": f"image_shift(x, {', '.join(map(str, by))}{more})", "in": {"x": a}, "want": ndimage.shift(a, by, **kwargs), **near}
        m = np.round(np.eye(a.ndim) + rng.uniform(-0.4, 0.4, (a.ndim, a.ndim)), 2) + 0.0007
        numbers, offset = ", ".join(map(str, m.ravel())), [round(float(v), 2) + 0.0003 for v in rng.uniform(-3, 3, a.ndim)]
        yield {"op": "affine_transform", "expr": f'affine_transform(x, {numbers}, "offset={", ".join(map(str, offset))}"{more})', "in": {"x": a}, "want": ndimage.affine_transform(a, m, offset, **kwargs), **near}
        if a.ndim > 1:
            angle, keep = round(float(rng.uniform(-400, 400)), 1) + 0.03, rng.random() < 0.5
            if i % 5 == 0:
                angle, keep = 90 * int(rng.integers(-5, 6)), False
            axes = (0, 1) if a.ndim == 2 or rng.random() < 0.5 else (1, 2)
            yield {"op": "rotate", "expr": f'rotate(x, {angle}, "axes={axes[0]},{axes[1]}"{", " + chr(34) + "keep" + chr(34) if keep else ""}{more})', "in": {"x": a}, "want": ndimage.rotate(a, angle, axes, reshape=not keep, **kwargs), **near}
    a = array(rng, ["f8"], 2)
    big = rng.random((1500, 1300))
    for angle in (33, -118.5):
        yield {"op": "rotate", "expr": f'rotate(x, {angle}, "order=1")', "in": {"x": big}, "want": ndimage.rotate(big, angle, order=1), "rtol": 1e-9, "atol": 1e-9}
    yield {"op": "affine_transform", "expr": 'affine_transform(x, 0.5, 0, 0, 2, "order=1", "output_shape=40, 50")', "in": {"x": big}, "want": ndimage.affine_transform(big, np.diag([0.5, 2]), output_shape=(40, 50), order=1), "rtol": 1e-9, "atol": 1e-9}
    for wrong in ("zoom(x, -1)", "zoom(x, 1, 1, 1)", 'zoom(x, 2, "order=6")', "zoom(x * 1j, 2)", "image_shift(x, 1, 1, 1)", 'image_shift(x, 1, "order=-1")', 'rotate(x, 30, "axes=0,0")', 'rotate(x, 30, "axes=0,2")', "affine_transform(x, 1, 2, 3)", 'affine_transform(x, 1, 0, 0, 1, "offset=1, 2, 3")', 'affine_transform(x, 1, 0, 0, 1, "output_shape=3")', 'rotate(slice(x, "0"), 30)'):
        yield {"op": wrong[: wrong.index("(")], "expr": wrong, "in": {"x": a}, "error": True}


def coordinates(rng):
    for i in range(200):
        t = ["f8", "f4", "u1", "i2", "i8", "f8"][i % 6]
        a = array(rng, [t], int(rng.integers(1, 4)))
        a = a[tuple(slice(0, {1: 200, 2: 30, 3: 10}[a.ndim]) for _ in a.shape)]
        a = np.nan_to_num(a, nan=1, posinf=2, neginf=3) if a.dtype.kind == "f" else a
        order, cval = i % 6, int(rng.integers(0, 5))
        shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 4))))
        places = rng.uniform(-1.5, 1.5, (a.ndim, *shape)) + rng.random((a.ndim, *shape)) * np.reshape(a.shape, (-1,) + (1,) * len(shape))
        if i % 5 == 0 and t[0] == "f":
            places = np.round(places)
        kwargs = {"order": order} if i % 7 else {}
        if cval:
            kwargs["cval"] = cval
        more = "".join(f', "{k}={v}"' for k, v in kwargs.items())
        want = np.asarray(ndimage.map_coordinates(a, places, **kwargs)).reshape(shape)
        if a.dtype.kind in "iu":  # where rounding could go either way there is no one result
            wide = ndimage.map_coordinates(a.astype("f8"), places, **kwargs)
            if (np.abs(wide - np.floor(wide) - 0.5) < 1e-6).any() or wide.min(initial=0) < np.iinfo(t).min or wide.max(initial=0) > np.iinfo(t).max:
                continue
        size = float(np.abs(a.astype("f8")).max(initial=1))
        yield {"op": "map_coordinates", "expr": f"map_coordinates(x, p{more})", "in": {"x": a, "p": places}, "want": want, "rtol": 1e-6 if t == "f4" else 0, "atol": 1e-11 * size if a.dtype.kind == "f" else 0}
    big = rng.random((1500, 1700))
    line, block = rng.random(3_000_000), rng.random((130, 140, 150))
    for a, shape in ((big, (700, 900)), (line, (400_000,)), (block, (90, 80, 70)), (rng.random((3, 1_200_000)), (300_000,))):
        for order in (1, 3):  # of several boxes of points, all over several tiles
            places = rng.uniform(-1, 1, (a.ndim, *shape)) + rng.random((a.ndim, *shape)) * np.reshape(a.shape, (-1,) + (1,) * len(shape))
            yield {"op": "map_coordinates", "expr": f'map_coordinates(x, p, "order={order}")', "in": {"x": a, "p": places}, "want": ndimage.map_coordinates(a, places, order=order), "atol": 1e-10}
    a = rng.random((4, 5))
    p = np.stack([np.array([0.5, np.nan, 2]), np.array([1, 1, np.nan])])
    want = ndimage.map_coordinates(a, np.nan_to_num(p, nan=-1), order=1, cval=7)
    yield {"op": "map_coordinates", "expr": 'map_coordinates(x, p, "order=1", "cval=7")', "in": {"x": a, "p": p}, "want": want, "atol": 1e-14}
    yield {"op": "map_coordinates", "expr": "map_coordinates(x, p)", "in": {"x": a, "p": np.ones((2, 0, 3))}, "want": np.ones((0, 3))}
    for wrong in ("map_coordinates(x, x)", "map_coordinates(x, p * 1j)", 'map_coordinates(x, p, "order=6")', "map_coordinates(x * 1j, p)", "map_coordinates(x, 1)", 'map_coordinates(x, slice(p, ":, 0"))', 'map_coordinates(x, slice(p, ":1"))'):
        yield {"op": "map_coordinates", "expr": wrong, "in": {"x": a, "p": p}, "error": True}


GREY = ["grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient", "white_tophat", "black_tophat"]
BINARY = ["binary_erosion", "binary_dilation", "binary_opening", "binary_closing"]


def morphology(rng):
    for i in range(420):
        a = array(rng, FLOATS + INTEGERS)
        kwargs, tail = border(rng, a)
        size = sizes(rng, a.ndim, 6)
        full = size * a.ndim if len(size) == 1 else size
        op = GREY[i % 7]
        want = getattr(ndimage, op)(a, size=full, **kwargs)
        yield {"op": op, "expr": f"{op}(x, {', '.join(map(str, size))}{tail})", "in": {"x": a}, "want": want}
        p = int(rng.integers(-100, 101))
        yield {"op": "percentile_filter", "expr": f"percentile_filter(x, {p}, {', '.join(map(str, size))}{tail})", "in": {"x": a}, "want": ndimage.percentile_filter(a, p, full, **kwargs)}
        a = array(rng, FLOATS + ["i4", "i8"])
        kwargs, tail = border(rng, a)
        axis = int(rng.integers(-a.ndim, a.ndim))
        for op in ("sobel", "prewitt"):
            yield {"op": op, "expr": f"{op}(x, {axis}{tail})", "in": {"x": a}, "want": getattr(ndimage, op)(a, axis, **kwargs), **near(a, None)}
        yield {"op": "laplace", "expr": f"laplace(x{tail})", "in": {"x": a}, "want": ndimage.laplace(a, **kwargs), **near(a, None)}
    for i in range(220):
        x = array(rng, ["?"])
        x = x if i % 3 else rng.random(x.shape) < 0.9
        n, c, op = int(rng.integers(1, 4)), int(rng.integers(1, x.ndim + 1)), BINARY[i % 4]
        want = getattr(ndimage, op)(x, ndimage.generate_binary_structure(x.ndim, c), n)
        yield {"op": op, "expr": f'{op}(x, "iterations={n}", "connectivity={c}")', "in": {"x": x}, "want": want}
    a = array(rng, ["f4"], 2)
    for op in GREY:
        for wrong in (f"{op}(x, 0)", f"{op}(x, 3, 3, 3)", f"{op}(x > 0, 3)", f'{op}(x, 3, "none")', f"{op}(x * 1j, 3)"):
            yield {"op": op, "expr": wrong, "in": {"x": a}, "error": True}
    for op in BINARY:
        for wrong in (f'{op}(x, "iterations=0")', f'{op}(x, "connectivity=3")', f"{op}(x, 3)"):
            yield {"op": op, "expr": wrong, "in": {"x": a}, "error": True}
    for wrong in ("percentile_filter(x, 101, 3)", "percentile_filter(x, -101, 3)", "percentile_filter(x, 30)", "sobel(x, 2)", "prewitt(x > 0, 0)", "laplace(x > 0)", 'laplace(x, "none")'):
        yield {"op": wrong[: wrong.index("(")], "expr": wrong, "in": {"x": a}, "error": True}


def cases(rng):
    yield from coordinates(rng)
    yield from morphology(rng)
    yield from transforms(rng)
    for make in (windows, gaussians, sums, blocks):
        yield from make(rng)
