"""Writes TIFF files by tifffile, and their numbers as it reads them: make.py FOLDER SEED FILES."""
import json
import logging
import lzma
import os
import sys
import uuid

import numpy as np
import tifffile
from PIL import Image

logging.disable(logging.ERROR)
out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
pick = lambda *of: of[random.integers(len(of))]
dtypes = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]
cases = []


def values(shape, dtype):
    """Numbers that compress, with some of every bit pattern."""
    v = np.cumsum(random.integers(-3, 4, size=shape), axis=-1).astype(dtype)
    where = random.random(shape) < 0.1
    v[where] = random.integers(0, 256, size=where.sum() * v.itemsize, dtype="u1").view(dtype)
    return v


def add(name, series=None):
    with tifffile.TiffFile(f"{out}/{name}") as t:
        read = t.series[series or 0].asarray()
    want = f"{len(cases)}.npy"
    np.save(f"{out}/{want}", np.ascontiguousarray(read.astype(read.dtype.newbyteorder("="))))
    cases.append({"path": name + ("" if series is None else f"#{series}"), "want": want})


k = 0
while k < files:
    name, dtype = f"{k}.tif", pick(*dtypes)
    how = {"byteorder": pick("<", ">"), "bigtiff": bool(random.integers(2)), "compression": pick(None, "lzw", "zlib", "zstd", "adobe_deflate"),
           "photometric": "minisblack"}
    kind = np.dtype(dtype).kind
    if how["compression"] and kind != "c":
        how["predictor"] = pick(*([1, 2] if kind in "iu" else [1, 3]))
    page = [int(random.integers(1, 70)), int(random.integers(1, 70))]
    if random.integers(2):
        how["tile"] = (16 * int(random.integers(1, 3)), 16 * int(random.integers(1, 3)))
    else:
        how["rowsperstrip"] = int(random.integers(1, page[0] + 1))
    forms = ["ome"] if dtype in ("u1", "u2", "u4", "i1", "i2", "i4", "f4", "f8", "c8", "c16") else []
    form = pick(*forms, "plain", "shaped", "imagej", "rgb", "planes")
    lead = [int(n) for n in random.integers(1, 4, size=random.integers(0, 4))]
    if form in ("rgb", "planes"):
        how.update(photometric="rgb", planarconfig="contig" if form == "rgb" else "separate")
        samples = int(random.integers(3, 6))
        if samples > 3:
            how["extrasamples"] = ["unspecified"] * (samples - 3)
        page = page + [samples] if form == "rgb" else [samples] + page
    data = values(lead + page, dtype)
    try:
        if form == "plain":
            tifffile.imwrite(f"{out}/{name}", data.reshape(-1, *page), metadata=None, **how)
        elif form == "ome":
            name = f"{k}.ome.tif"
            axes = "TZC"[3 - len(lead):] + "YX"
            tifffile.imwrite(f"{out}/{name}", data, metadata={"axes": axes}, ome=True, **how)
        elif form == "imagej":
            dtype = pick("u1", "u2", "f4")
            data = values(lead + page, dtype)
            how = {"byteorder": ">", "photometric": "minisblack"}
            tifffile.imwrite(f"{out}/{name}", data, imagej=True, metadata={"axes": "TZC"[3 - len(lead):] + "YX"}, **how)
            with tifffile.TiffFile(f"{out}/{name}") as t:
                if len(t.pages) != np.prod(lead, dtype=int):  # of what tifffile writes it then says itself that it is damaged
                    continue
        else:
            tifffile.imwrite(f"{out}/{name}", data, **how)
    except (ValueError, NotImplementedError, RuntimeError, TypeError) as e:
        if "predictor" in str(e).lower() or "imagej" in str(e).lower() or "supported" in str(e).lower():
            continue
        raise
    add(name)
    k += 1

