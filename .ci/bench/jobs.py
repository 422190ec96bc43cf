"""The jobs of the benchmarks, in one place: what gonbext computes and what others do
beside it."""
from dataclasses import dataclass

from sizes import COLUMNS, IMAGE, LARGE, OBJECT, OBJECT_CHUNK, ROWS, SORTED, SQUARE

GONBEXT, TESTS, PYTHON, WORK = "{gonbext}", "{tests}", "{python}", "{work}"  # in commands
BENCHED = {"inside": ("oocore", "oocore/internal/exec", "oocore/internal/plan", "oocore/record"), "objects": ("oocore/cloud",)}  # packages whose test binaries a job runs


@dataclass(frozen=True)
class Contender:
    name: str
    mib: int  # the limit of its memory; 0 for none
    command: tuple[str, ...]
    benchmark: bool = False  # Go's: what it prints is the time, by operation

    @property
    def ours(self):
        return self.benchmark or GONBEXT in self.command


@dataclass(frozen=True)
class Least:
    """What a row cannot do without: bytes copied from the page cache, bytes decoded from zstd, bytes
    read from and written to the disk, operations of multiply-adds, and bytes in one direction of the network."""
    copy: float = 0
    zstd: float = 0
    read: float = 0
    write: float = 0
    fma: float = 0
    link: float = 0

    def seconds(self, limits):
        """What the machine takes for it at its limits, and which of them that is."""
        if self.link:
            return self.link / limits["link"], "the link"
        both = 2 * min(self.read, self.write)
        return max((self.copy / limits["copy"], "copies in memory"), (self.fma / limits["fma"], "multiply-adds"), (self.zstd / limits["zstd"], "decoding"),
                   (both / limits["both"] + (self.read - both / 2) / limits["read"] + (self.write - both / 2) / limits["write"], "the disk"))


ARRAY = ROWS * COLUMNS * 4  # bytes of acts.npy


@dataclass(frozen=True)
class Network:
    """An object store on this machine that answers each request later, by a link that all connections share."""
    delay: str
    rate: float  # bytes a second in each direction


@dataclass(frozen=True)
class Row:
    name: str
    inputs: tuple[str, ...]  # files that are read before each round, so that none finds them cold
    contenders: tuple[Contender, ...]
    check: tuple[str, ...] = ()  # the script that holds the first contender's output to NumPy
    make: tuple[str, ...] = ("peers.py", "make", WORK)  # the script that makes the inputs
    least: Least | None = None
    network: Network | None = None


def gonbext(mib, *arguments, name="gonbext", env=()):
    prefix = ("env", *env) if env else ()
    return Contender(name, mib, (*prefix, GONBEXT, "compute", "--fresh", "-o", f"{WORK}/out.npy", "--memory", f"{mib}MiB", *arguments))


def peer(name, mib, script, *arguments):
    return Contender(name, mib, (PYTHON, "{bench}/" + script, *arguments))


def of(name):
    return f"x={WORK}/{name}"


ROOTS = ("sqrt(x)", of("acts.npy"))
COLSTATS = ("where(first,mean(x,0),std(x,0))", of("acts.npy"), f"first={WORK}/first.npy")
FUSED = ("tanh(sqrt(x)*2+exp(-x))", of("acts.npy"))
HALF = ('astype(x,"float16")', of("acts.npy"))
COPY = Contender("cp", 512, ("cp", f"{WORK}/acts.npy", f"{WORK}/out.npy"))


def peers(job, mib, *names):
    return tuple(peer(name, mib, "peers.py", f"{job}.{name.lower()}", WORK) for name in names)


def rows_of_array(name, ours, *others, check=None, write=ARRAY):
    return Row(name, ("acts.npy",), (ours, *others), ("peers.py", f"check.{check or name}", WORK), least=Least(copy=ARRAY, write=write))


def bounded():
    """Inside kernel limits that are small budgets."""
    for mib in (256, 64):
        for name, arguments in (("roots", ROOTS), ("colstats", COLSTATS), ("fused", FUSED)):
            yield rows_of_array(f"{name}.{mib}", gonbext(mib, *arguments), check=name, write=0 if name == "colstats" else ARRAY)


