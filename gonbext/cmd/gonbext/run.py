"""Runs a notebook's cells in order, for gonbext run.

Progress goes to stderr, what the cells show as text to stdout. The exit status
is 1 after a cell that failed, whose error is on stderr; nothing is written
then.
"""

import sys

sys.path = [p for p in sys.path if p]  # no modules of the present folder

import argparse
import os
import tempfile

import nbformat
import zmq
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from traitlets.config import Config


def title(cell):
    lines = [line.strip() for line in cell.source.splitlines()]
    return next((line for line in lines if line not in ("", "%%")), "")[:60]


def show(output):
    kind = output.output_type
    if kind == "stream":
        to = sys.stderr if output.name == "stderr" else sys.stdout
        to.write(output.text)
    elif kind in ("display_data", "execute_result"):
        text = output.data.get("text/plain", "")
        sys.stdout.write(text if not text or text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def write(path, text):
    """Writes a file whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, part = tempfile.mkstemp(dir=folder, prefix="." + os.path.basename(path) + "-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def connection(folder):
    """The kernel listens on sockets in folder, which is this user's alone, rather than on ports,
    which others can take first."""
    if not zmq.has("ipc"):
        return Config()
    return Config(KernelManager={"transport": "ipc", "connection_file": os.path.join(folder, "k.json")})


def main():
    p = argparse.ArgumentParser()
    p.add_argument("notebook")
    p.add_argument("--output", default="")
    p.add_argument("--html", default="")
    p.add_argument("--kernel", required=True)
    p.add_argument("--folder", required=True, help="that paths are relative to: Python itself runs in another, since nbconvert runs templates of its working directory")
    a = p.parse_args()
    path = os.path.abspath(os.path.join(a.folder, a.notebook))

    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as e:
        sys.exit(f"gonbext: {a.notebook} is not a notebook: {e}".splitlines()[0])
    count = sum(1 for c in notebook.cells if c.cell_type == "code" and c.source.strip())
    done = 0

    def started(cell, cell_index):
        nonlocal done
        if cell.cell_type == "code" and cell.source.strip():
            done += 1
            print(f"[{done}/{count}] {title(cell)}", file=sys.stderr, flush=True)

    def executed(cell, cell_index, execute_reply):
        for output in cell.outputs:
            show(output)

    folder = os.path.dirname(path)
    with tempfile.TemporaryDirectory(prefix="gx-") as sockets:  # names of sockets have to be short
        client = NotebookClient(
            notebook,
            timeout=None,
            kernel_name=a.kernel,
            resources={"metadata": {"path": folder}},
            on_cell_execute=started,
            on_cell_executed=executed,
            config=connection(sockets),
        )
        try:
            client.execute()
        except CellExecutionError as e:
            # The cell's own outputs have been shown; a compile error is only here.
            errors = [o for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "error"]
            why = "\n".join(errors[-1].traceback) if errors else e.evalue
            sys.exit(f"gonbext: cell {done} of {a.notebook} failed: {why.strip()}")
        except DeadKernelError:
            sys.exit(f"gonbext: the kernel died in cell {done} of {a.notebook}")
        except RuntimeError as e:
            sys.exit(f"gonbext: the kernel of {a.notebook} does not start: {e}")
        except KeyboardInterrupt:
            sys.exit(f"gonbext: interrupted in cell {done} of {a.notebook}")

    for cell in notebook.cells:  # progress that a report below has taken the place of is empty
        if "outputs" in cell:
            cell.outputs = [o for o in cell.outputs if o.output_type != "display_data" or o.data]

    try:
        if a.output:
            write(os.path.join(a.folder, a.output), nbformat.writes(notebook) + "\n")
        if a.html:
            from nbconvert import HTMLExporter

            page, _ = HTMLExporter().from_notebook_node(notebook)
            write(os.path.join(a.folder, a.html), page)
    except OSError as e:
        sys.exit(f"gonbext: the executed notebook could not be written: {e.strerror}")


if __name__ == "__main__":
    main()
