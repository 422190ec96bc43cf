"""Cases of histograms, weighted means, covariances, and reductions that leave NaN out."""
import warnings

import numpy as np
import scipy.special

from ops.shape import array, lengths, axis_of, case, refused, TYPES, EACH

REAL = [t for t in TYPES if not t.startswith("complex")]
warnings.simplefilter("ignore", RuntimeWarning)  # of slices without elements, whose results are compared
LONG = {"f": np.longdouble, "c": np.clongdouble}


def real(rng, shape, dtype=None, special=False):
    return array(rng, shape, dtype or REAL[int(rng.integers(len(REAL)))], special)


def edges_of(rng):
    """A list that does not fall, of a type of its own, with equal edges now and then."""
    e = np.sort(rng.standard_normal(int(rng.integers(1, 12))) * 12)
    if rng.random() < 0.3 and len(e) > 2:
        e[1] = e[2]
    return e.astype(["float64", "float32", "int64", "int16"][int(rng.integers(4))])


def range_of(rng):
    low, high = sorted(float(np.round(v, 3)) for v in rng.standard_normal(2) * 10)
    return (low, low) if rng.random() < 0.1 else (low, high)


def weights_of(rng, shape, complex_too=True):
    names = ["int8", "int32", "uint16", "float32", "float64"] + ["complex64", "complex128"] * complex_too
    return array(rng, shape, names[int(rng.integers(len(names)))], False)


def weighed(x, bins, range, w, density):
    """NumPy adds weights in their own type or block by block: here they are added in a wide one, by NumPy."""
    if w is None:
        return np.histogram(x, bins, range, density=density)[0], 0, 0
    wide = w.astype("clongdouble" if w.dtype.kind == "c" else "longdouble" if w.dtype.kind == "f" else "int64")
    edges = np.histogram_bin_edges(x, bins, range)
    # The bin of each element, one by one, as NumPy's counts say it.
    which = [np.flatnonzero(np.histogram(v, edges if np.ndim(bins) else bins, range if range is not None else (None if np.ndim(bins) else data_range(x)))[0]) for v in x.ravel()]
    sums = np.zeros(len(edges) - 1, wide.dtype)
    for b, v in zip(which, wide.ravel()):
        if len(b):
            sums[b[0]] += v
    scale = float(np.abs(wide).sum()) if wide.size else 0.0
    eps = float(np.finfo(w.dtype).eps) if w.dtype.kind in "fc" else 0
    n = sums.astype(w.dtype)
    if density:
        n = n / np.array(np.diff(edges), float) / n.sum()
        return n, 1e-5 if eps > 1e-10 or eps == 0 else 1e-11, 0
    return n, 2 * eps, eps * 1e-8 * scale


def data_range(x):
    return None if x.size == 0 else (x.min(), x.max())


def histogram(rng):
    for i in range(3 * EACH):
        x = real(rng, lengths(rng) if i % 10 else (), REAL[i % len(REAL)] if i < 30 else None, special=i % 3 == 2)
        form, args, arrays = rng.random(), "", {"x": x}
        bins, within = 10, None
        if form < 0.3:
            bins = arrays["e"] = edges_of(rng)
            args = ", e"
        elif form < 0.8:
            bins = int(rng.integers(1, 40))
            args = f", {bins}"
        with np.errstate(all="ignore"):
            infinite = x.size and not np.all(np.isfinite(x.astype("f8")))
        if np.ndim(bins) == 0 and args and (infinite or rng.random() < 0.5):
            within = range_of(rng)
            args += f", {within[0]}, {within[1]}"
        if np.ndim(bins) == 0 and within is None and infinite:
            yield refused("histogram", f"histogram(x{args})", {"x": x})
            continue
        w = None
        if args and rng.random() < 0.4:
            w = arrays["w"] = weights_of(rng, x.shape)
            args += ", w"
        density = bool(args) and rng.random() < 0.3 and (w is None or w.dtype.kind != "i")
        if density:
            args += ', "density"'
        try:
            want, rtol, atol = weighed(x, bins, within, w, density)
        except ValueError:  # too many bins for the type
            yield refused("histogram", f"histogram(x{args})", arrays)
            continue
        if density and w is not None and w.dtype.kind == "c":
            continue
        yield case("histogram", f"histogram(x{args})", arrays, lambda: want, rtol, atol)
    big = real(rng, (1200, 1000), "float32")
    yield case("histogram", "histogram(x, 100)", {"x": big}, lambda: np.histogram(big, 100)[0])
    yield case("histogram", "histogram(sqrt(abs(x)), 37, 0.5, 3)", {"x": big}, lambda: np.histogram(np.sqrt(np.abs(big)), 37, (0.5, 3))[0])
    e = np.sort(rng.standard_normal(20_000) * 10)
    yield case("histogram", "histogram(x, e)", {"x": big, "e": e}, lambda: np.histogram(big, e)[0])
    wide = rng.integers(-2**62, 2**62, 500)
    yield case("histogram", "histogram(x, e)", {"x": wide, "e": np.sort(wide[::7])}, lambda: np.histogram(wide, np.sort(wide[::7]))[0])
    yield case("histogram", "histogram(x, 50)", {"x": wide}, lambda: np.histogram(wide, 50)[0])
    x = real(rng, (4, 5), "float64")
    for bad in ("x, 0", "x, -1", "x, 3, 2.0, 1.0", "x, 3, 0, inf", "x, 3, 1.0", "x, x", "x, 5, w", 'x, 5, "sum"', "x, f", "x, 5, 0, 1, x > 0"):
        yield refused("histogram", f"histogram({bad})", {"x": x, "w": x[:3], "f": np.array([1.0, 3, 2])})
    yield refused("histogram", "histogram(x, 5)", {"x": array(rng, (4,), "complex64")})


