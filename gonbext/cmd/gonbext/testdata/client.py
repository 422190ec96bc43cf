"""A Jupyter client that drives the installed kernel, for kernel_test.go.

Each check prints one line when it holds; the first that does not ends the
script with its story.
"""

import glob
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from jupyter_client import KernelManager

LIMIT = 120  # seconds for one answer: the first cell compiles everything


def start():
    manager = KernelManager(kernel_name="gonbext")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=LIMIT)
    return manager, client


def shell(client, request):
    while True:
        m = client.get_shell_msg(timeout=LIMIT)
        if m["parent_header"].get("msg_id") == request:
            return m["content"]


def until_idle(client, request, again=None):
    outputs, end = [], time.monotonic() + LIMIT
    while True:
        try:
            m = client.get_iopub_msg(timeout=5 if again else LIMIT)
        except queue.Empty:
            if not again or time.monotonic() > end:
                raise
            again()
            continue
        if m["parent_header"].get("msg_id") != request:
            continue
        content = m["content"]
        if m["msg_type"] == "status":
            if content["execution_state"] == "idle":
                return outputs
            continue
        outputs.append((m["msg_type"], content))


def run(client, code):
    request = client.execute(code)
    outputs = until_idle(client, request)
    return shell(client, request), outputs


def text(outputs, name="stdout"):
    return "".join(c["text"] for kind, c in outputs if kind == "stream" and c["name"] == name)


def shown(outputs):
    return [(k, c) for k, c in outputs if k in ("display_data", "update_display_data")]


def require(name, holds, story=""):
    if not holds:
        sys.exit(f"FAILED {name}: {story}"[:5000])


def check(name, holds, story=""):
    require(name, holds, story)
    print("ok", name, flush=True)


