"""Images of other packages with something of their own: units, label maps, what is not there."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import FLIP

import mireg
from mireg._kinds import grid_of

UNITS = {"meter": 1e-3, "micron": 1e3, "mm": 1.0, "unknown": 1.0}


def nifti(pair, unit: str = "mm"):
    nibabel = pytest.importorskip("nibabel")
    affine = FLIP @ pair.affines[0]
    affine[:3] *= UNITS[unit]
    image = nibabel.Nifti1Image(pair.arrays[0], affine)
    image.header.set_xyzt_units(unit)
    return image


@pytest.mark.parametrize("unit", UNITS)
def test_units_of_nibabel_are_those_of_the_file(unit, pair, tmp_path):
    import nibabel

    image = nifti(pair, unit)
    image.set_sform(image.affine, code=1)
    nibabel.save(image, tmp_path / "image.nii.gz")
    ours = grid_of(tmp_path / "image.nii.gz", "image")
    for theirs in (image, nibabel.load(tmp_path / "image.nii.gz")):
        assert np.array_equal(grid_of(theirs, "image").affine(), ours.affine())
    assert np.allclose(ours.affine(), pair.affines[0], atol=1e-4)


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_made_on_another_spacing_says_its_unit(unit, pair, tmp_path):
    import nibabel

    image = nifti(pair, unit)
    coarse = mireg.apply(image, like=image, spacing=8, backend="cpu")
    nibabel.save(coarse, tmp_path / "coarse.nii.gz")
    assert np.allclose(mireg.Image.load(tmp_path / "coarse.nii.gz")._place("coarse").spacing, 8)
    same = mireg.apply(image, like=image, backend="cpu")
    assert same.header.get_xyzt_units()[0] == unit and np.array_equal(same.affine, image.affine)


def refused(exception: type[Exception], text: str, image: object, like: object) -> None:
    with pytest.raises(exception, match=text):
        mireg.apply(image, like=like, backend="cpu")


def test_what_nibabel_does_not_say_is_not_made_up(pair, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    whole = nifti(pair)
    for kind in (nibabel.AnalyzeImage, nibabel.Spm99AnalyzeImage, nibabel.Spm2AnalyzeImage):
        analyze = kind(pair.arrays[0], np.diag([-1.0, 1, 1, 1]))
        refused(mireg.InputError, "is Analyze 7.5, which", analyze, whole)
        refused(mireg.InputError, "is Analyze 7.5, which", whole, analyze)
    # The kinds of SPM have the same header in the file, but are saved only where SciPy is installed.
    nibabel.save(nibabel.AnalyzeImage(pair.arrays[0], np.diag([-1.0, 1, 1, 1])), tmp_path / "analyze.img")
    refused(mireg.FileError, "Analyze 7.5", tmp_path / "analyze.img", whole)
    two_files = nibabel.Nifti1Pair(pair.arrays[0], whole.affine)
    assert np.array_equal(mireg.apply(two_files, like=two_files, backend="cpu").dataobj, pair.arrays[0])
    colours = np.zeros(pair.shapes[0], dtype=[(colour, "u1") for colour in "RGB"])
    refused(mireg.InputError, r"R, G, B in each voxel.*array\['R'\]", nibabel.Nifti1Image(colours, whole.affine), whole)


def test_images_of_nibabel_whose_header_is_no_mapping_are_returned(pair):
    nibabel = pytest.importorskip("nibabel")
    minc = nibabel.minc1.Minc1Image(pair.arrays[0], FLIP @ pair.affines[0])
    same = mireg.apply(minc, like=minc, backend="cpu")
    assert type(same) is type(minc) and np.array_equal(same.affine, minc.affine)
    assert np.array_equal(np.asarray(same.dataobj), pair.arrays[0])


def test_masked_arrays_are_refused(pair):
    nibabel = pytest.importorskip("nibabel")
    masked = np.ma.masked_array(pair.arrays[0], pair.arrays[0] > 600)
    with pytest.raises(TypeError, match=r"array is a masked array.*array.filled\(np.nan\)"):
        mireg.Image(masked, np.eye(4), frame="RAS")
    refused(TypeError, "image is a masked array", nibabel.Nifti1Image(masked, np.eye(4)), nifti(pair))


def test_a_label_map_of_simpleitk_is_its_labels(pair):
    sitk = pytest.importorskip("SimpleITK")
    labels = sitk.GetImageFromArray((pair.arrays[0] > 0).astype(np.uint8).T * 3)
    runs = sitk.LabelImageToLabelMap(labels)
    again = mireg.apply(runs, like=runs, labels=True, backend="cpu")
    assert np.array_equal(sitk.GetArrayFromImage(again), sitk.GetArrayFromImage(labels))


def test_an_image_of_itk_that_nothing_filled_is_refused(pair):
    itk = pytest.importorskip("itk")
    image = itk.image_from_array(np.ascontiguousarray(pair.arrays[0].T))
    median = itk.MedianImageFilter.New(image)
    made = median.GetOutput()
    refused(mireg.InputError, r"image: holds not all of its voxels; call Update\(\)", made, image)
    median.UpdateOutputInformation()
    refused(mireg.InputError, "holds not all", made, image)
    median.Update()
    assert mireg.apply(made, like=image, backend="cpu").shape == image.shape
