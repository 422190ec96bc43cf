"""Writes NetCDF-4 files whose variables end before their unlimited dimensions do, and what netCDF4 reads: unlimited.py FOLDER SEED FILES."""
import json
import sys

import h5py
import netCDF4
import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    with netCDF4.Dataset(f"{out}/{k}.nc", "w") as f:
        f.createDimension("time", None)
        f.createDimension("y", None if random.integers(2) else 4)
        f.createDimension("x", 3)
        if random.integers(2):
            f.createVariable("time", "f8", ("time",))[:] = np.arange(random.integers(1, 9))
        g = f.createGroup("g") if random.integers(2) else f
        for j in range(4):
            where = (f, g)[random.integers(2)]
            dims = [("time",), ("time", "x"), ("y", "time"), ("time", "y", "x")][random.integers(4)]
            kw = {"chunksizes": tuple(int(n) for n in random.integers(1, 4, len(dims))), "zlib": bool(random.integers(2))} if random.integers(2) else {}
            v = where.createVariable(f"v{j}", ["i2", "f4", "u1"][random.integers(3)], dims, fill_value=7 if random.integers(2) else None, **kw)
            shape = tuple(int(random.integers(1, 9)) if d == "time" else 3 if d == "x" else int(random.integers(1, 5)) for d in dims)
            if random.integers(5):
                v[tuple(slice(n) for n in shape)] = random.integers(0, 100, shape)
    # netCDF4 says how long they are. Where another axis than the first is shorter it moves elements, so these are what h5py reads.
    with netCDF4.Dataset(f"{out}/{k}.nc") as f:
        shapes = {f"{group.path}/{name}".strip("/"): v.shape for group in (f, *f.groups.values()) for name, v in group.variables.items()}
    with h5py.File(f"{out}/{k}.nc") as f:
        for name, shape in shapes.items():
            x = np.full(shape, f[name].fillvalue, f[name].dtype)
            x[tuple(slice(n) for n in f[name].shape)] = f[name][...]
            np.save(f"{out}/{k}-{len(cases)}.npy", x)
            cases.append({"path": f"{k}.nc#{name}", "want": f"{k}-{len(cases)}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