def product(name, file, side):
    call = ("matmul(x,x)", of(file))
    yield Row(name, (file,), (gonbext(256, *call), peer("NumPy in memory", 0, "peers.py", f"{name}.numpy", WORK),
                              gonbext(256, *call, name="gonbext without a BLAS", env=("GONBEXT_BLAS=none",))), ("peers.py", f"check.{name}", WORK),
              least=Least(fma=2 * side**3, write=4 * side**2))


PIPE = 'curl -s "file://$1" | %s | "$2" -c "import sys\nwhile sys.stdin.buffer.read(1 << 20): pass"'


def pipes():
    """From a download to a program, past a command that computes and past one that does not; at the command's default budget too."""
    for name, memory in (("pipe", "--memory 64MiB"), ("pipe.default", "")):
        words = ("bash", f"{WORK}/large.npy", PYTHON)
        yield Row(name, ("large.npy",), (Contender("gonbext", 0, ("bash", "-c", PIPE % f'"$3" compute "sqrt(x)" x=- -o - --quiet {memory}', *words, GONBEXT)),
                                         Contender("cat", 0, ("bash", "-c", PIPE % "cat", *words))))


def stores():
    """Writing and reading 2 GiB of pictures."""
    make = ("stores.py", "make", WORK)
    chunks = ("--chunks", "1x1024x1024")
    for name, codec, layout in (("none", "none", chunks), ("zstd1", "zstd:1", chunks), ("zstd3", "zstd:3", chunks),
                                ("bloscz", "blosc:zstd:1:shuffle", chunks), ("lz4", "blosc:lz4:5:shuffle", chunks),
                                ("shards", "zstd:1", ("--chunks", "1x256x256", "--shards", "4x1024x1024"))):
        others = [p for p in ("zarr", "tensorstore", "blosc2") if (name, p) != ("shards", "blosc2")]
        write = (GONBEXT, "convert", f"{WORK}/field.npy", f"{WORK}/out.zarr", "--fresh", "--memory", "512MiB", *layout, "--codec", codec)
        yield Row(f"write.{name}", ("field.npy",), (Contender("gonbext", 512, write), *(peer(p, 512, "stores.py", "write", p, name, WORK) for p in others)),
                  ("stores.py", "check", "gonbext", name, WORK), make)
        read = (GONBEXT, "compute", "max(x)", of(f"read-{name}.zarr"), "--memory", "512MiB")
        yield Row(f"read.{name}", (f"read-{name}.zarr", f"read-{name}.b2nd"),
                  (Contender("gonbext", 512, read), *(peer(p, 512, "stores.py", "read", p, name, WORK) for p in others)), make=make)


def rechunk():
    convert = (GONBEXT, "convert", f"{WORK}/acts.npy", f"{WORK}/out.zarr", "--fresh", "--memory", "512MiB", "--chunks", f"{ROWS}x8", "--codec", "none")
    yield Row("rechunk", ("acts.npy",), (Contender("gonbext", 512, convert), COPY, *(peer(p.capitalize(), 0, "stores.py", "rechunk", p, "none", WORK) for p in ("dask", "cubed"))),
              ("stores.py", "check", "gonbext", "rechunk", WORK), least=Least(copy=ARRAY, write=ARRAY))


LAYOUTS = {"rows": f"{min(16384, ROWS)}x{COLUMNS}", "columns": f"{ROWS}x8", "blocks": f"{min(65536, ROWS)}x64"}  # chunks of Zarr, uncompressed; npy is the fourth


def layouts():
    """All pairs of layouts but npy and chunks of rows, which differ in nothing."""
    for a in ("npy", *LAYOUTS):
        for b in ("npy", *LAYOUTS):
            if a == b or {a, b} == {"npy", "rows"}:
                continue
            source = "acts.npy" if a == "npy" else f"{a}.zarr"
            out = ("out.npy",) if b == "npy" else ("out.zarr", "--chunks", LAYOUTS[b], "--codec", "none")
            convert = (GONBEXT, "convert", f"{WORK}/{source}", f"{WORK}/{out[0]}", "--fresh", "--memory", "512MiB", *out[1:])
            yield Row(f"{a}.{b}", (source, "acts.npy"), (Contender("gonbext", 512, convert), COPY, peer("TensorStore", 512, "stores.py", f"{a}.{b}", "tensorstore", "", WORK)),
                      ("stores.py", "check", "gonbext", "rows" if b == "npy" else "layouts", WORK), ("stores.py", "layouts", WORK), Least(copy=ARRAY, write=ARRAY))


