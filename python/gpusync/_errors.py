"""Everything that gpusync raises: the C++ library's family, and its sentences."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Tuple


class Error(RuntimeError):
    """The root of the family. Its text is a sentence or two: what failed, with the numbers, and what to do."""


class InvalidArgument(Error, ValueError):
    """An argument outside what the function takes."""


class NoSuchDevice(Error):
    """There is no such device, or it cannot be used."""


class NotAvailable(Error):
    """A part of gpusync that this installation does not have."""


class NotCoResident(Error):
    """A launch whose blocks cannot all run at once: a barrier across them would wait for ever, so it was not started."""

    def __init__(self, words: str, requested: int, limit: int):
        super().__init__(words)
        self.requested = requested  #: blocks asked for
        self.limit = limit  #: the most that run at once; 0 if not one does

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.requested, self.limit)


class MissingBlock(NamedTuple):
    """A block that had not arrived when the first wait timed out."""

    block: int  #: its rank in the grid
    phase: int  #: the barrier call that was waited in, counted from 0 at the start of the launch
    started: bool  #: whether it has been seen in this launch


class BrokenBarrier(Error):
    """A barrier that holds a phase in which a wait timed out, or that a kernel has misused."""

    def __init__(self, words: str, missing: Sequence[MissingBlock] = ()):
        super().__init__(words)
        self.missing = list(missing)  #: who had not come


class StorageInUse(Error):
    """A barrier that launches on another stream may still be using."""


class CudaError(Error):
    """A call of the CUDA driver that failed."""

    def __init__(self, call: str, code: int, name: str, words: str):
        super().__init__(f"{call} failed: {words} ({name}).")
        self.call = call  #: what was called
        self.code = code  #: the driver's number
        self.name = name  #: and its name for that
        self._words = words

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.call, self.code, self.name, self._words)


class CompileError(Error):
    """Source that NVRTC does not take; the text is its log."""
