"""The commands as functions. Options are named as on the command line, with underscores; None is the default."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from mireg import _mireg
from mireg._arguments import extra_words, grid_name, image_name, points_words, refuse_file_options
from mireg._engine import Engine
from mireg._errors import InputError
from mireg._image import Frame
from mireg._kinds import is_path, voxels_of
from mireg._listener import Progress, RunListener
from mireg._results import Deformation, Mesh, Registration, checked
from mireg._run import Outcome, run
from mireg._transform import Transform, as_transform

#: An intensity range: ``"auto"``, ``"full"``, or the lowest and the highest intensity.
Range = Literal["auto", "full"] | Sequence[float]
Found = TypeVar("Found", bound=Registration)


def register(
    fixed: Any,
    moving: Any,
    *,
    dof: str | None = None,
    metric: str | None = None,
    init: Any = None,
    from_: str | None = None,
    fixed_mask: Any = None,
    moving_mask: Any = None,
    levels: Sequence[float] | None = None,
    optimizer: str | None = None,
    sampling: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    bins: int | None = None,
    interpolation: str | None = None,
    sigmas: Sequence[float] | None = None,
    exponentials: str | None = None,
    histogram: str | None = None,
    fixed_range: Range | None = None,
    moving_range: Range | None = None,
    fixed_series: str | None = None,
    moving_series: str | None = None,
    fixed_volume: int | str | None = None,
    moving_volume: int | str | None = None,
    fixed_channel: int | str | None = None,
    moving_channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | Progress | None = None,
    check: bool = True,
) -> Registration:
    """Register ``moving`` to ``fixed`` by a linear transform: translation, rigid (the default), similarity or affine.

    Parameters
    ----------
    fixed, moving : path or image
        The fixed image, and the moving image, in 2-D or 3-D.
    init : str, path or Transform, optional
        The initialisation, as ``--init`` of the command line, or an initial transform from points of the fixed image
        to points of the moving image.
    from_ : str, optional
        As ``--from`` of the command line: the format of a file that is given as ``init``.
    fixed_mask, moving_mask : path or image, optional
        Masks on the grids of ``fixed`` and ``moving``. Voxels below 0.5 are left out.
    levels : sequence of float, optional
        The voxel sizes of the levels in mm, coarse to fine.
    engine : Engine, optional
        Used instead of ``backend`` and ``threads``.
    progress : bool or callable, optional
        True for a bar of tqdm, or a function that is called with the level, from 0, and the best value of the metric so
        far. An exception in it stops the run.
    check : bool
        False returns a result that should not be used, instead of raising :class:`mireg.UntrustedError`.
    dof, metric, ...
        All other options are those of ``mireg register --help``.

    Returns
    -------
    Registration
        The transform from points of the fixed image to points of the moving image, the moved image and the report.

    Raises
    ------
    UntrustedError
        If the result should not be used. The error has it as ``result``.
    InputError
        If an option or an image is wrong.
    FileError
        If a file, or an image in memory, cannot be read or used.
    DeviceError
        If the backend is not available, or fails.

    Examples
    --------
    >>> found = mireg.register("ct.nii.gz", "mr.nii.gz", dof="affine", levels=[8, 4, 2])
    >>> found.moved.save("mr_on_ct.nii.gz")
    """
    options = dict(locals())  # Before there are other variables.
    return _registered(Registration, "register", options, start="init")


def deform(
    fixed: Any,
    moving: Any,
    *,
    force: str | None = None,
    symmetric: bool = False,
    start: Any = None,
    from_: str | None = None,
    linear: str | None = None,
    smooth: float | None = None,
    smooth_field: float | None = None,
    levels: Sequence[float] | None = None,
    iterations: int | Sequence[int] | None = None,
    bins: int | None = None,
    fixed_mask: Any = None,
    moving_mask: Any = None,
    fixed_labels: Any = None,
    moving_labels: Any = None,
    fixed_extra: Any = (),
    moving_extra: Any = (),
    extra_weight: float | Sequence[float] | None = None,
    fixed_points: Any = None,
    moving_points: Any = None,
    frame: Frame | None = None,
    points_error: float | None = None,
    fixed_range: Range | None = None,
    moving_range: Range | None = None,
    fixed_series: str | None = None,
    moving_series: str | None = None,
    fixed_volume: int | str | None = None,
    moving_volume: int | str | None = None,
    fixed_channel: int | str | None = None,
    moving_channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | Progress | None = None,
    check: bool = True,
) -> Deformation:
    """Register ``moving`` to ``fixed`` by a diffeomorphic deformation after an initial linear transform.

    Parameters
    ----------
    fixed, moving : path or image
        The fixed image, and the moving image, in 2-D or 3-D.
    start : path or Transform, optional
        The initial transform, which must be linear, instead of a registration.
    smooth, smooth_field : float, optional
        The regularisation of the update field and of the whole field: sigmas in mm.
    fixed_mask, moving_mask, fixed_labels, moving_labels : path or image, optional
        Masks and label maps on the grids of ``fixed`` and ``moving``.
    fixed_extra, moving_extra : path, image, or list of these, optional
        More images on the grids of ``fixed`` and ``moving``, in pairs.
    fixed_points, moving_points : path, or array_like of shape (n, 3), in 2-D (n, 2), optional
        Landmarks in the same order, mm in ``frame``.
    frame : "RAS" or "LPS", optional
        The frame of the landmarks. It must be given for arrays.
    points_error : float, optional
        The standard deviation of the landmarks along each axis, mm.
    engine, progress, check
        As of :func:`mireg.register`.
    force, symmetric, ...
        All other options are those of ``mireg deform --help``.

    Returns
    -------
    Deformation
        The displacement field, its inverse, the moved image, the Jacobian determinant and the report. What
        ``--composite`` and ``--log-jacobian`` of the command line write is in it, too.

    Raises
    ------
    UntrustedError, InputError, FileError, DeviceError
        As :func:`mireg.register`.

    Examples
    --------
    >>> found = mireg.deform("t1.nii.gz", "t2.nii.gz")
    >>> found.transform.save("field.nii.gz")
    """
    options = dict(locals())  # Before there are other variables.
    _refuse_beside_start(start, linear, "--linear <KIND>")
    return _registered(Deformation, "deform", options, start="start")


def mesh(
    fixed: Any,
    moving: Any,
    *,
    spacing: float | None = None,
    iterations: int | None = None,
    sigmas: Sequence[float] | None = None,
    exponentials: str | None = None,
    fixed_mask: Any = None,
    start: Any = None,
    init: str | os.PathLike[str] | None = None,
    from_: str | None = None,
    fixed_range: Range | None = None,
    moving_range: Range | None = None,
    fixed_series: str | None = None,
    moving_series: str | None = None,
    fixed_volume: int | str | None = None,
    moving_volume: int | str | None = None,
    fixed_channel: int | str | None = None,
    moving_channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | Progress | None = None,
    check: bool = True,
) -> Mesh:
    """Register 2-D images by a mesh of triangles, each with its own affine map.

    Parameters
    ----------
    fixed, moving : path or image
        The fixed image, and the moving image.
    start : path or Transform, optional
        The initial transform, which must be linear, instead of a registration.
    fixed_mask : path or image, optional
        A mask on the grid of ``fixed``.
    engine, progress, check
        As of :func:`mireg.register`.
    spacing, iterations, ...
        All other options are those of ``mireg mesh --help``.

    Returns
    -------
    Mesh
        The mesh, the moved image and the report.

    Raises
    ------
    UntrustedError, InputError, FileError, DeviceError
        As :func:`mireg.register`.
    """
    options = dict(locals())  # Before there are other variables.
    _refuse_beside_start(start, init, "--init <START|FILE>")
    return _registered(Mesh, "mesh", options, start="start")


def metric(
    fixed: Any,
    moving: Any,
    *,
    transform: Any = None,
    from_: str | None = None,
    bins: int | None = None,
    interpolation: str | None = None,
    fixed_mask: Any = None,
    moving_mask: Any = None,
    histogram: str | None = None,
    fixed_range: Range | None = None,
    moving_range: Range | None = None,
    fixed_series: str | None = None,
    moving_series: str | None = None,
    fixed_volume: int | str | None = None,
    moving_volume: int | str | None = None,
    fixed_channel: int | str | None = None,
    moving_channel: int | str | None = None,
    backend: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Compare two images in one position: mutual information, entropies, correlation ratios and overlap.

    Parameters
    ----------
    fixed, moving : path or image
        The images. The voxels of ``fixed`` are the samples.
    transform : path or Transform, optional
        From points of ``fixed`` to points of ``moving``. By default, the images lie where their headers place them.
    fixed_mask, moving_mask : path or image, optional
        Masks on the grids of ``fixed`` and ``moving``. Voxels below 0.5 are left out.
    engine : Engine, optional
        Used instead of ``backend`` and ``threads``.
    bins, interpolation, ...
        All other options are those of ``mireg metric --help``.

    Returns
    -------
    dict
        What ``mireg metric --json`` prints. Entropies and mutual information are in nats.

    Examples
    --------
    >>> mireg.metric("ct.nii.gz", "mr.nii.gz", transform="transform.tfm")["mi"]
    """
    options = dict(locals())  # Before there are other variables.
    return _measured(_run("metric", options, "transform"))


