"""Makes random NetCDF files, and holds their copies to what xarray reads of the files.

    python copies_check.py make FOLDER SEED COUNT
    python copies_check.py check FOLDER

Each file x.nc has copies in x.zarr and x-copy.nc, and what the copying has said in x.zarr.said and x-copy.nc.said.
"""
import pathlib
import random
import sys
import warnings

import netCDF4
import numpy as np
import xarray as xr

warnings.simplefilter("ignore")
INTS, FLOATS = ["i1", "i2", "i4", "u1", "u2", "u4", "i8", "u8"], ["f4", "f8"]
FORMATS = ["NETCDF4"] * 4 + ["NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FILTERS = [{}, {"zlib": True}, {"zlib": True, "shuffle": False, "fletcher32": True}, {"fletcher32": True}]
NAMES = ["long_name", "comment", "valid_range", "actual_range", "größe", "a-b", "with space", "_private", "flag_masks", "scale", "shape", "fill_value"]
TEXTS = ["", "a", "größe <1> ☃", "NaN", "true", "null", "[1, 2]", '{"a": 1}', "line\nbreak", 'quo"te\\', "1.0", "a" * 300]
UNITS = ["days since 2001-01-01", "hours since 1900-01-01 06:30", "seconds since 1970-01-01T00:00:00Z", "hours", "days since 0001-01-01"]
CALENDARS = ["standard", "proleptic_gregorian", "noleap", "360_day", "julian", "all_leap"]
# What copies hold otherwise where a warning says so, by words of the difference.
NAMED = {"flag_": "enumerations", "least_significant_digit": "in encoding", "decoded": "by whose types xarray decodes"}


def numbers(r, n, kind):
    kind = np.dtype(kind)
    if kind.kind == "f":
        special = [np.nan, np.inf, -np.inf, -0.0, 0.1, 1.0, 1e20, 1e-40]
        return np.array([r.choice(special) if r.random() < 0.3 else r.gauss(0, 100) for _ in range(n)], kind)
    i = np.iinfo(kind)
    return np.array([r.choice([i.min, i.max, 0, 1, r.randint(i.min, i.max), r.randint(0, 99)]) for _ in range(n)], kind)


class Maker:
    def __init__(self, r, path):
        self.r, self.format = r, r.choice(FORMATS)
        self.new = self.format == "NETCDF4"
        self.types = INTS + FLOATS if self.new or self.format.endswith("DATA") else ["i1", "i2", "i4"] + FLOATS
        with netCDF4.Dataset(path, "w", format=self.format) as f:
            self.attributes(f)
            self.group(f, {}, 0)

    def attributes(self, of):
        r = self.r
        for name in r.sample(NAMES, r.randrange(4)):
            value = numbers(r, r.choice([1, 1, 2, 3]), r.choice(self.types))
            kind = r.random()
            if kind < 0.3:
                value = r.choice(TEXTS)
            elif kind < 0.4 and self.new:
                value = r.sample(TEXTS, 2)
            of.setncattr(name, value)

    def group(self, g, dims, depth):
        r = self.r
        for name in r.sample("xyzt", r.randrange(1, 4)):
            free = r.random() < 0.3 and (self.new or not dims)
            g.createDimension(name, None if free else r.randrange(0 if self.new else 1, 6))
            dims = {**dims, name: (r.choice([0, 2, 4]) if free else len(g.dimensions[name]), free)}
        names = [f"v{i}" + r.choice(["", "_größe", ".dot", "-dash", " space"]) for i in range(r.randrange(1, 4))]
        for name in dict.fromkeys(names + r.sample(sorted(dims), 1)):
            self.variable(g, name, dims)
        if len(names) > 1 and r.random() < 0.3:
            g.variables[names[0]].coordinates = names[1]
        for i in range(r.randrange(3) if self.new and depth < 2 else 0):
            h = g.createGroup(f"g{i}")
            self.attributes(h)
            self.group(h, dims, depth + 1)

    def variable(self, g, name, dims):
        r = self.r
        use = r.sample(sorted(dims), r.randrange(min(len(dims), 3) + 1))
        if name in dims and r.random() < 0.8:
            use = [name]
        if not self.new:
            use.sort(key=lambda d: not dims[d][1])
        shape = [dims[d][0] for d in use]
        n = int(np.prod(shape, dtype=int))
        if self.new and r.random() < 0.1:
            kind = g.createEnumType("i2", "kinds_" + name.split(" ")[0].replace(".", "_").replace("-", "_"), {"clear": 0, "rain": 5})
            v = g.createVariable(name, kind, use, fill_value=r.choice([None, 5]))
            v[...] = np.array([r.choice([0, 5]) for _ in range(n)], "i2").reshape(shape)
            return self.attributes(v)
        kind = r.choice(self.types + 3 * FLOATS)
        options = dict(r.choice(FILTERS)) if use and self.format.startswith("NETCDF4") else {}
        if self.new:
            options["endian"] = r.choice(["native", "little", "big"])
            if kind in FLOATS and r.random() < 0.2:
                options["least_significant_digit"] = 2
        v = g.createVariable(name, kind, use, fill_value=r.choice([None, None, numbers(r, 1, kind)[0]]), **options)
        v.set_auto_maskandscale(False)
        if r.random() < 0.2:
            v.missing_value = numbers(r, r.choice([1, 2]), kind)
        if r.random() < 0.3:
            v.scale_factor = np.dtype(r.choice(FLOATS)).type(r.choice([0.1, 0.5, 1.0, 3.0]))
        if r.random() < 0.2:
            v.add_offset = np.dtype(r.choice(FLOATS)).type(r.choice([0.1, -5, 1e4]))
        if kind[0] in "iu" and r.random() < 0.2:
            v.setncattr("_Unsigned", r.choice(["true", "false"]))
        data = numbers(r, n, kind)
        if r.random() < 0.2:
            v.units, data = r.choice(UNITS), np.array([r.randrange(100) for _ in range(n)], kind)
            if r.random() < 0.6:
                v.calendar = r.choice(CALENDARS)
        if n and r.random() < 0.9:
            v[...] = data.reshape(shape)
        self.attributes(v)


def typed(v):
    a = np.asarray(v)
    return a.dtype.newbyteorder("=") if a.dtype.kind != "U" else "text"


def same(want, found, types):
    """Attributes that differ in names, values or, with types, types."""
    for name in {**want, **found}:
        if name not in want or name not in found:
            yield f"attribute {name} is {'added' if name in found else 'lost'}"
        elif not xr.core.utils.dict_equiv({name: want[name]}, {name: found[name]}):
            yield f"attribute {name}: {found[name]!r}, want {want[name]!r}"
        elif types and typed(want[name]) != typed(found[name]):
            yield f"attribute {name} is {typed(found[name])}, want {typed(want[name])}"


def differences(want, found, types):
    yield from same(want.attrs, found.attrs, types)
    if set(want.variables) != set(found.variables) or set(want.coords) != set(found.coords) or want.sizes != found.sizes:
        yield f"{found}, want {want}"
        return
    for name, w in want.variables.items():
        f = found.variables[name]
        for what in same(w.attrs, f.attrs, types):
            yield f"{name}: {what}"
        if w.dims != f.dims:
            yield f"{name}: dimensions {f.dims}, want {w.dims}"
        elif w.dtype != f.dtype or not w.equals(f):
            decoded = "decoded " if {"scale_factor", "add_offset"} & set(w.encoding) else ""
            yield f"{name}: {decoded}{f.dtype} {f.values.ravel()[:5]}, want {w.dtype} {w.values.ravel()[:5]}"
        for key in ("_FillValue", "missing_value", "units", "calendar", "scale_factor", "add_offset"):
            if not types and key in ("scale_factor", "add_offset"):
                continue
            a, b = w.encoding.get(key), f.encoding.get(key)
            if (a is None) != (b is None) or a is not None and (not np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") or types and typed(a) != typed(b)):
                yield f"{name}: {key} {b!r}, want {a!r}"


def check(folder):
    n = 0
    for said in sorted(folder.glob("*.said")):
        copy = said.with_suffix("")
        path = folder / (copy.stem.removesuffix("-copy") + ".nc")
        with netCDF4.Dataset(path) as f:
            groups = [f]
            for g in groups:
                groups += g.groups.values()
            groups = [g.path for g in groups]
        for group in groups:
            for decode in (True, False):
                options = dict(group=group, decode_cf=decode, mask_and_scale=decode)
                try:
                    want = xr.open_dataset(path, engine="netcdf4", **options).load()
                except Exception:  # dates that xarray does not decode
                    continue
                try:
                    more = dict(engine="zarr", consolidated=False) if copy.suffix == ".zarr" else dict(engine="netcdf4")
                    with want, xr.open_dataset(copy, **options, **more) as found:
                        all = list(differences(want, found.load(), copy.suffix == ".nc"))
                except Exception as e:
                    all = [f"{type(e).__name__} {e}"]
                for what in all:
                    if not any(word in what and named in said.read_text() for word, named in NAMED.items()):
                        print(copy.name, group, decode, what)
        n += 1
    print(n, "copies")


if sys.argv[1] == "make":
    for i in range(int(sys.argv[4])):
        Maker(random.Random(f"{sys.argv[3]} {i}"), pathlib.Path(sys.argv[2]) / f"{i}.nc")
else:
    check(pathlib.Path(sys.argv[2]))
