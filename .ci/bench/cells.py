"""Times cells in two kernels: gonbext, and GoNB by itself, which gonbext's relay stands in front of."""
import glob, json, os, statistics, subprocess, time
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

def run(client, code):
    start = time.perf_counter()
    reply = client.execute_interactive(code, output_hook=lambda m: None, timeout=120)
    seconds = time.perf_counter() - start
    assert reply["content"]["status"] == "ok", reply["content"]
    return seconds

def median(name, values):
    print(f"{name:34s} {1000 * statistics.median(values):8.2f} ms")
    return statistics.median(values)

data = os.environ["JUPYTER_DATA_DIR"]
tools = sorted(glob.glob(os.path.expanduser(os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/gonbext/tools-*/gonb")))[-1]
os.makedirs(f"{data}/kernels/bare", exist_ok=True)
with open(f"{data}/kernels/bare/kernel.json", "w") as f:
    json.dump({"argv": [tools, "--kernel", "{connection_file}"], "display_name": "GoNB", "language": "go"}, f)

body = 'x := oocore.FromSlice([]float32{1, 2, 3})\n_, err := x.Sqrt().Save(context.Background(), "%s")\nif err != nil { panic(err) }'
imports = 'import ("context"; "github.com/gonbext/gonbext/oocore")\n'
plain, magic, relayed, bare = [], [], [], []
manager, client = start_new_kernel(kernel_name="gonbext")
gonb, direct = start_new_kernel(kernel_name="bare", stderr=subprocess.DEVNULL)
try:
    run(client, imports + "%%\n" + body % "warm.npy"), run(client, imports + "%%memory --budget 64MiB\n" + body % "warm.npy"), run(direct, "!true")
    for i in range(25): # every cell differs, so that none is compiled before
        plain.append(run(client, imports + "%%\n" + body % f"a{i}.npy"))
        magic.append(run(client, imports + "%%memory --budget 64MiB\n" + body % f"b{i}.npy"))
    for i in range(200):
        relayed.append(run(client, "%env GONBEXT_CELLS 1"))
        bare.append(run(direct, "%env GONBEXT_CELLS 1"))
finally:
    manager.shutdown_kernel(), gonb.shutdown_kernel()
    for f in glob.glob("[ab][0-9]*.npy") + ["warm.npy"]:
        if os.path.exists(f): os.remove(f)
a, b = median("plain cell", plain), median("%%memory cell", magic)
print(f"{'%%memory adds':34s} {1000 * (b - a):8.2f} ms")
a, b = median("a cell of %env, GoNB by itself", bare), median("the same through the relay", relayed)
print(f"{'the relay adds':34s} {1000 * (b - a):8.2f} ms")