def evaluate(
    transform: Any,
    *,
    truth: Any = None,
    fixed: Any = None,
    moving: str | os.PathLike[str] | None = None,
    mask: Any = None,
    points: Any = None,
    moving_points: Any = None,
    frame: Frame | None = None,
    from_: str | None = None,
) -> dict[str, Any]:
    """Measure the target registration error of the identity and of ``transform``.

    The error at a point of the fixed image is the distance between the transformed point and its true position in the
    moving image. The points are those of ``points``, the voxels of ``mask``, or the eight corner voxels of ``fixed``.

    Parameters
    ----------
    transform : path or Transform
        From points of the fixed image to points of the moving image.
    truth : path or Transform, optional
        The true transform. It or ``moving_points`` must be given.
    fixed : path or image, optional
        The fixed image, of which only the grid is used.
    moving : path, optional
        The moving image, for transforms of FSL, RIRE and AFNI; only its header is read.
    mask : path or image, optional
        The error is measured at its voxels that are 0.5 or more.
    points, moving_points : path, or array_like of shape (n, 3), in 2-D (n, 2), optional
        Points of the fixed image and their true positions in the moving image, in the same order, mm in ``frame``.
    frame : "RAS" or "LPS", optional
        The frame of the points. It must be given for arrays.
    from_ : str, optional
        As ``--from`` of the command line: the format of a file that is given as ``transform``.

    Returns
    -------
    dict
        What ``mireg evaluate --json`` prints. Errors are in mm; ``before`` has those of the identity.
    """
    held: dict[str, Any] = {}
    options: dict[str, Any] = {"from": from_, "moving": moving}
    if truth is not None:
        options["truth"] = truth if is_path(truth) else "truth"
        if not is_path(truth):
            held["truth"] = as_transform(truth, "truth")._core
    if fixed is not None:
        options["fixed"] = grid_name(fixed, "fixed", held)
    if mask is not None:
        options["mask"] = image_name(mask, "fixed_mask", held)
    options |= points_words({"points": points, "moving_points": moving_points}, frame, held)
    if not is_path(transform):
        held["transform"] = as_transform(transform, "transform")._core
    names = [os.fspath(transform) if is_path(transform) else "transform"]
    return _measured(run("evaluate", names, options, held))


