"""Templates: the bytes of the command line, resumed runs, kinds of image."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import Pair, command, scan

import mireg

OPTIONS = {"rounds": 2, "levels": [12, 6], "iterations": [8, 4], "smooth": 6, "backend": "cpu"}
WORDS = ["--rounds=2", "--levels=12,6", "--iterations=8,4", "--smooth=6", "--backend=cpu"]


@pytest.fixture(scope="module")
def three(pair: Pair, tmp_path_factory) -> list[str]:
    """Files of three scans of one kind."""
    folder = tmp_path_factory.mktemp("three")
    paths = []
    for number, shift in enumerate(([0.0, 0, 0], [4.0, -2, 1], [-3.0, 1, 2])):
        affine, shape = pair.affines[number % 2], pair.shapes[number % 2]
        image = mireg.Image(scan(affine, shape, np.array(shift), False), affine, frame="LPS")
        paths.append(str(folder / f"{number}.nii.gz"))
        image.save(paths[-1])
    return paths


@pytest.fixture(scope="module")
def typed(three, tmp_path_factory) -> Path:
    """What the command line leaves behind."""
    out = tmp_path_factory.mktemp("typed") / "out"
    ran = command("template", *three, "--out", out, *WORDS)
    assert ran.returncode == 0, ran.stderr
    return out


@pytest.fixture(scope="module")
def found(three) -> mireg.Template:
    return mireg.template(three, **OPTIONS)


def is_that_of_the_command_line(found: mireg.Template, typed: Path, folder: Path) -> None:
    """Byte by byte, and the report but for where and when it was made."""
    found.image.save(folder / "template.nii.gz")
    found.affine_mean.save(folder / "affine_mean.nii.gz")
    for number, transform in enumerate(found.transforms, 1):
        transform.save(folder / f"field_{number}.nii.gz")
    for name in ("template", "affine_mean", "field_1", "field_2", "field_3"):
        assert (folder / f"{name}.nii.gz").read_bytes() == (typed / f"{name}.nii.gz").read_bytes(), name
    written = json.loads((typed / "report.json").read_text())
    assert found.report.keys() == written.keys()
    for name in written.keys() - {"command", "seconds", "images", "resumed"}:
        assert found.report[name] == written[name], name
    for ours, theirs in zip(found.report["images"], written["images"], strict=True):
        assert {**ours, "file": ""} == {**theirs, "file": ""}


def test_a_template_is_that_of_the_command_line(found, typed, tmp_path):
    is_that_of_the_command_line(found, typed, tmp_path)
    assert found.report["resumed"] == 0 and found.trust == "passed" and found.warnings == []
    page = found.page()
    assert page.startswith("<!") and (typed / "report.html").read_text().count("<img") == page.count("<img") > 0
    assert "<iframe" in found._repr_html_() and "of 3 images, 2 rounds" in repr(found)


def test_images_in_memory_are_taken(three, typed, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    images = [nibabel.load(three[0]), mireg.Image.load(three[1]), three[2]]
    found = mireg.template(iter(images), **OPTIONS)
    assert type(found.image) is type(found.affine_mean) is nibabel.Nifti1Image
    assert np.array_equal(found.image.affine, images[0].affine) and found.image.get_data_dtype() == np.float32
    assert np.array_equal(found.image.get_fdata(), mireg.Image.load(typed / "template.nii.gz").array)
    found.transforms[2].save(tmp_path / "field.nii.gz")
    assert (tmp_path / "field.nii.gz").read_bytes() == (typed / "field_3.nii.gz").read_bytes()


def test_a_template_is_on_the_grid_of_like(three, tmp_path):
    sitk = pytest.importorskip("SimpleITK")
    like = sitk.Image([24, 22, 20], sitk.sitkUInt8)
    like.SetSpacing([6.0, 6, 6])
    like.SetOrigin([-69.0, -63, -57])
    options = {**OPTIONS, "rounds": 1}
    found = mireg.template([mireg.Image.load(path) for path in three[:2]], like=like, **options)
    assert isinstance(found.image, sitk.Image) and found.image.GetOrigin() == like.GetOrigin()
    sitk.WriteImage(like, str(tmp_path / "like.nii.gz"))
    paths = mireg.template(three[:2], like=tmp_path / "like.nii.gz", **options)
    assert np.array_equal(sitk.GetArrayFromImage(found.image).T, paths.image.array)
    # A point of the template goes to one point of the body, which lies 4, -2 and 1 mm elsewhere in the second image.
    ours, other = (transform.points([5.0, 5, 5], frame="LPS") for transform in found.transforms)
    assert np.allclose(other - ours, [4, -2, 1], atol=0.8)


def test_a_template_survives_pickling(found):
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is mireg.Template and again.transforms == found.transforms and again.report == found.report
    assert np.array_equal(again.image.array, found.image.array) and again.page() == found.page()
    assert np.array_equal(again.affine_mean.array, found.affine_mean.array) and repr(again) == repr(found)


class Enough(Exception):
    pass


def stopped(three: list[str], **options) -> None:
    """A run that is stopped in the second registration."""
    levels = []

    def stop(level, value):
        levels.append(level)
        if sorted(levels) != levels:
            raise Enough

    with pytest.raises(Enough):
        mireg.template(three, progress=stop, **OPTIONS, **options)


def test_a_stopped_run_goes_on(three, typed, tmp_path):
    unfinished = tmp_path / "study.unfinished"
    stopped(three, unfinished=unfinished)
    assert list(unfinished.iterdir())
    found = mireg.template(three, unfinished=unfinished, **OPTIONS)
    assert found.report["resumed"] > 0 and not unfinished.exists()
    is_that_of_the_command_line(found, typed, tmp_path)


def test_a_fresh_run_begins_anew(three, tmp_path):
    unfinished = tmp_path / "study.unfinished"
    stopped(three, unfinished=str(unfinished))
    found = mireg.template(three, unfinished=str(unfinished), fresh=True, **OPTIONS)
    assert found.report["resumed"] == 0 and not unfinished.exists()


def test_python_goes_on_where_the_command_line_was_stopped(three, typed, tmp_path):
    unfinished = tmp_path / "out.unfinished"
    line = [sys.executable, "-m", "mireg._command", "template", *three, "--out", tmp_path / "out", *WORDS]
    process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(unfinished.glob("*_field_1_0.nii")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = mireg.template([mireg.Image.load(path) for path in three], unfinished=unfinished, **OPTIONS)
    # Two affine registrations, the affine mean and a field.
    assert found.report["resumed"] >= 4
    is_that_of_the_command_line(found, typed, tmp_path)


def test_nothing_is_left_of_temporary_folders(three, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    stopped(three)
    seen = []
    mireg.template(three[:2], progress=lambda *_: seen.extend(tmp_path.iterdir()), **{**OPTIONS, "rounds": 1})
    assert seen and list(tmp_path.iterdir()) == []


def test_refusals_are_those_of_the_command_line(three, pair, tmp_path):
    for images, options, exception in (
        (three[:1], {}, mireg.InputError),
        ([three[0], "none.nii"], {}, mireg.FileError),
        (three, {"rounds": 0}, mireg.InputError),
        (three, {"force": "cc"}, mireg.InputError),
        (three, {"like": "none.nii"}, mireg.FileError),
    ):
        with pytest.raises(exception) as raised:
            mireg.template(images, **options)
        words = [f"--{name}={value}" for name, value in options.items()]
        ran = command("template", *words, "--out", tmp_path / "out", "--", *images)
        assert ran.returncode == 2 and f"mireg: {raised.value}" in ran.stderr.splitlines()
    array = pair.arrays[0]
    constant = mireg.Image(np.ones_like(array), pair.affines[0], frame="LPS")
    for images, options, exception, text in (
        ([three[0], constant], {}, mireg.InputError, "image 2 is constant"),
        ([three[0], array], {}, TypeError, r"images\[1\] is an array"),
        ([three[0], pair.images()[0]], {"volume": 0}, mireg.InputError, "volume is for files"),
        (three, {"unfinished": tmp_path}, mireg.FileError, "ends in .unfinished"),
        (three[0], {}, mireg.InputError, "2 values"),
    ):
        with pytest.raises(exception, match=text):
            mireg.template(images, **options)
    assert tmp_path.exists()
