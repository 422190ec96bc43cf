"""Makes NetCDF-4 and HDF5 files, and holds their copies in Zarr to what xarray reads of the files.

    python netcdf_check.py make FOLDER
    python netcdf_check.py check FOLDER

Each file x.nc has its copy in x.zarr.
"""
import pathlib
import sys
import warnings

import h5py
import netCDF4
import numpy as np
import xarray as xr

try:
    import h5netcdf
except ImportError:
    h5netcdf = None

warnings.simplefilter("ignore")
count = lambda *shape, dtype="f4": np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def dataset():
    """Variables of xarray's own, with what it stores besides numbers."""
    d = xr.Dataset(
        {
            "air": (("time", "lat", "lon"), count(3, 4, 5), {"units": "K", "long_name": "größe <1>", "valid_range": np.array([0, 1e4], "f4")}),
            "packed": (("time", "lat"), count(3, 4, dtype="f8") / 2, {"units": "mm"}),
            "holes": (("lat", "lon"), np.where(count(4, 5) % 3 == 0, np.nan, count(4, 5))),
            "wind": (("lat", "lon"), count(4, 5), {"missing_value": np.float32(7), "grid_mapping": "crs"}),
            "flags": ("lat", np.array([1, 0, 1, 1], bool)),
            "lag": ("lon", np.arange(5).astype("m8[h]").astype("m8[ns]")),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude", "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563, "towgs84": [0.0, 1.5, -2.0]}),
            "scalar": ((), 2.5),
        },
        coords={
            "time": ("time", np.arange("2001-01-30", "2001-02-02", dtype="M8[D]").astype("M8[ns]"), {"bounds": "time_bnds", "axis": "T"}),
            "lat": ("lat", np.linspace(75, 55, 4), {"units": "degrees_north"}),
            "lon": ("lon", np.linspace(200, 215, 5, dtype="f4"), {"units": "degrees_east"}),
            "area": (("lat", "lon"), count(4, 5, dtype="f8")),
            "level": ((), 850, {"units": "hPa"}),
        },
        attrs={"title": "made", "Conventions": "CF-1.8", "version": 3, "ratio": 0.25, "list": np.array([1, 2, 3]), "nothing": ""},
    )
    d["time_bnds"] = (("time", "nv"), np.stack([d.time.values, d.time.values + np.timedelta64(1, "D")], 1))
    d.packed.encoding = {"dtype": "int16", "_FillValue": -32768, "scale_factor": 0.5, "add_offset": 1.0, "zlib": True, "shuffle": True}
    d.time.encoding = {"units": "hours since 1900-01-01", "calendar": "standard", "dtype": "int32"}
    return d


def xarray_plain(path):
    dataset().to_netcdf(path, unlimited_dims=["time"])


def xarray_calendar(path):
    d = xr.Dataset({"v": ("time", count(4))}, coords={"time": xr.date_range("2001-02-27", periods=4, calendar="noleap", use_cftime=True)})
    d.to_netcdf(path)


def classic(path, **to):
    """Without what the classic format does not have, integers of 64 bits, and the scalars of SciPy, which netCDF4 does not read."""
    d = dataset()
    for name in ("crs", "level"):
        d[name] = d[name].astype("i4")
    if "engine" in to:
        d = d.drop_vars(["crs", "level", "scalar"])
    d.attrs.update(version=np.int32(3), list=np.array([1, 2, 3], "i4"))
    for name in ("lag", "packed"):
        d[name].encoding = {"dtype": "int32", "_FillValue": np.int32(-9)}
    d.to_netcdf(path, unlimited_dims=["time"], **to)


def netcdf_classic(path):
    classic(path, format="NETCDF3_CLASSIC")


def netcdf_classic_offsets(path):
    classic(path, format="NETCDF3_64BIT")


def netcdf_classic_by_scipy(path):
    classic(path, engine="scipy")


