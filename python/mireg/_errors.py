"""The exceptions of mireg. The message is the line that the command line prints: what is wrong, and what to do."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """An option or an image that is wrong, by itself or together with the others."""


class FileError(OSError):
    """A file, or an image in memory, that cannot be read, written or used."""


class DeviceError(RuntimeError):
    """A backend that is not available, or failed."""


class UntrustedError(RuntimeError):
    """The images were read, but the result should not be used."""

    result: Any
    """The result for inspection, such as a :class:`mireg.Registration`; None if there is none."""

    def __init__(self, line: str, result: Any = None) -> None:
        super().__init__(line)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result)


class Fault(RuntimeError):
    """A bug in mireg; please report the line."""