def rows():
    convert = (GONBEXT, "convert", f"{WORK}/blocks.zarr", f"{WORK}/out.npy", "--fresh", "--memory", "512MiB")
    others = (peer(n, mib, "stores.py", "rows", p, "zstd1", WORK) for n, mib, p in (("zarr-python", 512, "zarr"), ("TensorStore", 512, "tensorstore"), ("Dask", 0, "dask")))
    yield Row("rows", ("blocks.zarr",), (Contender("gonbext", 512, convert), *others), ("stores.py", "check", "gonbext", "rows", WORK), ("stores.py", "blocks", WORK),
              Least(zstd=ARRAY, write=ARRAY))


def operation(name, inputs, ours, *others, make=None, least=None):
    """A row of operations.py; others are (name, MiB, the peer's name there)."""
    make = make or name
    return Row(name, inputs, (ours, *(peer(n, mib, "operations.py", f"{name}.{p}", WORK) for n, mib, p in others)),
               ("operations.py", f"check.{make}", WORK), ("operations.py", f"make.{make}", WORK), least)


def filters():
    for name, call in (("median", "median_filter(x,5)"), ("gaussian", "gaussian_filter(x,2)"), ("convolve", "convolve(x,w)")):
        weights = (f"w={WORK}/weights.npy",) if name == "convolve" else ()
        others = (("SciPy oaconvolve", 512, "transforms"),) if name == "convolve" else (("SciPy", 512, "scipy"), ("Dask", 0, "dask"))
        yield operation(name, ("image.npy",), gonbext(512, call, of("image.npy"), *weights), *others,
                        least=Least(copy=4 * IMAGE**2, write=4 * IMAGE**2))


# Lines of operations, and of NumPy or SciPy in memory, of the arrays that operations.py makes.
SAMPLES = (
    ("downsample", "downsample(image,4,4)", "image.reshape(len(image)//4,4,-1,4).mean((1,3))", "image"),
    ("coarsen", 'coarsen(image,"mean",4,4)', "image.reshape(len(image)//4,4,-1,4).mean((1,3))", "image"),
    ("isin", "isin(ints,list)", "np.isin(ints,list)", "ints", "list"),
    ("searchsorted", "searchsorted(list,ints)", "np.searchsorted(list,ints)", "ints", "list"),
    ("unique", "unique(few)", "np.unique(few)", "few"),
    ("fft.last", "fft(waves)", "fft.fft(waves,workers=-1)", "waves"),
    ("fft.first", "fft(waves,8192,0)", "fft.fft(waves,axis=0,workers=-1)", "waves"),
)
PRODUCTS = (
    ("float64", "matmul(double,double)", "double@double", "double"),
    ("tall", "matmul(tall,thin)", "tall@thin", "tall", "thin"),
    ("gram", "matmul(transpose(tall,1,0),tall)", "tall.T@tall", "tall"),
    ("batched", "matmul(batch,batch)", "batch@batch", "batch"),
    ("int32", "matmul(whole,whole)", "whole@whole", "whole"),
    ("float16", "matmul(half,half)", "(half.astype('f4')@half.astype('f4')).astype('f2')", "half"),
)
# Arrays with axes of a few elements.
SHORT = (
    ("short.products4", "matmul(small,small)", "small@small", "small"),
    ("short.products32", "matmul(middle,middle)", "middle@middle", "middle"),
    ("short.fft", "fft(narrow,0,0)", "fft.fft(narrow,axis=0,workers=-1)", "narrow"),
    ("short.sort", "sort(narrow,0)", "np.sort(narrow,0)", "narrow"),
    ("short.transpose", "transpose(photo)", "np.ascontiguousarray(photo.T)", "photo"),
    ("short.repeat", "repeat(photo,2,2)", "np.repeat(photo,2,2)", "photo"),
    ("short.take", "take(photo,channels,2)", "np.take(photo,channels,2)", "photo", "channels"),
)


def lines(table):
    for name, ours, theirs, *names in table:
        files = tuple(f"{n}.npy" for n in names)
        yield Row(name, files, (gonbext(256, ours, *(f"{n}={WORK}/{n}.npy" for n in names)), peer("in memory", 0, "operations.py", "line.memory", WORK, theirs)),
                  ("operations.py", "check.line", WORK, theirs), ("operations.py", "make.line", WORK, *names))


