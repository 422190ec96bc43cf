"""Executes a notebook with a kernel and prints what each of its cells gives, for kernel_test.go.

tutorial.py NOTEBOOK KERNEL

What differs from run to run is left out: numbers, names of folders, and how often a line is drawn anew.
"""

import json
import re
import sys

import nbformat
from nbclient import NotebookClient


def lines(text):
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[█ ]+", " ", text)
    text = re.sub(r"gonb_[0-9a-f]+", "gonb_0", text)
    text = re.sub(r"\d+(\.\d+)?", "0", text)
    return sorted({line.strip() for line in re.split(r"[\r\n]", text) if line.strip()})


notebook = nbformat.read(sys.argv[1], as_version=4)
notebook.cells = [cell for cell in notebook.cells if "gonbui/widgets" not in cell.source]  # which wait for a browser
for cell in notebook.cells:
    main = re.split("^%%$", cell.source, flags=re.M)
    if sys.argv[2] == "gonb" and len(main) == 2 and "gonbui." in main[1]:  # it drops what it has not read when the program ends
        cell.source += "\ngonbui.Sync()"
notebook.cells.insert(0, nbformat.v4.new_code_cell("%autoget"))
NotebookClient(notebook, kernel_name=sys.argv[2], timeout=600, allow_errors=True).execute()
cells = []
for cell in notebook.cells:
    if cell.cell_type != "code":
        continue
    shell = cell.source.startswith("!")  # which lists folders
    gives, text = {}, {}
    for output in cell.outputs:
        kind = output.output_type
        if kind == "stream":
            text[output.name] = text.get(output.name, "") + output.text
        elif kind == "error":
            gives["error"] = output.evalue
        elif cell.source != "%help":
            gives[" ".join(sorted(output.data))] = True
    for name in text:
        gives[name] = True if shell else lines(text[name])
    cells.append({"source": cell.source, "gives": gives})
json.dump(cells, sys.stdout, indent=1)
