"""Cases of the functions of each element, of the reductions, and of views and arrays from no file, each by name."""
import numpy as np
from scipy import special

import reference
from ops import shape as shapes
from ops.shape import array, lengths, axis_of, case, refused, joined

EACH = 50
TYPES = shapes.TYPES + ["bfloat16"]
INTEGERS = [t for t in TYPES if "int" in t or t == "bool"]

BY_PARTS = "add subtract negative conjugate real imag where".split()  # exact of complex numbers too
ROUGH = "radians degrees".split()  # of rows that have no bound
SPECIAL = "float_power full_like i0 ldexp logaddexp logaddexp2 polyval sinc".split()  # which have cases of their own


OWN = {}  # the references of kernels whose Home is none, by name: "sinpi": lambda x: …


def of_elements(row):
    """Reports whether a row is a function of each element of arrays by NumPy's or SciPy's name. Rows of kernels are."""
    if row["kernel"] or row["name"] in SPECIAL or not row["fused"] or not row["arrays"]:
        return row["kernel"]
    f = getattr(np, row["name"], None)
    try:
        return f is not None and np.shape(f(*[np.ones((2, 3))] * row["arrays"])) == (2, 3)
    except (TypeError, ValueError):
        return False


def answered(op, expr, arrays, exactness):
    """A case with NumPy's answer; where NumPy has none for these types, one that is to be refused."""
    try:
        want, allowed = reference.answer(expr, arrays, exactness)
    except (TypeError, ValueError):
        return {"op": op, "expr": expr, "in": arrays, "error": True}
    return {"op": op, "expr": expr, "in": arrays, "want": want, "allowed": allowed}


def elements(rng, row):
    op, kernel, two = row["name"], row["kernel"], row["arrays"] == 2
    reference.NAMES.setdefault(op, OWN[op] if op in OWN else getattr(np, op))
    exact = row["exact"] and op not in ROUGH
    i = made = 0
    while made < EACH:
        types = INTEGERS if row["family"] == "bits" and i % 8 else TYPES if kernel else shapes.TYPES
        name = types[i % len(types)]
        i += 1
        shape = () if i % 9 == 0 else lengths(rng, most=3, high=6)
        complex_ = name.startswith("complex")
        x = array(rng, shape, name, special=not complex_)
        arrays = {"x": x}
        other = "y"
        if two:
            against = tuple(1 if rng.random() < 0.25 else n for n in shape)[int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.2 else 0:]
            second = name if rng.random() < 0.6 else types[int(rng.integers(len(types)))]
            arrays["y"] = array(rng, against, second, special=not complex_)
            if "shift" in op and arrays["y"].dtype.kind in "iu":
                arrays["y"] = (np.abs(arrays["y"].astype("i8")) % 70).astype(second)
            if op == "power":
                arrays["y"] = array(rng, against, "uint8") % 5 if name in INTEGERS else np.asarray(array(rng, against, "float64", special=False) / 5).astype(x.dtype)
                if complex_:
                    arrays["y"] = arrays["y"].real.astype(x.dtype)
            if rng.random() < 0.2 and name not in ("bool", "bfloat16") and op != "power":
                del arrays["y"]
                other = "3" if x.dtype.kind in "iu" or rng.random() < 0.5 else "0.5"
        if complex_ and not exact:  # of large ones all but the leading digits are lost
            arrays = {n: np.asarray(a / 8).astype(a.dtype) for n, a in arrays.items()}
        expr = f"{op}(x)"
        if two:
            expr = f"{op}({other}, x)" if rng.random() < 0.1 and op != "power" else f"{op}(x, {other})"
        if op == "where":
            arrays = {"c": array(rng, shape, "bool"), "x": x, "y": array(rng, shape, name if rng.random() < 0.6 else None)}
            expr = "where(c, x, y)"
        met = {a.dtype.name for a in arrays.values()}
        if "bfloat16" in met and len(met) > 1:
            continue  # which types they meet in, ml_dtypes says otherwise than for a bfloat16 of NumPy's own
        made += 1
        if op == "log1p" and complex_:  # NumPy's own loses digits near the unit circle
            yield case(op, expr, arrays, lambda: np.log1p(arrays["x"].astype("clongdouble")).astype(x.dtype), 16 * np.finfo(x.dtype).eps, 1e-300)
            continue
        yield answered(op, expr, arrays, "equal" if exact and (not complex_ or not kernel or op in BY_PARTS) else 16 if complex_ else 4)


