"""Products that sum along axes, against NumPy."""
import ml_dtypes
import numpy as np

TYPES = ["float32", "float64", "int8", "int32", "int64", "uint8", "complex64", "complex128", "float16"]


def array(rng, shape, dtype):
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.random(shape) < 0.5
    if d.kind in "iu":
        return rng.integers(0, 9, shape).astype(d)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(d) if d.kind == "c" else a.astype(d)


def exact(f, arrays):
    """The value in wider numbers, in NumPy's dtype, and the error that is allowed."""
    got = f(*arrays)
    if np.asarray(got).dtype.kind in "biu":
        return got, 0
    wide = [a.astype("c16" if a.dtype.kind == "c" else "f8") for a in arrays]
    want = f(*wide).astype(got.dtype)
    scale = np.max(np.abs(f(*[np.abs(a) for a in wide])), initial=1)
    eps = float(np.finfo(got.real.dtype).eps)
    return want, 16 * eps * float(scale)


def case(op, expr, f, names, arrays):
    want, atol = exact(f, arrays)
    return {"op": op, "expr": expr, "in": dict(zip(names, arrays)), "want": want, "atol": atol}


def lengths(rng, n, most=9):
    return [int(rng.integers(1, most)) for _ in range(n)]


EINSUMS = [
    "ij,jk->ik", "ij,jk", "ij,jk->ki", "ij->ji", "ij->", "ij->i", "ij->j", "ii->i", "ii", "ij,ij->", "ij,ij->ij", "i,j->ij", "i,i->",
    "ijk,kl->ijl", "ijk,jil->kl", "bij,bjk->bik", "bij,bjk->ik", "ijk,ilm,njm,nlk->", "ij,jk,kl->il", "ij,jk,kl,lm->im", "ijk,ijk->k",
    "ijk,jl,km->ilm", "iij->ij", "iji->j", "ij,kl->ijkl", "...ij,...jk->...ik", "...i->...", "i...->...", "ij...,jk...->ik...", "ab,bc,cd->",
    "ijkl,klmn->ijmn", "ijkl,kjmn->ilmn", "a,ab,b->", "a,ab,abc->abc", "ea,fb,abcd,gc,hd->efgh",
]


SMALL = ["int8", "uint8"]
NARROW = [*SMALL, "int16"]


def extremes(rng, shape, dtype):
    """Integers of the whole range, half of them at its ends."""
    i = np.iinfo(dtype)
    a = rng.integers(i.min, i.max, shape, endpoint=True)
    return np.where(rng.random(shape) < 0.5, rng.choice([i.min, 0, 1, i.max], shape), a).astype(dtype)


def widened(rng):
    """Products in a wider type than their operands'."""
    for n in range(60):
        da, db = NARROW[n % 3], NARROW[n // 3 % 3]
        t = "int64" if n % 10 == 9 else "int32"
        m, cols, k = lengths(rng, 3, 40)
        k = 600 * k if n % 7 == 0 else 0 if n == 4 else k
        sa, sb = [(m, k), (2, 1, m, k), (3, m, k), (k,)][n % 4], [(k, cols), (3, k, cols), (k, cols), (k, cols), (k,)][n % 5]
        a, b = extremes(rng, sa, da), extremes(rng, sb, db)
        want = np.matmul(a.astype(t), b.astype(t))
        expr = [f'matmul(a, b, "{t}")', f'matmul(astype(a, "{t}"), astype(b, "{t}"))', f'matmul(astype(a, "{t}"), b)'][n % 3 if t == "int32" else 0]
        yield {"op": "matmul", "expr": expr, "in": {"a": a, "b": b}, "want": want}
    # What wraps: 255² over 40,000 steps, and (-2¹⁵)² over two.
    for dtype, k in [("uint8", 40_000), ("int16", 2), ("int16", 5)]:
        a = np.full((3, k), np.iinfo(dtype).max if dtype == "uint8" else np.iinfo(dtype).min, dtype)
        yield {"op": "matmul", "expr": 'matmul(a, b, "int32")', "in": {"a": a, "b": a.T.copy()}, "want": np.matmul(a.astype("int32"), a.T.astype("int32"))}
    for n in range(24):
        dtype = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)][n % 2]
        m, cols, k = lengths(rng, 3, 60)
        a, b = (rng.standard_normal(s).astype(dtype) for s in [(m, k), (k, cols)])
        wide = [x.astype("f8") for x in (a, b)]
        atol = 16 * float(np.finfo("float32").eps) * float(np.max(np.abs(wide[0]) @ np.abs(wide[1]), initial=1))
        yield {"op": "matmul", "expr": 'matmul(a, b, "float32")', "in": {"a": a, "b": b}, "want": (wide[0] @ wide[1]).astype("float32"), "atol": atol}
    for da, db in [(x, y) for x in SMALL for y in SMALL]:
        a, b = extremes(rng, (5, 6, 70), da), extremes(rng, (70, 5, 9), db)
        want = np.einsum("ijk,kil->jil", a.astype("int32"), b.astype("int32"))
        yield {"op": "einsum", "expr": 'einsum("ijk,kil->jil", astype(a, "int32"), astype(b, "int32"))', "in": {"a": a, "b": b}, "want": want}
        want = np.tensordot(a.astype("int32"), b.astype("int32"), ([0, 2], [1, 0]))
        yield {"op": "tensordot", "expr": 'tensordot(astype(a, "int32"), astype(b, "int32"), 0, 2, 1, 0)', "in": {"a": a, "b": b}, "want": want}
    x, y = extremes(rng, (3, 4), "int8"), extremes(rng, (4, 2), "uint8")
    for t in ["int8", "uint8", "bool", "int12", "uint32"]:
        yield {"op": "matmul", "expr": f'matmul(x, y, "{t}")', "in": {"x": x, "y": y}, "error": True}
    yield {"op": "matmul", "expr": "matmul(x, y, 4)", "in": {"x": x, "y": y}, "error": True}