def left_behind():
    """Processes of kernels, and files that GoNB and the relay make."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                if b"GONBEXT_TEST_CLIENT=" + str(os.getpid()).encode() not in f.read().split(b"\0"):
                    continue
            pid = path.split("/")[2]
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
            with open(f"/proc/{pid}/cmdline") as f:
                found.append(pid + " " + f.read().replace("\0", " "))
        except OSError:
            pass  # it has ended meanwhile
    return found + glob.glob(os.path.join(tempfile.gettempdir(), "gonb*"))


def gone(name):
    for _ in range(100):
        left = left_behind()
        if not left:
            break
        time.sleep(0.1)
    check(name + " leaves nothing behind", not left, left)


def cells(client):
    r, o = run(client, '%%\nfmt.Println("plain")')
    check("a plain cell", r["status"] == "ok" and text(o) == "plain\n", (r, o))
    r, o = run(client, 'import "github.com/gonbext/gonbext/oocore/dtype"\n%%\nfmt.Println(dtype.Float32)')
    check("the module, without a network", text(o) == "float32\n", (r, o))
    r, o = run(client, '%%\nfmt.Println("fine")\nvar y int = "s"\n')
    check("a compile error names the cell's line", "line 3: cannot use" in r["evalue"] and "main" not in "\n".join(r["traceback"]), r)
    r, o = run(client, "%%\n\nvar p *int\nfmt.Println(*p)")
    check("a panic names the cell's line", r["status"] == "error" and "Line 4" in text(o, "stderr"), o)
    r, o = run(client, "%%memory --budgt 1MiB\nx := 1")
    check("a wrong flag runs nothing", r["status"] == "error" and "--budget" in r["evalue"], r)
    r, o = run(client, '%%\nfmt.Println(strings.Repeat("x", 10<<20))')
    check("10 MiB of output", len(text(o)) == (10 << 20) + 1)
    r, o = run(client, '%%\nfor i := range 20000 { fmt.Println("line", i) }')
    check("20,000 lines", text(o) == "".join(f"line {i}\n" for i in range(20000)))
    last_values(client)
    statements(client)
    queued = ['%%memory --budget 64MiB\ngonbext.Save(oocore.Random(oocore.Float32, 7, 400, 100), "t.zarr", oocore.Chunks(100, 50))',
              "%chunks t.zarr", "%runs", "%chunks none.zarr"]
    requests = [client.execute(code, stop_on_error=False) for code in queued]
    saved, chunks, runs, none = [until_idle(client, q) for q in requests]
    replies = [shell(client, q)["status"] for q in requests]
    check("%chunks of what a queued cell makes", "8 chunks of 100 × 50 float32" in shown(chunks)[-1][1]["data"]["text/plain"], (saved, chunks))
    check("%runs", "random(400, 100) → t.zarr" in shown(runs)[-1][1]["data"]["text/plain"], runs)
    check("%chunks of nothing is an error", replies == ["ok", "ok", "ok", "error"] and [k for k, _ in none][-1] == "error", (replies, none))
    shutil.rmtree("t.zarr")
    requests = [client.execute(f"%%\nfmt.Println({i})") for i in range(4)]
    check("queued cells", [text(until_idle(client, q)) for q in requests] == ["0\n", "1\n", "2\n", "3\n"])
    for q in requests:
        shell(client, q)


def last_values(client):
    """The value of a cell's last line, where the cell or one before it declares the function."""
    declare = "func doubled(x *oocore.Array) *oocore.Array { return x.Add(x) }"
    use = "%%\ny := doubled(oocore.Arange(0, 4, 1))\ny // doubled"
    requests = [client.execute(code, stop_on_error=False) for code in (declare, use)]
    o = [until_idle(client, q) for q in requests][1]
    for q in requests:
        shell(client, q)
    check("an array of a queued cell's function", "0  2  4  6" in str(shown(o)), o)
    r, o = run(client, "%%memory\ndoubled(oocore.Arange(0, 4, 1))")
    check("an array of an earlier cell's function", "0  2  4  6" in str(shown(o)), (r, o))
    r, o = run(client, '%%\nfmt.Println("fine")\nvar doubled int = "s"\n')
    check("a cell that does not compile", r["status"] == "error", r)
    r, o = run(client, "func doubled(x *oocore.Array) { nothing }")
    check("nor one that declares", r["status"] == "error", r)
    r, o = run(client, use)
    check("takes no function away", "0  2  4  6" in str(shown(o)), (r, o))
    r, o = run(client, "func doubled(x *oocore.Array) (*oocore.Array, error) { return x, nil }\n" + "%%\ndoubled(oocore.Arange(0, 4, 1))")
    check("one that is declared anew", r["status"] == "ok" and not o[1:], (r, o))
    r, o = run(client, "%%\nn := 3\nn * 2")
    check("a number", text(o) == "6\n", (r, o))


