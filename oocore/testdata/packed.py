"""Writes files and packs them by gzip and Zstandard, and what the libraries of their formats read: packed.py FOLDER SEED FILES."""
import gzip
import json
import sys

import nibabel
import netCDF4
import numcodecs
import numpy as np
from astropy.io import fits

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []


def pack(name):
    """Packs a file in one member or several, of which one may be empty."""
    text = open(f"{out}/{name}", "rb").read()
    cuts = sorted(random.integers(0, len(text) + 1, random.integers(0, 3)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    packed = [b"".join(gzip.compress(p, int(random.integers(0, 10))) for p in parts), b"".join(numcodecs.Zstd(int(random.integers(1, 10))).encode(p) for p in parts if p)]
    name += (".gz", ".zst")[kind := random.integers(2)]
    with open(f"{out}/{name}", "wb") as f:
        f.write(packed[kind])
    return name


for k in range(files):
    shape = tuple(int(n) for n in random.integers(1, (40, 40, 60), size=3)[: random.integers(1, 4)])
    x = (random.standard_normal(shape) * 100).astype(random.choice(["u1", "i2", "i4", "f4", "f8"]))
    kind = ("npy", "bin", "nii", "fits", "nc", "classic.nc")[k % 6]
    name, query = f"{k}.{kind}", ""
    if kind == "npy":
        np.save(f"{out}/{name}", np.asfortranarray(x) if random.integers(2) else x)
    elif kind == "bin":
        x.tofile(f"{out}/{name}")
        query = f"?shape={'x'.join(map(str, shape))}{',' if x.ndim == 1 else ''}&dtype={x.dtype.str.lstrip('|')}"
    elif kind == "nii":
        nibabel.save(nibabel.Nifti1Image(x, np.eye(4), dtype=x.dtype), f"{out}/{name}")
        x = np.asfortranarray(np.asanyarray(nibabel.load(f"{out}/{name}").dataobj))
    elif kind == "fits":
        fits.HDUList([fits.PrimaryHDU(np.zeros(3)), fits.ImageHDU(x)]).writeto(f"{out}/{name}")
        query = "#1"
    else:
        x = x.astype("f4")
        with netCDF4.Dataset(f"{out}/{name}", "w", format="NETCDF4" if kind == "nc" else "NETCDF3_CLASSIC") as d:
            dims = [d.createDimension(f"d{i}", None if i == 0 else n).name for i, n in enumerate(shape)]
            d.createVariable("other", "i4", dims[:1])[:] = np.arange(shape[0])
            d.createVariable("x", x.dtype, dims)[:] = x
        query = "#x"
    np.save(f"{out}/{k}-want.npy", x)
    name = pack(name)
    cases.append({"path": name + query, "want": f"{k}-want.npy"})
    text = open(f"{out}/{name}", "rb").read()
    with open(f"{out}/torn{name}", "wb") as f:
        f.write(text[: random.integers(4, len(text) - 1)])
    if len(text) > 100_000 and kind != "bin":
        cases.append({"path": "torn" + name + query, "want": "error: too early"})
json.dump(cases, open(out + "/cases.json", "w"))
