"""Writes CSV files, and what NumPy reads of them: make.py FOLDER SEED FILES."""
import json
import sys

import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    rows, columns = (int(n) for n in random.integers(1, 30, size=2))
    dtype = np.dtype(str(random.choice(["f8", "f4", "i1", "i8", "u2", "u8"])))
    comma = str(random.choice([",", ";", "\t"]))
    if dtype.kind == "f":
        scale = 10.0 ** random.integers(-30, 30, size=(rows, columns))
        values = random.standard_normal((rows, columns)) * scale
        values[random.random((rows, columns)) < 0.05] = random.choice([np.nan, np.inf, -np.inf, -0.0])
        text = [[str(random.choice([repr(float(v)), f"{v:.3e}", f" {v:.6g} "])) for v in row] for row in values]
    else:
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, size=(rows, columns), dtype=dtype, endpoint=True)
        text = [[f"{v}" for v in row] for row in values]
    header = bool(random.integers(2))
    end = str(random.choice(["\n", "\r\n"]))
    with open(f"{out}/{k}.csv", "w", newline="") as f:
        if header:
            f.write(comma.join(f'"column {c}"' for c in range(columns)) + end)
        f.write("".join(comma.join(row) + end for row in text))
    taken = None
    if random.integers(2):
        taken = [int(c) for c in random.permutation(columns)[: random.integers(1, columns + 1)]]
    want = np.loadtxt(f"{out}/{k}.csv", delimiter=comma, skiprows=int(header), dtype=np.float64 if dtype == "f4" else dtype, usecols=taken, ndmin=2)
    np.save(f"{out}/{k}.npy", np.ascontiguousarray(want.astype(dtype)))
    names = None if taken is None else [f"column {c}" if header else str(c) for c in taken]
    cases.append({"file": f"{k}.csv", "want": f"{k}.npy", "dtype": dtype.name, "comma": comma, "header": header, "columns": names})
json.dump(cases, open(out + "/cases.json", "w"))
