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


def scale(f, name, data, bare=None):
    f[name] = data
    f[name].make_scale("" if bare is None else "This is a netCDF dimension but not a netCDF variable%10d" % bare)
    return f[name]


with h5py.File("one.nc", "w", libver="latest") as f:  # a variable of two dimensions without variables
    f["v"] = np.arange(6, dtype="f4").reshape(2, 3)
    for axis, name in enumerate(("y", "x")):
        f["v"].dims[axis].attach_scale(scale(f, name, np.zeros(f["v"].shape[axis], ">f4"), f["v"].shape[axis]))
    f["v"].attrs["units"] = "m"
    f.attrs["title"] = "one"

with h5py.File("dims.nc", "w", libver="latest") as f:
    lat, row, time = scale(f, "lat", [75.0, 65.0]), scale(f, "row", [0, 1]), scale(f, "time", np.zeros(3, ">f4"), 3)
    lon = scale(f, "scales/lon", [1.0, 2.0, 3.0])
    f["_nc4_non_coord_time"] = [7, 8]  # the variable time, of lat
    f["_nc4_non_coord_time"].dims[0].attach_scale(lat)
    f["g/v"] = np.arange(12, dtype="i2").reshape(3, 2, 2)
    for axis, of in enumerate((time, lat, None)):
        if of is not None:
            f["g/v"].dims[axis].attach_scale(of)
    f["g/v"].dims[1].attach_scale(row)
    f["g/v"].dims[2].label = "band"
    f["g/w"] = np.arange(6).reshape(2, 3)
    f["g/w"].dims[1].attach_scale(lon)
    scale(f, "station", np.arange(4.0).reshape(2, 2))
    f["station"].attrs["_Netcdf4Dimid"] = 1
    lat.attrs["_Netcdf4Dimid"] = 0
    f["station"].attrs["_Netcdf4Coordinates"] = np.array([1, 0], "i4")
    f["g"].attrs["title"] = "group"

# Groups of many names, which are links to one array with a scale.
for n in (128, 1024):
    with h5py.File(f"many{n}.h5", "w", libver="latest") as f:
        f["x"] = np.arange(3, dtype="i2")
        f["x"].make_scale()
        f["a"] = np.arange(3, dtype="i2")
        f["a"].dims[0].attach_scale(f["x"])
        for i in range(n):
            f[f"a{i}"] = f["a"]

with h5py.File("attributes.h5", "w", libver="latest") as f:  # some that JSON has no form for
    f["v"] = np.arange(3, dtype="i2")
    f["g/w"] = np.arange(2, dtype="f4")
    for at, name in ((f["v"], "of_v"), (f["g"], "of_g"), (f["g/w"], "of_w")):
        at.attrs["units"] = "m"
        at.attrs[name] = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    f.attrs["reference"] = f["v"].ref
    f["v"].attrs["opaque"] = np.void(b"\1\2\3")
    f["g/w"].attrs["range"] = np.array([-np.inf, np.nan])
    f["g/w"].attrs["scale"] = np.float32("nan")
    f["g"].attrs["missing"] = np.float64("nan")
    f["g"].attrs["text"] = "NaN"

with h5py.File("virtual.h5", "w", libver="latest") as f:  # of arrays of its own
    f.create_dataset("d", data=np.arange(24, dtype="i2").reshape(4, 6), chunks=(2, 3), maxshape=(None, 6))
    f["e"] = np.arange(12, dtype=">i4")
    layout = h5py.VirtualLayout((6, 6), "i8")
    layout[[0, 1, 3, 5]] = h5py.VirtualSource(".", "d", (4, 6))
    layout[2, ::2] = h5py.VirtualSource(".", "e", (12,))[1:8:3]
    layout[4] = h5py.VirtualSource("absent.h5", "e", (12,))[:6]
    f.create_virtual_dataset("v", layout, fillvalue=9)
    space, of = h5py.h5s.create_simple((0, 6), (h5py.h5s.UNLIMITED, 6)), h5py.h5s.create_simple((4, 6), (h5py.h5s.UNLIMITED, 6))
    space.select_hyperslab((1, 0), (h5py.h5s.UNLIMITED, 1), (3, 1), (2, 6))
    of.select_hyperslab((1, 0), (h5py.h5s.UNLIMITED, 1), (2, 1), (1, 6))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_virtual(space, b".", b"d", of)
    h5py.h5d.create(f.id, b"w", h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple((0, 6), (h5py.h5s.UNLIMITED, 6)), p)