def statements(client):
    """Cells without a command: statements run, declarations stay, faults have the cell's own lines."""
    for code, want in {
        "fmt.Println(1)": "1\n",
        "1+1": "2\n",
        "x := 3": "",
        'y := 2\nfmt.Println(twice(y))\nfunc twice(n int) int { return 2 * n }': "4\n",
        "fmt.Println(twice(4))": "8\n",
        "var kept = twice(8)": "",
        "kept": "16\n",
        "x++\nmany := map[string][]int{\"a\": {x}}\nfmt.Println(x)": "4\n",
        "many[\"a\"][0] += kept\nfmt.Println(many, x)": "map[a:[20]] 4\n",
        "x = 100\nif x > 1 {\n\treturn\n}": "",
        "x": "100\n",
        "done := make(chan int)": "",
    }.items():
        r, o = run(client, code)
        check(f"{code!r}", r["status"] == "ok" and text(o) == want, (r, o))
    r, o = run(client, 'x = 7\npanic("after a change")')
    r, o = run(client, "x")
    check("a cell that fails leaves values as they were", text(o) == "100\n", (r, o))
    for code, want in (
        ("total := 10.5", ""),
        ("func doubling() float64 { return total * 2 }", ""),
        ("fmt.Println(doubling())", "21\n"),
        ('total := "text"', ""),
        ("fmt.Println(total)", "text\n"),
    ):
        r, o = run(client, code)
        check(f"{code!r}", r["status"] == "ok" and text(o) == want, (r, o))
    r, o = run(client, "doubling()")
    said = "\n".join(r.get("traceback", []))
    check("a function for which a value has another type", "Function doubling was written for total of type float64, which is a string since cell [" in said and "mismatched types" in said, said)
    r, o = run(client, "written := map[int]int{}\ngo func() {\n\tfor {\n\t\twritten[1]++\n\t}\n}()\nfmt.Println(1)")
    check("a goroutine that writes when its cell ends", r["status"] == "ok" and text(o) == "1\n", (r, o))
    r, o = run(client, "len(written)")
    check("and what it writes", "a goroutine of its cell still ran" in "\n".join(r.get("traceback", [])), r)
    run(client, "%rm total doubling written")
    r, o = run(client, "seven := oocore.Full(7.0, 2)\nshared := []*oocore.Array{seven.Add(1), seven}")
    r, o = run(client, "shared[0].Mul(seven)")
    check("arrays carry over", "56  56" in str(shown(o)), (r, o))
    r, o = run(client, "%who")
    check("%who", [c["data"]["text/plain"].split() for k, c in shown(o)] == [["many", "n", "seven", "shared", "x", "y"]], o)
    r, o = run(client, "oocore.Arange(0, 12, 1).Reshape(3, 4).Mean(0)")
    check("an array of a cell without a command", "4  5  6  7" in str(shown(o)), (r, o))
    r, o = run(client, 'gonbext.Save(oocore.Ones(oocore.Float32, 3, 4), "ones.npy")')
    check("a Save without a magic", "ones.npy: (3, 4) float32, 48 bytes in " in shown(o)[-1][1]["data"]["text/plain"], (r, o))
    os.remove("ones.npy")
    for code, says in {
        "fmt.Println(nobody)\nfmt.Println(nobody)": ["line 1: undefined: nobody", "(also line 2)"],
        "d := oocore.Ones(oocore.Float32, 3)\nd*2 + 1": ["line 2: invalid operation", ": d.Mul(2).Add(1)"],
        "for i in range(3):\n    print(i)": ["line 1: a loop over numbers", "The cell in Go:", "for i := range 3 {", "fmt.Println(i)"],
        "root = np.sqrt(2.0)": ["line 1: undefined: root", ": root := math.Sqrt(2.0)"],
        "fmt.Printl(1)": ["undefined: fmt.Printl", "Did you mean Println("],
        "fmt.Println(x)\nclose(done)": ["line 2: done of type chan int is not carried over from cell [", "a chan int has no meaning in another process", "          ^"],
        "a := oocore.Ones(oocore.Float32, 3)\nb := a.Sqr().Mean(0)": ["line 2: a.Sqr undefined", "           ^", "Did you mean Sqrt()"],
        "n := 1\nfunc late() int { return 3 }\nfmt.Println(n, nowhere)": ["line 3: undefined: nowhere", "               ^"],
        'fmt.Println("open"': ["line 1: syntax error: ( is not closed"],
    }.items():
        r, o = run(client, code)
        said = "\n".join(r.get("traceback", []))
        lacks = [s for s in says if s not in said] + [s for s in ("main.go", "package main", "flag.Parse", "func main") if s in said]
        check(f"what is wrong with {code!r}", r["status"] == "error" and not lacks, (lacks, said))
    r, o = run(client, "n := 0\nfunc f(n int) int {\n\treturn 1 / n\n}\nfmt.Println(n,\n\tf(n))")
    check("a panic in a cell of both", "Line 3 ]]" in text(o, "stderr"), o)
    r, o = run(client, "n := 0\nfunc g() {}\nfmt.Println(1 / n)")
    check("and among its statements", "Line 3 ]]" in text(o, "stderr"), o)
    r, o = run(client, 'oocore.Ones(oocore.Float32, 3).Reshape(5)\n\ngonbext.Show(oocore.Ones(oocore.Float32, 3).Reshape(5))')
    check("an error of oocore's has the cell's line", any(k == "error" and c["evalue"].endswith("(cell:3)") for k, c in o), o)


