"""``mireg.Image``: where it says that it lies is where it lies."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from conftest import FLIP

import mireg


def test_another_affine_is_another_place(files, tmp_path):
    read = mireg.Image.load(files[0])
    there = read.affine.copy()
    there[0, 3] += 40
    moved = dataclasses.replace(read, affine=there)
    moved.save(tmp_path / "moved.nii.gz")
    assert np.allclose(mireg.Image.load(tmp_path / "moved.nii.gz").affine, there, atol=1e-5)
    turned = dataclasses.replace(read, frame="LPS")
    turned.save(tmp_path / "turned.nii.gz")
    assert np.allclose(mireg.Image.load(tmp_path / "turned.nii.gz").affine, FLIP @ read.affine, atol=1e-5)
    part = dataclasses.replace(read, array=read.array[:20])
    part.save(tmp_path / "part.nii.gz")
    assert mireg.Image.load(tmp_path / "part.nii.gz").shape == part.shape
    # Pickled or copied, numpy's arrays can be written to again.
    again = copy.deepcopy(read)
    again.affine[0, 3] += 40
    again.save(tmp_path / "again.nii.gz")
    assert np.allclose(mireg.Image.load(tmp_path / "again.nii.gz").affine, there, atol=1e-5)


def test_a_files_place_is_kept_to_the_last_bit(files):
    read = mireg.Image.load(files[0])
    assert read._place("image") is read._grid


def test_an_affine_is_a_copy_that_nobody_changes(pair):
    affine = pair.affines[0].copy()
    image = mireg.Image(pair.arrays[0], affine, frame="LPS")
    affine[0, 3] += 40
    assert np.array_equal(image.affine, pair.affines[0])
    with pytest.raises(ValueError, match="read-only"):
        image.affine[0, 3] += 40
