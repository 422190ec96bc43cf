"""Products that sum along axes, against NumPy."""
import numpy as np

TYPES = ["float32", "float64", "int8", "int32", "int64", "uint8", "complex64", "complex128", "float16"]


def array(rng, shape, dtype):
    d = np.dtype(dtype)
    if d.kind in "iu":
        return rng.integers(0, 9, shape).astype(d)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(d) if d.kind == "c" else a.astype(d)


def exact(f, arrays):
    """The value in wider numbers, in NumPy's dtype, and the error that is allowed."""
    got = f(*arrays)
    if got.dtype.kind in "biu":
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


def cases(rng):
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
