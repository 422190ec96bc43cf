"""Writes virtual datasets of random mappings by h5py, and what h5py reads of them: virtual.py FOLDER SEED FILES."""
import json
import sys
import warnings

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
warnings.simplefilter("ignore")
cases = []
types = ["u1", "<i2", ">i2", "<i4", ">u4", "<i8", "<u8", "<f4", ">f8", "<f8"]
versions = [("earliest", "v110"), ("v110", "v110"), ("v112", "v112"), ("earliest", "latest"), ("latest", "latest")]


def chance(n):
    return random.integers(n) == 0


def pick(list):
    return list[random.integers(len(list))]


def values(shape, t):
    t = np.dtype(t)
    x = random.integers(0, 1000, shape)
    if t.kind == "f":
        x = random.standard_normal(shape) * 10.0 ** random.integers(-1, 12)
        x += np.sign(x)  # the library makes of big-endian numbers between -1 and 0 the least integer
    elif t.itemsize > 2 and chance(3):
        x = random.integers(0, 2**31 - 1, shape)
    return x.astype(t)


def source(name, shape, t):
    kw = {}
    if shape and chance(2):
        kw = {"chunks": tuple(int(random.integers(1, n + 1)) for n in shape), "compression": pick([None, "gzip", "lzf"]), "shuffle": chance(2)}
    with h5py.File(f"{out}/{name}", "a", libver=pick(versions[:2])) as f:
        f.create_dataset("g/d", data=values(shape, t), **kw)


