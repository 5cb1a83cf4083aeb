"""The other commands, and that options are those of the command line."""

from __future__ import annotations

import inspect
import json
import pickle
import re

import numpy as np
import pytest
from conftest import FLIP, SHIFT, command

import mireg


@pytest.mark.parametrize("name", ["register", "deform", "mesh", "template", "apply", "metric", "evaluate"])
def test_options_are_those_of_the_command_line(name):
    # In the examples, a line may be wrapped before an option.
    told = command(name, "--help").stdout.split("Examples:")[0]
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", told, re.MULTILINE))
    # Options for files, exit codes and printing, which the functions do not have.
    flags -= {"out", "quiet", "help", "json", "limit", "write", "composite", "log-jacobian"}
    ours = {p.rstrip("_").replace("_", "-") for p in inspect.signature(getattr(mireg, name)).parameters}
    assert ours - {"fixed", "moving", "image", "images", "unfinished", "engine", "progress", "check"} == flags - {"fixed", "moving"} | (
        {"transform"} if name == "evaluate" else set()
    )


def test_apply_is_that_of_the_command_line(files, found, tmp_path):
    found.transform.save(tmp_path / "t.tfm")
    for options in ({}, {"labels": True}, {"interpolation": "b-spline", "outside": -7}, {"spacing": [4, 4, 5]}):
        words = [w for k, v in options.items() for w in ([f"--{k}"] if v is True else [f"--{k}={str(v).strip('[]').replace(' ', '')}"])]
        ran = command("apply", files[1], "--like", files[0], "-t", tmp_path / "t.tfm", "--out", tmp_path / "o.mha", *words)
        assert ran.returncode == 0, ran.stderr
        written = mireg.Image.load(tmp_path / "o.mha")
        for transform in (found.transform, tmp_path / "t.tfm", [found.transform]):
            ours = mireg.apply(files[1], like=files[0], transform=transform, **options)
            assert np.array_equal(ours.array, written.array) and np.array_equal(ours.affine, written.affine)


def test_apply_takes_and_returns_images_of_others(pair, found):
    nibabel, sitk = pytest.importorskip("nibabel"), pytest.importorskip("SimpleITK")
    like = nibabel.Nifti1Image(pair.arrays[0], FLIP @ pair.affines[0])
    moved = found.transform.apply(pair.images()[1], like=like)
    assert isinstance(moved, nibabel.Nifti1Image) and np.array_equal(moved.affine, like.affine)
    assert np.array_equal(np.asarray(moved.dataobj), found.moved.array)
    coarse = found.transform.apply(pair.images()[1], like=like, spacing=6)
    assert np.allclose(nibabel.affines.voxel_sizes(coarse.affine), 6) and coarse.shape == (22, 20, 20)
    flat = sitk.Image([9, 8], sitk.sitkFloat32)
    assert mireg.apply(flat, like=flat, spacing=2).GetSpacing()[:2] == (2.0, 2.0)


def test_apply_follows_a_chain(pair, found, tmp_path):
    back = found.transform.inverse()
    back.save(tmp_path / "back.tfm")
    fixed, moving = pair.images()
    same = mireg.apply(fixed, like=fixed, transform=[found.transform, tmp_path / "back.tfm"])
    assert np.abs(same.array.astype(int) - fixed.array)[2:-2, 2:-2, 2:-2].max() <= 1
    assert mireg.apply(fixed, like=moving, transform=found.transform, invert=True).shape == moving.shape


def test_metric_is_that_of_the_command_line(files, pair, found, tmp_path):
    found.transform.save(tmp_path / "t.tfm")
    ran = command("metric", *files, "-t", tmp_path / "t.tfm", "--json", "--bins", 32, "--backend", "cpu")
    typed = json.loads(ran.stdout)
    assert mireg.metric(*files, transform=tmp_path / "t.tfm", bins=32, backend="cpu") == typed
    assert mireg.metric(*pair.images(), transform=found.transform, bins=32, backend="cpu") == typed
    assert typed["mi"] > mireg.metric(*pair.images(), bins=32, backend="cpu")["mi"]


def test_masks_are_images(pair, files, tmp_path):
    fixed, moving = pair.images()
    array = np.zeros(fixed.shape, bool)
    array[10:34, 8:32, 5:20] = True
    mask = mireg.Image(array, fixed.affine, frame="LPS")
    mask.save(tmp_path / "mask.nii.gz")
    ours = mireg.register(fixed, moving, fixed_mask=mask, backend="cpu")
    assert ours.transform == mireg.register(*files, fixed_mask=tmp_path / "mask.nii.gz", backend="cpu").transform
    assert ours.transform != mireg.register(fixed, moving, backend="cpu").transform
    value = mireg.metric(fixed, moving, fixed_mask=mask)
    assert value["samples"] == array.sum()


