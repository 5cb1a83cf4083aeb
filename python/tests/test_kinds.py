"""Every kind of image in and out: the same transform, the right signs, the right place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import FLIP, SHIFT, Pair, command

import mireg


def direction_and_spacing(affine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    spacing = np.sqrt((affine[:3, :3] * affine[:3, :3]).sum(axis=0))
    return affine[:3, :3] / spacing, spacing


def of_path(pair: Pair, folder: Path) -> list[str]:
    return pair.files(folder)


def of_nibabel(pair: Pair, folder: Path) -> list:
    nibabel = pytest.importorskip("nibabel")
    return [nibabel.Nifti1Image(a, FLIP @ m) for a, m in zip(pair.arrays, pair.affines)]


def of_nibabel_file(pair: Pair, folder: Path) -> list:
    nibabel = pytest.importorskip("nibabel")
    return [nibabel.load(path) for path in pair.files(folder)]


def of_simpleitk(pair: Pair, folder: Path) -> list:
    sitk = pytest.importorskip("SimpleITK")
    made = []
    for array, affine in zip(pair.arrays, pair.affines):
        image = sitk.GetImageFromArray(array.T)
        direction, spacing = direction_and_spacing(affine)
        image.SetDirection(direction.ravel().tolist())
        image.SetSpacing(spacing.tolist())
        image.SetOrigin(affine[:3, 3].tolist())
        made.append(image)
    return made


def of_itk(pair: Pair, folder: Path) -> list:
    itk = pytest.importorskip("itk")
    made = []
    for array, affine in zip(pair.arrays, pair.affines):
        image = itk.image_from_array(np.ascontiguousarray(array.T))
        direction, spacing = direction_and_spacing(affine)
        image.SetDirection(itk.matrix_from_array(direction))
        image.SetSpacing(spacing.tolist())
        image.SetOrigin(affine[:3, 3].tolist())
        made.append(image)
    return made


def of_ants(pair: Pair, folder: Path) -> list:
    ants = pytest.importorskip("ants")
    made = []
    for array, affine in zip(pair.arrays, pair.affines):
        direction, spacing = direction_and_spacing(affine)
        place = {"origin": tuple(affine[:3, 3]), "spacing": tuple(spacing), "direction": direction}
        made.append(ants.from_numpy(array.astype(np.float32), **place))
    return made


def of_image_ras(pair: Pair, folder: Path) -> list:
    return [mireg.Image(a, FLIP @ m, frame="RAS") for a, m in zip(pair.arrays, pair.affines)]


def of_image_lps(pair: Pair, folder: Path) -> list:
    return [mireg.Image(np.asfortranarray(a), m, frame="LPS") for a, m in zip(pair.arrays, pair.affines)]


KINDS = [of_path, of_nibabel, of_nibabel_file, of_simpleitk, of_itk, of_ants, of_image_ras, of_image_lps]


@pytest.fixture(scope="module")
def typed(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command line leaves behind."""
    out = tmp_path_factory.mktemp("typed") / "out"
    ran = command("register", *files, "--out", out, "--backend", "cpu")
    assert ran.returncode == 0, ran.stderr
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_gives_the_bytes_of_the_command_line(kind, pair, typed, tmp_path):
    fixed, moving = kind(pair, tmp_path)
    found = mireg.register(fixed, moving, backend="cpu")
    found.transform.save(tmp_path / "transform.tfm")
    assert (tmp_path / "transform.tfm").read_bytes() == (typed / "transform.tfm").read_bytes()
    # The transform takes points of the fixed image to the body in the moving scan.
    lps = np.eye(4)
    lps[:3, 3] = SHIFT
    assert np.allclose(found.transform.matrix(frame="LPS"), lps, atol=0.2)
    assert np.allclose(found.transform.matrix(frame="RAS"), FLIP @ lps @ FLIP, atol=0.2)
    assert found.trust == "passed"