# Codings of pictures, few bits, and palettes, in strips and tiles of any size.
for n in range(files // 2):
    name, bits = f"coded{n}.tif", pick(1, 1, 2, 4, 6, 10, 12, 14)
    page = [int(random.integers(1, 70)), int(random.integers(1, 70))]
    how = {"photometric": "minisblack", "metadata": None, "byteorder": pick("<", ">"), **pick({"tile": (16 * int(random.integers(1, 3)), 32)}, {"rowsperstrip": int(random.integers(1, page[0] + 1))})}
    kind = pick("bits", "packbits", "lzma", "webp", "palette", "fax", "jpeg")
    data = values(page, pick("u1", "i2", "f4"))
    if kind == "bits":
        data = np.abs(values(page, "i4")) % (1 << bits)
        data = data > 0 if bits == 1 else data.astype("u1" if bits <= 8 else "u2")
        how |= {} if bits == 1 else {"bitspersample": bits}
        how |= pick({}, {"compression": pick("packbits", "zlib", "lzw")}) if bits == 1 else {}
    elif kind == "fax":  # which Pillow's libtiff writes
        Image.fromarray(np.cumsum(random.random(page) < 0.2, axis=1) % 2 > 0).save(f"{out}/{name}", compression=pick("group3", "group4"))
        add(name)
        continue
    elif kind == "webp":
        data = values(page + [pick(3, 4)], "u1")
        how |= {"photometric": "rgb", "compression": "webp", "compressionargs": {"lossless": True}} | ({"extrasamples": ["unassalpha"]} if data.shape[2] == 4 else {})
    elif kind == "jpeg":  # smooth or noise, with tables of their own or not
        colour = pick("minisblack", "rgb", "ycbcr")
        data = pick(values(page + [3], "u1"), random.integers(0, 256, page + [3], "u1"))
        data = data if colour != "minisblack" else data[:, :, 0]
        how |= {"photometric": colour, "compression": "jpeg", "compressionargs": {"level": int(random.integers(30, 100))}}
        how |= {"subsampling": pick((1, 1), (2, 1), (2, 2))} if colour == "ycbcr" else {}
        how |= {"rowsperstrip": pick(8, 16, 32)} if "rowsperstrip" in how else {}
    elif kind == "palette":
        data, how = values(page, "u1"), how | {"photometric": "palette", "colormap": np.zeros((3, 256), "u2"), "compression": pick(None, "lzw")}
    else:
        how |= {"compression": kind} | ({"predictor": pick(1, 2)} if data.dtype.kind != "f" else {})
    tifffile.imwrite(f"{out}/{name}", data, **how)
    add(name)
# libtiff's LZMA differs from tifffile's: a difference of bytes comes before it.
for n, check in enumerate((lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256)):
    data = values((40, 30), "u2")
    packed = lzma.compress(data.tobytes(), check=check, filters=[{"id": lzma.FILTER_DELTA, "dist": n + 1}, {"id": lzma.FILTER_LZMA2, "preset": 1}])
    with tifffile.TiffWriter(f"{out}/delta{n}.tif") as t:
        t.write(iter([packed]), shape=data.shape, dtype=data.dtype, compression="lzma", rowsperstrip=40, photometric="minisblack", metadata=None)
    add(f"delta{n}.tif")

# Images of OME whose planes lie in several files, described by each of them, by one, or by a file of XML alone.
for n in range(files // 4):
    order, ids, folder = "".join(random.permutation(list("ZCT"))), [f"urn:uuid:{uuid.UUID(bytes=random.bytes(16))}" for _ in range(4)], f"{out}/spread{n}"
    size, kind = {a: int(random.integers(1, 4)) for a in "ZCT"}, pick("each", "each", "moved", "one", "companion", "absent", "outside")
    lead = [size[a] for a in order[::-1]]
    planes = values([int(np.prod(lead)), *random.integers(1, 40, 2)], pick("u1", "u2", "f4"))
    how = {"compression": pick(None, "zlib"), "rowsperstrip": int(random.integers(1, planes.shape[1] + 1)), "photometric": "minisblack", "metadata": None, "byteorder": pick("<", ">")}
    where, inner = np.sort(random.integers(0, 3, len(planes))), pick("", "in/")
    where = where if random.integers(2) else random.permutation(where)
    where[random.integers(len(where))] = 0  # the file that is opened
    held, data = {i: np.flatnonzero(where == i) for i in set(where.tolist())}, ""
    name = lambda i: f"{inner if i else ''}p{i}.ome.tif"
    said = lambda what, of: " ".join(f'{what}{a}="{v}"' for a, v in of)
    os.makedirs(f"{folder}/in")
    for i, all in held.items():
        runs = np.split(all, np.flatnonzero(np.diff(all) > 1) + 1) if random.integers(2) else [[p] for p in all]
        for run in runs:
            first = zip(order[::-1], np.unravel_index(run[0], lead))
            data += f'<TiffData IFD="{list(all).index(run[0])}" PlaneCount="{len(run)}" {said("First", first)}><UUID FileName="{name(i)}">{ids[i]}</UUID></TiffData>'
    xml = lambda i, data: f'<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="{ids[i]}"><Image ID="Image:0"><Pixels DimensionOrder="XY{order}" SizeX="{planes.shape[2]}" SizeY="{planes.shape[1]}" {said("Size", size.items())} Type="uint8">{data}</Pixels></Image></OME>'
    only = lambda of, id: f'<OME UUID="%s"><BinaryOnly MetadataFile="{of}" UUID="{id}"/></OME>'
    write = lambda i, text: tifffile.imwrite(f"{folder}/{name(i)}", planes[held[i]], description=text, bigtiff=bool(random.integers(2)), **how)
    for i in held:
        write(i, xml(i, data))
    add(f"spread{n}/{name(0)}")
    if kind == "moved":
        os.rename(f"{folder}/{name(0)}", f"{folder}/moved.tif")
        cases[-1]["path"] = f"spread{n}/moved.tif"
    elif kind == "one" and not inner and len(held) > 1:  # described by the last
        write(0, only(name(max(held)), ids[max(held)]) % ids[0])
    elif kind == "companion":
        open(f"{folder}/all.companion.ome", "w").write(xml(3, data))
        write(0, only("all.companion.ome", ids[3]) % ids[0])
    elif kind == "absent" and len(held) > 1:
        os.remove(f"{folder}/{name(max(held))}")
        cases[-1]["want"] = f"error: p{max(held)}.ome.tif, which has planes of the image: no such file"
    elif kind == "outside" and len(held) > 1:
        write(0, xml(0, data.replace(name(max(held)), "../../p.ome.tif")))
        cases[-1]["want"] = 'error: "../../p.ome.tif" leads out of the folder'

# What is not one series, and what cannot be read.
with tifffile.TiffWriter(out + "/several.tif") as t:
    for shape in ((5, 6), (7, 8), (5, 6)):
        t.write(values(shape, "u2"), metadata=None)
for series in range(2):
    add("several.tif", series)
cases.append({"path": "several.tif", "want": "error: the file has 2 arrays, such as #0 of (2, 5, 6) and #1 of (7, 8): name one"})
with tifffile.TiffWriter(out + "/pyramid.ome.tif") as t:
    data = values((2, 64, 48), "u2")
    t.write(data, subifds=1, tile=(16, 16), compression="zlib", metadata={"axes": "CYX"})
    t.write(data[:, ::2, ::2], subfiletype=1, tile=(16, 16), compression="zlib")
add("pyramid.ome.tif")
tifffile.imwrite(out + "/truncated.tif", values((4, 5, 6), "f4"), truncate=True, photometric="minisblack")
add("truncated.tif")
picture = values((16, 16, 3), "u1")
for name, what, how in (
    ("subsampled.tif", "the compression JPEG of 4 samples of 8 bits of TIFF is not supported", {"photometric": "separated", "compression": "jpeg"}),
    ("lerc.tif", "the compression LERC of TIFF is not supported", {"compression": "lerc"}),
    ("jpeg2000.tif", "the compression JPEG 2000 of TIFF is not supported", {"photometric": "rgb", "compression": "jpeg2000"}),
):
    data = {"rgb": picture, "separated": np.dstack([picture, picture[:, :, :1]])}.get(how.get("photometric"), picture[:, :, 0])
    tifffile.imwrite(f"{out}/{name}", data, **{"metadata": None} | how)
    cases.append({"path": name, "want": "error: " + what})
json.dump(cases, open(out + "/cases.json", "w"))
