"""Runs a notebook and prints what its cells print. Usage: run_notebook.py NOTEBOOK SECONDS (for all of it)"""

import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
client = NotebookClient(notebook, timeout=int(sys.argv[2]), kernel_name="python3")
try:
    client.execute()
finally:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                print(output.text, end="")
