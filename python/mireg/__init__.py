"""mireg registers medical images by mutual information, with the same bits on CPU and GPU.

>>> import mireg
>>> found = mireg.register("ct.nii.gz", "mr.nii.gz")
>>> found.transform.matrix(frame="RAS")

A transform maps a point of the fixed image to the corresponding point of the moving image, in mm. An image is a path,
an image of nibabel, SimpleITK, itk or ANTsPy, or a :class:`mireg.Image`: an array with its affine. Options have the
names, values and defaults of the command line, with underscores for dashes: ``--fixed-mask`` is ``fixed_mask=``. None
stands for the default. ``from_`` is ``--from``, since ``from`` is a keyword of Python.
"""

# Names are imported from their modules when they are first used, so that ``import mireg`` takes milliseconds.

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mireg._errors import DeviceError, Fault, FileError, InputError, UntrustedError

if TYPE_CHECKING:
    from mireg._engine import Engine
    from mireg._functions import deform, devices, evaluate, mesh, metric, register
    from mireg._image import Image
    from mireg._mireg import __version__
    from mireg._results import Deformation, Mesh, Registration, Result, Template
    from mireg._template import template
    from mireg._transform import Transform, apply, points

# In the order of the API's pages.
__all__ = [
    "register",
    "deform",
    "mesh",
    "template",
    "apply",
    "points",
    "metric",
    "evaluate",
    "devices",
    "Registration",
    "Deformation",
    "Mesh",
    "Template",
    "Result",
    "Transform",
    "Image",
    "Engine",
    "InputError",
    "FileError",
    "DeviceError",
    "UntrustedError",
    "Fault",
    "__version__",
]

_WHERE = {
    "_engine": ("Engine",),
    "_functions": ("deform", "devices", "evaluate", "mesh", "metric", "register"),
    "_image": ("Image",),
    "_mireg": ("__version__",),
    "_results": ("Deformation", "Mesh", "Registration", "Result", "Template"),
    "_template": ("template",),
    "_transform": ("Transform", "apply", "points"),
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
