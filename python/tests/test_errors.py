"""Bad input: the right exception, with the line of the command line."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import Pair, command

import mireg

REGISTER = {
    "no-file": ({"moving": "none.nii"}, mireg.FileError),
    "a-folder": ({"moving": "."}, mireg.FileError),
    "no-image": ({"moving": "text.nii"}, mireg.FileError),
    "cut-off": ({"moving": "cut.nii"}, mireg.FileError),
    "bins": ({"bins": 1}, mireg.InputError),
    "many-bins": ({"bins": 2000}, mireg.InputError),
    "dof": ({"dof": "bent"}, mireg.InputError),
    "metric": ({"metric": "mutual"}, mireg.InputError),
    "levels": ({"levels": [4, -1]}, mireg.InputError),
    "length": ({"levels": "4cm"}, mireg.InputError),
    "samples": ({"samples": 0}, mireg.InputError),
    "sampling": ({"sampling": "all"}, mireg.InputError),
    "seed": ({"seed": "x"}, mireg.InputError),
    "threads": ({"threads": 2000}, mireg.InputError),
    "backend": ({"backend": "tpu"}, mireg.InputError),
    "no-mask": ({"fixed_mask": "none.nii"}, mireg.FileError),
    "other-mask": ({"fixed_mask": "moving.nii.gz"}, mireg.InputError),
    "range": ({"fixed_range": [2, 1]}, mireg.InputError),
    "mattes-nearest": ({"metric": "mattes", "interpolation": "nearest"}, mireg.InputError),
    "sigmas": ({"sigmas": [0.1, 0.1]}, mireg.InputError),
    "histogram": ({"metric": "mattes", "histogram": "tiled"}, mireg.InputError),
    "no-start": ({"init": "none.tfm"}, mireg.FileError),
    "format": ({"init": "text.nii", "from_": "nonsense"}, mireg.InputError),
    "volume": ({"fixed_volume": 3}, mireg.FileError),
    "optimizer": ({"optimizer": "bfgs", "metric": "nmi"}, mireg.InputError),
    "far-apart": ({"moving": "far.nii.gz", "init": "header"}, mireg.UntrustedError),
}


@pytest.fixture(scope="module")
def folder(pair: Pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    pair.files(folder)
    (folder / "text.nii").write_text("hello")
    whole = mireg.Image.load(folder / "moving.nii.gz")
    whole.save(folder / "moving.nii")
    (folder / "cut.nii").write_bytes((folder / "moving.nii").read_bytes()[:5000])
    far = whole.affine.copy()
    far[:3, 3] += 5000
    mireg.Image(whole.array, far, frame="RAS").save(folder / "far.nii.gz")
    return folder


@pytest.mark.parametrize("case", REGISTER)
def test_a_refusal_is_the_line_of_the_command_line(case, folder, monkeypatch):
    options, exception = REGISTER[case]
    monkeypatch.chdir(folder)
    given = {"backend": "cpu", **options}
    moving = given.pop("moving", "moving.nii.gz")
    with pytest.raises(exception) as raised:
        mireg.register("fixed.nii.gz", moving, **given)
    words = []
    for name, value in given.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else value
        words.append(f"--{name.rstrip('_').replace('_', '-')}={text}")
    ran = command("register", *words, "--out", "out", "fixed.nii.gz", moving, cwd=folder)
    assert ran.returncode == (1 if exception is mireg.UntrustedError else 2)
    assert f"mireg: {raised.value}" in ran.stderr.splitlines()
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is exception and str(again) == str(raised.value)


def test_classes_are_those_that_python_programs_expect():
    assert issubclass(mireg.InputError, ValueError) and issubclass(mireg.FileError, OSError)
    assert issubclass(mireg.DeviceError, RuntimeError) and issubclass(mireg.UntrustedError, RuntimeError)


def test_a_device_that_is_not_there(pair):
    if next(device for device in mireg.devices() if device["backend"] == "cuda")["available"]:
        pytest.skip("there is a GPU")
    with pytest.raises(mireg.DeviceError, match="no NVIDIA driver"):
        mireg.register(*pair.images(), backend="cuda")
    with pytest.raises(mireg.DeviceError):
        mireg.Engine(backend="cuda")


def test_a_result_that_should_not_be_used_is_in_its_error(pair):
    fixed, moving = pair.images()
    noise = mireg.Image(np.random.default_rng(1).normal(size=moving.shape), moving.affine, frame="LPS")
    options = {"levels": [8], "backend": "cpu"}
    with pytest.raises(mireg.UntrustedError, match=r"the result should not be used \(") as raised:
        mireg.register(fixed, noise, **options)
    result = raised.value.result
    assert result.trust == "failed" and result.warnings and result.moved.shape == fixed.shape
    assert mireg.register(fixed, noise, check=False, **options).transform == result.transform
    assert pickle.loads(pickle.dumps(raised.value)).result.transform == result.transform


def test_options_of_files_are_refused_for_images_in_memory(pair):
    with pytest.raises(mireg.InputError, match="fixed_volume is for files"):
        mireg.register(*pair.images(), fixed_volume=0)
    with pytest.raises(mireg.InputError, match="those of the engine"):
        mireg.register(*pair.images(), engine=mireg.Engine("cpu"), threads=1)
    with pytest.raises(TypeError):
        mireg.register(*pair.images(), nonsense=1)
    with pytest.raises(mireg.InputError, match="threads are too many"):
        mireg.Engine("cpu", 5000)
    with pytest.raises(mireg.InputError, match="no backend"):
        mireg.Engine("tpu")


def test_one_where_several_are_asked_for_is_said_as_such(pair, files):
    nibabel = pytest.importorskip("nibabel")
    sitk = pytest.importorskip("SimpleITK")
    for one in (files[0], nibabel.load(files[0]), sitk.ReadImage(files[0]), pair.images()[0]):
        with pytest.raises(mireg.InputError, match="2 values required by '<IMAGE> <IMAGE>...'; only 1 was provided"):
            mireg.template(one)
    with pytest.raises(TypeError, match=r"images\[0\] is a builtins.NoneType; give a path"):
        mireg.template(None)


def test_what_is_no_transform_or_engine_is_refused(pair):
    image, point = pair.images()[0], [0.0, 0.0, 0.0]
    for wrong in (None, 3, np.eye(4), [None]):
        with pytest.raises(TypeError, match="transform is a .*; give a path or a mireg.Transform"):
            mireg.points(point, wrong, frame="RAS")
    assert np.array_equal(mireg.apply(image, like=image, transform=None, backend="cpu").array, image.array)
    with pytest.raises(TypeError, match="engine is a str; give a mireg.Engine, or backend and threads instead"):
        mireg.register(image, image, engine="cpu")
    with pytest.raises(mireg.InputError, match="-1 threads are too few; 0 stands for one per core"):
        mireg.Engine(threads=-1)
    with pytest.raises(mireg.InputError, match="None is no backend; auto, cpu, cuda and emulated are possible"):
        mireg.Engine(None)


@pytest.mark.parametrize("whole", [32.0, np.float32(32)])
def test_whole_numbers_may_be_floats(whole, pair):
    images = pair.images()
    found = mireg.metric(*images, bins=whole, backend="cpu")
    assert found == mireg.metric(*images, bins=32, backend="cpu") != mireg.metric(*images, bins=33, backend="cpu")
    with pytest.raises(mireg.InputError, match="invalid value '32.5' for '--bins <N>'"):
        mireg.metric(*images, bins=32.5, backend="cpu")