def histogram_bin_edges(rng):
    for i in range(2 * EACH):
        x = real(rng, lengths(rng), REAL[i % len(REAL)] if i < 30 else None)
        bins, within, args = int(rng.integers(1, 60)), None, ""
        if i % 3 == 0:
            within = range_of(rng)
            args = f", {within[0]}, {within[1]}"
        try:
            want = np.histogram_bin_edges(x, bins, within)
            np.histogram(x, bins, within)
        except ValueError:
            yield refused("histogram_bin_edges", f"histogram_bin_edges(x, {bins}{args})", {"x": x})
            continue
        yield case("histogram_bin_edges", f"histogram_bin_edges(x, {bins}{args})", {"x": x}, lambda: want)
    tiny = np.array([0, 5e-324 * 100])
    yield case("histogram_bin_edges", "histogram_bin_edges(x, 3)", {"x": tiny}, lambda: np.histogram_bin_edges(tiny, 3))
    yield refused("histogram_bin_edges", "histogram_bin_edges(x, 3)", {"x": np.array([1, np.nan])})
    yield refused("histogram_bin_edges", "histogram_bin_edges(x, 30)", {"x": np.array([1, np.nextafter(1, 2)])})


def histogram2d(rng):
    for i in range(2 * EACH):
        n = 0 if i % 20 == 19 else int(rng.integers(1, 300))
        x, y = real(rng, (n,)), real(rng, (n,))
        if i % 4 == 3:
            x = x.astype("float64")
            x[rng.random(n) < 0.1] = np.nan
        arrays, bins, within, args = {"x": x, "y": y}, [10, 10], None, ""
        form = rng.random()
        if form < 0.3:
            bins = [int(b) for b in rng.integers(1, 15, 2)]
            args = f", {bins[0]}, {bins[1]}"
        elif form < 0.6:
            bins = [edges_of(rng), edges_of(rng)]
            arrays["e"], arrays["f"] = bins
            args = ", e, f"
        elif form < 0.8:
            bins = [int(rng.integers(1, 9)), edges_of(rng)]
            arrays["f"] = bins[1]
            args = f", {bins[0]}, f"
        if form < 0.3 and rng.random() < 0.5:
            within = [range_of(rng), range_of(rng)]
            args += "".join(f", {v}" for r in within for v in r)
        elif any(np.ndim(b) == 0 for b in bins) and x.dtype.kind == "f" and np.isnan(x).any():
            yield refused("histogram2d", f"histogram2d(x, y{args})", arrays)
            continue
        w = None
        if args and rng.random() < 0.4:
            w = arrays["w"] = weights_of(rng, x.shape, complex_too=False)
            args += ", w"
        density = rng.random() < 0.3
        if density:
            args += ', "density"'
        bools = x.dtype == bool and y.dtype == bool
        a, b = (x.astype("u1"), y.astype("u1")) if bools else (x, y)
        try:
            want, ex, ey = np.histogram2d(a, b, bins, within, weights=w, density=density)
        except (ValueError, TypeError):
            continue
        if any(np.any(np.diff(e) <= 0) for e, k in ((ex, bins[0]), (ey, bins[1])) if np.ndim(k) == 0):
            continue  # more bins than the type has numbers, which histogram refuses
        tight = 0 if w is None or w.dtype.kind in "iu" and not density else 1e-9
        scale = 0 if w is None else float(np.abs(w.astype("f8")).sum())
        yield case("histogram2d", f"histogram2d(x, y{args})", arrays, lambda: want, tight, tight * 1e-3 * scale if not density else 1e-9)
    x, y = real(rng, (900, 700), "float32"), real(rng, (900, 700), "float32")
    yield case("histogram2d", "histogram2d(x, y, 30, 50)", {"x": x, "y": y}, lambda: np.histogram2d(x.ravel(), y.ravel(), [30, 50])[0])
    z = real(rng, (40,), "float64")
    for bad in ("x, y", "x, x, 0, 5", "x, x, 5, 5, 0, 1", "x, x, 5, 5, 0, 1, 2, 1", "x, x, 5, 5, y"):
        yield refused("histogram2d", f"histogram2d({bad})", {"x": z, "y": z[:30]})


