"""Times cells and completions in gonbext, and cells in GoNB by itself, which gonbext's relay stands in front of."""
import glob, json, os, statistics, subprocess, time
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

def run(client, code):
    start = time.perf_counter()
    reply = client.execute_interactive(code, output_hook=lambda m: None, timeout=120)
    seconds = time.perf_counter() - start
    assert reply["content"]["status"] == "ok", reply["content"]
    return seconds

def complete(client, code):
    start = time.perf_counter()
    reply = client.complete(code, len(code), reply=True, timeout=120)
    seconds = time.perf_counter() - start
    assert reply["content"]["matches"], f"nothing completes {code}"
    return seconds

def median(name, values):
    values = sorted(values)
    print(f"{name:34s} {1000 * statistics.median(values):8.2f} ms, 95 % within {1000 * values[int(0.95 * (len(values) - 1) + 0.5)]:8.2f}")
    return statistics.median(values)

data = os.environ["JUPYTER_DATA_DIR"]
tools = sorted(glob.glob(os.path.expanduser(os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/gonbext/tools-*/gonb")))[-1]
os.makedirs(f"{data}/kernels/bare", exist_ok=True)
with open(f"{data}/kernels/bare/kernel.json", "w") as f:
    json.dump({"argv": [tools, "--kernel", "{connection_file}"], "display_name": "GoNB", "language": "go"}, f)

save = 'gonbext.Save(oocore.FromSlice([]float32{1, 2, 3}).Sqrt(), "%s")'
kinds = {
    "plain cell": lambda i: f"fmt.Println({i})",
    "with oocore": lambda i: f"oocore.FromSlice([]float32{{1, 2, {i}}}).Sqrt()",
    "a Save": lambda i: save % f"a{i}.npy",
    "the same under %%memory": lambda i: "%%memory --budget 64MiB\n" + save % f"b{i}.npy",
}
typed = ["oocore.Op", "x := oocore.Open(\"a.npy\")\nx.Sq", "oocore.FromSlice([]float32{1}).Me", "%foot", "strings.Rep"]
took, relayed, bare = {name: [] for name in [*kinds, "completion"]}, [], []
manager, client = start_new_kernel(kernel_name="gonbext")
gonb, direct = start_new_kernel(kernel_name="bare", stderr=subprocess.DEVNULL)
try:
    for cell in kinds.values():
        run(client, cell(-1))
    run(direct, "!true")
    for i in range(25): # every cell differs, so that none is compiled before
        for name, cell in kinds.items():
            took[name].append(run(client, cell(i)))
    for code in typed:
        complete(client, code)
    for i in range(25):
        took["completion"].append(complete(client, f"// {i}\n" + typed[i % len(typed)] if typed[i % len(typed)][0] != "%" else typed[i % len(typed)]))
    for i in range(200):
        relayed.append(run(client, "%env GONBEXT_CELLS 1"))
        bare.append(run(direct, "%env GONBEXT_CELLS 1"))
finally:
    manager.shutdown_kernel(), gonb.shutdown_kernel()
    for f in glob.glob("[ab][0-9]*.npy") + glob.glob("[ab]-1.npy"):
        if os.path.exists(f): os.remove(f)
print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
medians = {name: median(name, values) for name, values in took.items()}
print(f"{'%%memory adds':34s} {1000 * (medians['the same under %%memory'] - medians['a Save']):8.2f} ms")
a, b = median("a cell of %env, GoNB by itself", bare), median("the same through the relay", relayed)
print(f"{'the relay adds':34s} {1000 * (b - a):8.2f} ms")