def test_a_registration_starts_from_a_transform(pair, found, tmp_path):
    found.transform.save(tmp_path / "t.tfm")
    options = {"levels": [4], "backend": "cpu"}
    ours = mireg.register(*pair.images(), init=found.transform, **options)
    assert ours.transform == mireg.register(*pair.images(), init=tmp_path / "t.tfm", **options).transform
    assert ours.report["started"]["from"] == "file"
    with pytest.raises(TypeError, match="init is a ndarray; give a path or a mireg.Transform"):
        mireg.register(*pair.images(), init=np.eye(4))


def test_evaluate_is_that_of_the_command_line(pair, files, found, tmp_path):
    truth = mireg.Transform(np.array([[1, 0, 0, SHIFT[0]], [0, 1, 0, SHIFT[1]], [0, 0, 1, SHIFT[2]], [0, 0, 0, 1.0]]), frame="LPS")
    for one, name in ((found.transform, "t.tfm"), (truth, "truth.tfm")):
        one.save(tmp_path / name)
    ran = command("evaluate", tmp_path / "t.tfm", "--truth", tmp_path / "truth.tfm", "--fixed", files[0], "--json")
    typed = json.loads(ran.stdout)
    ours = mireg.evaluate(found.transform, truth=truth, fixed=pair.images()[0])
    assert {k: ours[k] for k in ("points", "before", "after")} == {k: typed[k] for k in ("points", "before", "after")}
    assert ours["after"]["mean_mm"] < 0.5 < 5 < ours["before"]["mean_mm"]
    points = np.array([[0.0, 0, 0], [10, 20, 30]])
    there = truth.points(points, frame="RAS")
    by_points = mireg.evaluate(truth, points=points, moving_points=there, frame="RAS")
    assert by_points["points"] == 2 and by_points["after"]["max_mm"] < 1e-9
    mask = mireg.Image((pair.arrays[0] > 0).astype(np.uint8), pair.affines[0], frame="LPS")
    assert mireg.evaluate(truth, truth=truth, mask=mask)["points"] == (pair.arrays[0] > 0).sum()
    with pytest.raises(mireg.InputError, match="frame is that of points"):
        mireg.evaluate(truth, fixed=pair.images()[0], frame="RAS")
    with pytest.raises(mireg.InputError, match="does not say its frame"):
        mireg.evaluate(truth, truth=truth, points=points)


def test_deform_takes_landmarks_as_arrays_and_as_files(pair, files, tmp_path):
    fixed = np.array([[0.0, 0, 0], [10, 20, 30], [-20, 5, 10]])
    moving = fixed + [3.0, -2.0, 1.0]
    options = {"levels": [16, 8], "linear": "none", "points_error": 2, "check": False}
    by_arrays = mireg.deform(*pair.images(), fixed_points=fixed, moving_points=moving, frame="RAS", **options)
    assert by_arrays.report["landmarks"]["points"] == 3
    names = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for name, points in zip(names, (fixed, moving), strict=True):
        np.savetxt(name, points, delimiter=",", header="x,y,z", comments="")
    by_files = mireg.deform(*files, fixed_points=names[0], moving_points=names[1], frame="RAS", **options)
    assert by_files.report["landmarks"] == by_arrays.report["landmarks"]
    assert by_files.transform == by_arrays.transform
    with pytest.raises(mireg.InputError, match="does not say its frame"):
        mireg.deform(*files, fixed_points=fixed, moving_points=moving)
    with pytest.raises(mireg.InputError, match="--moving-points"):
        mireg.deform(*files, fixed_points=names[0])


def test_deform_takes_extra_images(pair, files, tmp_path):
    options = {"levels": [12, 6], "iterations": [10, 5], "force": "mi,lcc:0.5", "extra_weight": 0.5, "backend": "cpu", "check": False}
    fixed, moving = pair.images()
    found = mireg.deform(fixed, moving, fixed_extra=[fixed, files[0]], moving_extra=[files[1], moving], **options)
    paths = {"fixed_extra": [files[0]] * 2, "moving_extra": [files[1]] * 2}
    assert found.report["channels"] == 3 and found.report["force"] == "mi,lcc:0.5"
    assert np.array_equal(found.jacobian.array, mireg.deform(*files, **paths, **options).jacobian.array)
    alone = mireg.deform(fixed, moving, fixed_extra=fixed, moving_extra=moving, **options)
    assert alone.report["channels"] == 2
    none = mireg.deform(fixed, moving, fixed_extra=None, moving_extra=None, **options)
    assert none.report["channels"] == 1
    with pytest.raises(mireg.InputError, match="give as many moving"):
        mireg.deform(fixed, moving, fixed_extra=fixed)


def test_deform_is_symmetric_where_asked(pair):
    options = {"levels": [12, 6], "iterations": [10, 5], "linear": "none", "symmetric": True, "backend": "cpu", "check": False}
    fixed, moving = pair.images()
    there, back = mireg.deform(fixed, moving, **options), mireg.deform(moving, fixed, **options)
    assert there.report["symmetric"]
    points = np.array([[5.0, -5.0, 10.0], [20.0, 0.0, -10.0]])
    assert np.allclose(there.transform.points(points, frame="LPS"), back.inverse.points(points, frame="LPS"), atol=0.05)


