"""mireg registers medical images by mutual information, with the same bits on CPU and GPU.

>>> import mireg
>>> found = mireg.register("ct.nii.gz", "mr.nii.gz")     # doctest: +SKIP
>>> found.transform.matrix(frame="RAS")                  # doctest: +SKIP

A transform maps a point of the fixed image to the corresponding point of the moving image. Images are paths, or images of nibabel,
SimpleITK, itk or ANTsPy, or a :class:`Image`: an array with its affine. Options have the names, the values and the defaults of the command
line; ``mireg register --help`` describes them.

What is imported here is imported when it is first used, so that ``import mireg`` takes milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mireg._errors import DeviceError, Fault, FileError, InputError, UntrustedError

if TYPE_CHECKING:
    from mireg._engine import Engine
    from mireg._functions import apply, deform, devices, evaluate, mesh, metric, points, register
    from mireg._image import Image
    from mireg._mireg import __version__
    from mireg._results import Deformation, Mesh, Registration
    from mireg._transform import Transform

__all__ = [
    "Deformation",
    "DeviceError",
    "Engine",
    "Fault",
    "FileError",
    "Image",
    "InputError",
    "Mesh",
    "Registration",
    "Transform",
    "UntrustedError",
    "__version__",
    "apply",
    "deform",
    "devices",
    "evaluate",
    "mesh",
    "metric",
    "points",
    "register",
]

_WHERE = {
    "_engine": ("Engine",),
    "_functions": ("apply", "deform", "devices", "evaluate", "mesh", "metric", "points", "register"),
    "_image": ("Image",),
    "_mireg": ("__version__",),
    "_results": ("Deformation", "Mesh", "Registration"),
    "_transform": ("Transform",),
}


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            found = getattr(import_module(f"mireg.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'mireg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
