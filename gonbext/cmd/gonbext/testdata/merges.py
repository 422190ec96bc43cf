"""Makes models of random tensors in a folder, and what merging them gives, in float64: as mergekit
defines it, by the methods of the papers."""
import sys

import numpy as np
from safetensors.numpy import save_file

folder, seed, large = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(seed)
shapes = {"embed.weight": (large, 256), "up.weight": (48, 65), "norm.weight": (64,), "conv.weight": (8, 4, 3)}
base = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
math, code = ({name: w + rng.standard_normal(w.shape, np.float32) / 4 for name, w in base.items()} for _ in range(2))
math["norm.weight"] = base["norm.weight"]
code["norm.weight"] = 1.5 * base["norm.weight"]  # of one direction


def linear(w, a, b):
    return 0.7 * a + 0.3 * b


def arithmetic(w, a, b):
    return w + 0.7 * (a - w) + 0.3 * (b - w)


def slerp(w, a, b, t=0.3):
    cosine = np.sum(a / np.linalg.norm(a) * (b / np.linalg.norm(b)))
    if abs(cosine) > 0.9995:
        return (1 - t) * a + t * b
    angle = np.arccos(cosine)
    return np.sin((1 - t) * angle) / np.sin(angle) * a + np.sin(t * angle) / np.sin(angle) * b


def trim(x, density):
    """The largest magnitudes. Which of several that equal the first one left out are kept, the paper leaves open: none is."""
    magnitude = np.abs(x.astype(np.float32))
    left_out = np.sort(magnitude, axis=None)[x.size - int(density * x.size) - 1]
    return np.where(magnitude > left_out, x, 0)


def ties(w, a, b, density=0.2):
    deltas = np.stack([trim(a - w, density), trim(b - w, density)])
    elected = np.where(deltas.sum(0) >= 0, 1, -1)
    agree = np.sign(deltas) == elected
    count = agree.sum(0)
    return w + (deltas * agree).sum(0) / np.where(count == 0, 1, count)


save_file(base, f"{folder}/base.safetensors")
save_file(math, f"{folder}/math.safetensors")
save_file(code, f"{folder}/code.safetensors")
for i, method in enumerate((linear, arithmetic, slerp, ties)):
    save_file({n: method(*(m[n].astype(np.float64) for m in (base, math, code))).astype(np.float32) for n in base}, f"{folder}/want-{i}.safetensors")
