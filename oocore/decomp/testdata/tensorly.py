"""Tensors with a known structure and noise, and the relative errors with which TensorLy decomposes them.

    python tensorly.py OUT [0,8,21]

makes all 56, or those of these numbers.

    python tensorly.py OUT below

makes forty of rank 5 with 5 % of noise, which Tucker of ranks 2 to 4 fits, by iterations and tolerance.
"""
import json, os, sys
import numpy as np

sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
import tensorly as tl
from tensorly.decomposition import non_negative_parafac, parafac, tucker


def low(rng, shape, rank, positive):
    draw = rng.random if positive else rng.standard_normal
    factors = [draw((n, rank)) for n in shape]
    x = factors[0]
    for f in factors[1:]:
        x = x[..., None, :] * f
    return x.sum(-1)


def error(x, y):
    return float(np.linalg.norm(x - y) / np.linalg.norm(x))


def below(out):
    rng, cases = np.random.default_rng(40), []
    for i in range(40):
        shape = [int(n) for n in rng.integers(10, 41, 3)]
        factors = [rng.standard_normal((n, 5)) for n in shape]
        core = rng.standard_normal((5, 5, 5)) if i % 2 else tl.to_numpy(tl.cp_to_tensor((None, [np.eye(5)] * 3)))
        x = np.einsum("pqr,ap,bq,cr->abc", core, *factors)
        noise = rng.standard_normal(shape)
        x += 0.05 * np.linalg.norm(x) / np.linalg.norm(noise) * noise
        np.save(os.path.join(out, f"{i}.npy"), x)
        ranks = [int(n) for n in rng.integers(2, 5, 3)]
        for iterations, tolerance in [(10, 1e-4), (100, 1e-4), (100, 1e-8)]:
            _, errors = tucker(x, ranks, n_iter_max=iterations, tol=tolerance, init="svd", return_errors=True)
            cases.append({"number": i, "shape": shape, "ranks": ranks, "iterations": iterations, "tolerance": tolerance, "fit": 1 - float(errors[-1])})
    with open(os.path.join(out, "cases.json"), "w") as f:
        json.dump(cases, f)


def main(out, wanted):
    rng, cases = np.random.default_rng(5), []
    for i in range(56):
        dims = int(rng.integers(2, 5))
        shape = [int(rng.integers(4, {2: 40, 3: 16, 4: 9}[dims])) for _ in range(dims)]
        rank = int(rng.integers(1, 4))
        positive = i % 4 == 3
        x = low(rng, shape, rank, positive)
        noise = rng.random(shape) if positive else rng.standard_normal(shape)
        x = x + 0.1 * np.std(x) * noise
        ranks = [min(rank + int(rng.integers(0, 2)), n) for n in shape]
        for m in range(dims):
            ranks[m] = min(ranks[m], int(np.prod(ranks)) // ranks[m])
        if i not in wanted:
            continue
        dtype = ["float32", "float64", "float16", "int16"][i % 4 if i % 8 < 4 else 0]
        x = np.round(x * 50).astype(dtype) if dtype == "int16" else x.astype(dtype)
        np.save(os.path.join(out, f"{i}.npy"), x)
        w = x.astype("f8")
        case = {"number": i, "rank": rank, "ranks": ranks, "shape": shape, "positive": positive}
        p = parafac(tl.tensor(w), rank=rank, n_iter_max=300, init="svd", tol=1e-9)
        case["cp"] = error(w, tl.cp_to_tensor(p))
        if positive:
            p = non_negative_parafac(tl.tensor(np.maximum(w, 0)), rank=rank, n_iter_max=500, init="svd", tol=1e-9, random_state=0)
            case["positive_cp"] = error(np.maximum(w, 0), tl.cp_to_tensor(p))
        case["tucker"] = error(w, tl.tucker_to_tensor(tucker(tl.tensor(w), rank=ranks, n_iter_max=100, tol=1e-9)))
        core, us = w, []
        for m in range(dims):
            u = np.linalg.svd(np.moveaxis(w, m, 0).reshape(shape[m], -1), full_matrices=False)[0][:, : ranks[m]]
            core = np.moveaxis(np.tensordot(u.T, np.moveaxis(core, m, 0), 1), 0, m)
            us.append(u)
        case["hosvd"] = float(np.sqrt(max(np.sum(w * w) - np.sum(core * core), 0)) / np.linalg.norm(w))
        cases.append(case)
    with open(os.path.join(out, "cases.json"), "w") as f:
        json.dump(cases, f)


below(sys.argv[1]) if sys.argv[2:] == ["below"] else main(sys.argv[1], [int(i) for i in sys.argv[2].split(",")] if len(sys.argv) > 2 else range(56))
