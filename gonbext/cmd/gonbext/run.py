"""Runs a notebook's cells in order, for gonbext run.

Progress goes to stderr, what the cells show as text to stdout. The exit status
is 1 after a cell that failed, whose error is on stderr; the notebook is written
all the same, with the error in its place.
"""

import sys

sys.path = [p for p in sys.path if p]  # no modules of the present folder

import argparse
import json
import os
import re
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


def literal(text):
    """A parameter as Go writes it: numbers and truth values as they are, all else in quotes."""
    return text if re.fullmatch(r"true|false|[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) else json.dumps(text)


def set_parameters(notebook, parameters):
    """Puts a cell that sets the parameters behind the one with the tag parameters."""
    tagged = [i for i, c in enumerate(notebook.cells) if c.cell_type == "code" and "parameters" in c.metadata.get("tags", [])]
    if not tagged:
        sys.exit("gonbext: no cell of the notebook has the tag parameters, which -p sets the variables of")
    cell = nbformat.v4.new_code_cell("\n".join(f"{name} = {literal(value)}" for name, value in parameters))
    cell.metadata["tags"] = ["injected-parameters"]
    notebook.cells.insert(tagged[0] + 1, cell)


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
    p.add_argument("--allow-errors", action="store_true")
    p.add_argument("--parameter", nargs=2, action="append", default=[])
    p.add_argument("--kernel", required=True)
    p.add_argument("--folder", required=True, help="that paths are relative to: Python itself runs in another, since nbconvert runs templates of its working directory")
    a = p.parse_args()
    path = os.path.abspath(os.path.join(a.folder, a.notebook))

    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as e:
        sys.exit(f"gonbext: {a.notebook} is not a notebook: {e}".splitlines()[0])
    if a.parameter:
        set_parameters(notebook, a.parameter)
    count = sum(1 for c in notebook.cells if c.cell_type == "code" and c.source.strip())
    done, running = 0, None

    def started(cell, cell_index):
        nonlocal done, running
        running = cell
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
            allow_errors=a.allow_errors,
            kernel_name=a.kernel,
            resources={"metadata": {"path": folder}},
            on_cell_execute=started,
            on_cell_executed=executed,
            config=connection(sockets),
        )
        why = None
        try:
            client.execute()
        except CellExecutionError as e:
            # The cell's own outputs have been shown; a compile error is only here.
            errors = [o for o in running.outputs if o.output_type == "error"]
            text = "\n".join(errors[-1].traceback) if errors else e.evalue
            why = f"gonbext: cell {done} of {a.notebook} failed: {text.strip()}"
        except DeadKernelError:
            why = f"gonbext: the kernel died in cell {done} of {a.notebook}"
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
    if why:
        sys.exit(why)


if __name__ == "__main__":
    main()