def histogramdd(rng):
    for i in range(2 * EACH):
        n, d = (0 if i % 20 == 19 else int(rng.integers(1, 300))), int(rng.integers(1, 5))
        x = real(rng, (n, d), ["float64", "float32", "int16", "uint8", "float16"][i % 5])
        if i % 7 == 3 and x.dtype.kind == "f":
            x[rng.random((n, d)) < 0.1] = np.nan
        arrays, args, bins, within, w = {"x": x}, "", 10, None, None
        form = rng.random()
        if form < 0.3:
            bins = int(rng.integers(1, 9))
            args = f", {bins}"
        elif form < 0.6:
            bins = [int(b) for b in rng.integers(1, 7, d)]
            args = "".join(f", {b}" for b in bins)
        elif form < 0.8:
            e = np.unique(edges_of(rng))
            if len(e) < 2:
                continue
            bins = arrays["e"] = e
            args, bins = ", e", [e] * d
        ranged = 0 < form < 0.6 and rng.random() < 0.6
        if ranged:
            within = [range_of(rng) for _ in range(d)]
            args += "".join(f", {v}" for r in within for v in r)
        elif not 0.6 <= form < 0.8 and x.dtype.kind == "f" and np.isnan(x).any():
            yield refused("histogramdd", f"histogramdd(x{args})", arrays)
            continue
        if rng.random() < 0.4:
            w = arrays["w"] = weights_of(rng, (n,), complex_too=False)
            args += ', "weights", w'
        density = rng.random() < 0.3
        if density:
            args += ', "density"'
        try:
            want, edges = np.histogramdd(x, bins, within, density=density, weights=w)
        except (ValueError, TypeError):
            continue
        if any(np.any(np.diff(e) <= 0) for e in edges):
            continue
        tight = 0 if w is None or w.dtype.kind in "iu" and not density else 1e-9
        scale = 0 if w is None else float(np.abs(w.astype("f8")).sum())
        yield case("histogramdd", f"histogramdd(x{args})", arrays, lambda: want, tight, tight * 1e-3 * scale if not density else 1e-9)
    x = real(rng, (200_000, 3), "float32")
    yield case("histogramdd", "histogramdd(x, 20)", {"x": x}, lambda: np.histogramdd(x, 20)[0])
    z = real(rng, (40, 3), "float64")
    for bad in ("x, 2, 3", "x, 0", "x, 4, 0, 1", 'x, 4, "weights"', 'x, 4, "weights", y', "y", "x, 2, 2, 2, 2", "x, 3, 0, 1, 0, 1, 1, 0", 'x, "sum"', "ones", 'x, 4, "weights", w, "weights", w', "many"):
        yield refused("histogramdd", f"histogramdd({bad})", {"x": z, "y": z[:30, 0], "w": z[:, 0], "ones": np.ones((5, 19)), "many": np.ones((3, 100))})


