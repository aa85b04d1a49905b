"""libgpusync_c, where it is installed: it surveys the L2 cache and places counters by that. Nothing else needs it."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from pathlib import Path
from typing import Any, Optional

from ._errors import BrokenBarrier, Error, InvalidArgument, NoSuchDevice, NotAvailable, StorageInUse

NAME = "libgpusync_c.so"
VARIABLE = "GPUSYNC_LIBRARY"

_handle = ctypes.c_void_p
# gpusync_result
_ERRORS = {1: InvalidArgument, 2: NoSuchDevice, 6: BrokenBarrier, 7: StorageInUse}


@functools.lru_cache(maxsize=None)
def path() -> Optional[str]:
    """Where the library is: as GPUSYNC_LIBRARY says, in this package, or where the system looks; None if nowhere."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    inside = Path(__file__).with_name(NAME)
    return str(inside) if inside.exists() else ctypes.util.find_library("gpusync_c")


@functools.lru_cache(maxsize=None)
def _load(where: str) -> ctypes.CDLL:
    library = ctypes.CDLL(where)
    for name in ("create", "address", "placed", "reset", "destroy"):
        getattr(library, f"gpusync_barrier_{name}")  # or an AttributeError: another library, or an older one
    library.gpusync_last_error.restype = ctypes.c_char_p
    return library


def is_wanted() -> bool:
    """Whether it can be loaded, or was named: then what is wrong with it is to be said."""
    found = path()
    if os.environ.get(VARIABLE):
        return True
    if found is None:
        return False
    try:
        _load(found)
    except (OSError, AttributeError):
        return False
    return True


def _get() -> ctypes.CDLL:
    found = path()
    if found is None:
        raise NotAvailable(
            f"Counters are placed by {NAME}, which is not installed. Build it (cmake --build BUILD --target gpusync_c) and "
            f"name it in {VARIABLE}, or say placed=False."
        )
    try:
        return _load(found)
    except (OSError, AttributeError) as error:
        raise NotAvailable(f"Counters are placed by {NAME}, and {found} cannot be used: {error}.") from None


def _call(name: str, *arguments: Any) -> None:
    library = _get()
    code = getattr(library, name)(*arguments)
    if code != 0:
        raise _ERRORS.get(code, Error)((library.gpusync_last_error() or b"").decode() or f"{name} failed.")


class Barrier:
    """gpusync_barrier: a barrier that the library owns."""

    def __init__(self, device: int, blocks: int):
        self._barrier = _handle()
        _call("gpusync_barrier_create", ctypes.c_int(device), ctypes.c_uint64(blocks), ctypes.byref(self._barrier))
        address, placed = ctypes.c_uint64(), ctypes.c_int()
        try:
            _call("gpusync_barrier_address", self._barrier, ctypes.byref(address))
            _call("gpusync_barrier_placed", self._barrier, ctypes.byref(placed))
        except Error:
            self.close()
            raise
        self.address, self.placed = address.value, placed.value != 0

    def reset(self) -> None:
        """Back to the first state."""
        _call("gpusync_barrier_reset", self._barrier)

    def close(self) -> None:
        """Gives everything back."""
        _get().gpusync_barrier_destroy(self._barrier)
