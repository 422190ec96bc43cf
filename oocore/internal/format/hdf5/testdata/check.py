"""Compares files that were written here with what they should hold: check.py DIR reads cases.json there."""
import json
import sys
import warnings

import h5py
import numpy as np

warnings.simplefilter("ignore")
try:
    import hdf5plugin  # for filters that are not HDF5's own
except ImportError:
    hdf5plugin = None
try:
    import netCDF4
    import xarray
except ImportError:
    netCDF4 = None

folder = sys.argv[1] + "/"
wrong = 0


def check(what, ok):
    global wrong
    if not ok:
        wrong += 1
        print("wrong:", what)


def same(got, want):
    got = got.tolist() if hasattr(got, "tolist") else got
    if isinstance(got, list) and not isinstance(want, list) and len(got) == 1:
        got = got[0]
    return got == want


def bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


cases = json.load(open(folder + "cases.json"))
for case in cases:
    foreign = case["codec"].startswith("blosc")
    with h5py.File(folder + case["file"]) as f:
        for a in case["arrays"]:
            what, want = case["file"] + "#" + a["name"], np.load(folder + a["want"])
            d = f[a["name"]]
            if not foreign or hdf5plugin:
                check(what + " in h5py", bits(d[()] if want.ndim else np.asarray(d[()]), want))
            if d.chunks:
                check(what + " chunks", list(d.chunks) == a["chunks"])
                check(what + " filters", case["codec"] != "gzip:3" or d.compression == "gzip" and d.compression_opts == 3 and d.shuffle == (want.itemsize > 1))
            for name, value in a["attributes"].items():
                check(f"{what} attribute {name}: {d.attrs[name]!r} and not {value!r}", same(d.attrs[name], value))
            if a["fill"]:
                check(what + " fill", d.fillvalue == d.attrs["_FillValue"][0] == int(a["fill"]))
            for axis, dim in enumerate(a["dims"]):
                if not dim and case["file"].endswith(".nc"):
                    dim = f"{a['name'].split('/')[-1]}_dim_{axis}"
                scales = [s.name.split("/")[-1] for s in d.dims[axis].values()] if not d.is_scale else [a["name"].split("/")[-1]]
                check(f"{what} axis {axis}: {scales} and not {dim}", scales == ([dim] if dim else []))
    if not case["file"].endswith(".nc") or netCDF4 is None or foreign:
        continue
    with netCDF4.Dataset(folder + case["file"]) as f:
        f.set_auto_maskandscale(False)
        for a in case["arrays"]:
            what, want = case["file"] + "#" + a["name"], np.load(folder + a["want"])
            v = f[a["name"]]
            check(what + " in netCDF4", bits(np.asarray(v[...]), want.astype("i1") if want.dtype == bool else want))
            check(what + " dimensions in netCDF4", list(v.dimensions) == [d or f"{a['name'].split('/')[-1]}_dim_{i}" for i, d in enumerate(a["dims"])])
            for name, value in a["attributes"].items():
                check(f"{what} attribute {name} in netCDF4", same(getattr(v, name), value))
    tree = xarray.open_datatree(folder + case["file"], engine="netcdf4", mask_and_scale=False, decode_times=False)
    for a in case["arrays"]:
        what, want = case["file"] + "#" + a["name"], np.load(folder + a["want"])
        v = tree["/" + a["name"]]
        check(what + " in xarray", v.shape == want.shape and (v.values == want).all() | (want.dtype.kind == "f"))
        for name, value in a["attributes"].items():
            check(f"{what} attribute {name} in xarray", same(v.attrs[name], value))
    tree.close()
print(len(cases), "files,", wrong, "wrong")
sys.exit(1 if wrong else 0)