def of_scipy(rng, row):
    """A function of SciPy's, with the types of NumPy's functions."""
    op, f = row["name"], getattr(special, row["name"])
    real = [t for t in TYPES if not t.startswith("complex")]
    for i in range(60):
        name = real[i % len(real)]
        x = array(rng, () if i % 9 == 0 else lengths(rng, most=3, high=6), name)
        if name not in INTEGERS and i % 2:
            x = np.asarray(x / 4).astype(x.dtype)
        with np.errstate(all="ignore"):
            kind = np.exp(x).dtype
        want = np.asarray(f(x.astype("f8"))).astype(kind)
        eps = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[kind.name]
        yield {"op": op, "expr": f"{op}(x)", "in": {"x": x}, "want": want, "rtol": 2 * eps, "atol": 1e-45}
    yield {"op": op, "expr": f"{op}(x)", "in": {"x": array(rng, (3,), "complex128")}, "error": True}


def folds(rng, op):
    for i in range(EACH + 4):
        name = TYPES[i % len(TYPES)]
        if name.startswith("complex") and op in ("min", "max", "argmin", "argmax"):
            name = "float32"
        shape = (() if i % 9 == 0 else lengths(rng, low=1 if op in ("min", "max", "argmin", "argmax") else 0, empty=0, most=3)) if i < EACH else (20_000,) if i % 2 else (150, 201)
        x = array(rng, shape, name, special=op != "prod")
        if op == "prod" and name not in INTEGERS:
            x = np.asarray(1 + x / 1000).astype(x.dtype)
        axes = [int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))]]
        if op.startswith("arg"):
            axes = axes[:1]
        words = ['"keepdims"'] if rng.random() < 0.3 else []
        if op in ("var", "std") and rng.random() < 0.3:
            words.append('"ddof=1"')
        yield answered(op, f"{op}({joined(['x', *(a - len(shape) if rng.random() < 0.3 else a for a in axes), *words])})", {"x": x}, "fold")


def views(rng):
    for i in range(EACH + 16):  # some have no case of every type
        name = TYPES[i % len(TYPES)]
        shape = lengths(rng)
        x = array(rng, shape, name)
        dims = len(shape)
        each = {"x": x}
        perm = [int(p) for p in rng.permutation(dims)]
        yield case("transpose", f"transpose({joined(['x', *perm])})", each, lambda: np.transpose(x, perm))
        cut = int(rng.integers(0, dims + 1))
        to = (int(np.prod(shape[:cut])), *shape[cut:]) if cut else (*shape, 1)
        if not x.size and 0 not in to:
            to = shape
        yield case("reshape", f"reshape({joined(['x', *to])})", each, lambda: np.reshape(x, to))
        wide = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))) + shape
        yield case("broadcast_to", f"broadcast_to({joined(['x', *wide])})", each, lambda: np.broadcast_to(x, wide))
        axes = sorted({int(a) for a in rng.integers(0, dims + 1, int(rng.integers(1, 3)))})
        axes = [a for a in axes if a < dims + len(axes)] or [0]
        opened = np.expand_dims(x, tuple(axes))
        yield case("expand_dims", f"expand_dims({joined(['x', *axes])})", each, lambda: opened)
        ones = [d for d, n in enumerate(opened.shape) if n == 1]
        yield case("squeeze", f"squeeze({joined(['x', *ones[:1]])})", {"x": opened}, lambda: np.squeeze(opened, tuple(ones[:1])))
        spec = reference.Maker(int(rng.integers(1 << 30)), False).spec(shape)
        if x.size:
            yield answered("slice", f'slice(x, "{spec}")', each, "equal")
        to = TYPES[int(rng.integers(len(TYPES)))]
        if not (name.startswith("complex") and not to.startswith("complex")):
            y = array(rng, shape, name, special="int" not in to)
            if to.startswith("u") or to == "int8":
                y = np.abs(y.astype("f8") % 100).astype(y.dtype) if not name.startswith("complex") else y
            yield answered("astype", f'astype(x, "{to}")', {"x": y}, "equal")
        if not name.startswith("complex") and name != "bool":
            low, high = -3, 5
            if name.startswith("u"):
                low = 1
            yield case("clip", f"clip(x, {low}, {high})", each, lambda: np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(x.dtype))
            if name != "bfloat16":
                y = array(rng, shape, "float64") if "float" in name else x
                n = int(rng.integers(0, 3))
                yield case("round", f"round(x, {n})", {"x": y}, lambda: np.round(y, n))
                yield case("round", "round(x)", each, lambda: np.round(x))
    for bad in ("transpose(x, 0, 0)", "reshape(x, 7)", "broadcast_to(x, 2, 4)", "expand_dims(x, 4)", "squeeze(x, 0)", 'slice(x, "0, 0, 0")', 'astype(x, "int7")'):
        yield {"op": bad.split("(")[0], "expr": bad, "in": {"x": array(rng, (2, 3), "float32")}, "error": True}


