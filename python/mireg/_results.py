"""The results of registrations and templates."""

from __future__ import annotations

import html
import json
from typing import Any, TypeVar

from mireg import _mireg
from mireg._errors import UntrustedError
from mireg._grid import array_and_grid
from mireg._kinds import image_like
from mireg._listener import log, log_notes
from mireg._transform import Transform
from mireg._types import ImageTuple

Found = TypeVar("Found", bound="Result")


class Result:
    """The base of all results. Results can be pickled."""

    report: dict[str, Any]
    """The content of ``report.json`` of the command line."""

    #: The result of the extension; None after pickling, which drops the images.
    _finished: Any

    def __init__(self, finished: _mireg.Finished | _mireg.Averaged) -> None:
        self._finished = finished
        #: The page, if the result was pickled.
        self._page = ""
        self.report = json.loads(finished.report)

    @property
    def trust(self) -> str:
        """``"passed"``, or ``"failed"`` for a result that should not be used."""
        trust: str = self.report["trust"]
        return trust

    @property
    def warnings(self) -> list[str]:
        """The warnings, and the checks that failed, one line each."""
        return [warning["text"] for warning in self.report["warnings"]]

    def page(self) -> str:
        """Return the content of ``report.html`` of the command line, which notebooks show.

        It has its pictures in itself and loads nothing else.
        """
        page: str = self._page if self._finished is None else self._finished.page()
        return page

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        frame = '<iframe srcdoc="{}" style="width: 100%; height: 640px; border: 0"></iframe>'
        return frame.format(html.escape(self.page()))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: all but the result of the extension, with the page that is made of it."""
        return {**self.__dict__, "_finished": None, "_page": self.page()}

    def _line(self, what: object) -> str:
        """Return one line about the result, which ends with ``what``."""
        text = "".join(f"; {warning}" for warning in self.warnings)
        return f"<mireg.{type(self).__name__}: trust {self.trust}{text}; {what}>"


class Registration(Result):
    """The result of :func:`mireg.register`."""

    transform: Transform
    """The transform from points of the fixed image to points of the moving image."""
    moved: Any
    """The moving image on the grid of the fixed one: an image of the same kind as the fixed one, or a
    :class:`mireg.Image` if that was given as a path.
    """
    report: dict[str, Any]
    """The content of ``report.json`` of the command line: metric before and after, levels, times, device, warnings."""

    _finished: _mireg.Finished | None

    def __init__(self, finished: _mireg.Finished, moved: ImageTuple, fixed: Any) -> None:
        super().__init__(finished)
        self.transform = Transform._of(finished.transform())
        array, grid = array_and_grid(moved)
        self.moved = image_like(fixed, array, None, grid)

    def __repr__(self) -> str:
        return self._line(self.transform)


class Deformation(Registration):
    """The result of :func:`mireg.deform`. ``transform`` is a displacement field on the grid of the fixed image."""

    inverse: Transform
    """The inverse, a displacement field on the grid of the moving image."""
    start: Transform
    """The initial linear transform."""
    jacobian: Any
    """The Jacobian determinant at each voxel of the fixed image, with the initial transform: above 1 where the anatomy
    is larger in the moving image. It is an image of the same kind as :attr:`moved`.
    """

    def __init__(self, finished: _mireg.Finished, moved: ImageTuple, fixed: Any) -> None:
        super().__init__(finished, moved, fixed)
        inverse, start, jacobian = finished.inverse(), finished.start(), finished.jacobian()
        assert inverse is not None and start is not None and jacobian is not None
        self.inverse, self.start = Transform._of(inverse), Transform._of(start)
        array, grid = array_and_grid(jacobian)
        self.jacobian = image_like(fixed, array, None, grid)

    def warp(self) -> Transform | None:
        """Return the displacement field without the initial transform, on the grid of the fixed image.

        ``start @ warp()`` is the whole transform. Saved as ``.h5``, it is one transform of ITK.

        Returns
        -------
        Transform or None
            The field; None if the result was pickled, which drops it.
        """
        warp = None if self._finished is None else self._finished.warp()
        return None if warp is None else Transform._of(warp)

    def log_jacobians(self) -> tuple[Any, Any] | None:
        """Return the natural logarithm of the Jacobian determinant, with and without the initial transform.

        Returns
        -------
        (image, image) or None
            The logarithm for ``transform``, and that for ``warp()``: images of the same kind as :attr:`jacobian`. None
            if the result was pickled, which drops them.
        """
        logs = None if self._finished is None else self._finished.log_jacobians()
        if logs is None:
            return None
        whole, warp = (image_like(self.jacobian, array, None, grid) for array, grid in map(array_and_grid, logs))
        return whole, warp


class Mesh(Registration):
    """The result of :func:`mireg.mesh`. ``transform`` is the mesh."""

    start: Transform
    """The initial affine transform."""

    def __init__(self, finished: _mireg.Finished, moved: ImageTuple, fixed: Any) -> None:
        super().__init__(finished, moved, fixed)
        start = finished.start()
        assert start is not None
        self.start = Transform._of(start)


class Template(Result):
    """The result of :func:`mireg.template`."""

    image: Any
    """The template: an image of floats, of the same kind as ``like`` or, without it, as the first image; a
    :class:`mireg.Image` if that was given as a path.
    """
    affine_mean: Any
    """The mean of the images after the affine registrations alone: an image of the same kind."""
    transforms: list[Transform]
    """For each image, in the order given, the displacement field from points of the template to points of the image.
    It includes the affine part, and is on the grid of the template.
    """
    report: dict[str, Any]
    """The content of ``report.json`` of the command line: sharpness and mean displacement by round, images, seconds,
    device, warnings.
    """

    def __init__(self, made: _mireg.Averaged, transforms: list[_mireg.Transform], place: Any) -> None:
        super().__init__(made)
        self.transforms = [Transform._of(transform) for transform in transforms]
        means = map(array_and_grid, made.means())
        self.image, self.affine_mean = (image_like(place, array, None, grid) for array, grid in means)

    def __repr__(self) -> str:
        return self._line(f"of {len(self.transforms)} images, {len(self.report['rounds'])} rounds")


def checked(found: Found, check: bool) -> Found:
    """Log the notes and warnings of a result, and return it.

    Raises UntrustedError, which has the result, if it should not be used and ``check`` is True.
    """
    log_notes(found.report["notes"])
    for warning in found.warnings:
        log.warning("%s", warning)
    if check and found.trust == "failed":
        grave = ", ".join(warning["name"] for warning in found.report["warnings"] if warning["grave"])
        raise UntrustedError(f"the result should not be used ({grave}); look at .result of this error", found)
    return found