def input_(client):
    for code in (
        "%with_inputs\n!read name; echo got $name",
        'import "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.RequestInput("name?", false)\n'
        'var name string\nfmt.Scan(&name)\nfmt.Println("got", name)',
    ):
        request = client.execute(code, allow_stdin=True)
        client.get_stdin_msg(timeout=LIMIT)
        client.input("Ada")
        # GoNB notes who is to get an answer after it has asked, and drops one that comes before.
        o = until_idle(client, request, again=lambda: client.input("Ada"))
        check("input", "got Ada" in text(o), o)
        shell(client, request)


def requests(client):
    for ask, want in (
        (lambda: client.is_complete("x"), "status"),
        (client.comm_info, "comms"),
        (client.history, "history"),
    ):
        check(f"an answer with {want}", want in shell(client, ask()))
    c = shell(client, client.complete("%%mem", 5))
    check("Tab in a magic", c["matches"] == ["%%memory"] and (c["cursor_start"], c["cursor_end"]) == (0, 5), c)


def reports(client, folder):
    array = os.path.join(folder, "a.npy")
    save = f'gonbext.Save(oocore.Random(oocore.Float32, 1, 500000, 64), "{array}")'
    endings = {
        "ends": ("", "ok"),
        "panics": ('panic("oops")', "error"),
        "exits": ("os.Exit(3)", "error"),
        "is killed": ("syscall.Kill(os.Getpid(), syscall.SIGKILL)", "error"),
    }
    for name, (last, status) in endings.items():
        r, o = run(client, f"%%memory --budget 64MiB --fresh\n{save}\n{last}")
        d = shown(o)
        check(
            f"a report when the cell {name}",
            r["status"] == status and d and "Peak" in d[-1][1]["data"]["text/plain"] and o[-1] == d[-1],
            (r, [(k, str(c)[:300]) for k, c in o]),
        )
    for name, (code, ename, says) in {
        "outgrows its budget": ("%%memory --budget 64MiB\nvar all [][]byte\nfor {\n\tall = append(all, bytes.Repeat([]byte{1}, 1<<20))\n}", "MemoryError", "Out of memory: "),
        "outgrows it at once": ("%%memory --budget 64MiB\nfmt.Println(len(bytes.Repeat([]byte{1}, 4<<30)))", "MemoryError", "Out of memory: "),
        "saves what cannot be": (f"%%memory --budget 1KiB\n{save}", "Error", "needs a budget of"),
        "saves it without a magic": ('gonbext.Save(oocore.Ones(oocore.Float32, 3).Reshape(5), "none.npy")', "Error", "(cell:1)"),
        "calls what an earlier cell declares": ("failing()", "Error", "do not fill (5,)"),
    }.items():
        if code == "failing()":
            run(client, 'func failing() { gonbext.Save(oocore.Ones(oocore.Float32, 3).Reshape(5), "none.npy") }')
        r, o = run(client, code)
        errors = [c for k, c in o if k == "error"]
        same = len(errors) == 1 and all(errors[0][k] == r[k] for k in ("ename", "evalue", "traceback"))
        check(f"why a cell was ended that {name}", r["ename"] == ename and says in r["evalue"] and same and r["evalue"] not in text(o, "stderr"), (r, o))
    r, o = run(client, '%%memory --budget 64MiB\nctx := 1\nfmt.Println(ctx)')
    d = shown(o)
    check("a cell with a ctx of its own, and no run", text(o) == "1\n" and d and "Peak of the process" in d[-1][1]["data"]["text/plain"], o)