def tensordot():
    """Two tensors over two axes each."""
    for a, b in ("01", "02", "12"):
        yield operation(f"tensordot{a}{b}", ("a.npy", "b.npy", "a.b2nd", "b.b2nd"),
                        gonbext(256, f"tensordot(a,b,{a},{b},{a},{b})", f"a={WORK}/a.npy", f"b={WORK}/b.npy"), ("Blosc2", 0, "blosc2"), ("Dask", 0, "dask"))


CP = 'cp(x,8,"iterations=10","tolerance=-1","errors")'
TUCKER = 'tucker(x,8,8,8,"iterations=5","tolerance=-1","errors")'


def decomp():
    yield operation("cp", ("cube.npy",), gonbext(512, CP, of("cube.npy")), ("TensorLy", 0, "tensorly"))
    yield operation("tucker", ("cube.npy",), gonbext(512, TUCKER, of("cube.npy")), ("TensorLy", 0, "tensorly"))


def huge():
    for name, call in (("huge.cp", CP), ("huge.tucker", TUCKER)):
        yield operation(name, ("huge.npy",), gonbext(1024, call, of("huge.npy")), make="huge")


def checkpoint():
    """A checkpoint of a language model, to float16, to a GGUF file in blocks of 8 bits, and with an adapter."""
    base, out = f"{WORK}/checkpoint/model.safetensors.index.json", f"{WORK}/out.safetensors.index.json"
    copy = Contender("cp", 512, ("cp", "-r", f"{WORK}/checkpoint", f"{WORK}/out.checkpoint"))
    for name, words in (("float16", ("convert", base, out, "--dtype", "float16")), ("q8_0", ("convert", base, f"{WORK}/out.gguf", "--codec", "q8_0")),
                        ("lora", ("merge", base, "--lora", f"{WORK}/adapter", "-o", out))):
        yield Row(f"checkpoint.{name}", ("checkpoint",), (Contender("gonbext", 512, (GONBEXT, *words, "--fresh", "--memory", "512MiB")), copy,
                                                          peer("script", 0, "checkpoint.py", name, WORK)),
                  ("checkpoint.py", f"check.{name}", WORK), ("checkpoint.py", "make", WORK))


def small(many):
    """Ten or a hundred thousand files, and chunks, of 50 elements each."""
    yield operation(f"{many}files", (), gonbext(256, "mean(x,1)", f"x={WORK}/{many}files/*.npy?axis=0"), ("NumPy", 256, "numpy"))
    yield operation(f"{many}chunks", (), gonbext(256, "max(x)", of(f"{many}chunks.zarr")), ("TensorStore", 256, "tensorstore"))
    write = (GONBEXT, "convert", f"{WORK}/{many}chunks.npy", f"{WORK}/out.zarr", "--fresh", "--memory", "256MiB", "--chunks", "50", "--codec", "none")
    yield Row(f"write.{many}chunks", (), (Contender("gonbext", 256, write), peer("TensorStore", 256, "operations.py", f"{many}chunks.write", WORK)),
              make=("operations.py", f"make.{many}chunks", WORK))


def objects():
    """From and to an object store that is far away."""
    bytes, chunks = 4 * OBJECT[0] * OBJECT[1], ("--chunks", "x".join(map(str, OBJECT_CHUNK)), "--codec", "none")
    convert = (GONBEXT, "convert", "--fresh")
    jobs = (("read", (GONBEXT, "compute", "--fresh", "mean(x)", "x=s3://data/x.zarr"), {"TensorStore": "tensorstore", "zarr-python, obstore": "zarr"}),
            ("npy", (GONBEXT, "compute", "--fresh", "mean(x)", "x=s3://data/x.npy"), {"obstore": "obstore", "s5cmd": "s5cmd"}),
            ("local", (*convert, "s3://data/x.zarr", f"{WORK}/out.zarr", *chunks), {"s5cmd": "s5cmd"}),
            ("write", (*convert, f"{WORK}/x.npy", "s3://data/out.zarr", *chunks), {"TensorStore": "tensorstore", "zarr-python, obstore": "zarr", "s5cmd, one object": "s5cmd"}),
            ("copy", (*convert, "s3://data/x.zarr", "s3://data/out.zarr", *chunks), {"TensorStore": "tensorstore", "zarr-python, obstore": "zarr"}))
    for delay in ("20ms", "100ms"):
        for name, command, others in jobs:
            ours = [Contender("gonbext", mib, (*command, "--memory", f"{mib}MiB")) for mib in (512, 64)]
            yield Row(f"{name}.{delay}", ("x.npy",) if name == "write" else (), (*ours, *(peer(n, 0, "objects.py", f"{name}.{p}", WORK) for n, p in others.items())),
                      ("objects.py", "check", WORK) if name in ("write", "copy") else (), ("objects.py", "make", WORK), Least(link=bytes), Network(delay, 200e6))


