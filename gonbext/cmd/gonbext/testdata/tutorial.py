"""Executes a notebook with a kernel and prints what each of its cells gives, for kernel_test.go.

tutorial.py NOTEBOOK KERNEL
"""

import json
import re
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
notebook.cells.insert(0, nbformat.v4.new_code_cell("%autoget"))
NotebookClient(notebook, kernel_name=sys.argv[2], timeout=600, allow_errors=True).execute()
cells = []
for cell in notebook.cells:
    if cell.cell_type != "code":
        continue
    given = {}
    for output in cell.outputs:
        kind = output.output_type
        if kind == "stream":
            kind = output.name
            given[kind] = given.get(kind, "") + output.text
        elif kind == "error":
            given[kind] = output.evalue
        else:
            given[" ".join(sorted(output.data))] = given.get(" ".join(sorted(output.data)), 0) + 1
    cells.append({"source": cell.source, "gives": given})
json.dump(cells, sys.stdout, indent=1)
