"""Transforms: frames, products, files, other packages."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from conftest import FLIP, command

import mireg

TURN = np.array([[0.8, -0.6, 0, 3], [0.6, 0.8, 0, -7], [0, 0, 1, 2], [0, 0, 0, 1.0]])
SHEAR = np.array([[1.1, 0.2, 0, 3], [0, 0.9, 0.1, 1], [0, 0, 1.2, 2], [0, 0, 0, 1.0]])
POINTS = np.array([[1.0, 2, 3], [-40, 30, 20], [0, 0, 0]])


def moved(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def test_a_matrix_is_what_it_was_in_both_frames():
    turn = mireg.Transform(TURN, frame="RAS")
    assert np.allclose(turn.matrix(frame="RAS"), TURN, atol=1e-12)
    assert np.allclose(turn.matrix(frame="LPS"), FLIP @ TURN @ FLIP, atol=1e-12)
    assert np.allclose(turn.points(POINTS, frame="RAS"), moved(TURN, POINTS))
    assert np.allclose(turn.points(POINTS[1], frame="LPS"), moved(FLIP @ TURN @ FLIP, POINTS)[1])
    with pytest.raises(TypeError):
        turn.matrix()
    with pytest.raises(mireg.InputError, match="is no frame"):
        turn.matrix(frame="ras")
    for wrong in (np.eye(3), np.zeros((4, 4)), np.diag([1, 1, 0, 1])):
        with pytest.raises(mireg.InputError):
            mireg.Transform(wrong, frame="RAS")


def test_products_and_inverses_are_those_of_matrices():
    a, b = (mireg.Transform(m, frame="RAS") for m in (TURN, SHEAR))
    assert np.allclose((a @ b).matrix(frame="RAS"), TURN @ SHEAR)
    assert np.allclose((a @ b).points(POINTS, frame="RAS"), a.points(b.points(POINTS, frame="RAS"), frame="RAS"))
    assert np.allclose((a @ a.inverse()).matrix(frame="RAS"), np.eye(4))
    assert np.allclose(a.points(moved(TURN, POINTS), frame="RAS", invert=True), POINTS)
    assert np.allclose(mireg.points(POINTS, [b, a], frame="RAS"), moved(TURN @ SHEAR, POINTS))
    there = mireg.points(POINTS, [b, a], frame="RAS")
    assert np.allclose(mireg.points(there, [b, a], frame="RAS", invert=True), POINTS)
    assert a == mireg.Transform(TURN, frame="RAS") and a != b and a != 3
    with pytest.raises(TypeError):
        a @ TURN


def test_points_of_two_coordinates_stay_in_the_plane():
    level = TURN.copy()
    level[2, 3] = 0
    turn = mireg.Transform(level, frame="RAS")
    flat = turn.points(POINTS[:, :2], frame="RAS")
    assert np.array_equal(flat, turn.points(POINTS * [1, 1, 0], frame="RAS")[:, :2])
    assert np.array_equal(turn.points(POINTS, frame="RAS")[:, 2], POINTS[:, 2])
    with pytest.raises(mireg.InputError, match="out of the plane; give them three"):
        mireg.Transform(TURN, frame="RAS").points(POINTS[:, :2], frame="RAS")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_point_is_named_by_its_row(number):
    turn, points = mireg.Transform(TURN, frame="RAS"), POINTS.copy()
    points[1, 2] = number
    with pytest.raises(mireg.InputError, match=rf"points has \[-40.0, 30.0, {number}\] in row 1"):
        turn.points(points, frame="RAS")
    with pytest.raises(mireg.InputError, match="moving_points has .* in row 1"):
        mireg.evaluate(turn, points=POINTS, moving_points=points, frame="RAS")


@pytest.fixture(scope="module")
def field(pair) -> mireg.Transform:
    """A field that is no matrix."""
    fixed = pair.images()[0]
    bent = mireg.Transform(SHEAR, frame="RAS").field(fixed)
    return bent @ bent


def test_everything_survives_pickling(field, found):
    for one in (mireg.Transform(TURN, frame="LPS"), found.transform, field, found.transform @ field):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert again == one
            assert np.array_equal(again.points(POINTS, frame="LPS"), one.points(POINTS, frame="LPS"))
    again = pickle.loads(pickle.dumps(found))
    assert again.transform == found.transform and again.report == found.report and again.trust == found.trust
    assert np.array_equal(again.moved.array, found.moved.array)
    twice = pickle.loads(pickle.dumps(again))
    assert found._repr_html_() == again._repr_html_() == twice._repr_html_() and "<iframe" in found._repr_html_()


def test_a_field_goes_there_and_back(field, pair):
    assert not field.is_linear and "field" in repr(field)
    with pytest.raises(mireg.InputError, match="not linear"):
        field.matrix(frame="RAS")
    there = field.points(POINTS, frame="RAS")
    assert np.allclose(field.points(there, frame="RAS", invert=True), POINTS, atol=1e-3)
    one = field.field(pair.images()[0])
    vectors = one.displacements(frame="RAS")
    assert vectors.shape == (*pair.shapes[0], 3)
    at = (FLIP @ pair.affines[0] @ [3, 4, 5, 1])[:3]
    assert np.allclose(one.points(at, frame="RAS") - at, vectors[3, 4, 5], atol=1e-4)
    assert np.allclose(one.displacements(frame="LPS"), vectors * [-1, -1, 1])


@pytest.mark.parametrize("name", ["a.tfm", "a.txt", "a.json", "a.h5", "a.mat", "a.lta", "a.xfm", "TransformParameters.0.txt"])
def test_files_of_every_format_come_back(name, pair, tmp_path, files):
    turn = mireg.Transform(TURN, frame="RAS")
    turn.save(tmp_path / name, fixed=pair.images()[0], moving=files[1])
    again = mireg.Transform.load(tmp_path / name, fixed=files[0], moving=pair.images()[1])
    assert np.allclose(again.matrix(frame="RAS"), TURN, atol=1e-6)


def test_a_plain_matrix_needs_its_format(tmp_path):
    np.savetxt(tmp_path / "m.txt", TURN)
    with pytest.raises(mireg.FileError, match="does not say in which frame"):
        mireg.Transform.load(tmp_path / "m.txt")
    assert np.allclose(mireg.Transform.load(tmp_path / "m.txt", format="matrix-ras").matrix(frame="RAS"), TURN)
    with pytest.raises(mireg.InputError):
        mireg.Transform.load(tmp_path / "m.txt", format="nonsense")


def test_the_command_line_reads_what_is_saved(found, tmp_path, files):
    found.transform.save(tmp_path / "t.tfm")
    ran = command("invert", tmp_path / "t.tfm", "--out", tmp_path / "i.tfm")
    assert ran.returncode == 0, ran.stderr
    assert mireg.Transform.load(tmp_path / "t.tfm") == found.transform
    # The file has rotations as angles, from which the matrix of the inverse may differ in its last bits.
    inverses = [mireg.Transform.load(tmp_path / "i.tfm"), found.transform.inverse()]
    assert all("rigid" in repr(inverse) for inverse in inverses)
    assert np.allclose(*[inverse.matrix(frame="RAS") for inverse in inverses], rtol=0, atol=1e-12)


def test_the_way_back_of_a_field_that_folds_is_not_trusted(pair):
    mirrored = mireg.Transform(np.diag([-1.0, 1, 1, 1]), frame="RAS").field(pair.images()[0])
    points = {"frame": "RAS", "invert": True}
    for back in (
        mirrored.inverse,
        lambda **more: mirrored.points(POINTS, **points, **more),
        lambda **more: mireg.points(POINTS, [mireg.Transform(TURN, frame="RAS"), mirrored], **points, **more),
    ):
        with pytest.raises(mireg.UntrustedError, match="a field folds at ") as raised:
            back()
        assert np.all(raised.value.result == back(check=False))
    assert mirrored.points(POINTS, frame="RAS").shape == POINTS.shape


def test_simpleitk_has_the_same_transform(found, field, pair):
    sitk = pytest.importorskip("SimpleITK")
    linear = [found.transform, *(mireg.Transform(m, frame="RAS") for m in (TURN, SHEAR, np.diag([2.0, 2, 2, 1])))]
    shift = np.eye(4)
    shift[:3, 3] = 1, 2, 3
    for one in (*linear, mireg.Transform(shift, frame="LPS"), field, field.field(pair.images()[0])):
        theirs = one.to_sitk()
        for point in POINTS / 4:
            assert np.allclose(theirs.TransformPoint(point), one.points(point, frame="LPS"), atol=1e-4)
    assert isinstance(found.transform.to_sitk(), sitk.Euler3DTransform)