def netcdf_classic_long(path):
    """CDF-5, with a dimension without a variable and packed numbers."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
        for name, n in (("time", None), ("x", 4), ("bare", 2)):
            f.createDimension(name, n)
        v = f.createVariable("v", "i2", ("time", "bare", "x"), fill_value=-1)
        v.set_auto_maskandscale(False)
        v.scale_factor, v.add_offset, v.missing_value, v.units = 0.1, 5.0, np.int16(-2), "m"
        v[:] = count(3, 2, 4, dtype="i2") - 2
        f.createVariable("long", "i8", ("x",), fill_value=-2**63)[:] = [-2**63, 2**62 + 1, 3, 4]
        f.createVariable("byte", "u1", ("time",), fill_value=255)[:] = [255, 1, 2]
        t = f.createVariable("time", "f8", ("time",))
        t.units, t[:] = "days since 2001-01-01", [0, 1.5, 3]
        f.title, f.list = "classic", np.array([1, 2], "u8")


def xarray_one_variable(path):
    xr.Dataset({"v": (("y", "x"), count(3, 4), {"units": "m"})}, attrs={"title": "one"}).to_netcdf(path)


def xarray_chunked(path):
    d = dataset()
    for name in ("air", "wind"):
        d[name].encoding = {"chunksizes": (1, 2, 3)[-d[name].ndim:], "zlib": True, "fletcher32": True, "_FillValue": np.float32(-1)}
    d.to_netcdf(path)


def xarray_curvilinear(path):
    d = xr.Dataset({"t": (("time", "j", "i"), count(2, 3, 4))}, coords={"lat": (("j", "i"), count(3, 4)), "lon": (("j", "i"), count(3, 4) + 1), "time": [1, 2]})
    d.to_netcdf(path)


def xarray_many_attributes(path):
    xr.Dataset({"v": ("x", count(3), {f"a{i:03}": "x" * i for i in range(120)})}, attrs={f"g{i}": i for i in range(40)}).to_netcdf(path)


def xarray_tree(path):
    tree = xr.DataTree.from_dict({
        "/": xr.Dataset({"v": (("x", "y"), count(3, 2))}, coords={"x": [10, 20, 30]}, attrs={"title": "root"}),
        "/a": xr.Dataset({"w": (("x", "z"), count(3, 4), {"units": "m"})}, coords={"z": np.arange(4) / 2}, attrs={"title": "a", "n": 1}),
        "/a/b": xr.Dataset({"u": ("q", count(6))}, attrs={"title": "b"}),
        "/empty": xr.Dataset(attrs={"title": "nothing in it"}),
    })
    tree.to_netcdf(path)


def netcdf_dimensions(path):
    """Dimensions without variables, some unlimited, and a variable of another dimension's name."""
    with netCDF4.Dataset(path, "w") as f:
        for name, n in (("time", None), ("x", 4), ("y", 3), ("unused", 7), ("station", 2)):
            f.createDimension(name, n)
        f.createVariable("t", "f4", ("time", "y", "x"))[:] = count(2, 3, 4)
        f.createVariable("x", "f8", ("y",))[:] = [1, 2, 3]  # stored as _nc4_non_coord_x
        f.createVariable("y", "i4", ("y",))[:] = [7, 8, 9]
        f.createVariable("station", "f4", ("station", "y"))[:] = count(2, 3)  # a coordinate of two axes
        f.createVariable("of", "f4", ("station", "x"))[:] = count(2, 4)
        f.createVariable("square", "f8", ("x", "x"))[:] = count(4, 4)


def netcdf_packed(path):
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("x", 4)
        v = f.createVariable("v", "i2", ("x",), fill_value=-1)
        v.set_auto_maskandscale(False)
        v.scale_factor, v.add_offset, v.missing_value = 0.1, 5.0, np.int16(-2)
        v[:] = [-1, -2, 3, 4]
        u = f.createVariable("u", "i1", ("x",))
        u.setncattr("_Unsigned", "true")
        u.set_auto_maskandscale(False)
        u[:] = [-1, -2, 3, 4]
        w = f.createVariable("w", "f4", ("x",), fill_value=np.float32(1e20))
        w.missing_value = np.float32("nan")
        w[:] = [1e20, np.nan, 3, 4]
        f.createVariable("long", "i8", ("x",), fill_value=-2**63)[:] = [-2**63, 2**62 + 1, 3, 4]
        f.createVariable("byte", "u1", ("x",), fill_value=255)[:] = [255, 1, 2, 3]


def netcdf_groups(path):
    """Variables whose dimensions are those of the group above, and of their own."""
    with netCDF4.Dataset(path, "w") as f:
        f.title = "root"
        f.createDimension("time", 3)
        f.createVariable("time", "f8", ("time",))[:] = [1, 2, 3]
        g = f.createGroup("model")
        g.title = "group"
        g.createDimension("lat", 2)
        g.createVariable("lat", "f4", ("lat",))[:] = [10, 20]
        v = g.createVariable("t", "f4", ("time", "lat"))
        v[:] = count(3, 2)
        v.coordinates = "height"
        g.createVariable("height", "f4", ("lat",))[:] = [5, 6]
        h = g.createGroup("inner")
        h.createDimension("time", 5)  # hides that of the root
        h.createVariable("time", "i4", ("time",))[:] = range(5)
        h.createVariable("s", "i2", ("time", "lat"))[:] = count(5, 2)


