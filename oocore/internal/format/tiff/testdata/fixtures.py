"""Writes the small files that plain tests read: each array counts up in C order."""
import numpy as np
import tifffile

count = lambda *shape, dtype="u2": np.arange(np.prod(shape)).reshape(shape).astype(dtype)
with tifffile.TiffWriter("strips.tif", byteorder=">") as t:
    for page in count(3, 7, 5):
        t.write(page, rowsperstrip=2, metadata=None, contiguous=False)
tifffile.imwrite("tiles.tif", count(2, 20, 36), tile=(16, 16), compression="lzw", predictor=2, metadata=None, byteorder=">")
tifffile.imwrite("lzw.tif", count(90, 70, dtype="i4"), compression="lzw", rowsperstrip=60, metadata=None)
tifffile.imwrite("float.tif", count(2, 9, 8, 3, dtype="f4"), bigtiff=True, compression="zlib", predictor=3, rowsperstrip=4, planarconfig="contig",
                 photometric="rgb", metadata=None)
tifffile.imwrite("planes.tif", count(3, 9, 8, dtype="f8"), compression="zstd", planarconfig="separate", photometric="rgb", metadata=None)
tifffile.imwrite("images.ome.tif", count(2, 3, 4, 5), metadata={"axes": "TCYX"}, photometric="minisblack")
tifffile.imwrite("imagej.tif", count(2, 3, 4, 5), imagej=True, metadata={"axes": "TZYX"})