@pytest.mark.parametrize("kind", KINDS)
def test_what_moved_is_of_the_fixed_images_kind_in_its_place(kind, pair, typed, tmp_path):
    fixed, moving = kind(pair, tmp_path)
    moved = mireg.register(fixed, moving, backend="cpu", levels=[6]).moved
    name = type(moved).__module__.split(".")[0]
    if name == "nibabel":
        assert type(moved) is type(fixed) and np.array_equal(moved.affine, fixed.affine)
        array = np.asarray(moved.dataobj)
    elif name == "SimpleITK":
        import SimpleITK as sitk

        places = [(i.GetSize(), i.GetSpacing(), i.GetOrigin(), i.GetDirection()) for i in (fixed, moved)]
        assert places[0] == places[1]
        array = sitk.GetArrayFromImage(moved).T
    elif name == "itk":
        import itk

        for one in ("GetSpacing", "GetOrigin"):
            assert list(getattr(moved, one)()) == list(getattr(fixed, one)())
        assert np.array_equal(*(itk.array_from_matrix(i.GetDirection()) for i in (fixed, moved)))
        array = itk.array_from_image(moved).T
    elif name == "ants":
        assert (moved.spacing, moved.origin) == (fixed.spacing, fixed.origin)
        assert np.array_equal(moved.direction, fixed.direction)
        array = moved.numpy()
    else:
        assert isinstance(moved, mireg.Image)
        if isinstance(fixed, mireg.Image):
            assert np.array_equal(moved.affine, fixed.affine) and moved.frame == fixed.frame
        else:
            assert np.allclose(moved.affine, FLIP @ pair.affines[0], atol=1e-5)
        array = moved.array
    assert array.shape == pair.arrays[0].shape
    # The moved image, whose intensities are 1200 minus the tissue's, is aligned with the tissue.
    body = (pair.arrays[0] > 0) & (array > 0)
    assert np.corrcoef(array[body], pair.arrays[0][body])[0, 1] < -0.7


def test_the_moved_image_and_the_report_are_those_of_the_command_line(files, typed):
    import json

    found = mireg.register(*files, backend="cpu")
    written = mireg.Image.load(typed / "moved.nii.gz")
    assert found.moved.array.dtype == written.array.dtype == np.int16
    assert np.array_equal(found.moved.array, written.array)
    report = json.loads((typed / "report.json").read_text())
    apart = {"command", "seconds"}
    assert {k: v for k, v in found.report.items() if k not in apart} == {
        k: v for k, v in report.items() if k not in apart
    }
    assert found.report["seconds"].keys() == report["seconds"].keys()
    page = found.page()
    assert page.startswith("<!") and "<script" in page and page in found._repr_html_().replace("&quot;", '"').replace(
        "&lt;", "<"
    ).replace("&gt;", ">").replace("&#x27;", "'").replace("&amp;", "&")


def test_an_array_alone_is_refused(pair):
    image = pair.images()[1]
    with pytest.raises(TypeError, match=r"fixed is an array \(numpy.ndarray\).*mireg.Image\(array, affine, frame='RAS'\)"):
        mireg.register(pair.arrays[0], image)
    with pytest.raises(TypeError, match="moving is a builtins.int"):
        mireg.register(image, 3)
    with pytest.raises(TypeError):
        mireg.Image(pair.arrays[0], np.eye(4))
    with pytest.raises(mireg.InputError, match="is no frame"):
        mireg.Image(pair.arrays[0], np.eye(4), frame="MNI")