def test_deform_finds_a_field_and_its_inverse(pair, files, tmp_path):
    options = {"levels": [12, 6], "iterations": [10, 5], "backend": "cpu", "check": False}
    found = mireg.deform(*pair.images(), **options)
    words = ["--levels=12,6", "--iterations=10,5", "--backend=cpu"]
    command("deform", *files, "--out", tmp_path / "out", *words)
    found.transform.save(tmp_path / "field.nii.gz")
    assert (tmp_path / "field.nii.gz").read_bytes() == (tmp_path / "out" / "field.nii.gz").read_bytes()
    found.inverse.save(tmp_path / "inverse.nii.gz")
    assert (tmp_path / "inverse.nii.gz").read_bytes() == (tmp_path / "out" / "inverse.nii.gz").read_bytes()
    assert found.start == mireg.Transform.load(tmp_path / "out" / "start.tfm")
    assert found.jacobian.shape == found.moved.shape == pair.shapes[0] and found.jacobian.array.min() > 0.5
    point = np.array([10.0, -10.0, 5.0])
    there = found.transform.points(point, frame="LPS")
    assert np.allclose(there, point + SHIFT, atol=1.5)
    assert np.allclose(found.inverse.points(there, frame="LPS"), point, atol=0.5)
    again = pickle.loads(pickle.dumps(found))
    assert "Jacobian" in found.page() and again.page() == found.page() and again.warp() is None
    again = mireg.deform(*pair.images(), start=found.start, **options)
    assert again.report["start"] == "a transform" and again.start == found.start
    with pytest.raises(mireg.InputError, match="cannot be used with"):
        mireg.deform(*pair.images(), start=found.start, linear="rigid")


def test_deform_has_the_warp_and_the_labels(pair, files, tmp_path):
    fixed, moving = pair.images()
    labels = [mireg.Image((image.array != 0).astype(np.uint8) * 3, image.affine, frame="LPS") for image in (fixed, moving)]
    options = {"levels": [12, 6], "iterations": [10, 5], "backend": "cpu", "check": False}
    found = mireg.deform(fixed, moving, fixed_labels=labels[0], moving_labels=labels[1], **options)
    for name, label in zip(("f.nii.gz", "m.nii.gz"), labels):
        label.save(tmp_path / name)
    words = ["--levels=12,6", "--iterations=10,5", "--backend=cpu", "--fixed-labels", tmp_path / "f.nii.gz"]
    command("deform", *files, "--out", tmp_path, "--composite", "--log-jacobian", "--moving-labels", tmp_path / "m.nii.gz", *words)
    regions = json.loads((tmp_path / "report.json").read_text())["regions"]
    assert found.report["regions"] == regions and regions["labels"][0]["label"] == 3
    assert regions["mean_dice"]["after"] > 0.9
    (found.start @ found.warp()).save(tmp_path / "ours.h5")
    assert (tmp_path / "ours.h5").read_bytes() == (tmp_path / "composite.h5").read_bytes()
    found.warp().save(tmp_path / "ours.nii.gz")
    assert (tmp_path / "ours.nii.gz").read_bytes() == (tmp_path / "warp.nii.gz").read_bytes()
    for name, ours in zip(("log_jacobian", "log_jacobian_warp"), found.log_jacobians()):
        assert np.array_equal(ours.array, mireg.Image.load(tmp_path / f"{name}.nii.gz").array)


def test_mesh_finds_triangles(tmp_path):
    x, y = np.meshgrid(np.arange(160.0), np.arange(140.0), indexing="ij")

    def picture(x, y):
        waves = np.sin(x / 7) + np.cos(y / 9) + np.sin((x + 2 * y) / 13) + np.cos((x - y) / 5)
        return (128 + 25 * waves).astype(np.uint8)

    fixed = mireg.Image(picture(x, y), np.eye(4), frame="LPS")
    moving = mireg.Image(picture(x + 3 + np.sin(y / 30), y - 2), np.eye(4), frame="LPS")
    found = mireg.mesh(fixed, moving, spacing=30, start=mireg.Transform(np.eye(4), frame="LPS"), backend="cpu", check=False)
    assert "mesh" in repr(found.transform) and found.start.is_linear and found.moved.shape == (160, 140)
    points = np.array([[60.0, 70.0], [90.0, 40.0]])
    there = found.transform.points(points, frame="LPS")
    assert np.allclose(there, points + [[-3 - np.sin(72 / 30), 2], [-3 - np.sin(42 / 30), 2]], atol=0.6)
    found.transform.save(tmp_path / "mesh.json")
    assert mireg.Transform.load(tmp_path / "mesh.json") == found.transform
    again = pickle.loads(pickle.dumps(found))
    assert again.transform == found.transform and again.page() == found.page()
    assert found.transform.field(fixed).displacements(frame="LPS").shape == (160, 140, 1, 3)
    with pytest.raises(mireg.InputError, match="no meshes"):
        found.transform.to_sitk()
