"""Cases of curves that samples stand for: interpolation, areas, polynomials."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, EACH

REAL = ["float64", "float32", "int32", "uint8", "float64"]


def interp(rng):
    for i in range(4 * EACH):
        n = int(rng.integers(1, 40)) if i % 9 else 20_000
        xp = np.sort(rng.standard_normal(n) * 10)
        if i % 3 == 0:
            xp = np.arange(n) * 1.0
        fp = array(rng, (n,), "complex128" if i % 8 == 7 else REAL[i % 5], special=False)
        x = array(rng, lengths(rng), REAL[i % 4])
        if i % 2 and x.size:
            x = np.where(rng.random(x.shape) < 0.3, rng.choice(xp, x.shape), x)
        if i % 5 == 4 and fp.dtype.kind == "c":
            continue
        arrays = {"x": x, "t": xp, "f": fp}
        yield case("interp", "interp(x, t, f)", arrays, lambda: np.interp(x, xp, fp), 1e-11, 1e-11)
        yield case("interp", 'interp(x, t, f, "right", 9, "left", -7)', arrays, lambda: np.interp(x, xp, fp, -7, 9), 1e-11, 1e-11)
    t = np.arange(5.0)
    for bad in ("interp(t, t, slice(t, ':3'))".replace("'", '"'), "interp(t, reshape(t, 5, 1), t)", 'interp(t, slice(t, ":0"), slice(t, ":0"))', "interp(t * 1j, t, t)", "interp(t, t)"):
        yield refused("interp", bad, {"t": t})
    for special in (np.nan, np.inf, -np.inf):
        f = np.array([1, 2, special, special, 5.0])
        x = np.array([-1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, np.nan])
        yield case("interp", "interp(x, t, f)", {"x": x, "t": t, "f": f}, lambda: np.interp(x, t, f))


def trapezoid(rng):
    for i in range(3 * EACH):
        shape = lengths(rng)
        y = array(rng, shape, ["float64", "float32", "int32", "complex64", "float64"][i % 5], special=False)
        axis, rtol = axis_of(rng, len(shape)), 1e-5 if y.dtype.itemsize < 8 or y.dtype.kind == "c" else 1e-12
        yield case("trapezoid", f"trapezoid(y, {axis})", {"y": y}, lambda: np.trapezoid(y, axis=axis), rtol, rtol * 100)
        yield case("trapezoid", f'trapezoid(y, {axis}, "dx=0.5")', {"y": y}, lambda: np.trapezoid(y, dx=0.5, axis=axis), rtol, rtol * 100)
        x = np.cumsum(rng.random(shape[axis]))
        yield case("trapezoid", f'trapezoid(y, {axis}, "x", t)', {"y": y.astype("f8" if y.dtype.kind != "c" else "c16"), "t": x}, lambda: np.trapezoid(y.astype("f8" if y.dtype.kind != "c" else "c16"), x, axis=axis), 1e-11, 1e-10)
        if i % 5 == 0:
            t = rng.standard_normal(shape)
            yield case("trapezoid", f'trapezoid(y, {axis}, "x", t)', {"y": y, "t": t}, lambda: np.trapezoid(y, t, axis=axis), 1e-11, 1e-10)
    y = array(rng, (3, 4), "float32")
    for bad in ("trapezoid(y, 2)", 'trapezoid(y, 0, "x", slice(y, "0"))', "trapezoid(y, 0, 1)"):
        yield refused("trapezoid", bad, {"y": y})


def polynomials(rng):
    for i in range(4 * EACH):
        x = array(rng, lengths(rng), ["float64", "float32", "int32", "complex128"][i % 4], special=False)
        x = (x / 10).astype(x.dtype)
        p = array(rng, (int(rng.integers(1, 7)),), ["float64", "int64", "float64", "complex128"][i % 4], special=False)
        rtol = 1e-5 if x.dtype == "f4" and p.dtype == "f4" else 1e-11
        yield case("polyval", "polyval(p, x)", {"p": p, "x": x}, lambda: np.polyval(p, x), rtol, 1e-9)
        v = array(rng, (int(rng.integers(1, 30)),), ["float64", "int32", "uint8", "complex128", "float32"][i % 5], special=False)
        v = (v / 10).astype(v.dtype)
        n = int(rng.integers(0, 6))
        yield case("vander", f"vander(v, {n})", {"v": v}, lambda: np.vander(v, n), 1e-11, 1e-11)
        n = min(len(v), 6)
        yield case("vander", f'vander(v, {n}, "increasing")', {"v": v}, lambda: np.vander(v, n, True), 1e-11, 1e-11)
        if i % 10 == 0:
            yield case("vander", "vander(v)", {"v": v[:5]}, lambda: np.vander(v[:5]), 1e-11, 1e-11)
        count, deg = int(rng.integers(6, 60)), int(rng.integers(0, 5))
        t = rng.permutation(count) * 0.25 - 3
        more = [(), (3,), (7,)][i % 3]
        y = array(rng, (count, *more), ["float64", "float32", "complex128", "int32"][i % 4], special=False)
        yield case("polyfit", f"polyfit(t, y, {deg})", {"t": t, "y": y}, lambda: np.polyfit(t, y, deg), 1e-8, 1e-8)
        w = rng.random(count) + 0.5
        yield case("polyfit", f'polyfit(t, y, {deg}, "w", w)', {"t": t, "y": y, "w": w}, lambda: np.polyfit(t, y.astype("c16" if y.dtype.kind == "c" else "f8"), deg, w=w), 1e-8, 1e-8)
    y = array(rng, (20, 3, 4), "float64", special=False)
    t = np.arange(20)
    yield case("polyfit", "polyfit(t, y, 1)", {"t": t, "y": y}, lambda: np.polyfit(t, y.reshape(20, -1), 1).reshape(2, 3, 4), 1e-9, 1e-9)
    c = rng.standard_normal((3, 4))
    yield case("polyval", "polyval(c, t)", {"c": c, "t": t[:4]}, lambda: np.polyval(c, t[:4]), 1e-11, 1e-11)
    for bad in ("polyfit(t, y, -1)", "polyfit(y, y, 1)", 'polyfit(slice(t, ":3"), y, 1)', "polyfit(t, y, 64)", "polyval(2, t)", "vander(y)", "polyfit(t, y)"):
        yield refused(bad[: bad.index("(")], bad, {"t": t, "y": y})


def cases(rng):
    yield from interp(rng)
    yield from trapezoid(rng)
    yield from polynomials(rng)
