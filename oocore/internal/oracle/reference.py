"""Makes cases for the oracle tests: expressions over random arrays, with what
NumPy says of them.

    python reference.py OUT --seed 1 --cases 400 [--large]

OUT is a folder, or a .zip file. It gets cases.json, and for each input and each
expected result a file of its elements. Reductions of floats are computed in
wider floats and rounded to NumPy's dtype; each result comes with the absolute
error that is allowed, element by element, unless it must be equal.
"""
import argparse, json, math, os, shutil, tempfile, zipfile
import ml_dtypes
import numpy as np

np.seterr(all="ignore")
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
EVERY = ["bool"] + INTS + FLOATS + COMPLEX


def dt(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def is_float(d):
    return d.kind == "f" or d == dt("bfloat16")


# The functions of an expression that NumPy spells in another way.
def over(reduce):
    def f(a, *args):
        axes = tuple(int(x) for x in args if not isinstance(x, str))
        more = {"keepdims": True} if "keepdims" in args else {}
        if "ddof=1" in args:
            more["ddof"] = 1
        return reduce(a, axis=(axes if reduce not in (np.argmin, np.argmax) else axes[0]) if axes else None, **more)

    return f


NAMES = {n: f for n, f in vars(np).items() if isinstance(f, np.ufunc)} | {n: getattr(np, n) for n in "real imag where clip".split()}
NAMES |= {n: over(getattr(np, n)) for n in "sum prod mean var std min max argmin argmax any all count_nonzero".split()}
NAMES |= {
    "astype": lambda a, name: np.asarray(a).astype(dt(name)),
    "transpose": lambda a, *axes: np.transpose(a, axes or None),
    "reshape": lambda a, *shape: np.reshape(a, shape),
    "slice": lambda a, spec: eval(f"a[{spec}]", {"a": a}),
}


class Maker:
    def __init__(self, seed, large):
        self.rng, self.large = np.random.default_rng(seed), large

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p):
        return self.rng.random() < p

    def shape(self, dims=None):
        dims = self.pick([0, 1, 1, 2, 2, 2, 3, 4]) if dims is None else dims
        if self.large:
            total = self.pick([1 << 19, 1 << 20])
            lengths = [int(self.rng.integers(2, 40)) for _ in range(dims)]
            if dims:
                lengths[int(self.rng.integers(dims))] = 1
                at = lengths.index(1)
                lengths[at] = max(total // math.prod(lengths), 1) + int(self.rng.integers(7))
            return tuple(lengths)
        top = {0: 1, 1: 300, 2: 24, 3: 9, 4: 5}[dims]
        return tuple(0 if self.chance(0.02) else int(self.rng.integers(1, top + 1)) for _ in range(dims))

    def array(self, name, shape, special=True):
        d, rng = dt(name), self.rng
        if name == "bool":
            a = rng.random(shape) < 0.5
        elif name in INTS:
            info = np.iinfo(d)
            a = rng.integers(max(info.min, -100), min(info.max, 100), shape, endpoint=True).astype(d)
            if special and a.size and self.chance(0.3):
                a = np.where(rng.random(shape) < 0.1, d.type(info.max), a)
                a = np.where(rng.random(shape) < 0.1, d.type(info.min), a)
        else:
            a = rng.standard_normal(shape) * self.pick([1, 1, 3, 30])
            if name in COMPLEX:
                a = a + 1j * rng.standard_normal(shape)
            a = np.asarray(a).astype(d)
            if special and a.size and self.chance(0.3) and name not in COMPLEX:
                for v in (np.nan, np.inf, -np.inf, -0.0, 0.0):
                    a = np.where(rng.random(shape) < 0.04, d.type(v), a)
        return np.asarray(a).astype(d).reshape(shape)

    def against(self, shape):
        """A shape that broadcasts with this one."""
        s = list(shape)
        for i in range(len(s)):
            if self.chance(0.25):
                s[i] = 1
        return tuple(s[int(self.rng.integers(len(s) + 1)):] if s and self.chance(0.2) else s)

    def spec(self, shape):
        parts = []
        for n in shape[: int(self.rng.integers(1, len(shape) + 1))]:
            kind = self.rng.random()
            if kind < 0.2 and n:
                parts.append(str(int(self.rng.integers(-n, n))))
            elif kind < 0.4:
                parts.append(f"::{self.pick([-1, -2, 2, 3])}")
            else:
                lo, hi = sorted(int(x) for x in self.rng.integers(0, n + 2, 2))
                parts.append(f"{self.pick([lo, '']) }:{self.pick([hi, -1 if n > 1 else hi])}{self.pick(['', ':2'])}")
        return ", ".join(parts)

    def inputs(self, names, shapes, types, special=True):
        return {n: self.array(t, s, special) for n, s, t in zip(names, shapes, types)}

    # Families of cases: each gives an expression, its arrays and how exact the
    # result must be: "equal", a number of units in the last place, or "fold".
    def exact(self):
        """A tree of operations that IEEE 754 or integer arithmetic fixes to the bit."""
        kind = self.pick(["float", "float", "int", "mixed"])
        types = {"float": FLOATS, "int": INTS, "mixed": INTS + ["float32", "float64", "bool"]}[kind]
        s = self.shape()
        shapes = [s, self.against(s), s]
        arrays = self.inputs("xyz", shapes, [self.pick(types) for _ in "xyz"])
        # ml_dtypes does not take Python's floats as weak, as NumPy does.
        half = "0.5" if all(a.dtype != dt("bfloat16") for a in arrays.values()) else "2"

        def tree(depth):
            if depth == 0 or self.chance(0.15):
                return self.pick("xyz")
            a, b = tree(depth - 1), tree(depth - 1)
            forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"maximum({a}, {b})", f"minimum({a}, {b})",
                     f"where({a} > {b}, {a}, {b})", f"where({a} == {b}, {b}, 1)", f"({a} + 2)", f"(3 * {b})", f"abs({a})", f"square({a})"]
            if kind == "float":
                forms += [f"({a} / {b})", f"sqrt({a})", f"({a} * {a})", f"(-{a})", f"floor({a})", f"ceil({b})", f"trunc({a})", f"rint({b})",
                          f"sign({a})", f"({half} * {a})", f"fmin({a}, {b})", f"fmax({a}, {b})", f"copysign({a}, {b})"]
            return self.pick(forms)

        e = tree(self.pick([1, 2, 2, 3]))
        return e if e not in "xyz" else f"{e} + {e}", arrays, "equal"

    def integers(self):
        s = self.shape()
        arrays = self.inputs("xy", [s, self.against(s)], [self.pick(INTS + ["bool"])] * 2)
        return self.pick(["x & y", "x | y", "x ^ y", "invert(x)", "floor_divide(x, y)", "remainder(x, y)", "x % y", "x / y", "x << 1", "x >> 2",
                          "bitwise_and(x, y)", "left_shift(x, 3)", "power(x, 2)", "sign(x)", "negative(x)"]), arrays, "equal"

    def comparison(self):
        s = self.shape()
        t = self.pick(EVERY)
        arrays = self.inputs("xy", [s, self.against(s)], [t, self.pick([t, self.pick(INTS + FLOATS)])])
        e = self.pick(["x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "isnan(x)", "isinf(x)", "isfinite(x)", "logical_not(x)",
                       "logical_and(x, y)", "logical_or(x, y)", "logical_xor(x, y)"])
        return e, arrays, "equal"

    def transcendental(self):
        f = self.pick("exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt "
                      "arctan2 hypot power".split())
        arrays = self.inputs("xy", [s := self.shape(), self.against(s)], [self.pick(FLOATS + FLOATS + ["int16", "int64", "bool"])] * 2)
        if f in ("cbrt", "arctan2", "hypot", "power") and not is_float(arrays["x"].dtype):
            arrays = {n: a.astype("float64") for n, a in arrays.items()}
        e = f"{f}(x, y)" if f in ("arctan2", "hypot", "power") else f"{f}(x)"
        # Of sin and the like, the reduction of large angles is held to the last place too.
        return e, arrays, 4

    def complex(self):
        arrays = self.inputs("xy", [s := self.shape(), self.against(s)], [self.pick(COMPLEX)] * 2)
        e = self.pick(["x + y", "x - y", "x * y", "x / y", "conjugate(x)", "real(x)", "imag(x)", "abs(x)", "exp(x)", "sqrt(x)", "x * 2", "x == y",
                       "square(x)", "reciprocal(x)"])
        return e, arrays, 16

    def fold(self):
        r = self.pick("sum prod mean var std min max argmin argmax any all count_nonzero".split())
        s = self.shape()
        t = self.pick(EVERY if r not in ("min", "max", "argmin", "argmax") else [t for t in EVERY if t not in COMPLEX])
        x = self.array(t, s)
        if r == "prod" and t not in INTS + ["bool"]:
            x = (1 + 0.01 * self.array("float64", s, False)).astype(dt(t))
        axes = sorted(self.rng.choice(len(s), int(self.rng.integers(0, len(s) + 1)), replace=False).tolist()) if s else []
        if r in ("argmin", "argmax"):
            axes = axes[:1]
        axes = [a - len(s) if self.chance(0.2) else a for a in axes]
        return f"{r}({', '.join(['x'] + [str(a) for a in axes])})", {"x": x}, "fold"

    def structure(self):
        x = self.array(self.pick(EVERY), s := self.shape(self.pick([1, 2, 3, 4])))
        forms = [f'slice(x, "{self.spec(s)}")', "transpose(x)"]
        perm = [int(p) for p in self.rng.permutation(len(s))]
        forms.append(f"transpose(x, {', '.join(map(str, perm))})")
        if math.prod(s):
            forms.append(f"reshape(x, {math.prod(s)})")
            forms.append(f"reshape(x, {math.prod(s[1:])}, {s[0]})")
        e = self.pick(forms)
        if self.chance(0.3):
            moved = eval(e, {"x": x, **NAMES})
            if moved.ndim:
                e = f'slice({e}, "{self.spec(moved.shape)}")'
        if self.chance(0.3) and x.dtype != bool:
            e = f"{e} * 2"
        return e, {"x": x}, "equal"

    def cast(self):
        a, b = self.pick(EVERY), self.pick(EVERY)
        if a in COMPLEX and b not in COMPLEX:
            b = self.pick(COMPLEX)
        x = self.array(a, self.shape(), special=b in FLOATS + COMPLEX and a in FLOATS)
        if a in FLOATS and b in INTS:
            x = (np.abs(x.astype("f8")) % 100).astype(dt(a))
        return f'astype(x, "{b}")', {"x": x}, "equal"

    def matmul(self):
        m, k, n = (int(v) for v in self.rng.integers(1, 200 if self.large else 12, 3))
        batch = self.pick([(), (), (3,)])
        t = self.pick(FLOATS + ["int32", "int64", "complex64", "complex128", "uint8"])
        arrays = {"x": self.array(t, batch + (m, k), False), "y": self.array(t, self.pick([(), batch]) + (k, n), False)}
        return "matmul(x, y)", arrays, "fold"

    def refused(self):
        """What NumPy refuses must be refused."""
        x, y = self.array("float32", (5, 3)), self.array("float32", (4, 3))
        i = self.array("int32", (5, 3))
        e = self.pick(["x + y", "matmul(x, y)", "x & x", "mean(x, 2)", "sum(x, -3)", 'slice(x, "7, 0")', 'slice(x, "0, 0, 0")', "transpose(x, 0, 0)",
                       "reshape(x, 4, 4)", "x << 1", "where(x > 0, x, y)", "invert(x)", "i + (y > 0)", "argmax(y, 5)"])
        return e, {n: a for n, a in (("x", x), ("y", y), ("i", i)) if n in e}, "equal"

    def case(self):
        family = self.pick(["exact"] * 5 + ["fold"] * 5 + ["structure"] * 3 + ["transcendental"] * 3 + ["integers", "comparison"] * 2 + ["complex", "cast", "cast", "matmul"]
                           + ([] if self.large else ["refused"]))
        return family, *getattr(self, family)()


