"""What the documentation shows works."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.filterwarnings("ignore")
def test_the_quick_start_runs(files, tmp_path, monkeypatch):
    for module in ("nibabel", "SimpleITK"):
        pytest.importorskip(module)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    for path, name in zip([*files, files[1]], ["ct.nii.gz", "mr.nii.gz", "labels.nii.gz"]):
        shutil.copy(path, name)
    names: dict = {}
    for block in blocks:
        exec(block, names)
    assert names["labels"].shape == names["found"].moved.shape
    assert names["again"].transform == names["found"].transform
    assert Path("mr_on_ct.nii.gz").exists() and Path("transform.tfm").exists()


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    notebook = json.loads((README.parent / "quickstart.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == 5
    names: dict = {}
    for cell in cells:
        exec(cell, names)
    picture = names["figure"]
    picture.canvas.draw()
    # The image drawn after registration matches the contours better than the one before.
    body, before, after = (names[name] for name in ("ct", "before", "found"))
    overlap = [((image.array > 150) & (body.array > 75)).sum() for image in (before, after.moved)]
    assert overlap[1] > 1.02 * overlap[0]
