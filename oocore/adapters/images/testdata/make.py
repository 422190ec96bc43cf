"""Writes pictures by Pillow and, where Pillow cannot, by the PNG specification (unfiltered rows), and their
elements: make.py FOLDER SEED FILES."""
import json
import struct
import sys
import zlib

import numpy as np
from PIL import Image

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []


def png(path, values, interlaced):
    """Writes H × W × channels of 8 or 16 bits."""
    h, w, channels = values.shape
    rows = values.astype(values.dtype.newbyteorder(">"))
    passes = [rows]
    if interlaced:  # Adam7
        starts = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
        passes = [rows[y::dy, x::dx] for y, x, dy, dx in starts]
    raw = b"".join(b"\0" + row.tobytes() for part in passes for row in part if part.shape[1])

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", w, h, 8 * values.itemsize, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, interlaced)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


for k in range(files):
    h, w = (int(n) for n in random.integers(1, 40, size=2))
    name = f"{k}.png"
    kind = ["raw", "L", "LA", "RGB", "RGBA", "1", "P", "transparent", "I;16"][k % 9]
    if kind == "raw":
        channels = int(random.integers(1, 5))
        dtype = np.dtype(random.choice(["u1", "u2"]))
        values = random.integers(0, 256**dtype.itemsize, size=(h, w, channels)).astype(dtype)
        png(f"{out}/{name}", values, int(random.integers(2)))
        want = values if channels > 1 else values[:, :, 0]
    else:
        channels = {"L": (), "LA": (2,), "RGB": (3,), "RGBA": (4,), "1": (), "P": (), "transparent": (), "I;16": ()}[kind]
        values = random.integers(0, 256, size=(h, w) + channels).astype("u1")
        options = {}
        if kind == "I;16":
            values = random.integers(0, 65536, size=(h, w)).astype("u2")
            image = Image.fromarray(values)
        elif kind == "1":
            values = (values > 127) * np.uint8(255)
            image = Image.fromarray(values).convert("1", dither=Image.Dither.NONE)
        elif kind in ("P", "transparent"):
            colours = int(random.integers(1, 257))
            values %= min(colours, 255)
            image = Image.fromarray(values).convert("L")
            image.putpalette(random.integers(0, 256, size=3 * 256).astype("u1").tobytes())
            if kind == "transparent":
                options["transparency"] = random.integers(0, 256, size=256).astype("u1").tobytes()
        else:
            image = Image.fromarray(values)
        image.save(f"{out}/{name}", compress_level=int(random.integers(0, 10)), **options)
        read = Image.open(f"{out}/{name}")
        if read.mode == "P":
            read = read.convert("RGBA" if "transparency" in read.info else "RGB")
        elif read.mode == "1":
            read = read.convert("L")
        want = np.asarray(read)
    np.save(f"{out}/{k}.npy", np.ascontiguousarray(want))
    cases.append({"path": name, "want": f"{k}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
