"""Fourier transforms, against NumPy in double precision."""
import numpy as np

TYPES = ["float32", "float64", "complex64", "complex128", "float16", "int8", "int32", "uint16", "bool"]
NORMS = ["backward", "ortho", "forward"]
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 20, 23, 25, 27, 29, 31, 32, 37, 49, 53, 60, 64, 77, 97, 101, 128]
REAL, FIRST = {"rfft", "ihfft"}, {"irfft", "hfft"}


def array(rng, shape, dtype):
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.random(shape) < 0.5
    if d.kind in "iu":
        return rng.integers(-90 if d.kind == "i" else 0, 90, shape).astype(d)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(d) if d.kind == "c" else a.astype(d)


def shape(rng, axis_length):
    dims = int(rng.integers(1, 5))
    s = [int(rng.integers(1, 6)) for _ in range(dims)]
    axis = int(rng.integers(dims))
    s[axis] = axis_length
    if rng.random() < 0.04 and dims > 1:
        s[axis - 1] = 0
    return s, axis


def wide(a):
    return a.astype("c16" if a.dtype.kind == "c" else "f8")


def case(op, expr, f, x):
    """The value of double precision in NumPy's dtype, and an error in units of the result's size."""
    got, want = f(x), f(wide(x))
    eps = float(np.finfo(got.real.dtype).eps)
    size = float(np.max(np.abs(want), initial=0))
    if got.real.dtype == "f8":
        eps *= 16  # NumPy's own
    return {"op": op, "expr": expr, "in": {"x": x}, "want": want.astype(got.dtype), "atol": 2 * eps * max(size, 1e-30)}


def kinds(rng, op):
    types = TYPES
    if op.rstrip("n2") in REAL:
        types = [t for t in TYPES if not t.startswith("complex")]
    return types[int(rng.integers(len(types)))]


def cases(rng):
    for op in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]:
        for i in range(70):
            length = LENGTHS[i % len(LENGTHS)]
            s, axis = shape(rng, length)
            x = array(rng, s, kinds(rng, op))
            n, args, kw = None, "", {}
            form = int(rng.integers(4))
            if form > 0:
                n = 0 if rng.random() < 0.5 else int(rng.integers(1, 70))
                args += f", {n}"
                kw["n"] = n or None
            if form > 1:
                a = axis if rng.random() < 0.5 else axis - len(s)
                args += f", {a}"
                kw["axis"] = a
            if form > 2 or form == 0 and rng.random() < 0.5:
                norm = NORMS[int(rng.integers(3))]
                args += f', "{norm}"'
                kw["norm"] = norm
            have = s[kw.get("axis", -1)]
            short = have == 0 or op in FIRST and have == 1
            if short and not kw.get("n"):
                yield {"op": op, "expr": f"{op}(x{args})", "in": {"x": x}, "error": True}
                continue
            yield case(op, f"{op}(x{args})", lambda x: getattr(np.fft, op)(x, **kw), x)
        long = array(rng, [3, 1009], kinds(rng, op))
        yield case(op, f"{op}(x)", lambda x: getattr(np.fft, op)(x), long)
        long = array(rng, [5000, 3], kinds(rng, op))
        yield case(op, f"{op}(x, 0, 0)", lambda x: getattr(np.fft, op)(x, axis=0), long)
        x = array(rng, [4, 3], "float32")
        for args in ["-1", "-1, 1", "0, 2", "0, -3", '"unknown"']:
            yield {"op": op, "expr": f"{op}(x, {args})", "in": {"x": x}, "error": True}
        yield {"op": op, "expr": f"{op}(x)", "in": {"x": np.float32(3)}, "error": True}
        if op in REAL:
            yield {"op": op, "expr": f"{op}(x)", "in": {"x": array(rng, [4], "complex64")}, "error": True}
    for op in ["fft", "ifft", "rfft", "irfft"]:
        for i in range(50):
            dims = int(rng.integers(1, 4))
            s = [int(rng.integers(2, 14)) for _ in range(dims)]
            x = array(rng, s, kinds(rng, op))
            args, kw = "", {}
            if rng.random() < 0.6:
                axes = [int(a) - (dims if rng.random() < 0.3 else 0) for a in rng.permutation(dims)[: int(rng.integers(1, dims + 1))]]
                args, kw["axes"] = "".join(f", {a}" for a in axes), axes
            if rng.random() < 0.4:
                kw["norm"] = NORMS[int(rng.integers(3))]
                args += f', "{kw["norm"]}"'
            yield case(op + "n", f"{op}n(x{args})", lambda x: getattr(np.fft, op + "n")(x, **kw), x)
        for i in range(50):
            s = [int(rng.integers(2, 20)) for _ in range(int(rng.integers(2, 4)))]
            x = array(rng, s, kinds(rng, op))
            kw, args = {}, ""
            if rng.random() < 0.5:
                kw["norm"] = NORMS[int(rng.integers(3))]
                args = f', "{kw["norm"]}"'
            yield case(op + "2", f"{op}2(x{args})", lambda x: getattr(np.fft, op + "2")(x, **kw), x)
        yield case(op + "2", f"{op}2(x)", lambda x: getattr(np.fft, op + "2")(x), array(rng, [300, 257], kinds(rng, op)))
        yield {"op": op + "2", "expr": f"{op}2(x)", "in": {"x": array(rng, [4], "float32")}, "error": True}
        yield {"op": op + "n", "expr": f"{op}n(x, 0, 0)", "in": {"x": array(rng, [4, 4], "float32")}, "error": True}
        yield {"op": op + "n", "expr": f"{op}n(x, 2)", "in": {"x": array(rng, [4, 4], "float32")}, "error": True}
    for op in ["fftshift", "ifftshift"]:
        for i in range(50):
            dims = int(rng.integers(1, 4))
            s = [int(rng.integers(0, 9)) for _ in range(dims)]
            x = array(rng, s, TYPES[int(rng.integers(len(TYPES)))])
            axes = [int(a) for a in rng.permutation(dims)[: int(rng.integers(1, dims + 1))]] if dims and rng.random() < 0.6 else None
            args = "".join(f", {a}" for a in axes or [])
            yield {"op": op, "expr": f"{op}(x{args})", "in": {"x": x}, "want": getattr(np.fft, op)(x, axes)}
        yield {"op": op, "expr": f"{op}(x, 1)", "in": {"x": array(rng, [3], "int8")}, "error": True}
    for op in ["fftfreq", "rfftfreq"]:
        for i in range(50):
            n = int(rng.integers(1, 2000 if i % 5 == 0 else 40))
            if rng.random() < 0.5:
                yield {"op": op, "expr": f"{op}({n})", "in": {}, "want": getattr(np.fft, op)(n)}
                continue
            d = float(rng.random() + 0.1)
            yield {"op": op, "expr": f"{op}({n}, {d!r})", "in": {}, "want": getattr(np.fft, op)(n, d)}
        yield {"op": op, "expr": f"{op}(0)", "in": {}, "error": True}
