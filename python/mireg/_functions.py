"""The commands as functions. Options are named as on the command line, with underscores; None is the default."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from mireg import _mireg
from mireg._arguments import engine_of, extra_words, files_alone, name_of, placed, points_words
from mireg._engine import Engine
from mireg._errors import InputError
from mireg._image import Frame
from mireg._kinds import is_path, voxels_of
from mireg._listener import Progress, RunListener, log_notes
from mireg._results import Deformation, Mesh, Registration, checked
from mireg._transform import Transform, of
from mireg._types import Returned
from mireg._words import words

#: ``"auto"``, ``"full"``, or two numbers.
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

    >>> found = mireg.register("ct.nii.gz", "mr.nii.gz", dof="affine", levels=[8, 4, 2])
    >>> found.moved.save("mr_on_ct.nii.gz")

    Both are paths or images, as are masks. ``init`` may also be a :class:`mireg.Transform`. ``from_`` is ``--from``,
    since ``from`` is a keyword of Python. The other options are those of ``mireg register --help``. Besides these:

    - ``engine``: a :class:`mireg.Engine` instead of ``backend`` and ``threads``.
    - ``progress``: True for a bar of tqdm, or a function that is called with the level, from 0, and the best value of
      the metric so far. An exception in it stops the run.
    - ``check``: False returns a result that should not be used, instead of raising :class:`mireg.UntrustedError`, which
      has it as ``result``.

    Also raises :class:`mireg.InputError`, :class:`mireg.FileError` and :class:`mireg.DeviceError`.
    """
    options = dict(locals())
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

    >>> found = mireg.deform("t1.nii.gz", "t2.nii.gz")
    >>> found.transform.save("warp.nii.gz")

    ``start`` may also be a :class:`mireg.Transform`; ``fixed_extra`` and ``moving_extra`` are an image each, or lists
    of images. ``fixed_points`` and ``moving_points`` are landmarks: paths, or arrays of shape (n, 3) in mm, for which
    ``frame`` must be given. What ``--composite`` and ``--log-jacobian`` write is in the result. The options are those
    of ``mireg deform --help``; see :func:`mireg.register` for the others, and for what it raises.
    """
    options = dict(locals())
    if isinstance(start, Transform) and linear is not None:
        raise InputError("the argument '--start <TRANSFORM>' cannot be used with '--linear <KIND>'; see --help")
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

    ``start`` may also be a :class:`mireg.Transform`. The options are those of ``mireg mesh --help``; see
    :func:`mireg.register` for the others, and for what it raises.
    """
    options = dict(locals())
    if isinstance(start, Transform) and init is not None:
        raise InputError("the argument '--start <TRANSFORM>' cannot be used with '--init <START|FILE>'; see --help")
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

    >>> mireg.metric("ct.nii.gz", "mr.nii.gz", transform="transform.tfm")["mi"]

    Returns what ``mireg metric --json`` prints. ``transform`` is a :class:`mireg.Transform` or a path; without one, the
    images lie where their headers place them.
    """
    options = dict(locals())
    found = _run("metric", options, "transform", RunListener())
    assert found[2] is not None
    values: dict[str, Any] = json.loads(found[2])
    return values


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
    """Measure the target registration error of the identity and of ``transform``, in mm.

    Returns what ``mireg evaluate --json`` prints. The error is measured over the corners of ``fixed``, the voxels of
    ``mask`` or ``points``, against ``truth`` or ``moving_points``. Points are paths, or arrays of shape (n, 3) in mm,
    for which ``frame`` must be given.
    """
    held: dict[str, Any] = {}
    options: dict[str, Any] = {"from": from_, "moving": moving}
    if truth is not None:
        options["truth"] = truth if is_path(truth) else "truth"
        if not is_path(truth):
            held["truth"] = of(truth, "truth")._core
    if fixed is not None:
        options["fixed"] = placed(fixed, "fixed", held)
    if mask is not None:
        options["mask"] = name_of(mask, "fixed_mask", held)
    options |= points_words({"points": points, "moving_points": moving_points}, frame, held)
    if not is_path(transform):
        held["transform"] = of(transform, "transform")._core
    names = [os.fspath(transform) if is_path(transform) else "transform"]
    found = _mireg.run(words("evaluate", names, options), held, None, RunListener(), False)
    assert found[2] is not None
    values: dict[str, Any] = json.loads(found[2])
    return values


def devices() -> list[dict[str, Any]]:
    """List each ``backend``, whether it is ``available``, and a ``detail`` such as the name of the GPU."""
    found: list[dict[str, Any]] = json.loads(_mireg.devices())
    return found


def _registered(made: type[Found], command: str, options: dict[str, Any], start: str) -> Found:
    """Run a command that registers; ``start`` is the option that also takes a transform."""
    fixed, check, progress = options["fixed"], options.pop("check"), options.pop("progress")
    with RunListener(progress) as listener:
        finished, moved, *_ = _run(command, options, start, listener)
    assert finished is not None and moved is not None
    return checked(made(finished, moved, fixed), check)


def _run(command: str, options: dict[str, Any], start: str, listener: RunListener) -> Returned:
    """Run a command on two images; ``start`` is the option that also takes a transform."""
    held: dict[str, Any] = {}
    engine = options.pop("engine")
    names = []
    for which in ("fixed", "moving"):
        image = options.pop(which)
        files_alone(image, which, options, tuple(f"{which}_{one}" for one in ("series", "volume", "channel")))
        names.append(name_of(image, which, held))
    for which in ("fixed_mask", "moving_mask", "fixed_labels", "moving_labels"):
        mask = options.get(which)
        if mask is not None and not is_path(mask):
            held[which] = voxels_of(options.pop(which), which)
    landmarks = {which: options.pop(which, None) for which in ("fixed_points", "moving_points")}
    options |= points_words(landmarks, options.pop("frame", None), held)
    given = [word for which in ("fixed_extra", "moving_extra") for word in extra_words(options.pop(which, ()), which, held)]
    if isinstance(options.get(start), Transform):
        held["transform"] = options.pop(start)._core
    elif options.get(start) is not None and not is_path(options[start]):
        of(options[start], start)  # Raises an error that says what it should be.
    opened = engine_of(engine, options)
    line = words(command, names, options)
    found = _mireg.run([*line[:2], *given, *line[2:]], held, opened, listener, listener.values)
    log_notes(found[3])
    return found