def stacks(rng):
    """Products of many small matrices, whose stacks broadcast together."""
    for n in range(60):
        dtype = [*TYPES, "bool", "int16"][n % 11]
        m, cols, k = lengths(rng, 3)
        sa, sb = [((70,), (70,)), ((8, 9), (8, 9)), ((90,), ()), ((), (90,)), ((9, 1), (8,)), ((1, 64), (3, 1)), ((2, 40), (2, 40))][n % 7]
        a, b = array(rng, (*sa, m, k), dtype), array(rng, (*sb, k, cols), dtype)
        if n % 5 == 4:  # another type, or a vector
            a, b = (a, array(rng, (*sb, k, cols), "int32")) if n % 2 else (a, array(rng, (k,), dtype))
        yield case("matmul", "matmul(a, b)", np.matmul, "ab", [a, b])
        yield case("matmul", 'slice(matmul(a + a, b), "3:, ..., ::-1")' if sa else "-matmul(a, b) * 2",
                   (lambda x, y: np.matmul(x + x, y)[3:, ..., ::-1]) if sa else (lambda x, y: -np.matmul(x, y) * 2), "ab",
                   [array(rng, (*sa, m, k), "float32"), array(rng, (*sb, k, cols), "float32")])
    for n in range(6):
        a, b = extremes(rng, (80, 3, 5), NARROW[n % 3]), extremes(rng, (80, 5, 4), NARROW[n // 3])
        yield {"op": "matmul", "expr": 'matmul(a, b, "int32")', "in": {"a": a, "b": b}, "want": np.matmul(a.astype("int32"), b.astype("int32"))}


def cases(rng):
    yield from widened(rng)
    yield from stacks(rng)
    for i in range(170):
        text = EINSUMS[i % len(EINSUMS)]
        dtype = TYPES[int(rng.integers(len(TYPES)))]
        left = text.split("->")[0].split(",")
        size = {c: int(rng.integers(1, 7)) for c in "abcdefghijklmn"}
        if rng.random() < 0.03:
            size["j"] = 0
        dots = lengths(rng, int(rng.integers(0, 3)), 4)
        arrays = []
        for part in left:
            before, has, after = part.partition("...")
            shape = [size[c] for c in before] + (dots if has else []) + [size[c] for c in after]
            arrays.append(array(rng, shape, dtype))
        names = "abcdefgh"[: len(arrays)]
        yield case("einsum", f'einsum("{text}", {", ".join(names)})', lambda *x: np.einsum(text, *x), names, arrays)
    # Operands of several types: all is computed in the type that they meet in.
    for i in range(120):
        text = ["ij,j->", "ij,ij->", "ij,jk->ik", "i,i,i->", "ij,jk,kl->il", "ij,ij,j->i", "ij,kl->ik", "i,j,k->", "ij,jk,ki->"][i % 9]
        size = {c: int(rng.integers(1, 40)) for c in "ijkl"}
        arrays = []
        for n, part in enumerate(text.split("->")[0].split(",")):
            dtype = (["int8", "uint16", "float32", "int64"] + TYPES + ["bool", "int16"])[int(rng.integers(15))]
            if i % 9 == 3 and i < 27:
                dtype = [["int8", "int8", "int64"], ["uint16", "int16", "float32"], ["int16", "float32", "uint16"]][i // 9][n]
            shape = [size[c] for c in part]
            arrays.append(extremes(rng, shape, dtype) if np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize < 4 and i % 2 == 0 else array(rng, shape, dtype))
        yield case("einsum", f'einsum("{text}", {", ".join("abc"[:len(arrays)])})', lambda *x: np.einsum(text, *x), "abc"[: len(arrays)], arrays)
    for da, db in [("bool", "bool"), ("bool", "uint64"), ("uint64", "bool"), ("bool", "int8"), ("bool", "float32"), ("bool", "complex64")]:
        arrays = [array(rng, (7,), da), array(rng, (7,), db)]
        yield case("vdot", "vdot(a, b)", np.vdot, "ab", arrays)
    for text, shapes in [("ij,jk->il", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (4, 5)]), ("ijk,jk", [(2, 3), (3, 4)]), ("ij,jk->iik", [(2, 3), (3, 4)]), ("i1->i", [(2, 3)]), ("ij", [(2, 3), (3,)])]:
        names = "ab"[: len(shapes)]
        yield {"op": "einsum", "expr": f'einsum("{text}", {", ".join(names)})', "in": {n: array(rng, s, "float32") for n, s in zip(names, shapes)}, "error": True}
    for _ in range(60):
        da, db = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        n = int(rng.integers(0, min(da, db) + 1))
        pa, pb = rng.permutation(da)[:n], rng.permutation(db)[:n]
        sa, sb = lengths(rng, da, 7), lengths(rng, db, 7)
        for p, q in zip(pa, pb):
            sb[q] = sa[p]
        dtype = TYPES[int(rng.integers(len(TYPES)))]
        a, b = array(rng, sa, dtype), array(rng, sb, dtype)
        axes = (list(map(int, pa)), list(map(int, pb)))
        if n == 0:
            yield case("tensordot", "tensordot(a, b, 0)", lambda x, y: np.tensordot(x, y, 0), "ab", [a, b])
            continue
        args = ", ".join(str(x) for x in axes[0] + axes[1])
        yield case("tensordot", f"tensordot(a, b, {args})", lambda x, y: np.tensordot(x, y, axes), "ab", [a, b])
    # Axes that lie apart, one of them long: sums of products of matrices.
    for n, text in enumerate(["iak,ibk->ab", "aik,kib->ab", "ikaj,bijk->ab", "siak,sibk->sab", "iak,kbi->ba", "kiaj,ibjk->ab", "ijak,ijkb->ab", "aijk,bkij->ab"] * 3):
        size = {c: int(rng.integers(low, high)) for c, low, high in [("a", 15, 50), ("b", 15, 50), ("s", 1, 5), ("i", 1, 5), ("j", 1, 5), ("k", 64, 130)]}
        if n == 9:
            size["i"] = 0
        dtype = TYPES[n % len(TYPES)]
        a, b = (array(rng, [size[c] for c in part], dtype) for part in text.split("->")[0].split(","))
        yield case("einsum", f'einsum("{text}", a, b)', lambda x, y: np.einsum(text, x, y), "ab", [a, b])
        yield case("einsum", f'slice(einsum("{text}", a, b), "..., 1::2, ::-1")', lambda x, y: np.einsum(text, x, y)[..., 1::2, ::-1], "ab", [a, b])
    yield {"op": "tensordot", "expr": "tensordot(a, b, 0, 0)", "in": {"a": array(rng, (2, 3), "float32"), "b": array(rng, (3, 3), "float32")}, "error": True}
    yield {"op": "tensordot", "expr": "tensordot(a, b, 5, 0)", "in": {"a": array(rng, (2, 3), "float32"), "b": array(rng, (2, 3), "float32")}, "error": True}
    for op, f in [("dot", np.dot), ("inner", np.inner), ("vdot", np.vdot), ("outer", np.outer), ("kron", np.kron)]:
        for _ in range(52):
            dtype = TYPES[int(rng.integers(len(TYPES)))]
            most = 4 if op in ("dot", "inner") else 3
            da, db = int(rng.integers(0, most)), int(rng.integers(0, most))
            if op == "kron":
                da, db = max(da, 1), max(db, 1)
            sa, sb = lengths(rng, da), lengths(rng, db)
            if op == "dot" and da and db:
                sb[max(db - 2, 0)] = sa[-1]
            if op == "inner" and da and db:
                sb[-1] = sa[-1]
            if op == "vdot":
                sb = sa[::-1]
            yield case(op, f"{op}(a, b)", lambda x, y: np.asarray(f(x, y)), "ab", [array(rng, sa, dtype), array(rng, sb, dtype)])