def bincount(rng):
    whole = [t for t in TYPES if t[0] in "iu" and t != "uint64" or t == "bool"]
    for i in range(2 * EACH):
        t = whole[i % len(whole)]
        n = 0 if i % 25 == 24 else int(rng.integers(1, 400))
        x = np.abs(array(rng, (n,), t).astype("i8")) % (2 if t == "bool" else 100)
        x = x.astype(t)
        arrays, args, w, most = {"x": x}, "", None, 0
        if rng.random() < 0.5:
            w = arrays["w"] = weights_of(rng, (n,), complex_too=False)
            args += ", w"
        if rng.random() < 0.5:
            most = int(rng.integers(0, 200))
            args += f", {most}"
        want = np.bincount(x, w, most)
        if w is not None and n:
            want = np.zeros(len(want), "longdouble")
            np.add.at(want, x.astype("i8"), w.astype("longdouble"))
            want = want.astype("f8")
        yield case("bincount", f"bincount(x{args})", arrays, lambda: want, 4e-16, 1e-25 * n)
    big = rng.integers(0, 100_000, 1_500_000).astype("i4")
    yield case("bincount", "bincount(x)", {"x": big}, lambda: np.bincount(big))
    x = np.array([1, -1, 3])
    for bad, a in (("x", x), ("x", x.astype("f8")), ("x", x.astype("u8")), ("x, -1", abs(x)), ("x, x, 2", x.reshape(1, 3)), ("x, y", abs(x)), ("x, z", abs(x))):
        yield refused("bincount", f"bincount({bad})", {"x": a, "y": x[:2], "z": x + 1j})


def average(rng):
    for i in range(2 * EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, TYPES[i % len(TYPES)] if i < 30 else None, False)
        axes = None
        if rng.random() < 0.7:
            axes = tuple(int(a) for a in rng.permutation(len(shape))[: int(rng.integers(1, len(shape) + 1))])
        of = shape if axes is None or rng.random() < 0.4 else tuple(shape[a] for a in axes)
        w = np.asarray(rng.random(of) + 0.5) if rng.random() < 0.5 else np.asarray(rng.integers(1, 9, of))
        w = w.astype(["float64", "float32", "int32", "complex64"][int(rng.integers(4))] if w.dtype.kind == "f" else "int16")
        if w.dtype.kind == "i":
            w = np.maximum(w, 1)
        with np.errstate(all="ignore"):
            t = np.average(x, axes, w).dtype
            wide = np.average(x.astype("clongdouble"), axes, w.astype("clongdouble"))
            want = (wide if t.kind == "c" else wide.real).astype(t)
        eps = float(np.finfo(t).eps)
        args = "" if axes is None else "".join(f", {a - len(shape) * (rng.random() < 0.3)}" for a in axes)
        size = float(np.abs(x.astype("c16")).max(initial=0)) * float(np.abs(w).max() / np.abs(w).min())
        yield case("average", f"average(x, w{args})", {"x": x, "w": w}, lambda: want, 8 * eps, 8 * eps * size)
        if x.dtype.kind in "fc":  # as xarray's weighted(w).mean()
            x = np.where(rng.random(shape) < rng.choice([0.1, 0.6]), x.dtype.type(np.nan), x)
            if rng.random() < 0.3:
                w = np.where(rng.random(of) < 0.5, w.dtype.type(0), w)
        wide = w.astype("clongdouble")
        if axes is not None and of != shape:
            order = np.argsort([a % len(shape) for a in axes])
            wide = wide.transpose(order).reshape([n if d in [a % len(shape) for a in axes] else 1 for d, n in enumerate(shape)])
        counts = np.broadcast_to(wide, shape) * ~np.isnan(x)
        with np.errstate(all="ignore"):
            whole = counts.sum(axes)
            wide = np.where(whole == 0, np.nan, (np.nan_to_num(x.astype("clongdouble"), nan=0.0) * counts).sum(axes) / whole)
        want = (wide if t.kind == "c" else wide.real).astype(t)
        yield case("nanaverage", f"nanaverage(x, w{args})", {"x": x, "w": w}, lambda: want, 8 * eps, 8 * eps * size)
    x = array(rng, (3, 4), "float32", False)
    for bad in ("x, w", "x, w, 0", "x, w, 2", "x, x - x, 1"):
        yield refused("average", f"average({bad})", {"x": x, "w": x[0]})
    for bad in ("x, w", "x, w, 0", "x, w, 2"):
        yield refused("nanaverage", f"nanaverage({bad})", {"x": x, "w": x[0]})


