"""Writes the small files that plain tests read: each array counts up in C order."""
import h5py
import numpy as np

for name, low, high in (("old", "earliest", "v108"), ("new", "v110", "latest")):
    with h5py.File(name + ".h5", "w", libver=(low, high)) as f:
        count = lambda *shape, dtype="f4": np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        f["contiguous"] = count(3, 5, dtype=">f8")
        f.create_dataset("single", data=count(6, 7), chunks=(6, 7), compression="gzip")
        f.create_dataset("fixed", data=count(30, 7), chunks=(4, 3), shuffle=True, compression="gzip", fletcher32=True)
        f.create_dataset("a/extensible", data=count(40, 6, dtype="i2"), chunks=(1, 4), maxshape=(None, 6), compression="lzf")
        f.create_dataset("a/b/tree", data=count(9, 8, dtype=">i4"), chunks=(2, 3), maxshape=(None, None))
        f["soft"] = h5py.SoftLink("/a/extensible")
        f["group"] = f["a"]
        f["a/b/tree"].attrs["units"] = "m"
        for i in range(12):
            f["a/b"].create_group(f"g{i}")
