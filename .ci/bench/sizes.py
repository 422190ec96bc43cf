"""The sizes of the benchmark's arrays, which GONBEXT_BENCH_SCALE makes smaller: a
thousandth of the elements is enough to try a job."""
import os

SCALE = float(os.environ.get("GONBEXT_BENCH_SCALE", "1"))


def scaled(n, axes=1, least=64):
    """A length of one of so many axes that are scaled together."""
    return max(round(n * SCALE ** (1 / axes)), min(n, least))


ROWS, COLUMNS = scaled(3_075_200, least=2048), 512  # 6.3 GB of float32
SQUARE, LARGE = scaled(10_000, 2), scaled(20_000, 2)  # sides of products
PICTURES = scaled(512, least=8)  # of 1024 × 1024
SORTED = scaled(10**9, least=1 << 16)
IMAGE = scaled(30_000, 2) // 4 * 4  # the side of what is filtered
CUBE = scaled(600, 3, 32)  # the side of what tensordot multiplies
TENSOR = tuple(scaled(n, 3, 32) for n in (700, 600, 500))
HUGE = (12, scaled(15_000, 2), scaled(15_000, 2))
LAYERS = scaled(200, least=2)  # of a checkpoint of 20 GB
SMALL = {job: scaled(100_000 if job.startswith("many") else 10_000, least=100) for job in ("files", "manyfiles", "chunks", "manychunks")}
OBJECT, OBJECT_CHUNK = (scaled(524_288, least=4096), 1024), (2048, 1024)  # 2 GiB of float32 in an object store, in chunks of 8 MiB