def cut(shape):
    """Slices of an array, and the shape of what they select."""
    s, n = [], []
    for length in shape:
        start = int(random.integers(length))
        step = int(random.integers(1, 4))
        stop = int(random.integers(start + 1, length + 1))
        s.append(slice(start, stop, step))
        n.append((stop - start + step - 1) // step)
    return tuple(s), tuple(n)


def mapped(k, f):
    """A layout of sources, by h5py's own interface."""
    rank = int(random.integers(1, 4))
    shape = tuple(int(n) for n in random.integers(1, [40, 14, 8][rank - 1], rank))
    t = pick(types)
    layout = h5py.VirtualLayout(shape, t)
    times = np.zeros(shape, int)
    for i in range(random.integers(1, 6)):
        where, n = cut(shape)
        of = t if chance(2) else pick(types)
        name = f"{k}-{i}.h5" if not chance(4) else "."
        object = "g/d"
        before = tuple(int(b) for b in random.integers(0, 3, rank))
        full = tuple(a + b for a, b in zip(n, before))
        part = tuple(slice(b, b + a) for a, b in zip(n, before))
        if chance(3):  # a step in the source
            full = tuple(b + 2 * a for a, b in zip(n, before))
            part = tuple(slice(b, b + 2 * a - 1, 2) for a, b in zip(n, before))
        if chance(3):
            full, part, before = n, Ellipsis, (0,) * rank
        if chance(4):  # an axis more
            full, part = (3, *full), (1, *(part if part is not Ellipsis else (Ellipsis,)))
        elif chance(4) and part is Ellipsis:  # another shape
            full = (int(np.prod(n)),)
        if chance(8):
            name = "absent.h5"
        elif chance(12):
            object = "none"
        elif name == ".":
            object = f"s{i}"
            f.create_dataset(object, data=values(full, of))
        else:
            source(name, full, of)
        v = h5py.VirtualSource(name, object, full)
        if part is not Ellipsis:
            v = v[part]
        if chance(6):  # indices by a list
            rows = np.unique(random.integers(0, shape[0], n[0] + 2))[: n[0]]
            if len(rows) == n[0]:
                where = (rows.tolist(), *where[1:])
        layout[where] = v
        times[where] += 1
    fill = int(random.integers(0, 100)) if chance(2) else None
    f.create_virtual_dataset("v", layout, fillvalue=fill)
    if chance(4) and times.max() < 2:  # else see below
        other = h5py.VirtualLayout((2, *shape), pick(types))
        other[1] = h5py.VirtualSource(".", "v", shape)
        f.create_virtual_dataset("w", other)


def endless(k, f):
    """A layout that grows with its sources."""
    rows, width = int(random.integers(1, 4)), int(random.integers(1, 5))
    start, gap = int(random.integers(0, 3)), int(random.integers(0, 3))
    space = h5s.create_simple((0, width), (h5s.UNLIMITED, width))
    p = h5p.create(h5p.DATASET_CREATE)
    p.set_fill_value(np.array(-7))
    if chance(2):  # a file for each block
        space.select_hyperslab((start, 0), (h5s.UNLIMITED, 1), (rows + gap, width), (rows, width))
        for i in range(random.integers(0, 6)):
            if not chance(6):
                source(f"{k}-b{i}%.h5", (rows, width), pick(types))
        p.set_virtual(space, f"{k}-b%b%%.h5".encode(), b"g/d", h5s.create_simple((rows, width)))
    else:
        for i in range(random.integers(1, 3)):
            space = h5s.create_simple((0, width), (h5s.UNLIMITED, width))
            n = int(random.integers(0, 12))
            with h5py.File(f"{out}/{k}-e{i}.h5", "w") as g:
                g.create_dataset("d", data=values((n, width), pick(types)), maxshape=(None, width))
            of = h5s.create_simple((10, width), (h5s.UNLIMITED, width))
            if chance(2):
                space.select_hyperslab((start, 0), (1, 1), (1, 1), (h5s.UNLIMITED, width))
                of.select_hyperslab((i, 0), (1, 1), (1, 1), (h5s.UNLIMITED, width))
            else:
                space.select_hyperslab((start + i, 0), (h5s.UNLIMITED, 1), (rows + gap, width), (rows, width))
                of.select_hyperslab((1, 0), (h5s.UNLIMITED, 1), (rows + 1, width), (rows, width))
            p.set_virtual(space, f"{k}-e{i}.h5".encode(), b"d", of)
    h5d.create(f.id, b"v", h5t.NATIVE_INT64, h5s.create_simple((0, width), (h5s.UNLIMITED, width)), p)


for k in range(files):
    with h5py.File(f"{out}/{k}.h5", "w", libver=pick(versions)) as f:
        (endless if chance(4) else mapped)(k, f)
    with h5py.File(f"{out}/{k}.h5") as f:
        for name in {"v", "w"} & set(f):
            # Where mappings overlap the library leaves as it was what no mapping has.
            v = np.full(f[name].shape, f[name].fillvalue, f[name].dtype.newbyteorder("="))
            try:
                if v.size:
                    f[name].read_direct(v)
            except OSError as e:
                print(k, name, e)
                continue
            np.save(f"{out}/{k}{name}.npy", v)
            cases.append({"path": f"{k}.h5#{name}", "want": f"{k}{name}.npy"})


def fixed(name, words, *sources, shape=(4,), select=lambda s: s.select_all()):
    """A dataset of given sources, and words of the error; None: as the library reads it."""
    with h5py.File(f"{out}/{name}.h5", "w", libver=pick(versions)) as f:
        p = h5p.create(h5p.DATASET_CREATE)
        for file, object, full, part in sources:
            space, of = h5s.create_simple(shape), h5s.create_simple(full)
            select(space)
            of.select_hyperslab((0,) * len(full), part)
            p.set_virtual(space, file.encode(), object.encode(), of)
        h5d.create(f.id, b"v", h5t.NATIVE_INT64, h5s.create_simple(shape), p)
    cases.append({"path": f"{name}.h5#v", "want": f"error: {words}"})
    if not words:
        np.save(f"{out}/{name}.npy", h5py.File(f"{out}/{name}.h5")["v"][...])
        cases[-1]["want"] = f"{name}.npy"


with h5py.File(f"{out}/plain.h5", "w") as f:
    f["d"] = np.arange(4)
    f["text"] = ["a", "b", "c", "d"]
    f["complex"] = np.ones(4, "c8")
    f["group/d"] = 1
open(f"{out}/noise.h5", "w").write("no HDF5" * 100)
fixed("circle", "circle", ("circle2.h5", "v", (4,), (4,)))
fixed("circle2", "circle", ("./circle.h5", "v", (4,), (4,)))
for i in reversed(range(20)):
    fixed(f"deep{i}", "more than 16" if i < 4 else None, (f"deep{i + 1}.h5" if i < 19 else "plain.h5", "v" if i < 19 else "d", (4,), (4,)))
fixed("out", "leads out of the folder", ("../plain.h5", "d", (4,), (4,)))
fixed("out2", "leads out of the folder", ("/etc/passwd", "d", (4,), (4,)))
fixed("whole", None, (f"{out}/plain.h5", "d", (4,), (4,)))
fixed("moved", None, ("/no/such/folder/plain.h5", "d", (4,), (4,)))
fixed("beyond", "outside of its shape (4,)", ("plain.h5", "d", (9,), (6,)), shape=(6,))
fixed("text", "not supported", ("plain.h5", "text", (4,), (4,)))
fixed("complex", "complex64 is not converted", ("plain.h5", "complex", (4,), (4,)))
fixed("group", "it is a group", ("plain.h5", "group", (4,), (4,)))
fixed("broken", "no superblock", ("noise.h5", "d", (4,), (4,)))


def corners(space):
    space.select_hyperslab((0, 0), (1, 1))
    space.select_hyperslab((2, 3), (1, 1), op=h5s.SELECT_OR)


fixed("corners", "no product of ranges", ("plain.h5", "d", (4,), (2,)), shape=(4, 4), select=corners)
json.dump(cases, open(out + "/cases.json", "w"))
