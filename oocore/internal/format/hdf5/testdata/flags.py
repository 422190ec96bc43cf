"""Writes HDF5 files in which a flag changes what bytes mean, or which are hostile, and what is to come of each:
flags.py FOLDER SEED FILES."""
import ctypes
import json
import os
import sys

import h5py
import numpy as np

out, cases = sys.argv[1], []
h5py.h5.get_libversion()
with open("/proc/self/maps") as f:
    hdf5 = ctypes.CDLL(sorted({line.split()[-1] for line in f if "libhdf5" in line and "_hl" not in line})[0])


def case(path, want):
    if not isinstance(want, str):
        name = f"{len(cases)}.npy"
        np.save(f"{out}/{name}", np.ascontiguousarray(want).reshape(np.shape(want)))
        want = name
    else:
        want = "error: " + want
    cases.append(dict(path=path, want=want))


def low(f, name, kind, data, dcpl=None):
    """A dataset of an HDF5 type; data have its bytes."""
    space = h5py.h5s.create_simple((len(data),))
    d = h5py.h5d.create(f.id, name.encode(), kind, space, dcpl)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, data, kind)
    return d


with h5py.File(f"{out}/types.h5", "w") as f:
    z = np.array([1 + 2j, -3 + 4j])
    for name, re, im in (("little", "<f8", "<f8"), ("big", ">f8", ">f8"), ("mixed", "<f8", ">f8"), ("other", ">f4", "<f4")):
        t = np.dtype([("r", re), ("i", im)])
        v = np.zeros(2, t)
        v["r"], v["i"] = z.real, z.imag
        f.create_dataset(name, data=v)
        case(f"types.h5#{name}", z if re == im else "differ in byte order")
    f["swapped"] = np.zeros(2, [("i", "f8"), ("r", "f8")])
    case("types.h5#swapped", "add .FIELD to the name")
    t = h5py.h5t.NATIVE_INT32.copy()
    t.set_precision(20)
    low(f, "precision", t, np.arange(3, dtype="i4"))
    case("types.h5#precision", "integers of 20 bits in 4 bytes")
    t.set_offset(4)
    low(f, "offset", t, np.arange(3, dtype="i4"))
    case("types.h5#offset", "integers of 20 bits in 4 bytes")
    t = h5py.h5t.IEEE_F32LE.copy()
    t.set_ebias(100)
    low(f, "bias", t, np.arange(3, dtype="f4"))
    case("types.h5#bias", "floats of 32 bits")
    t = h5py.h5t.IEEE_F32LE.copy()
    t.set_norm(h5py.h5t.NORM_NONE)
    low(f, "norm", t, np.arange(3, dtype="f4"))
    case("types.h5#norm", "floats of 32 bits")
    f["text"] = np.array([b"ab", b"c"])
    case("types.h5#text", "arrays of strings are not supported")
    f.create_dataset("words", data=["ab", "c"], dtype=h5py.string_dtype())
    case("types.h5#words", "are not supported")
    f["opaque"] = np.array([b"ab", b"cd"], "V2")
    case("types.h5#opaque", "arrays of opaque bytes are not supported")
    f.create_dataset("colour", data=[1, 0], dtype=h5py.enum_dtype({"RED": 0, "BLUE": 1}, "i2"))
    case("types.h5#colour", np.array([1, 0], "i2"))
    f["yes"] = [True, False]
    case("types.h5#yes", np.array([True, False]))

for lib in ("earliest", "latest"):
    with h5py.File(f"{out}/fill-{lib}.h5", "w", libver=lib) as f:
        for name, v in (("none", None), ("seven", 7)):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if v is None:
                hdf5.H5Pset_fill_value(ctypes.c_int64(dcpl.id), ctypes.c_int64(h5py.h5t.NATIVE_INT32.id), None)  # undefined
            else:
                dcpl.set_fill_value(np.array(v, "i4"))
            dcpl.set_chunk((2,))
            h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32BE, h5py.h5s.create_simple((5,)), dcpl)
            case(f"fill-{lib}.h5#{name}", np.full(5, v or 0, "i4"))

x = np.arange(35, dtype="i4").reshape(5, 7)
for n, most in enumerate([(5, 7), (None, 7), (None, None), (9, 9)]):
    with h5py.File(f"{out}/edges{n}.h5", "w", libver="latest") as f:
        for name, chunks in (("x", (2, 3)), ("one", (8, 8))):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk(chunks)
            dcpl.set_deflate(4)
            assert hdf5.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), 2) >= 0
            space = h5py.h5s.create_simple(x.shape, tuple(h5py.h5s.UNLIMITED if m is None else max(m, c) if name == "one" else m for m, c in zip(most, chunks)))
            d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.NATIVE_INT32, space, dcpl)
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, x)
            case(f"edges{n}.h5#{name}", x)