def wide(a):
    """The narrowest type in which sums of a's elements are as good as exact."""
    if a.dtype.kind == "c":
        return a.astype("clongdouble")
    return a.astype("longdouble")


def answer(expression, arrays, exactness):
    """NumPy's result, and the absolute error that is allowed (None: equal)."""
    want = np.asarray(eval(expression, {**arrays, **NAMES}))
    if expression.startswith("matmul"):  # ml_dtypes gives that of bfloat16 as float32
        want = want.astype(np.result_type(*arrays.values()))
    floating = is_float(want.dtype) or want.dtype.kind == "c"
    if exactness == "equal" or not floating:
        return want, None
    real = np.empty(0, want.dtype).real.dtype if want.dtype.kind == "c" else want.dtype
    eps = float(ml_dtypes.finfo(real).eps)
    if exactness == "fold":
        exact = np.asarray(eval(expression, {**{n: wide(a) for n, a in arrays.items()}, **NAMES}))
        count = max((max(a.size for a in arrays.values()) // max(want.size, 1)), 1)
        if expression.startswith("matmul"):
            scale = eval(expression, {n: np.abs(wide(a)) for n, a in arrays.items()} | NAMES)
            error = eps * (8 + arrays["x"].shape[-1] ** 0.5) * scale
        elif expression.startswith(("var", "std")):
            spread = np.abs(exact) + np.abs(NAMES["mean"](np.abs(wide(arrays["x"]))))
            error = eps * (16 + 2 * math.log2(count)) * (np.abs(exact) + eps * spread**2)
            if expression.startswith("std"):
                error = error + eps * np.abs(exact)
        elif expression.startswith("prod"):
            error = eps * (8 + 2 * count) * np.abs(exact)
        elif expression.startswith(("min", "max")):
            return want, None
        else:
            scale = eval(expression, {"x": np.abs(wide(arrays["x"])), **NAMES})
            error = eps * (4 + math.log2(count)) * scale
        want = exact.astype(want.dtype)
        return want, np.nan_to_num(np.asarray(error, "f8"), nan=0, posinf=0) + float(ml_dtypes.finfo(real).smallest_subnormal) * 2
    size = np.abs(want.astype("c16") if want.dtype.kind == "c" else want.astype("f8"))
    ulp = np.maximum(size, float(ml_dtypes.finfo(real).smallest_normal)) * eps
    return want, np.nan_to_num(np.asarray(exactness * ulp, "f8"), nan=0, posinf=0)


def store(a, out, stem, maker, straight):
    """Writes an input in one of the ways that it may lie on disk, straight or not, and returns the path to open."""
    if a.dtype == dt("bfloat16") or maker.chance(0.2):
        with open(os.path.join(out, stem + ".bin"), "wb") as f:
            f.write(np.ascontiguousarray(a).tobytes())
        return f"{stem}.bin?shape={'x'.join(map(str, a.shape)) or '()'}&dtype={a.dtype}"
    if a.ndim and not straight and maker.chance(0.3):
        a = np.asfortranarray(a)
    if a.dtype.itemsize > 1 and maker.chance(0.2):
        a = a.astype(a.dtype.newbyteorder(">"))
    np.save(os.path.join(out, stem + ".npy"), a)
    return stem + ".npy"


def make(out, seed, cases, large):
    maker, listed = Maker(seed, large), []
    while len(listed) < cases:
        i = len(listed)
        family, expression, arrays, exactness = maker.case()
        arrays = {n: a for n, a in arrays.items() if n in expression.replace("max", "").replace("exp", "").replace("axis", "")}
        case = {"family": family, "expression": expression, "inputs": {}}
        try:
            want, error = answer(expression, arrays, exactness)
        except (TypeError, ValueError, IndexError) as e:  # np.exceptions.AxisError is both
            if isinstance(e, TypeError) and family != "refused":
                continue  # the types that met have no common one in NumPy, as float16 and bfloat16
            case["rejected"] = str(e)
            want = error = None
        for n, a in arrays.items():
            case["inputs"][n] = store(a, out, f"{i}{n}", maker, "reshape" in expression)
        if want is not None:
            case["dtype"], case["shape"] = str(want.dtype), list(want.shape)
            case["chunks"] = [int(maker.rng.integers(1, max(n, 1) + 1)) if maker.chance(0.7) else max(n, 1) for n in want.shape]
            if large:  # many chunks, not millions
                case["chunks"] = [max(c, n // 20, 1) for c, n in zip(case["chunks"], want.shape)]
            with open(os.path.join(out, f"{i}.want"), "wb") as f:
                f.write(np.ascontiguousarray(want).tobytes())
            if error is not None:
                with open(os.path.join(out, f"{i}.error"), "wb") as f:
                    f.write(np.broadcast_to(error, want.shape).astype("<f8").tobytes())
        listed.append(case)
    with open(os.path.join(out, "cases.json"), "w") as f:
        json.dump(listed, f, indent=1)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cases", type=int, default=400)
    p.add_argument("--large", action="store_true")
    o = p.parse_args()
    if not o.out.endswith(".zip"):
        os.makedirs(o.out, exist_ok=True)
        make(o.out, o.seed, o.cases, o.large)
    else:
        with tempfile.TemporaryDirectory() as d:
            make(d, o.seed, o.cases, o.large)
            with zipfile.ZipFile(o.out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
                for name in sorted(os.listdir(d)):
                    z.writestr(zipfile.ZipInfo(name), open(os.path.join(d, name), "rb").read(), zipfile.ZIP_DEFLATED)