def matrices(rng, name, f):
    for i in range(2 * EACH):
        shape = (int(rng.integers(1, 8)), int(rng.integers(3, 30))) if i % 5 else (int(rng.integers(3, 30)),)
        x = array(rng, shape, TYPES[i % len(TYPES)] if i < 30 else None, False)
        arrays, args, options = {"x": x}, "", {}
        columns = x.ndim == 2 and rng.random() < 0.4
        if columns:
            x = arrays["x"] = np.ascontiguousarray(x.T)
        if rng.random() < 0.4:
            more = (int(rng.integers(1, 4)), shape[-1])
            y = array(rng, more if x.ndim == 2 and rng.random() < 0.6 else shape[-1:], None, False)
            if y.ndim == 2 and columns:
                y = np.ascontiguousarray(y.T)
            if x.ndim == 2 and y.ndim == 1 and columns:
                y = y.reshape(-1, 1)
            arrays["y"] = options["y"] = y
            args += ", y"
        if columns:
            options["rowvar"] = False
            args += ', "columns"'
        if name == "cov" and rng.random() < 0.3:
            options["bias"] = True
            args += ', "bias"'
        elif name == "cov" and rng.random() < 0.4:
            options["ddof"] = int(rng.integers(0, 3))
            args += f', "ddof={options["ddof"]}"'
        if name == "cov" and rng.random() < 0.5:
            many = shape[-1]
            if rng.random() < 0.7:
                arrays["f"] = options["fweights"] = rng.integers(0 if many > 5 else 1, 5, many).astype(["int8", "uint16", "int64"][i % 3])
                args += ', "fweights", f'
            if rng.random() < 0.6:
                arrays["a"] = options["aweights"] = (rng.random(many) + 0.1).astype(["float64", "float32"][i % 2])
                args += ', "aweights", a'
        with np.errstate(all="ignore"):
            want = np.asarray(f(x, **options))
            diagonal = np.abs(np.asarray(np.cov(x, **options))).max()
        yield case(name, f"{name}(x{args})", arrays, lambda: want, 1e-11, 1e-12 * (1 if name == "corrcoef" else float(diagonal)))
    far = rng.standard_normal((4, 1000)) + 1e6  # what a product without centring would lose
    yield case(name, f"{name}(x)", {"x": far}, lambda: f(far), 1e-9, 1e-9)
    tall = (rng.standard_normal((30_000, 24)) + 100).astype("float32")
    yield case(name, f'{name}(x, "columns")', {"x": tall}, lambda: f(tall, rowvar=False), 1e-9, 1e-9)
    x = array(rng, (3, 4), "float32", False)
    worse = ['x, "ddof=a"', 'x, "fweights"', 'x, "fweights", f', 'x, "aweights", slice(f, "1:")', 'x, "aweights", f - 2', 'x, "aweights", f - f', 'x, "aweights", f, "aweights", f'] if name == "cov" else ['x, "bias"', 'x, "aweights", f']
    for bad in ["x, y", 'x, "rows"', "z", *worse]:
        yield refused(name, f"{name}({bad})", {"x": x, "y": x[:, :3], "z": x.reshape(3, 2, 2), "f": np.ones(4)})


def ptp(rng):
    for i in range(EACH + 8):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, [t for t in TYPES if t != "bool"][i % 13])
        axes = tuple(int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))])
        yield case("ptp", f"ptp(x{''.join(f', {a}' for a in axes)})", {"x": x}, lambda: np.ptp(x, axes or None))
    yield refused("ptp", "ptp(x)", {"x": np.array([True, False])})
    yield refused("ptp", "ptp(x)", {"x": np.zeros((0, 2))})
    yield refused("ptp", "ptp(x, 1)", {"x": np.zeros(3)})


FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]


def holed(rng, shape, dtype, infinities=True):
    """Elements of which many are NaN, and whole lines now and then."""
    x = array(rng, shape, dtype, False)
    if x.dtype.kind not in "fc":
        return x
    x = np.where(rng.random(shape) < 0.3, x.dtype.type(np.nan), x)
    if rng.random() < 0.2 and x.ndim > 1 and x.size:
        x[..., 0] = np.nan
    if infinities and x.dtype.kind == "f" and rng.random() < 0.2:
        x = np.where(rng.random(shape) < 0.1, x.dtype.type(np.inf), x)
    return np.asarray(x, dtype)


