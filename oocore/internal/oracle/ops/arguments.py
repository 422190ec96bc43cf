"""Cases of the less common arguments of functions whose other cases are in the modules of their families."""
import warnings

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES

warnings.simplefilter("ignore")
EACH = 50
REAL = [t for t in TYPES if t[0] != "c"]


def weighted_quantiles(rng):
    """Weights are small whole numbers, whose sums are exact in any order."""
    for name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
        f = getattr(np, name)
        scale = 100 if "percentile" in name else 1
        for i in range(EACH):
            shape = lengths(rng, empty=0)
            x = array(rng, shape, REAL[i % len(REAL)], special=False)
            if x.dtype.kind == "f" and i % 3 == 0:
                x = np.where(rng.random(shape) < 0.2, np.nan, x).astype(x.dtype)
            dims = len(shape)
            axes = tuple(int(a) for a in rng.permutation(dims)[: int(rng.integers(1, dims + 1))]) if rng.random() < 0.7 else None
            some = axes is not None and name[0] != "n" and rng.random() < 0.5  # the others of NumPy do not broadcast them
            w = rng.integers(0, 5, [shape[a] for a in axes] if some else shape).astype(["int64", "float64", "float32", "uint8"][i % 4])
            w.flat[0] += 1
            if some and axes is not None and len(axes) == 1 or i % 2:
                w = w + w.dtype.type(1)
            q = float(rng.choice([0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1, rng.random()])) * scale
            keep = i % 5 == 0
            list_ = i % 4 == 1
            qs = [q, 0.5 * scale, 0] if list_ else q
            text = f'"{joined(qs)}"' if list_ else q
            expr = f'{name}(x, {text}{"" if axes is None else ", " + joined(axes)}, "inverted_cdf", "weights", w{", " + chr(34) + "keepdims" + chr(34) if keep else ""})'
            try:
                want = np.asarray(f(x, qs, axis=axes, weights=w, method="inverted_cdf", keepdims=keep))
            except ValueError:
                continue  # weights of one line sum to zero
            yield case(name, expr, {"x": x, "w": w}, lambda: want)
    x, w = array(rng, (300, 250), "float32", special=False), rng.integers(1, 9, (300, 250))
    for axis in (0, 1):
        yield case("quantile", f'quantile(x, 0.3, {axis}, "inverted_cdf", "weights", w)', {"x": x, "w": w}, lambda: np.quantile(x, 0.3, axis=axis, weights=w, method="inverted_cdf"))
    for bad in ('quantile(x, 0.5, "weights", w)', 'quantile(x, 0.5, "inverted_cdf", "weights", w - 5)', 'quantile(x, 0.5, "inverted_cdf", "weights", w*0)',
                'quantile(x, 0.5, 0, "inverted_cdf", "weights", slice(w, "0"))', 'quantile(x, 0.5, "inverted_cdf", "weights", slice(w, "0"))', 'quantile(x, 0.5, "inverted_cdf", "weights", w*nan)'):
        yield refused("quantile", bad, {"x": x, "w": w})


def each_alone(rng):
    """Reductions of no axis."""
    for i in range(2 * EACH):
        name = "sum prod mean var std min max any all count_nonzero nansum nanmean nanmin nanvar".split()[i % 14]
        shape = () if i % 9 == 0 else lengths(rng)
        x = array(rng, shape, str(rng.choice(REAL if "min" in name or name == "max" else TYPES)))
        f = getattr(np, name)
        if name == "count_nonzero":
            want = np.asarray(x != 0).astype(np.intp)
        else:
            want = f(x, axis=())
        yield case(name, f'{name}(x, "axis=()")', {"x": x}, lambda: want)
        if i % 3 == 0 and name in ("sum", "any"):
            c = array(rng, shape, "bool")
            yield case(name, f'{name}(x, c, "axis=()")', {"x": x, "c": c}, lambda: f(x, axis=(), where=c))
    x = array(rng, (3, 4), "float32")
    for bad in ('argmin(x, "axis=()")', 'sum(x, 0, "axis=()")', 'sum(x, "axis=0")'):
        yield refused(bad.split("(")[0], bad, {"x": x})


