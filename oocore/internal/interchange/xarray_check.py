"""Makes stores with xarray, and reads with it what was copied from them or saved into them.

    python xarray_check.py make FOLDER
    python xarray_check.py check FOLDER
"""
import pathlib
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")
HOLES = np.where(np.arange(12).reshape(3, 4) % 5 == 0, np.nan, np.arange(12.0).reshape(3, 4))
PLAIN = np.arange(12, dtype="float32").reshape(3, 4) / 8


def source():
    both = ("time", "x")
    d = xr.Dataset(
        {
            "packed": (both, HOLES, {"units": "K", "long_name": "größe <1>", "limit": np.nan, "range": [-np.inf, 1.5, np.inf], "text": "NaN"}),
            "holes": (both, HOLES),
            "plain": (both, PLAIN),
            "flags": ("x", np.array([1, 0, 1, 1], bool)),
            "replaced": (both, PLAIN),
        },
        coords={"time": np.arange(3) * 10, "x": np.arange(4) / 2},
    )
    d.packed.encoding = {"dtype": "int16", "_FillValue": -32768, "scale_factor": 0.5}
    d.plain.encoding = {"_FillValue": None}
    return d


def make(folder):
    for version in (2, 3):
        source().to_zarr(folder / f"v{version}.zarr", zarr_format=version, consolidated=True)


def same(found, want, where):
    assert found.dims == want.dims, (where, found.dims, want.dims)
    assert found.dtype == want.dtype, (where, found.dtype, want.dtype)
    np.testing.assert_array_equal(found.values, want.values, str(where))


def check(folder):
    n = 0
    for version in (2, 3):
        path = folder / f"v{version}-copy.zarr"
        want = source()
        zarr.consolidate_metadata(str(path))
        for consolidated in (False, True):
            d = xr.open_zarr(path, consolidated=consolidated)
            for name in ("packed", "holes", "plain", "flags", "time", "x"):
                same(d[name], want[name], (path.name, consolidated, name))
            assert xr.core.utils.dict_equiv(d.packed.attrs, want.packed.attrs), d.packed.attrs
            np.testing.assert_array_equal(d.cast.values, HOLES)
            n += 1
        assert zarr.open_array(str(path / "packed"), mode="r").fill_value == (-32768 if version == 2 else 0)
    plain = source().plain
    for consolidated in (False, True):
        d = xr.open_zarr(folder / "v3.zarr", consolidated=consolidated)
        for name in source().variables:
            if name != "replaced":
                same(d[name], source()[name], (consolidated, name))
        same(d.doubled, plain * 2, (consolidated, "doubled"))
        same(d["mean"], plain.mean("time"), (consolidated, "mean"))
        same(d["turned"], plain.transpose(), (consolidated, "turned"))
        same(d["centred"], plain - plain.mean("time"), (consolidated, "centred"))
        same(d["replaced"], plain + 1, (consolidated, "replaced"))
        assert d.half.dims == ("half_dim_0",), d.half.dims
        np.testing.assert_array_equal(d.half.values, PLAIN[::2, 1])
        np.testing.assert_array_equal(d.given.values, [np.nan, 1, 2])
        assert d.given.attrs == {"units": "K"} and d.given.dims == ("given",), d.given
        assert d.nameless.dims == ("nameless_dim_0",), d.nameless.dims
        n += 1
    print(n, "openings")


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
else:
    check(pathlib.Path(sys.argv[2]))
