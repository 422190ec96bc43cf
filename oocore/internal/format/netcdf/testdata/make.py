"""Writes NetCDF files of the classic format by netCDF4 and SciPy, and their numbers as they are stored: make.py FOLDER SEED FILES."""
import json
import sys

import netCDF4
import numpy as np
import scipy.io

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
old, new = ["i1", "i2", "i4", "f4", "f8"], ["u1", "u2", "u4", "i8", "u8"]
cases = []


def values(shape, dtype):
    if dtype[0] == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 256, (*shape, np.dtype(dtype).itemsize), "u1").view(dtype)[..., 0]


def attributes(of):
    for i in range(random.integers(0, 4)):
        setattr(of, f"a{i}", ["text", "größe", "", np.float32(1.5), np.arange(random.integers(1, 6)).astype("i2"), "abc" * 50][random.integers(6)])


for k in range(files):
    # numpy's order in a shape: the record dimension first, and records of up to 40 kB, which lie close and apart
    large = random.integers(8) == 0
    lengths = {f"d{i}": int(random.integers(1, 120 if large else 9)) for i in range(4)}
    records = int(random.integers(0, 12))
    wanted = {}
    by = random.integers(4)
    if by == 3:
        f = scipy.io.netcdf_file(f"{out}/{k}.nc", "w", version=int(random.integers(1, 3)))
    else:
        f = netCDF4.Dataset(f"{out}/{k}.nc", "w", format=("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")[by])
    for name, n in {"record": None, **lengths}.items():  # SciPy wants that of records first
        f.createDimension(name, n)
    if by != 3:
        attributes(f)
    for j in range(random.integers(1, 5)):
        dims = tuple(str(d) for d in random.permutation(list(lengths))[: random.integers(by == 3, 4)])  # netCDF4 does not read SciPy's scalars
        if random.integers(2):
            dims = ("record", *dims)
        dtype = str(random.choice(old + new * int(by == 2)))
        shape = tuple(records if d == "record" else lengths[d] for d in dims)
        v = f.createVariable(f"v{j}", dtype, dims)
        if by != 3:
            v.set_auto_maskandscale(False)
            attributes(v)
        x = values(shape, dtype)
        if dims:
            v[:] = x
        else:
            v[...] = x
        wanted[f"v{j}"] = x
    f.close()
    with netCDF4.Dataset(f"{out}/{k}.nc") as f:
        f.set_auto_maskandscale(False)
        for name, x in wanted.items():
            stored = np.asarray(f[name][...])
            assert stored.dtype == x.dtype and stored.tobytes() == x.tobytes(), (k, name)
            np.save(f"{out}/{k}-{name}.npy", x)
            cases.append({"path": f"{k}.nc#{name}", "want": f"{k}-{name}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