def interrupted(manager, client, folder):
    request = busy(client, folder)
    manager.interrupt_kernel()
    check("an interrupt ends the cell", shell(client, request)["status"] == "error")
    o = until_idle(client, request)
    check("a report when the cell is interrupted", "Peak" in str(o[-1]), o)
    r, o = run(client, '%%\nfmt.Println("alive")')
    check("and not the kernel", text(o) == "alive\n", o)
    r, o = run(client, "x")
    check("and values are as they were", text(o) == "100\n", (r, o))


def begun(client, request, mark=""):
    """Waits until a cell prints, and that has the mark."""
    said = []
    while True:
        m = client.get_iopub_msg(timeout=LIMIT)
        if m["parent_header"].get("msg_id") != request:
            continue
        if m["msg_type"] == "stream" and mark in m["content"]["text"]:
            return
        if m["msg_type"] in ("stream", "error"):
            said.append(m["content"])
        require("a cell that prints has not ended", m["content"].get("execution_state") != "idle", said)


def sleeping(seconds):
    out = subprocess.run(["pgrep", "-f", f"^sleep {seconds}$"], capture_output=True, text=True)
    return out.stdout.split()


def commands(manager, client):
    """An interrupt of !command ends it with its children, and nothing else."""
    run(client, "!sleep 7001 >/dev/null 2>&1 &")
    for name, code in {
        "a command": "!echo begun; sleep 7002; echo on",
        "a command's background": "!echo begun; sleep 7002 & sleep 7002; wait",
        "a command that ignores interrupts": "!trap '' INT; echo begun; sleep 7002; echo on",
        "what a command has left": "!echo begun; sleep 7002 &",
        "what a cell has started": '%%\nc := exec.Command("bash", "-c", "trap \'\' INT; echo begun; sleep 7002; wait")\nc.Stdout = os.Stdout\nc.Run()\n',
    }.items():
        request = client.execute(code)
        begun(client, request)
        while not sleeping(7002):
            time.sleep(0.05)
        manager.interrupt_kernel()
        o = until_idle(client, request)
        shell(client, request)
        check(f"an interrupt ends {name}", not sleeping(7002) and "on\n" not in text(o), (o, sleeping(7002)))
    check("but not what an earlier cell has left to run", len(sleeping(7001)) == 1)
    r, o = run(client, '%%\nfmt.Println("alive")')
    check("nor the kernel", text(o) == "alive\n", o)
    request = client.execute('%%\nctx := gonbext.Context()\nfmt.Println("begun")\n<-ctx.Done()\ntime.Sleep(time.Second)\nfmt.Println("done")')
    begun(client, request)
    manager.interrupt_kernel()
    o = until_idle(client, request)
    check("a cell that has asked for its context ends as it wants", shell(client, request)["status"] == "ok" and "done" in text(o), o)


