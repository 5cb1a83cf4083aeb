"""Builds the pages of the API into a folder: python docs/api.py DIR"""

import subprocess
import sys
import warnings
from inspect import cleandoc, signature
from pathlib import Path

import pdoc

import mireg

warnings.simplefilter("error")

# Options are described in one place, the command line.
for function in (mireg.register, mireg.deform, mireg.mesh, mireg.template, mireg.apply, mireg.metric, mireg.evaluate):
    line = [sys.executable, "-m", "mireg._command", function.__name__, "--help"]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    lead = "The options as the command line has them, where ``--out``, ``--write``, ``--quiet`` and ``--json`` are its own:"
    function.__doc__ = f"{cleandoc(function.__doc__)}\n\nOptions\n-------\n{lead}\n\n```text\n{told}```"

# Results come from functions; nobody makes them.
for result in (mireg.Registration, mireg.Deformation, mireg.Mesh, mireg.Template, mireg.Result):
    result.__init__.__doc__ = "@private"

# Nor does anybody give an image what only mireg knows.
made = signature(mireg.Image.__init__)
shown = [parameter for name, parameter in made.parameters.items() if not name.startswith("_")]
mireg.Image.__init__.__signature__ = made.replace(parameters=shown)

pdoc.render.configure(docformat="numpy", show_source=False, footer_text=f"mireg {mireg.__version__}")
pdoc.pdoc("mireg", output_directory=Path(sys.argv[1]))