def inside():
    """Parts of a run by themselves, by Go's benchmarks."""
    planning = ("a_chain_of_operations", "sums_with_its_own_roll", "squarings", "heat_equation_by_slices", "heat_equation_by_rolls", "differences_from_a_gaussian")
    for package, name in (("exec", "TaskOverhead"), ("plan", "PlanAMillionChunks"), ("record", "Task"), *(("oocore", f"PlanIterations/{p}") for p in planning)):
        pattern = "/".join(f"^{part}$" for part in ("Benchmark" + name).split("/"))
        command = (f"{TESTS}/{package}.test", "-test.run=^$", f"-test.bench={pattern}", "-test.benchtime=0.5s")
        yield Row(f"{package}.{name.removeprefix('PlanIterations/')}", (), (Contender("gonbext, go test", 0, command, benchmark=True),), make=())


SQRT_ALONE = gonbext(512, *ROOTS, name="gonbext, sqrt alone")
AVX2 = tuple(gonbext(512, *of_array, name=f"gonbext, AVX2{name}", env=("GONBEXT_CPU=avx2",)) for of_array, name in ((FUSED, ""), (ROOTS, ", sqrt alone")))
JOBS = {
    "bounded": lambda: list(bounded()),
    "roots": lambda: [rows_of_array("roots", gonbext(512, *ROOTS), COPY, *peers("roots", 512, "NumPy"))],
    "colstats": lambda: [rows_of_array("colstats", gonbext(512, *COLSTATS), Contender("cat", 512, ("cat", f"{WORK}/acts.npy")), *peers("colstats", 512, "NumPy"), write=0)],
    "fused": lambda: [rows_of_array("fused", gonbext(512, *FUSED), SQRT_ALONE, *AVX2, *peers("fused", 512, "numexpr", "NumPy"), *peers("fused", 0, "Blosc2", "Dask"))],
    "half": lambda: [rows_of_array("half", gonbext(512, *HALF), *peers("half", 512, "NumPy"), COPY, write=ARRAY / 2)],
    "product": lambda: list(product("product", "sq.npy", SQUARE)),
    "large": lambda: list(product("large", "large.npy", LARGE)),
    "stores": lambda: list(stores()),
    "rechunk": lambda: list(rechunk()),
    "layouts": lambda: list(layouts()),
    "rows": lambda: list(rows()),
    "sort": lambda: [operation("sort", ("billion.npy",), gonbext(256, "sort(x)", of("billion.npy")), ("NumPy in memory", 0, "numpy"), ("Dask dataframe", 0, "dask"),
                               least=Least(copy=4 * SORTED, read=4 * SORTED, write=8 * SORTED))],  # whose runs are written and read once
    "filters": lambda: list(filters()),
    "samples": lambda: list(lines(SAMPLES)),
    "products": lambda: list(lines(PRODUCTS)),
    "short": lambda: list(lines(SHORT)),
    "tensordot": lambda: list(tensordot()),
    "svd": lambda: [Row("svd", ("acts.npy",), (gonbext(512, 'randomized_svd(x,20,2,1,"u")', of("acts.npy")), peer("Dask", 0, "operations.py", "svd.dask", WORK)),
                        ("operations.py", "check.svd", WORK))],
    "decomp": lambda: list(decomp()),
    "huge": lambda: list(huge()),
    "files": lambda: list(small("")),
    "manyfiles": lambda: list(small("many")),
    "checkpoint": lambda: list(checkpoint()),
    "objects": lambda: list(objects()),
    "inside": lambda: list(inside()),
    "pipes": lambda: list(pipes()),
}