def cluster(manager, client, folder):
    """An interrupt of a cell that waits for a cluster asks once whether its run is to go on."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        print("left out: a cluster, for want of Dask")
        return
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    started = []

    def dask(name, *args):
        log = open(os.path.join(folder, "dask.log"), "ab")
        started.append(subprocess.Popen([sys.executable, "-m", "distributed.cli." + name, *args, "--no-dashboard"], cwd=folder, stdout=log, stderr=log))

    try:
        dask("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
        for _ in range(2):
            dask("dask_worker", f"tcp://127.0.0.1:{port}", "--no-nanny", "--nthreads", "1", "--memory-limit", "1GB")
        require("a scheduler listens", waits(lambda: listens(port)))
        path = os.path.join(folder, "far.npy")
        cell = f'%%memory --on dask://127.0.0.1:{port} --budget 256MiB\ngonbext.Save(oocore.Random(oocore.Float64, 1, 4000000, 20000).Sum(0), "{path}")'
        for interrupts, says in ((1, "goes on by itself"), (2, "cancelled")):
            request = client.execute(cell)
            begun(client, request, "\r")  # what it says while it waits
            manager.interrupt_kernel()
            if interrupts == 2:
                time.sleep(1)
                manager.interrupt_kernel()
            o = until_idle(client, request)
            r = shell(client, request)
            check(f"{interrupts} interrupts of a cell that waits for a cluster", "interrupt again within" in text(o) and says in r["evalue"], (r, o))
            if interrupts == 1:
                run(client, f"!gonbext jobs cancel {path}")
            active = os.path.join(folder, ".far.npy.gonbext", "jobs", "run.json")
            check("and the run is cancelled", waits(lambda: not os.path.exists(active)))
        r, o = run(client, '%%\nfmt.Println("alive")')
        check("leave the kernel", text(o) == "alive\n", o)
    finally:
        for p in started:
            p.kill()
            p.wait()


def second(client):
    manager2, client2 = start()
    r, o = run(client2, '%%\nfmt.Println("second")')
    check("a second kernel beside the first", text(o) == "second\n")
    r, o = run(client2, "fmt.Println(x)")
    check("which has none of its values", "undefined: x" in str(r.get("evalue")), r)
    manager2.shutdown_kernel()
    client2.stop_channels()
    r, o = run(client, '%%\nfmt.Println("first")')
    check("and the first lives on", text(o) == "first\n")


def busy(client, folder):
    """Starts a cell that has made a run and goes on for an hour."""
    path = os.path.join(folder, "busy.npy")
    request = client.execute(
        f'%%memory --budget 64MiB --fresh\ngonbext.Save(oocore.Random(oocore.Float32, 1, 1000, 64), "{path}")\n'
        'fmt.Println("begun")\ntime.Sleep(time.Hour)'
    )
    begun(client, request)
    return request


def child_of(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return int(out.stdout.split()[0])


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def waits(holds):
    for _ in range(6000):
        if holds():
            return True
        time.sleep(0.01)
    return False


def reported(client):
    """Looks for a report among the outputs that have come."""
    while True:
        try:
            m = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            return False
        if "Peak" in str(m["content"].get("data", "")):
            return True


def deaths(folder):
    for name, kill in {
        "a killed GoNB": lambda pid: os.kill(child_of(pid), signal.SIGKILL),
        "SIGTERM": lambda pid: os.kill(pid, signal.SIGTERM),
        "SIGHUP": lambda pid: os.kill(pid, signal.SIGHUP),
    }.items():
        manager, client = start()
        busy(client, folder)
        kill(manager.provisioner.process.pid)
        check(name + " ends the kernel", waits(lambda: not manager.is_alive()))
        check(name + " leaves a report", reported(client))
        client.stop_channels()
        manager.cleanup_resources()
        gone(name)


def main():
    os.environ["GONBEXT_TEST_CLIENT"] = str(os.getpid())
    os.environ["GOPROXY"] = "off"
    os.environ["GOFLAGS"] = "-mod=mod"  # which a workspace refuses
    manager, client = start()
    cells(client)
    input_(client)
    requests(client)
    with tempfile.TemporaryDirectory() as folder:
        reports(client, folder)
        interrupted(manager, client, folder)
        commands(manager, client)
        cluster(manager, client, folder)
    second(client)
    manager.restart_kernel()
    client.wait_for_ready(timeout=LIMIT)
    r, o = run(client, '%%\nfmt.Println("again")')
    check("a restart", text(o) == "again\n", o)
    r, o = run(client, "fmt.Println(x)")
    check("after which no values are left", "undefined: x" in str(r.get("evalue")), r)
    r, o = run(client, "func doubled(x *oocore.Array) {}\n%%\ndoubled(nil)")
    check("after which nothing is declared", r["status"] == "ok", r)
    manager.shutdown_kernel()
    client.stop_channels()
    # This process has the variable too, but was started without it.
    gone("a shutdown")
    with tempfile.TemporaryDirectory() as folder:
        deaths(folder)


main()
