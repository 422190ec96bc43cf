"""Files of other libraries whose headers place their elements, and the labels that these libraries give them."""
import json, os, sys, warnings
import numpy as np
import nibabel as nib
import tifffile
from astropy.io import fits
from astropy.wcs import WCS

warnings.simplefilter("ignore")
os.chdir(sys.argv[1])
rng = np.random.default_rng(int(sys.argv[2]))
cases = []


def case(path, labels):
    cases.append({"Path": path, "Labels": {d: None if v is None else [float(x) for x in v] for d, v in labels.items()}})


for k in range(12):
    ny, nx = (int(n) for n in rng.integers(3, 40, 2))
    sx, sy, x0, y0, i, j = (float(v) for v in rng.uniform(0.1, 50, 6))
    point = bool(k % 2)
    keys = (34735, "H", 8, (1, 1, 0, 1, 1025, 0, 1, 2 if point else 1), True)
    middle = 0 if point else 0.5
    tags = [(33550, "d", 3, (sx, sy, 0.0), True), (33922, "d", 6, (i, j, 0.0, x0, y0, 0.0), True), keys]
    x, y = x0 + (np.arange(nx) + middle - i) * sx, y0 - (np.arange(ny) + middle - j) * sy
    if k % 3 == 2:
        turned = float(k == 8)
        tags = [(34264, "d", 16, (sx, turned, 0, x0, turned, -sy, 0, y0) + (0,) * 7 + (1,), True), keys]
        x, y = x0 + (np.arange(nx) + middle) * sx, y0 - (np.arange(ny) + middle) * sy
        if turned:
            x = y = None
    tifffile.imwrite(f"{k}.tif", rng.random((ny, nx)).astype("f4"), extratags=tags, metadata=None, bigtiff=bool(k % 5 == 0))
    case(f"{k}.tif", {"x": x, "y": y})

    # FITS: the wavelength or frequency of a cube is linear, its sky is not.
    shape = tuple(int(n) for n in rng.integers(2, 9, 3))
    head = fits.Header()
    ctypes = [("RA---TAN", "DEC--TAN", "FREQ"), ("X", "Y", "WAVE"), ("TIME", "RA---TAN", "DEC--TAN"), ("A", "B", "C")][k % 4]
    for a in range(3):
        head[f"CTYPE{a + 1}"], head[f"CRVAL{a + 1}"], head[f"CRPIX{a + 1}"] = ctypes[a], rng.uniform(-50, 50), rng.uniform(-3, 9)
        if k % 8 < 4:
            head[f"CDELT{a + 1}"] = rng.uniform(0.1, 3) * rng.choice([1, -1])
        else:
            head[f"CD{a + 1}_{a + 1}"] = rng.uniform(0.1, 3) * rng.choice([1, -1])
    turned = k % 4 == 3
    if turned:
        head["CD1_2" if k % 8 >= 4 else "PC1_2"] = 0.3
    fits.PrimaryHDU(rng.random(shape[::-1]), head).writeto(f"{k}.fits", overwrite=True)
    w = WCS(head)
    want = {}
    for a in range(3):
        if "-" in ctypes[a]:
            continue
        pixel = np.zeros((shape[a], 3))
        pixel[:, a] = np.arange(shape[a])
        want[ctypes[a]] = None if turned and a < 2 else w.wcs_pix2world(pixel, 0)[:, a]
    case(f"{k}.fits", want)

    # NIfTI: the affine of nibabel, where it turns no axis.
    shape = tuple(int(n) for n in rng.integers(2, 9, 4))
    affine = np.diag([*(rng.uniform(0.5, 3, 3) * rng.choice([1, -1], 3)), 1])
    affine[:3, 3] = rng.uniform(-90, 90, 3)
    if k == 5:
        affine[0, 1] = 0.4
    image = (nib.Nifti2Image if k % 2 else nib.Nifti1Image)(rng.random(shape).astype("f4"), None if k % 3 == 2 else affine)
    if k % 3 == 1:
        image.set_qform(affine if k != 7 else np.diag([1, 2, 3, 1]), 1)
        image.set_sform(None, 0)
    image.header["pixdim"][4], image.header["toffset"] = 1.5, 3
    nib.save(image, f"{k}.nii")
    m = nib.load(f"{k}.nii").affine
    straight = [np.count_nonzero(np.abs(m[a, :3]) > 1e-6) == 1 and np.count_nonzero(np.abs(m[:3, a]) > 1e-6) == 1 and abs(m[a, a]) > 1e-6 for a in range(3)]
    case(f"{k}.nii", {**{"xyz"[a]: m[a, a] * np.arange(shape[a]) + m[a, 3] if straight[a] else None for a in range(3)}, "t": 3 + 1.5 * np.arange(shape[3])})
tifffile.imwrite("o.ome.tif", np.zeros((3, 4, 5), "u1"), metadata={"axes": "ZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.25, "PhysicalSizeZ": 2.0})
case("o.ome.tif", {"z": 2.0 * np.arange(3), "y": 0.25 * np.arange(4), "x": 0.5 * np.arange(5)})
json.dump(cases, sys.stdout)