def nan_reductions(rng):
    for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanargmin", "nanargmax"):
        f, extreme = getattr(np, name), name[-3:] in ("min", "max")
        for i in range(EACH + 20):
            names = FLOATS + ["int8", "int32", "uint16", "bool"]
            if extreme:
                names = [n for n in names if n[0] != "c"]
            shape = lengths(rng, empty=0 if extreme else 0.05)
            x = holed(rng, shape, names[i % len(names)], infinities=name not in ("nanvar", "nanstd"))
            if name == "nanprod":
                x = np.asarray(x / 8).astype(x.dtype) if x.dtype.kind in "fc" else x
            axes, options, args = tuple(int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))]), {}, ""
            if "arg" in name:
                axes = axes[:1]
            args = "".join(f", {a}" for a in axes)
            axis = axes or None
            if "arg" in name and axes:
                axis = axes[0]
            if name in ("nanvar", "nanstd") and rng.random() < 0.5:
                options["ddof"] = int(rng.integers(0, 3))
                args += f', "ddof={options["ddof"]}"'
            if rng.random() < 0.3:
                options["keepdims"] = True
                args += ', "keepdims"'
            with np.errstate(all="ignore"):
                try:
                    want = np.asarray(f(x, axis=axis, **options))
                except ValueError:
                    yield refused(name, f"{name}(x{args})", {"x": x})
                    continue
                rtol = atol = 0
                if want.dtype.kind in "fc" and not extreme:
                    eps = float(np.finfo(want.dtype).eps)
                    wide = x.astype(LONG[x.dtype.kind] if x.dtype.kind in "fc" else np.longdouble)
                    exact = np.asarray(f(wide, axis=axis, **options)).astype(want.dtype)
                    if x.dtype.kind not in "fc":  # of too few, which NumPy says in another way
                        exact = np.asarray(np.where(np.isfinite(want), exact, want))
                    finite = np.abs(wide[np.isfinite(wide)])
                    rtol = eps * 8 * (x.size if name == "nanprod" else 1)
                    atol = eps * 8 * float(finite.max(initial=0)) * (x.size if name == "nansum" else 1) if name in ("nansum", "nanmean") else 0
                    if name == "nanprod" and want.dtype.kind == "c":
                        atol = rtol * float(np.abs(exact[np.isfinite(exact)]).max(initial=0))
                    if name in ("nanvar", "nanstd"):  # of equal elements it is nothing
                        atol = eps
                    want = exact
            yield case(name, f"{name}(x{args})", {"x": x}, lambda: want, rtol, atol)
        x = holed(rng, (3, 4), "float32")
        yield refused(name, f"{name}(x, 2)", {"x": x})
        big = holed(rng, (700, 800), "float32", False)
        big[0] = 1  # no column is all NaN
        with np.errstate(all="ignore"):
            want = np.asarray(f(big.astype("f8"), axis=0))
        if name != "nanprod":
            yield case(name, f"{name}(x, 0)", {"x": big}, lambda: want if "arg" in name else want.astype("f4"), 0 if extreme else 1e-6, 0 if extreme else 1e-4)


def masked(rng):
    """Reductions of some of the elements, with NaN and without."""
    for name in ("sum", "prod", "mean", "var", "std", "any", "all", "nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        f = getattr(np, name)
        for i in range(20):
            names = FLOATS + ["int8", "int32", "uint16", "bool"]
            shape = lengths(rng)
            t = names[i % len(names)]
            x = holed(rng, shape, t, infinities=False) if name[:3] == "nan" else array(rng, shape, t, False)
            if "prod" in name:
                x = np.asarray(x / 8).astype(x.dtype) if x.dtype.kind in "fc" else x
            m = np.asarray(rng.random(shape if rng.random() < 0.6 else shape[-1:]) < 0.6)
            axes = tuple(int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))])
            args, options = "".join(f", {a}" for a in axes) + ", m", {}
            if name[-3:] in ("var", "std") and rng.random() < 0.5:
                options["ddof"] = int(rng.integers(0, 3))
                args += f', "ddof={options["ddof"]}"'
            if rng.random() < 0.3:
                options["keepdims"] = True
                args += ', "keepdims"'
            want = np.asarray(f(x, axis=axes or None, where=m, **options))
            rtol = atol = 0
            if want.dtype.kind in "fc":
                eps = float(np.finfo(want.dtype).eps)
                if x.dtype.kind in "fc":
                    want = np.asarray(f(x.astype(LONG[x.dtype.kind]), axis=axes or None, where=m, **options)).astype(want.dtype)
                size = float(np.nanmax(np.abs(x.astype("c16")), initial=0)) if name[-3:] in ("sum", "ean") else 0
                rtol, atol = eps * 8 * (x.size if "prod" in name else 1), eps * 8 * size * x.size + (eps if name[-3:] in ("var", "std") else 0)
                if "prod" in name and want.dtype.kind == "c":
                    atol = rtol * float(np.abs(want[np.isfinite(want)]).max(initial=0))
            yield case(name, f"{name}(x{args})", {"x": x, "m": m}, lambda: want, rtol, atol)
        x = array(rng, (3, 4), "float32", False)
        for bad in ("x, x", "x, m", "x, 0, x, m"):
            yield refused(name, f"{name}({bad})", {"x": x, "m": np.array([True, False])})
    for name in ("argmin", "nanargmax"):
        yield refused(name, f"{name}(x, 0, x > 0)", {"x": x})