def netcdf_order(path):
    """Names in an order of their own, and attributes of each type."""
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("z", 2)
        v = f.createVariable("b", ">f8", ("z",))
        v[:] = [1, 2]
        f.createVariable("a", "u8", ("z",))[:] = [2**64 - 1, 3]
        for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            v.setncattr("one_" + t, np.array(3, t))
            v.setncattr("many_" + t, np.array([3, 4], t))
        v.setncattr_string("text", "wörter")
        v.setncattr_string("texts", ["a", "bc", ""])
        v.CLASS_of = "kept"


def h5netcdf_plain(path):
    with h5netcdf.File(path, "w") as f:
        f.dimensions = {"x": 3, "y": 4, "bare": 2}
        f.create_variable("x", ("x",), data=np.arange(3.0))
        v = f.create_variable("v", ("x", "y"), data=count(3, 4), chunks=(2, 3), compression="gzip")
        v.attrs["units"] = "m"
        v.attrs["coordinates"] = "aux"
        f.create_variable("aux", ("y",), data=count(4))
        f.create_variable("alone", ("bare",), data=count(2))
        f.attrs["title"] = "h5netcdf"


def h5py_scales(path):
    """Scales with a name of their own, several on an axis, in other groups, and a label."""
    with h5py.File(path, "w") as f:
        f["lat"] = [1.0, 2.0, 3.0]
        f["lat"].make_scale("latitude in degrees")
        f["scales/lon"] = [10.0, 20.0]
        f["scales/lon"].make_scale()
        f["row"] = np.arange(3)
        f["row"].make_scale("row")
        f["v"] = count(3, 2)
        f["v"].dims[0].attach_scale(f["lat"])
        f["v"].dims[0].attach_scale(f["row"])
        f["v"].dims[1].attach_scale(f["scales/lon"])
        f["v"].attrs["units"] = "m"
        f.attrs["title"] = "scales"


MAKERS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == "__main__" and f.__name__.startswith(("xarray_", "netcdf_", "h5netcdf_", "h5py_"))]
if h5netcdf is None:
    MAKERS.remove(h5netcdf_plain)


def make(folder):
    for f in MAKERS:
        f(folder / (f.__name__ + ".nc"))


def identical(found, want, where):
    try:
        xr.testing.assert_identical(want, found)
    except AssertionError as e:
        raise AssertionError(f"{where}: {e}") from None
    for name in want.variables:
        assert found[name].dtype == want[name].dtype, (where, name, found[name].dtype, want[name].dtype)
    assert set(found.indexes) == set(want.indexes), (where, found.indexes, want.indexes)
    for name, index in want.indexes.items():
        key = index[len(index) // 2]
        xr.testing.assert_identical(found.sel({name: key}), want.sel({name: key}))


def check(folder):
    bad = 0
    for path in sorted(folder.glob("*.nc")):
        try:
            copy = path.with_suffix(".zarr")
            if path.stem == "h5py_scales":  # netCDF4 does not find the scale of the other group
                d = xr.open_zarr(copy, consolidated=False)
                assert d.v.dims == ("lat", "lon") and set(d.indexes) == {"lat", "row"} and d.attrs == {"title": "scales"} and d.v.attrs == {"units": "m"}, d
                assert d.row.attrs == d.lat.attrs == {} and float(d.v.sel(lat=2.0)[1]) == 3, d
                assert set(xr.open_zarr(copy, group="scales", consolidated=False).indexes) == {"lon"}
                continue
            with netCDF4.Dataset(path) as f:
                groups = [f]
                for g in groups:
                    groups += g.groups.values()
                groups = [g.path for g in groups]
            for decode in (True, False):
                for group in groups:
                    with xr.open_dataset(path, group=group, decode_cf=decode, engine="netcdf4") as want, xr.open_zarr(copy, group=group, consolidated=False, decode_cf=decode, mask_and_scale=decode) as found:
                        identical(found.load(), want.load(), (path.name, group, decode))
            if path.stem == "xarray_tree":
                with xr.open_datatree(path) as want, xr.open_datatree(copy, engine="zarr", consolidated=False) as found:
                    xr.testing.assert_identical(want.load(), found.load())
        except Exception as e:
            bad += 1
            print(path.name, type(e).__name__, str(e))
    if not bad:
        print(len(MAKERS), "files")


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
else:
    check(pathlib.Path(sys.argv[2]))
