"""What `mireg batch --bids` writes, before the validator of BIDS: pip install bids-validator-deno."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import head

pytestmark = pytest.mark.skipif(shutil.which("bids-validator-deno") is None, reason="needs bids-validator-deno")


def faults(dataset: Path) -> list[tuple[str, str]]:
    """What the validator calls errors, and where; warnings ask for what only people know, such as authors."""
    words = ["bids-validator-deno", dataset, "--format", "json", "--ignoreWarnings"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300)
    issues = json.loads(ended.stdout)["issues"]["issues"]
    return [(issue["code"], issue["location"]) for issue in issues]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A dataset of two subjects."""
    folder = tmp_path / "raw"
    description = {"Name": "Heads", "BIDSVersion": "1.10.0", "DatasetType": "raw"}
    for subject in ("sub-01", "sub-02"):
        anat = folder / subject / "anat"
        anat.mkdir(parents=True)
        head(anat / f"{subject}_T1w.nii.gz", np.zeros(3), False)
        head(anat / f"{subject}_T2w.nii.gz", np.array([3.0, -2.0, 4.0]), True)
    (folder / "dataset_description.json").write_text(json.dumps(description))
    (folder / "README").write_text("Heads that were made up to test mireg.")
    return folder


def test_the_validator_finds_nothing_wrong(raw: Path) -> None:
    assert faults(raw) == []
    patterns = ["--fixed", f"{raw}/sub-*/anat/*_T1w.nii.gz", "--moving", f"{raw}/sub-*/anat/*_T2w.nii.gz"]
    out = raw.parent / "registered"
    subprocess.run(["mireg", "batch", *patterns, "--out", out, "--bids", "--quiet"], check=True, timeout=300)
    assert faults(out) == []

    # The validator ignores mireg's own names. Under a BIDS name, it also checks a moved image and its sidecar.
    shared = out / "sub-01" / "anat" / "sub-01_space-T1w_desc-mireg_T2w"
    shared.parent.mkdir()
    for end in (".json", ".nii.gz"):
        shutil.copy(out / "sub-01" / f"moved{end}", f"{shared}{end}")
    assert faults(out) == []
    Path(f"{shared}.json").write_text("{}")
    assert {code for code, _ in faults(out)} == {"SIDECAR_KEY_REQUIRED"}