def begun(rng):
    """Reductions with a number to begin with, and in another type."""
    for name in ("sum", "prod", "min", "max", "nansum", "nanprod", "nanmin", "nanmax"):
        f = getattr(np, name)
        for i in range(20):
            names = FLOATS[:3] + ["int8", "int32", "uint16", "bool"]
            shape, t = lengths(rng), names[i % len(names)]
            x = holed(rng, shape, t, infinities=False) if name[:3] == "nan" else array(rng, shape, t, False)
            if "prod" in name and x.dtype.kind == "f":
                x = np.asarray(x / 8).astype(t)
            axes = tuple(int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))])
            first = int(rng.integers(0, 50)) if x.dtype.kind in "iub" or i % 2 else float(np.round(rng.standard_normal() * 9, 2))
            options, args, arrays = {"initial": first}, "".join(f", {a}" for a in axes), {"x": x}
            if rng.random() < 0.4:
                arrays["m"] = options["where"] = np.asarray(rng.random(shape) < 0.5)
                args += ", m"
            args += f', "initial={first}"'
            if name in ("sum", "prod") and rng.random() < 0.5:
                options["dtype"] = ["float64", "float32", "int8", "uint16"][i % 4 if x.dtype.kind in "iub" and isinstance(first, int) else i % 2]
                args += f', "dtype={options["dtype"]}"'
            if rng.random() < 0.3:
                options["keepdims"] = True
                args += ', "keepdims"'
            with np.errstate(all="ignore"):
                want = np.asarray(f(x, axis=axes or None, **options))
            rtol = atol = 0
            if want.dtype.kind == "f" and name[-3:] not in ("min", "max"):
                eps = float(np.finfo(want.dtype).eps)
                with np.errstate(all="ignore"):
                    want = np.asarray(f(x.astype("longdouble"), axis=axes or None, **{**options, "dtype": "longdouble"})).astype(want.dtype)
                size = float(np.nanmax(np.abs(x.astype("f8")), initial=abs(first))) if "sum" in name else 0
                rtol, atol = eps * 8 * (x.size + 2 if "prod" in name else 1), eps * 8 * size * (x.size + 1)
            yield case(name, f"{name}(x{args})", arrays, lambda: want, rtol, atol)
        x = array(rng, (3, 4), "int8", False)
        if name.endswith(("min", "max")):
            f = getattr(np, name)
            yield case(name, f'{name}(y, 0, "initial=2.5")', {"y": np.zeros((0, 3))}, lambda: f(np.zeros((0, 3)), axis=0, initial=2.5))
            u = np.array([2**63, 5, 2**64 - 1], "u8")
            yield case(name, f'{name}(u, "initial={2**63 + 9}")', {"u": u}, lambda: f(u, initial=2**63 + 9))
            yield refused(name, f'{name}(u, "initial={2**63 + 9}")', {"u": u.astype("i8")})
        if name in ("nanmin", "nanmax"):
            v = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan]])
            yield case(name, f'{name}(v, 1, "initial=nan")', {"v": v}, lambda: f(v, axis=1, initial=np.nan))
        if name in ("sum", "prod"):
            yield refused(name, f'{name}(x, "dtype=int8", "initial=1000")', {"x": x})
        for bad in ('"initial=1.5"', '"initial="', '"keepdims="', '"initial=1000"' if name.endswith(("min", "max")) else '"initial=x"', '"dtype=float"'):
            yield refused(name, f"{name}(x, {bad})", {"x": x})
    for name in ("mean", "var", "any", "argmin", "nanmean"):
        yield refused(name, f'{name}(x, "initial=1")', {"x": np.arange(4.0)})


