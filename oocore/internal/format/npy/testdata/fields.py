"""Writes structured arrays by NumPy, and their fields: fields.py FOLDER SEED FILES."""
import json
import sys

import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
numbers = ["u1", "i1", "?", "<i2", ">i2", "<u4", ">i4", "<f4", ">f4", ">f8", "<f8", "<c8", ">c16"]
others = ["S7", "U3", "V5", "M8[s]", [("x", "<f4"), ("y", ">i2", (2,))]]
cases = []
for k in range(files):
    fields, wanted = [], []
    for i in range(random.integers(1, 6)):
        kind = random.integers(4)
        name = f"f{i}" + ["", " of", "é"][random.integers(3)]
        if kind == 0:
            fields.append((name, other := others[random.integers(len(others))]))
            if isinstance(other, list):
                wanted += [(f"{name}.x", ()), (f"{name}.y", (2,))]
        else:
            inner = tuple(int(n) for n in random.integers(1, 4, random.integers(1, 3))) if kind == 1 else ()
            fields.append((name, str(random.choice(numbers)), inner))
            wanted.append((name, inner))
    if random.integers(6) == 0:
        fields.append(("wide", "V20000"))
    dtype = np.dtype(fields, align=bool(random.integers(2)))
    axes = random.integers(0, 2 if "wide" in dtype.names else 4)
    shape = tuple(int(n) for n in random.integers(random.integers(8) > 0, [2, 3000, 40, 12][axes], axes))
    x = np.frombuffer(random.integers(0, 2, dtype.itemsize * int(np.prod(shape)), "u1").tobytes(), dtype).reshape(shape)
    fortran = bool(random.integers(4) == 0) and len(shape) > 1
    if fortran:
        x = np.asfortranarray(x)
        fortran = not x.flags.c_contiguous  # else NumPy writes it as in C order
    np.save(f"{out}/{k}.npy", x)
    x.tofile(f"{out}/{k}.bin")  # in C order
    for i, (name, inner) in enumerate(wanted):
        v, offset = np.load(f"{out}/{k}.npy"), 0
        for part in name.split("."):
            kind, at = v.dtype.fields[part]
            v, offset = v[part], offset + at
        np.save(f"{out}/{k}-{i}.npy", np.array(v, order="C"))
        reason = "in Fortran order" if fortran and inner and v.size > 0 else None
        cases.append({"path": f"{k}.npy#{name}", "want": "error: " + reason if reason else f"{k}-{i}.npy"})
        kind = kind.base
        if len(shape) == 1 and kind != "?":
            with open(f"{out}/{k}-{i}.raw", "wb") as f:
                f.write(b"HEAD" + x.tobytes() + b"tail"[: random.integers(5)])
            cases.append({"path": f"{k}-{i}.raw?shape={'x'.join(map(str, v.shape)) or '()'}{',' if v.ndim == 1 else ''}&dtype={kind.str}&offset={4 + offset}&stride={dtype.itemsize}", "want": f"{k}-{i}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