with h5py.File(f"{out}/implicit.h5", "w", libver="latest") as f:
    for name, most in (("x", (5, 7)), ("y", (9, 20))):
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((2, 3))
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        h5py.h5d.create(f.id, name.encode(), h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(x.shape, most), dcpl).write(h5py.h5s.ALL, h5py.h5s.ALL, x)
        case(f"implicit.h5#{name}", x)

with h5py.File(f"{out}/attributes.h5", "w", libver="latest") as f:
    f["x"] = x
    f["x"].attrs["long"] = "ö" * 100_000
    f["x"].attrs["many"] = np.arange(20_000)
case("attributes.h5#x", x)

fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
assert hdf5.H5Pset_shared_mesg_nindexes(ctypes.c_int64(fcpl.id), 1) >= 0
assert hdf5.H5Pset_shared_mesg_index(ctypes.c_int64(fcpl.id), 0, 0x182A, 1) >= 0
fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
with h5py.File(h5py.h5f.create(f"{out}/shared.h5".encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl)) as f:
    for name in "xyz":  # the first is not shared yet
        f[name] = x
case("shared.h5#z", "messages in a shared heap are not supported")

with h5py.File(f"{out}/family%d.h5", "w", driver="family", memb_size=4096) as f:
    f["x"] = np.arange(5000)
case("family0.h5#x", "one of several files")

with h5py.File(f"{out}/open.h5", "w", libver="latest") as f:
    f["x"] = x
    f.flush()
    with open(f"{out}/open.h5", "rb") as r, open(f"{out}/writing.h5", "wb") as w:
        w.write(r.read())
case("open.h5#x", x)
case("writing.h5#x", "is open for writing")

with h5py.File(f"{out}/short.h5", "w", libver="latest") as f:
    f["x"] = x
    f["y"] = np.arange(1000)
with open(f"{out}/short.h5", "r+b") as f:
    f.truncate(f.seek(0, 2) - 8)
case("short.h5#x", "are there: the file is cut short")

with h5py.File(f"{out}/hostile.h5", "w", libver="latest") as f:
    f["a8"] = h5py.SoftLink("/")
    for i in range(8):  # each path has the next twelve times
        f[f"a{i}"] = h5py.SoftLink(f"/a{i + 1}" * 12)
    case("hostile.h5#a0", "its structures have more bytes than the file")
    f["circle/x"] = x
    f["circle/again"] = f["circle"]
    f["circle/root"] = f["/"]
    f["there"] = h5py.ExternalLink("other.h5", "/y")
    case("hostile.h5#there", 'a link to another file, "other.h5": no such file')
    f["out"] = h5py.ExternalLink("../other.h5", "/y")
    case("hostile.h5#out", '"../other.h5" leads out of the folder')
    f["loop"] = h5py.ExternalLink("linked.h5", "/loop")
    case("hostile.h5#loop", "its links lead through more than 16 files, or in a circle")
    f["group"] = h5py.ExternalLink("in/linked.h5", "/g")
    f["soft"] = h5py.SoftLink("/group/back")
os.mkdir(f"{out}/in")
for folder, up in ("", ""), ("in/", "../"):
    with h5py.File(f"{out}/{folder}linked.h5", "w") as f:
        f["loop"] = h5py.ExternalLink(f"{up}hostile.h5", "/loop")
        f["g/x"] = x
        f["g/table"] = np.array([(1, 2.5)], "i4,f8")
        f["g/back"] = h5py.ExternalLink("linked.h5", "/g")
with h5py.File(f"{out}/hostile.h5") as f:
    for name in "group/x", "soft/x", "soft/back/x":
        case(f"hostile.h5#{name}", f[name][()])
    case("hostile.h5#soft/table.f1", f["soft/table"]["f1"])
    case("hostile.h5#soft/none", "no array")
case("hostile.h5#circle/again/again/root/circle/x", x)

with h5py.File(f"{out}/deep.h5", "w", libver="latest") as f:
    g = f
    for i in range(1500):
        g = g.create_group("g")
    g["x"] = x
case("deep.h5", "nested more than 1000 deep")

json.dump(cases, open(f"{out}/cases.json", "w"))