def nan_scans(rng):
    for name in ("nancumsum", "nancumprod"):
        f = getattr(np, name)
        for i in range(EACH + 20):
            names = FLOATS + ["int8", "int32", "uint16", "bool"]
            shape = lengths(rng)
            x = holed(rng, shape, names[i % len(names)])
            if name == "nancumprod" and x.dtype.kind in "fc":
                x = np.asarray(x / 8).astype(x.dtype)
            axis = axis_of(rng, len(shape)) if rng.random() < 0.75 else None
            with np.errstate(all="ignore"):
                want = f(x, axis)
                rtol = atol = 0
                if want.dtype.kind in "fc":
                    eps = float(np.finfo(want.dtype).eps)
                    wide = f(x.astype(LONG[x.dtype.kind]), axis)
                    want = wide.astype(want.dtype)
                    finite = np.abs(x.astype("c16"))[np.isfinite(x)]
                    rtol = 8 * eps * (1 if name == "nancumsum" else x.size + 4)
                    atol = 8 * eps * float(finite.sum()) if name == "nancumsum" else 0
                    if name == "nancumprod" and want.dtype.kind == "c":
                        atol = rtol * float(np.abs(want[np.isfinite(want)]).max(initial=0))
            yield case(name, f"{name}(x{'' if axis is None else f', {axis}'})", {"x": x}, lambda: want, rtol, atol)
        yield refused(name, f"{name}(x, 2)", {"x": holed(rng, (3, 4), "float32")})


def logsumexp(rng):
    for i in range(EACH + 10):
        x = real(rng, lengths(rng), REAL[i % len(REAL)], special=i % 3 == 2)
        if x.size == 0:
            x = real(rng, (3, 4), REAL[i % len(REAL)])
        axes, keep = [], rng.random() < 0.3
        if rng.random() < 0.7:
            axes = [int(a) for a in rng.permutation(x.ndim)[:rng.integers(1, x.ndim + 1)]] if x.ndim else []
        with np.errstate(all="ignore"):
            wide = x.astype("f8")
            t = x.dtype if x.dtype.kind == "f" else np.dtype("f8")
            want = np.asarray(scipy.special.logsumexp(wide, tuple(axes) or None, keepdims=keep)).astype(t)
        args = "".join(f", {a}" for a in axes) + ', "keepdims"' * keep
        eps = float(np.finfo(t).eps)
        yield case("logsumexp", f"logsumexp(x{args})", {"x": x}, lambda: want, 64 * max(eps, 1e-7 if t == "f4" else 0), 64 * eps)
    yield refused("logsumexp", "logsumexp(x, 2)", {"x": real(rng, (3, 4), "float32")})
    yield refused("logsumexp", "logsumexp(x)", {"x": np.ones(3, "complex64")})


def shapes(rng):
    from scipy import stats

    for i in range(4 * EACH):
        shape = lengths(rng, low=2, empty=0)
        x = array(rng, shape, ["float64", "float32", "int16", "uint8", "float64"][i % 5], special=False)
        if i % 7 == 0:
            x = np.where(rng.random(shape) < 0.05, np.nan, x.astype("f8"))
        if i % 9 == 0:
            x = np.full(shape, 3.0)
        axis, rtol = axis_of(rng, len(shape)), 2e-3 if x.dtype == "f4" else 1e-9
        wide = x.astype("f8")
        as_here = lambda want: np.asarray(want).astype(x.dtype if x.dtype.kind == "f" else "f8")
        for name in ("skew", "kurtosis"):
            yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: as_here(getattr(stats, name)(wide, axis)), rtol, rtol)
            if i % 4 == 0:
                yield case(name, f"{name}(x)", {"x": x}, lambda: as_here(getattr(stats, name)(wide, None)), rtol, rtol)
        d = i % 2
        yield case("zscore", f'zscore(x, {axis}{", " + chr(34) + "ddof=1" + chr(34) if d else ""})', {"x": x}, lambda: as_here(stats.zscore(wide, axis, ddof=d)), rtol, rtol)
    x = array(rng, (3, 4), "float32")
    for bad in ("skew(x, 2)", "kurtosis(x * 1j)", "zscore(x, 2)", "zscore(x * 1j)"):
        yield refused(bad[: bad.index("(")], bad, {"x": x})


def cases(rng):
    yield from shapes(rng)
    yield from histogram(rng)
    yield from histogram_bin_edges(rng)
    yield from histogram2d(rng)
    yield from histogramdd(rng)
    yield from bincount(rng)
    yield from average(rng)
    yield from matrices(rng, "cov", np.cov)
    yield from matrices(rng, "corrcoef", np.corrcoef)
    yield from ptp(rng)
    yield from nan_reductions(rng)
    yield from masked(rng)
    yield from begun(rng)
    yield from nan_scans(rng)
    yield from logsumexp(rng)
