"""Has a Dask scheduler answer requests, which are lines of JSON, by the program in the second argument. It is run by the user's own Python."""
import json, os, pickle, signal, socket, struct, sys


class Program:
    """Pickles as the program's function answer."""
    def __reduce__(self):
        return eval, (f"(lambda names: exec({sys.argv[2]!r}, names) or names['answer'])({{'__name__': 'gonbext_on_dask'}})",)


def send(to, message):
    import msgpack
    frame = msgpack.packb(message)
    to.sendall(struct.pack("<3Q", 16 + len(frame), 1, len(frame)) + frame)


def receive(file):
    """Returns the frames of a message."""
    def exactly(n):
        if len(data := file.read(n)) < n:
            raise EOFError("the scheduler has closed the connection")
        return data
    n, = struct.unpack("<Q", exactly(8))
    packed = exactly(n)
    count, = struct.unpack_from("<Q", packed)
    lengths = struct.unpack_from(f"<{count}Q", packed, 8)
    packed = packed[8 * (1 + count):]
    packed += exactly(sum(lengths) - len(packed))
    ends = [sum(lengths[:i + 1]) for i in range(count)]
    return [packed[end - length:end] for end, length in zip(ends, lengths)]


def connect(address):
    """Returns a connection to the scheduler, or None where that or this Python does not speak the protocol that is known here."""
    try:
        import msgpack
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        to = socket.create_connection((host.strip("[]"), int(port)), 3)
        file = to.makefile("rb")
        send(to, {"compression": None, "python": sys.version_info[:3], "pickle-protocol": 4})
        if msgpack.unpackb(receive(file)[0])["pickle-protocol"] < 4:
            return None
    except Exception:
        return None
    to.settimeout(None)
    return to, file


def ask(address, *args):
    """Returns what the program answers. Importing distributed takes longer than most of what is asked, and is done where nothing else helps."""
    if known := connect(address):
        to, file = known
        with to, file:
            send(to, {"op": "run_function", "function": pickle.dumps(Program(), 4), "args": pickle.dumps(args, 4), "wait": True, "serializers": ["pickle"]})
            frames = receive(file)
            if len(frames) > 2:
                return pickle.loads(frames[2])  # after the message and the header of what it has
            raise RuntimeError(f"the scheduler answers {frames[0]!r}")
    try:
        from distributed import Client
    except ImportError:
        sys.exit(f"{sys.executable} has no package distributed: pip install distributed, or name another Python in GONBEXT_PYTHON")
    with Client(address, timeout="10s", set_as_default=False) as client:
        names = {"__name__": "gonbext_on_dask"}
        exec(sys.argv[2], names)
        return client.run_on_scheduler(names["answer"], *args)


def main(address):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for gonbext
    env = {k: v for k, v in os.environ.items() if k.startswith("GONBEXT_")}
    for line in sys.stdin:
        print(ask(address, json.loads(line), env), flush=True)


try:
    main(sys.argv[1])
except Exception as e:
    sys.exit(f"{type(e).__name__}: {e}")