def whole_means(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0, low=1)
        x = array(rng, shape, [t for t in REAL][i % len(REAL)], special=False)
        t = ["int8", "int16", "int32", "int64", "uint8", "uint64"][i % 6]
        if t.startswith("u"):
            x = np.abs(x.astype("f8") % 100).astype(x.dtype)
        axis = axis_of(rng, len(shape))
        yield case("mean", f'mean(x, {axis}, "dtype={t}")', {"x": x}, lambda: np.mean(x, axis=axis, dtype=t))
        yield case("var", f'var(x, {axis}, "dtype=int64")', {"x": x}, lambda: np.var(x, axis=axis, dtype="int64"))
        yield case("std", 'std(x, "dtype=int64")', {"x": x}, lambda: np.std(x, dtype="int64"))
        c = array(rng, shape, "bool")
        c[...] |= ~c.any(axis, keepdims=True)
        yield case("mean", f'mean(x, {axis}, c, "dtype={t}", "keepdims")', {"x": x, "c": c}, lambda: np.mean(x, axis=axis, dtype=t, where=c, keepdims=True))
    yield refused("mean", 'mean(x, "dtype=bool")', {"x": x})


def typed_functions(rng):
    """NumPy's dtype of universal functions."""
    one, two = "negative abs square sqrt exp sin floor rint sign cbrt".split(), "add subtract multiply divide maximum fmin hypot arctan2 copysign".split()
    for i in range(6 * EACH):
        name = (one + two)[i % len(one + two)]
        shape = lengths(rng, most=3, high=6)
        arrays = {"x": array(rng, shape, special=False)}
        if name in two:
            arrays["y"] = array(rng, shape, special=False)
        t = TYPES[int(rng.integers(1, len(TYPES)))]
        args = joined(arrays)
        expr = f'{name}({args}, "dtype={t}")'
        if any(a.dtype.kind == "c" for a in arrays.values()) and t[0] != "c":
            yield refused(name, expr, arrays)
            continue
        try:
            want = getattr(np, name)(*arrays.values(), dtype=t)
        except TypeError:
            yield refused(name, expr, arrays)
            continue
        if t[0] == "c" and name in ("abs", "cbrt"):
            continue  # whose results are real
        # what astype makes of the operands, and a vector loop of the function
        eps = float(np.finfo(t).eps) if np.dtype(t).kind in "fc" else 0
        size = float(np.nan_to_num(np.abs(want.astype("c16")), nan=0, posinf=0).max(initial=0))
        yield case(name, expr, arrays, lambda: want, 0 if name in "negative abs square add subtract multiply maximum fmin floor rint".split() and t[0] != "c" else 4 * eps, 4 * eps * size if t[0] == "c" else 0)
    x = array(rng, (3,), "float32")
    for bad in ('sqrt(x, "dtype=int32")', 'sqrt(x, "float64")', 'add(x, "dtype=float64")', 'less(x, x, "dtype=bool")', 'add(x, 0.5, "dtype=int64")'):
        yield refused(bad.split("(")[0], bad, {"x": x})


def kept_dimensions(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0, dims=2)
        x = array(rng, shape, "float64", special=False)
        w = np.abs(array(rng, shape, "float64", special=False)) + 1
        axis = axis_of(rng, 2)
        yield case("average", f'average(x, w, {axis}, "keepdims")', {"x": x, "w": w}, lambda: np.average(x, axis, w, keepdims=True), 1e-14, 1e-13)
        yield case("average", 'average(x, w, "keepdims")', {"x": x, "w": w}, lambda: np.average(x, None, w, keepdims=True), 1e-14, 1e-13)
        order = [1, 2, 3, "inf"][i % 4]
        yield case("norm", f'norm(x, {order}, {axis}, "keepdims")', {"x": x}, lambda: np.linalg.norm(x, float(order), axis, keepdims=True), 1e-13, 1e-13)
        yield case("norm", 'norm(x, "keepdims")', {"x": x}, lambda: np.linalg.norm(x, keepdims=True), 1e-13, 1e-13)
        yield case("norm", 'norm(x, "fro", 0, 1, "keepdims")', {"x": x}, lambda: np.linalg.norm(x, "fro", (0, 1), keepdims=True), 1e-13, 1e-13)