def devices() -> list[dict[str, Any]]:
    """List the devices on which mireg can compute.

    Returns
    -------
    list of dict
        For each ``backend`` its name, whether it is ``available``, and a ``detail`` such as the name of the GPU.
    """
    found: list[dict[str, Any]] = json.loads(_mireg.devices())
    return found


def _measured(outcome: Outcome) -> dict[str, Any]:
    """Return the values that a command printed as JSON."""
    assert outcome.json is not None
    values: dict[str, Any] = json.loads(outcome.json)
    return values


def _registered(made: type[Found], command: str, options: dict[str, Any], start: str) -> Found:
    """Run a command that registers, and return its checked result.

    ``start`` names the option that takes an initial transform.
    """
    fixed, check, progress = options["fixed"], options.pop("check"), options.pop("progress")
    with RunListener(progress) as listener:
        outcome = _run(command, options, start, listener)
    assert outcome.finished is not None and outcome.image is not None
    return checked(made(outcome.finished, outcome.image, fixed), check)


def _run(command: str, options: dict[str, Any], start: str, listener: RunListener | None = None) -> Outcome:
    """Run a command on two images; ``start`` names the option that takes a path or a Transform."""
    held: dict[str, Any] = {}
    engine = options.pop("engine")
    names = []
    for which in ("fixed", "moving"):
        image = options.pop(which)
        refuse_file_options(image, which, options, tuple(f"{which}_{one}" for one in ("series", "volume", "channel")))
        names.append(image_name(image, which, held))
    for which in ("fixed_mask", "moving_mask", "fixed_labels", "moving_labels"):
        image = options.get(which)
        if image is not None and not is_path(image):
            held[which] = voxels_of(options.pop(which), which)
    landmarks = {which: options.pop(which, None) for which in ("fixed_points", "moving_points")}
    options |= points_words(landmarks, options.pop("frame", None), held)
    extra = []
    for which in ("fixed_extra", "moving_extra"):
        extra += extra_words(options.pop(which, None), which, held)
    if options.get(start) is not None and not is_path(options[start]):
        held["transform"] = as_transform(options.pop(start), start)._core
    return run(command, names, options, held, repeated=extra, engine=engine, listener=listener)


def _refuse_beside_start(start: Any, other: Any, usage: str) -> None:
    """Raise InputError if ``other``, an option for another initial transform, is given beside a Transform.

    The command line does the same for a path.
    """
    if isinstance(start, Transform) and other is not None:
        raise InputError(f"the argument '--start <TRANSFORM>' cannot be used with '{usage}'; see --help")
