"""Writes sparse matrices as AnnData, 10x Genomics and SciPy do: make.py DIR SEED COUNT."""
import json
import sys

import h5py
import numpy as np
import scipy.sparse as sp

folder, seed, count = sys.argv[1] + "/", int(sys.argv[2]), int(sys.argv[3])
r = np.random.default_rng(seed)
cases = []
for n in range(count):
    rows, columns = (int(v) for v in r.integers(0 if n % 7 == 0 else 1, (70, 40)))
    kind = ["csr", "csc"][r.integers(2)]
    dtype = r.choice(["f4", "f8", "i4", "u1", "i8", "c8", "f2"] if n % 2 else ["f4", "f8", "i4", "c16"])
    dense = (r.random((rows, columns)) < r.random()) * r.integers(-9 if dtype[0] != "u" else 0, 99, (rows, columns)) * (1 + 2j if dtype[0] == "c" else 1)
    if rows > 3 and r.random() < 0.5:
        dense[1:3] = 0
    dense = dense.astype(dtype)
    np.save(f"{folder}{n}.npy", dense)
    m = (sp.csr_matrix if kind == "csr" else sp.csc_matrix)(dense.astype("f4") if dtype == "f2" else dense)
    data, indices, indptr = m.data.astype(dtype), m.indices.astype(r.choice(["i4", "i8", "u4"])), m.indptr.astype(r.choice(["i4", "i8", ">i4"]))
    if len(data) > 1 and r.random() < 0.5:  # places of a row or column are in any order
        for a, b in zip(m.indptr, m.indptr[1:]):
            order = a + r.permutation(b - a)
            data[a:b], indices[a:b] = data[order], indices[order]
    form = r.integers(4)
    if form == 0 and dtype != "f2":
        sp.save_npz(f"{folder}{n}.npz", m, compressed=bool(r.integers(2)))
        cases.append({"path": f"{n}.npz", "want": f"{n}.npy"})
        continue
    with h5py.File(f"{folder}{n}.h5ad", "w", libver=r.choice(["earliest", "latest"])) as f:
        name = ["X", "layers/counts"][r.integers(2)]
        g = f.create_group(name)
        how = {} if r.random() < 0.3 else {"chunks": (int(r.integers(1, 50)),), "compression": [None, "gzip", "lzf"][r.integers(3)], "maxshape": (None,)}
        for key, v in (("data", data), ("indices", indices), ("indptr", indptr)):
            g.create_dataset(key, data=v, **how)
        if form == 1 and kind == "csc":
            g["shape"] = np.array(m.shape, "i4")
        elif form == 2:
            g.attrs["h5sparse_format"], g.attrs["h5sparse_shape"] = kind, m.shape
        else:
            g.attrs["encoding-type"], g.attrs["encoding-version"], g.attrs["shape"] = kind + "_matrix", "0.1.0", np.array(m.shape)
        if r.random() < 0.5:
            f["other"] = [1, 2]
        only = "other" not in f and r.random() < 0.5
    cases.append({"path": f"{n}.h5ad" + ("" if only else "#" + name), "want": f"{n}.npy"})
sp.save_npz(folder + "coo.npz", sp.coo_matrix(np.eye(3)))
cases.append({"path": "coo.npz", "want": "error: save it as csr"})
json.dump(cases, open(folder + "cases.json", "w"))
