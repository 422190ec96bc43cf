"""Writes arrays through the filters of hdf5plugin, and what h5py reads of them: filters.py FOLDER SEED FILES. Without numbers
it writes filters.h5, whose arrays count up."""
import json
import sys

import h5py
import hdf5plugin
import numpy as np

filters = {
    "bitshuffle": lambda r: hdf5plugin.Bitshuffle(nelems=int(r.integers(0, 20)) * 8, cname="none"),
    "bitshuffle-lz4": lambda r: hdf5plugin.Bitshuffle(nelems=int(r.integers(0, 20)) * 8),
    "bitshuffle-zstd": lambda r: hdf5plugin.Bitshuffle(nelems=int(r.integers(0, 20)) * 8, cname="zstd", clevel=int(r.integers(1, 9))),
    "lz4": lambda r: hdf5plugin.LZ4(nbytes=int(r.integers(0, 2) * r.integers(50, 5000))),
    "bzip2": lambda r: hdf5plugin.BZip2(blocksize=int(r.integers(1, 10))),
    "blosc": lambda r: hdf5plugin.Blosc(cname=["lz4", "zstd", "zlib", "blosclz"][r.integers(4)], shuffle=int(r.integers(3))),
    "blosc2": lambda r: hdf5plugin.Blosc2(cname=["blosclz", "lz4", "lz4hc", "zlib", "zstd"][r.integers(5)], clevel=int(r.integers(10)), filters=int(r.integers(5))),
    "zstd": lambda r: hdf5plugin.Zstd(),
}
if len(sys.argv) < 4:
    with h5py.File("filters.h5", "w", libver="latest") as f:
        for name, made in filters.items():
            if name not in ("blosc", "zstd"):
                f.create_dataset(name, data=np.arange(600, dtype=">i2" if name == "lz4" else "<i4").reshape(30, 20), chunks=(13, 20), **made(np.random.default_rng(5)))
    sys.exit()
out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    name = list(filters)[k % len(filters)]
    axes = random.integers(1, 4)
    shape = tuple(int(n) for n in random.integers(1, [1, 5000, 90, 20][axes], axes))
    dtype = np.dtype(str(random.choice(["u1", "<i2", ">i4", "<f4", ">f8", "<c16", "?"])))
    x = random.integers(0, [2, 200][random.integers(2)], shape).astype(dtype) if random.integers(3) else np.frombuffer(random.bytes(int(np.prod(shape)) * 8), "i8").reshape(shape).astype(dtype)
    with h5py.File(f"{out}/{k}.h5", "w") as f:
        f.create_dataset("x", data=x, chunks=tuple(int(random.integers(1, n + 1)) for n in shape), shuffle=bool(random.integers(4) == 0) and name in ("lz4", "bzip2", "zstd"), fletcher32=bool(random.integers(4) == 0), **filters[name](random))
    with h5py.File(f"{out}/{k}.h5") as f:
        np.save(f"{out}/{k}.npy", f["x"][...].astype(dtype.newbyteorder("=")))
    cases.append({"path": f"{k}.h5#x", "want": f"{k}.npy"})
# Integers of some of their bits, through the filter n-bit or others.
for k in range(files // 4):
    base = np.dtype(str(random.choice(["u1", "i1", "<i2", ">u2", "<i4", ">i4", "<u8", ">i8"])))
    bits = int(random.integers(4 * base.itemsize + 1, 8 * base.itemsize + 1))  # HDF5 takes fewer for damage
    kind = h5py.h5t.py_create(base).copy()
    kind.set_precision(bits)
    kind.set_offset(int(random.integers(8 * base.itemsize - bits + 1)))
    shape = tuple(int(n) for n in random.integers(1, 40, 2))
    with h5py.File(f"{out}/bits{k}.h5", "w") as f:
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk(tuple(int(random.integers(1, n + 1)) for n in shape))
        p.set_fill_value(np.array(1, base))
        [lambda: p.set_filter(5), lambda: (p.set_filter(5), p.set_deflate(1)), lambda: p.set_deflate(1), lambda: None][random.integers(4)]()
        d = h5py.Dataset(h5py.h5d.create(f.id, b"x", kind, h5py.h5s.create_simple(shape), p))
        d[: random.integers(1, shape[0] + 1)] = random.integers(-(1 << bits - 1) if base.kind == "i" else 0, 1 << min(bits - (base.kind == "i"), 62), d[: random.integers(1, 2)].shape[1:])
        np.save(f"{out}/bits{k}.npy", d[...].astype(base.newbyteorder("=")))
    cases.append({"path": f"bits{k}.h5#x", "want": f"bits{k}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
