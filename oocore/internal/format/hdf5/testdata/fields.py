"""Writes compounds of every layout by h5py, and their fields as h5py reads them: fields.py FOLDER SEED FILES."""
import json
import sys

import h5py
import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
numbers = ["u1", "i1", "?", "<i2", ">i2", "<u4", ">i4", "<f2", "<f4", ">f4", ">f8", "<f8", "<c8", "<c16"]
cases = []


def compound(depth):
    """A type, and the names of its fields of numbers."""
    fields, names = [], []
    for i in range(random.integers(1, 6)):
        name = f"f{i}" + ["", ".of", "é"][random.integers(3)]
        kind = random.integers(6)
        if kind == 0:
            fields.append((name, ["S7", "V5", "S1"][random.integers(3)]))
        elif kind == 1:
            fields.append((name, str(random.choice(numbers)), [(2, 3), (4,)][random.integers(2)]))
            names.append(name)
        elif kind == 2 and depth < 2:
            inner, of = compound(depth + 1)
            fields.append((name, inner))
            names += [name + "." + n for n in of]
        else:
            fields.append((name, str(random.choice(numbers))))
            names.append(name)
    return np.dtype(fields, align=bool(random.integers(2))), names


for k in range(files):
    dtype, names = compound(0)
    shape = tuple(int(n) for n in random.integers(1, 30, random.integers(0, 4)))
    x = np.frombuffer(random.integers(0, 2, dtype.itemsize * int(np.prod(shape)), "u1").tobytes(), dtype).reshape(shape)
    low, high = [("earliest", "v108"), ("latest", "latest"), ("earliest", "earliest")][random.integers(3)]
    with h5py.File(f"{out}/{k}.h5", "w", libver=(low, high) if low != high or low == "latest" else "earliest") as f:
        how = random.integers(4) if shape else 0
        kw = {}
        if how:
            kw = {"chunks": tuple(int(random.integers(1, n + 1)) for n in shape), "shuffle": how == 2, "compression": [None, "gzip", "lzf"][random.integers(3)], "maxshape": (None, *shape[1:])}
        d = f.create_dataset("g/t", shape, dtype, **kw)
        if how == 3:  # half of it is written
            d[: shape[0] // 2] = x[: shape[0] // 2]
        else:
            d[...] = x
    with h5py.File(f"{out}/{k}.h5") as f:
        for i, name in enumerate(names):
            v = f["g/t"][...]
            rest = name
            while v.dtype.names:
                first = max((n for n in v.dtype.names if rest == n or rest.startswith(n + ".")), key=len)
                v, rest = v[first], rest[len(first) + 1 :]
            np.save(f"{out}/{k}-{i}.npy", np.array(v, v.dtype.newbyteorder("="), order="C"))
            cases.append({"path": f"{k}.h5#g/t.{name}", "want": f"{k}-{i}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