def test_what_is_no_image_is_refused(pair):
    array, affine = pair.arrays[0], pair.affines[0]

    def refused(exception, text, array, affine=affine):
        with pytest.raises(exception, match=text):
            image = mireg.Image(array, affine, frame="LPS")
            mireg.register(image, image, backend="cpu")

    refused(mireg.InputError, "44x40x26x2", np.stack([array] * 2, axis=-1))
    refused(mireg.InputError, "complex", array.astype(np.complex64))
    refused(mireg.InputError, "4x4", array, np.eye(3))
    refused(mireg.FileError, "infinite or too large", array * 1e300)
    refused(mireg.FileError, "right angles", array, affine @ [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    refused(mireg.FileError, "single slice along axis j", array[:, :1])
    refused(mireg.InputError, "has 1 axes", array.ravel())


@pytest.mark.parametrize("dtype", ["uint8", "int8", ">i2", "uint16", "int32", "uint64", "float16", "float64", bool])
def test_every_type_of_voxel_is_taken(pair, dtype):
    array = (pair.arrays[0] / 10).astype(dtype)
    image = mireg.Image(array, pair.affines[0], frame="LPS")
    same = mireg.apply(image, like=image, backend="cpu")
    kept = {"float16": np.dtype("float32"), "bool": np.dtype("uint8")}.get(np.dtype(dtype).name, np.dtype(dtype))
    assert same.array.dtype == kept.newbyteorder("=") and np.allclose(same.array, array)


@pytest.mark.parametrize(
    "ordered",
    [
        np.asfortranarray,
        np.ascontiguousarray,
        lambda a: a[::-1].copy()[::-1],
        lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
        lambda a: np.moveaxis(np.moveaxis(a, 1, 0).copy(), 0, 1),
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
    ],
    ids=["i fastest", "k fastest", "reversed", "every second", "i slowest", "unaligned"],
)
def test_voxels_lie_in_any_order(pair, ordered, tmp_path):
    array = pair.arrays[0] * np.arange(1, 27)  # More planes than a thread takes at once.
    mireg.Image(ordered(array), pair.affines[0], frame="LPS").save(tmp_path / "a.mha")
    assert np.array_equal(mireg.Image.load(tmp_path / "a.mha").array, array)


def test_arrays_come_by_dlpack_and_by_their_interface(pair):
    class Tensor:
        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    class Interface:
        def __init__(self, array):
            self._array = array
            self.__array_interface__ = array.__array_interface__

    array = pair.arrays[0].copy()
    for one in (Tensor(array), Interface(array)):
        image = mireg.Image(one, pair.affines[0], frame="LPS")
        assert np.shares_memory(image.array, array) and image.array.dtype == np.int16


def test_tensors_of_torch_are_taken(pair):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(pair.arrays[0].astype(np.float32), requires_grad=True)
    image = mireg.Image(tensor, pair.affines[0], frame="LPS")
    assert np.array_equal(image.array, pair.arrays[0])


def test_files_are_read_and_written(pair, tmp_path):
    image = pair.images()[0]
    for name in ("a.nii.gz", "a.mha", "a.nrrd"):
        image.save(tmp_path / name)
        read = mireg.Image.load(tmp_path / name)
        assert np.array_equal(read.array, image.array) and read.array.dtype == np.int16
        assert np.allclose(read.affine, FLIP @ image.affine, atol=1e-5) and read.frame == "RAS"
    with pytest.raises(mireg.FileError):
        image.save(tmp_path / "a.docx")
    with pytest.raises(mireg.InputError, match="volume"):
        mireg.Image.load(tmp_path / "a.mha", volume="first")


def test_flat_images_are_two_dimensional(pair):
    sitk = pytest.importorskip("SimpleITK")
    flat = [sitk.GetImageFromArray(array[:, :, 12].T.astype(np.float32)) for array in (pair.arrays[0],) * 2]
    flat[1].SetOrigin([3.0, -2.0])
    found = mireg.register(*flat, backend="cpu")
    assert found.moved.GetSize() == flat[0].GetSize() and found.moved.GetDimension() == 2
    assert np.allclose(found.transform.points([10.0, 20.0], frame="LPS"), [13.0, 18.0], atol=0.05)
    assert found.transform.to_sitk().GetDimension() == 2


def test_a_part_of_an_itk_image_lies_where_it_is(pair, tmp_path):
    itk = pytest.importorskip("itk")
    _, whole = of_itk(pair, tmp_path)
    part = itk.crop_image_filter(whole, lower_boundary_crop_size=[4, 3, 2], upper_boundary_crop_size=[1, 2, 3])
    region = part.GetLargestPossibleRegion()
    assert list(region.GetIndex()) == [4, 3, 2]
    moved = mireg.apply(whole, like=part, interpolation="nearest", backend="cpu")
    first = moved.GetLargestPossibleRegion().GetIndex()
    assert np.allclose(
        moved.TransformIndexToPhysicalPoint(first), part.TransformIndexToPhysicalPoint(region.GetIndex())
    )
    assert np.array_equal(itk.array_from_image(moved), itk.array_from_image(part))