def philox(counter, key):
    """Philox4x32-10 of Salmon and others, SC11, 2011: four words of a counter under a key."""
    mask = 0xFFFFFFFF
    c, k = [counter & mask, counter >> 32, 0, 0], [key & mask, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def uniform(seed, shape):
    """Each block of four words is two float64 of 53 bits."""
    out = []
    for block in range((int(np.prod(shape)) + 1) // 2):
        w = philox(block, seed)
        out += [((w[1] << 32 | w[0]) >> 11) / 2**53, ((w[3] << 32 | w[2]) >> 11) / 2**53]
    return np.array(out[: int(np.prod(shape))]).reshape(shape)


def leaves(rng):
    for _ in range(EACH):
        a, b, s = int(rng.integers(-50, 50)), int(rng.integers(-50, 90)), int(rng.integers(1, 9)) * int(rng.choice([-1, 1]))
        if rng.random() < 0.5:
            yield case("arange", f"arange({a}, {b}, {s})", {}, lambda: np.arange(a, b, s))
        else:
            yield case("arange", f"arange({a}, {b}, {s / 4})", {}, lambda: np.arange(a, b, s / 4), 1e-15, 1e-14)
        n = int(rng.integers(0, 40))
        yield case("linspace", f"linspace({a}, {b / 7}, {n})", {}, lambda: np.linspace(a, b / 7, n), 1e-15, 1e-14)
        yield case("linspace", f'linspace({a}, {b / 7}, {n}, "endpoint=false")', {}, lambda: np.linspace(a, b / 7, n, endpoint=False), 1e-15, 1e-14)
        shape = lengths(rng, most=3)
        value = int(rng.integers(-9, 9)) if rng.random() < 0.5 else float(rng.standard_normal())
        yield case("full", f"full({joined([value, *shape])})", {}, lambda: np.full(shape, value))
        one = np.asarray(value, "float32")
        yield case("full", f"full({joined(['v', *shape])})", {"v": one}, lambda: np.full(shape, one))
        yield case("zeros", f"zeros({joined(shape)})", {}, lambda: np.zeros(shape))
        yield case("ones", f"ones({joined(shape)})", {}, lambda: np.ones(shape))
        seed = int(rng.integers(1 << 62))
        yield case("random", f"random({joined([seed, *shape])})", {}, lambda: uniform(seed, shape))
    for bad in ("arange(0, 1, 0)", "linspace(0, 1, -1)", 'linspace(0, 1, 3, "endpoint")', 'linspace(0, 1, "endpoint=false")', "full(1, -1)", "zeros(-1)", "ones(2, -3)", "random(-1, 3)"):
        yield {"op": bad.split("(")[0], "expr": bad, "in": {}, "error": True}


def closeness(rng):
    types = ["float32", "float64", "int32", "uint8", "complex64", "float16", "bool"]
    for i in range(EACH + 10):
        x = array(rng, lengths(rng, most=3, high=6), types[i % 6])
        y = (x + array(rng, x.shape, "float32", special=False).astype("f8") * [0, 1e-9, 1e-5, 1e-3][i % 4])
        y = y.astype("int64" if i % 5 == 0 and x.dtype.kind in "iu" else x.dtype if x.dtype.kind in "fc" else "float64")
        text, args = [("", {}), (", 0.001", {"rtol": 1e-3}), (", 0.001, 0.01", {"rtol": 1e-3, "atol": 1e-2}), (', 0.0, 0.0, "equal_nan"', {"rtol": 0.0, "atol": 0.0, "equal_nan": True})][i % 4]
        yield case("isclose", f"isclose(x, y{text})", {"x": x, "y": y}, lambda: np.isclose(x, y, **args))
        yield case("allclose", f"allclose(x, y{text})", {"x": x, "y": y}, lambda: np.asarray(np.allclose(x, y, **args)))
        z = array(rng, lengths(rng, most=3, high=6), ["float16", "float32", "float64", "int8", "bool"][i % 5])
        text, args = [("", {}), (", 7.5", {"nan": 7.5}), (", -1, 100, -200.5", {"nan": -1, "posinf": 100, "neginf": -200.5})][i % 3]
        yield case("nan_to_num", f"nan_to_num(x{text})", {"x": z}, lambda: np.nan_to_num(z, **args))


def equality(rng):
    for i in range(210):
        x = array(rng, lengths(rng, most=3, high=6), ["float32", "float64", "int32", "complex64", "bool", "float16"][i % 6])
        y = x.copy()
        if i % 3 == 0 and y.size:
            y.flat[int(rng.integers(y.size))] = 1
        if i % 7 == 0:
            y = y[..., 1:]
        nan = i % 2 == 0 and x.dtype.kind in "fc"
        yield case("array_equal", f'array_equal(x, y{", " + chr(34) + "equal_nan" + chr(34) if nan else ""})', {"x": x, "y": y}, lambda: np.asarray(np.array_equal(x, y, equal_nan=nan)))


def divisors(rng):
    for i in range(110):
        op, t = ["gcd", "lcm"][i % 2], [n for n in INTEGERS if n != "bool"][i // 2 % 8]
        shape = lengths(rng)
        wide = np.iinfo(t)

        def draw(shape, t):
            if rng.random() < 0.3:
                return np.asarray(rng.integers(np.iinfo(t).min, np.iinfo(t).max, shape, t, endpoint=True))
            return np.asarray(rng.integers(-12 if t[0] == "i" else 0, 60, shape)).astype(t)

        x = draw(shape, t)
        y = draw(shape[int(rng.integers(0, len(shape) + 1)):], t if i % 3 else "int16" if t != "uint64" else "uint8")
        f = getattr(np, op)
        yield case(op, f"{op}(x, y)", {"x": x, "y": y}, lambda: f(x, y))
        yield case(op, f"{op}(12, x)", {"x": x}, lambda: f(12, x))
    x, z = array(rng, (2, 3), "int32"), np.ones((3,), "uint64")
    for op in ("gcd", "lcm"):
        for bad in (f"{op}(x, 0.5)", f"{op}(x, slice(x, \":, :2\"))", f"{op}(x > 0, x > 0)", f"{op}(x, z)", f"{op}(x, x * 1j)"):
            yield refused(op, bad, {"x": x, "z": z})


def parts_of_division(rng):
    for i in range(60):
        t = shapes.TYPES[1:][i % 11]
        shape = lengths(rng)
        x, y = array(rng, shape, t, special=False), array(rng, shape, t, special=False)
        y = np.where(y == 0, y.dtype.type(3), y)
        for part, want in zip(("quotient", "remainder"), np.divmod(x, y)):
            yield case("divmod", f'divmod(x, y, "{part}")', {"x": x, "y": y}, lambda: want)
        yield case("divmod", 'divmod(x, 7, "remainder")', {"x": x}, lambda: np.divmod(x, 7)[1])
    x = array(rng, (2, 3), "int32")
    for bad in ("divmod(x, 2)", 'divmod(x * 1j, 2, "quotient")', 'divmod(x, slice(x, ":, :2"), "quotient")', 'divmod(x, "quotient")'):
        yield refused("divmod", bad, {"x": x})


def bits(rng):
    for i in range(110):
        t = INTEGERS[i % len(INTEGERS)]
        shape = lengths(rng, high=20 if i % 2 else 9)
        x = array(rng, shape, t)
        x = x * (array(rng, shape, "bool")) if t != "bool" else x
        b = array(rng, shape, "uint8") * np.uint8(7)
        axis = None if i % 4 == 0 else axis_of(rng, len(shape))
        little = i % 3 == 0
        args, order = ("" if axis is None else f", {axis}") + (', "little"' if little else ""), "little" if little else "big"
        yield case("packbits", f"packbits(x{args})", {"x": x}, lambda: np.packbits(x, axis, order))
        count = None if i % 2 or b.size == 0 else int(rng.integers(-8 * (b.size if axis is None else shape[axis]), 100))
        given = "" if count is None else f', "count={count}"'
        yield case("unpackbits", f"unpackbits(b{args}{given})", {"b": b}, lambda: np.unpackbits(b, axis, count, order))
    x, b = np.ones((3, 4)), np.ones((2, 3), "uint8")
    for bad in ("packbits(x)", "packbits(b, 2)", 'packbits(b, "count=3")', 'packbits(b, "middle")', "packbits(b, 0, 1)"):
        yield refused("packbits", bad, {"x": x, "b": b})
    for bad in ("unpackbits(x)", "unpackbits(b, 2)", 'unpackbits(b, 1, "count=-25")', 'unpackbits(b, "count=x")', "unpackbits(b, -3)"):
        yield refused("unpackbits", bad, {"x": x, "b": b})
    yield case("unpackbits", "unpackbits(b)", {"b": np.uint8(5)}, lambda: np.unpackbits(np.uint8(5)))
    yield case("packbits", "packbits(b)", {"b": np.uint8(5)}, lambda: np.packbits(np.uint8(5)))


def drawn(rng, i, shape, t):
    """Numbers of all sizes, around a half and one, and at the ends."""
    if i % 5 == 0 or t[:5] not in ("float", "bfloa"):
        return array(rng, shape, t)
    x = [0.5 + 1e-7 * rng.standard_normal(shape), rng.random(shape) * [1, 0.01, 1.1][i % 3], rng.standard_normal(shape) * [3, 30, 300][i % 3]]
    x += [np.exp(rng.uniform(-700, 700, shape)) * rng.choice([-1, 1, 1], shape)]
    x = np.asarray(x[i % 5 - 1])
    for v in (0.0, -0.0, 1.0, 0.5, np.nan, np.inf, -np.inf):
        x = np.where(rng.random(shape) < 0.03, v, x)
    return np.asarray(x).astype(t)


def special_functions(rng):
    """Functions of SciPy's that are made of others or computed by Go, in float64, with the types of NumPy's functions."""
    real = [t for t in TYPES if not t.startswith("complex")]
    for name in "expit log_expit logit softplus entr erfc gammaln ndtr log_ndtr xlogy xlog1py rel_entr kl_div".split():
        f, two = getattr(special, name), name in ("xlogy", "xlog1py", "rel_entr", "kl_div")
        for i in range(120):
            t = real[i // 2 % len(real)] if i % 2 else "float64"
            shape = () if i % 19 == 0 else lengths(rng, most=3)
            arrays = {"x": drawn(rng, i, shape, t)}
            if two:
                u = t if "bfloat16" in t or i % 3 else "float32"
                near = i % 4 == 0 and t == u == "float64"
                arrays["y"] = np.asarray(arrays["x"] * (1 + 1e-6 * rng.standard_normal(shape))) if near else drawn(rng, i + i // 5 % 2, shape[i // 2 % 3 :], u)
            x, y = arrays["x"].astype("f8"), arrays.get("y", arrays["x"]).astype("f8")
            kind = np.arctan2(arrays["x"], arrays.get("y", arrays["x"])).dtype
            want = np.asarray(f(x, y) if two else f(x))
            if name == "kl_div":  # SciPy's is infinite where x / y leaves the range of numbers
                by = x / np.where(y > 0, y, 1)
                want = np.where((x > 0) & (y > 0) & ((by < 2.3e-308) | np.isinf(by)) & np.isfinite(x) & np.isfinite(y), special.rel_entr(x, y) - x + y, want)
            size = np.abs(want)
            grows = {"erfc": x * x, "ndtr": x * x, "log_ndtr": np.where(x > 0, x * x, 0), "gammaln": 2 + np.where(x < 0, np.abs(x * np.log(np.abs(x) + 1)), 1) / np.where(size > 0, size, 1)}.get(name, 0)
            allowed = 2.0**-52 * (8 + 4 * np.minimum(grows, 1e4)) * size
            if name == "kl_div":
                allowed = allowed + 2.0**-50 * (np.abs(x) + np.abs(y) + np.abs(special.rel_entr(x, y)))
            # SciPy has no numbers below the normal ones.
            kinds = {"float64": (0, 2.3e-308), "float32": (2.0**-23, 3e-45), "float16": (2.0**-10, 1.2e-7), "bfloat16": (2.0**-7, 2e-40)}[kind.name]
            allowed = np.nan_to_num(allowed + kinds[0] * size + kinds[1], nan=0, posinf=0)
            yield {"op": name, "expr": f"{name}(x, y)" if two else f"{name}(x)", "in": arrays, "want": want.astype(kind), "allowed": allowed}
        yield refused(name, f"{name}(z, z)" if two else f"{name}(z)", {"z": array(rng, (3,), "complex64")})


def cases(rng):
    yield from special_functions(rng)
    yield from divisors(rng)
    yield from parts_of_division(rng)
    yield from bits(rng)
    yield from equality(rng)
    yield from closeness(rng)
    for row in ROWS:
        if row["numpy"].startswith("scipy.special.") and row["kernel"]:
            yield from of_scipy(rng, row)
        elif row["family"] == "reduction":
            yield from folds(rng, row["name"])
        elif of_elements(row):
            yield from elements(rng, row)
    yield from views(rng)
    yield from leaves(rng)