def lengths_of_transforms(rng):
    for op in ("fft", "ifft", "rfft", "irfft"):
        for i in range(12):
            dims = int(rng.integers(2, 4))
            shape = [int(n) for n in rng.integers(2, 12, dims)]
            x = array(rng, shape, "float64" if op == "rfft" else "complex128", special=False)
            axes = [int(a) for a in rng.permutation(dims)[: int(rng.integers(1, dims + 1))]]
            s = [int(n) for n in rng.integers(2, 14, len(axes))]
            f = getattr(np.fft, op + "n")
            yield case(op + "n", f'{op}n(x, {joined(axes)}, "s={joined(s)}")', {"x": x}, lambda: f(x, s, axes), 1e-13, 1e-11)
            yield case(op + "n", f'{op}n(x, "s={joined(s)}", "ortho")', {"x": x}, lambda: f(x, s, range(dims - len(s), dims), "ortho"), 1e-13, 1e-11)
            yield case(op + "2", f'{op}2(x, "s=5,{s[0]}")', {"x": x}, lambda: getattr(np.fft, op + "2")(x, (5, s[0])), 1e-13, 1e-11)
    for bad in ('fftn(x, 0, "s=3,4")', 'fftn(x, "s=a")', 'fft2(x, "s=3")', 'fftn(x, "s=0,-1")'):
        yield refused(bad.split("(")[0], bad, {"x": array(rng, (4, 4), "float32")})


def shifts_of_axes(rng):
    for i in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape)
        axes = [axis_of(rng, len(shape)) for _ in range(int(rng.integers(1, 4)))]
        by = [int(n) for n in rng.integers(-12, 12, len(axes))]
        yield case("roll", f'roll(x, "{joined(by)}", {joined(axes)})', {"x": x}, lambda: np.roll(x, by, axes))
    for bad in ('roll(x, "1, 2", 0, 1, 0)', 'roll(x, "1, a", 0)'):
        yield refused("roll", bad, {"x": x})


def ends_of_differences(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0.1)
        x = array(rng, shape)
        axis, n = axis_of(rng, len(shape)), int(rng.integers(0, 3))
        other = list(shape)
        other[axis] = int(rng.integers(1, 4))
        p, a = array(rng, other, x.dtype.name), array(rng, other)
        text, args, arrays = [
            (', "prepend", p', {"prepend": p}, {"p": p}), (', "append", a', {"append": a}, {"a": a}), (', "append", 0, "prepend", p', {"prepend": p, "append": 0}, {"p": p}),
            (', "prepend", 1.5', {"prepend": 1.5}, {}), (', "prepend", p, "append", a', {"prepend": p, "append": a}, {"p": p, "a": a}),
        ][i % 5]
        if x.dtype.kind == "b" and i % 5 in (2, 3):
            continue
        try:
            want = np.diff(x, n, axis, **args)
        except TypeError:  # of bools and others
            continue
        yield case("diff", f"diff(x, {n}, {axis}{text})", {"x": x, **arrays}, lambda: want)
    x = array(rng, (3, 4), "float32")
    for bad in ('diff(x, 1, 0, "prepend")', 'diff(x, 1, 0, "before", x)', 'diff(x, 1, 0, "prepend", x, "prepend", x)', 'diff(x, 1, 0, "prepend", slice(x, ":, :2"))'):
        yield refused("diff", bad, {"x": x})


def typed_counting(rng):
    for i in range(EACH):
        a, b = int(rng.integers(0, 50)), int(rng.integers(0, 90))
        t = ["int8", "int32", "uint8", "uint64", "float32", "float16", "float64"][i % 7]
        s = int(rng.integers(1, 5))
        yield case("arange", f'arange({a}, {b}, {s}, "dtype={t}")', {}, lambda: np.arange(a, b, s, dtype=t))
        yield case("arange", f'arange({b}, "dtype={t}")', {}, lambda: np.arange(b, dtype=t))
        yield case("arange", f'arange(astype({a}, "{t}"), {a + b}, {s})', {}, lambda: np.arange(np.dtype(t).type(a), a + b, s))
        yield case("arange", f'arange(astype({a}, "{t}"))', {}, lambda: np.arange(np.dtype(t).type(a)))
        f = float(rng.choice([0.5, 0.25, 1.5]))
        yield case("arange", f'arange({a}, {b}, {f}, "dtype={t}")', {}, lambda: np.arange(a, b, f, dtype=t))
    for bad in ('arange(3, "dtype=complex64")', 'arange(3, "int8")', 'arange(1, 2, 3, 4)', 'arange("dtype=int8")'):
        yield refused("arange", bad, {})


def cases(rng):
    yield from weighted_quantiles(rng)
    yield from each_alone(rng)
    yield from whole_means(rng)
    yield from typed_functions(rng)
    yield from kept_dimensions(rng)
    yield from lengths_of_transforms(rng)
    yield from shifts_of_axes(rng)
    yield from ends_of_differences(rng)
    yield from typed_counting(rng)
