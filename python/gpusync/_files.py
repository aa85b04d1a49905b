"""The files that come with this package: headers and bitcode."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Tuple, Union

from ._errors import InvalidArgument, NotAvailable
from ._numbers import shown, whole

_PACKAGE = Path(__file__).parent


def _include_dir() -> Path:
    installed = _PACKAGE / "include"
    # A checkout has them two folders up.
    return installed if installed.is_dir() else _PACKAGE.parent.parent / "include"


def include_dir() -> str:
    """The folder to give to a compiler by -I."""
    return str(_include_dir())


def nvrtc_options() -> Tuple[str, ...]:
    """What a run-time compiler (NVRTC: CuPy's RawModule, PyTorch's _compile_kernel, numba's CUSource) needs to compile
    `#include <gpusync/device.cuh>`."""
    return ("-std=c++17", f"-I{include_dir()}")


def _number(architecture: Union[int, str, Tuple[int, int]]) -> int:
    if isinstance(architecture, tuple) and len(architecture) == 2:
        major, minor = (whole(one, "A part of a compute capability") for one in architecture)
        return 10 * major + minor
    text = "" if isinstance(architecture, (bool, float, tuple)) else str(architecture)
    found = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})[af]?|(\d{1,2})\.(\d)", text)
    if found is None:
        raise InvalidArgument(f'An architecture is 90, "sm_90", "9.0" or (9, 0), not {shown(architecture)}.')
    return int(found.group(1) or found.group(2) + found.group(3))


def bitcode(architecture: Union[int, str, Tuple[int, int]] = 90) -> str:
    """The file of LLVM bitcode with the device functions (gpusync/device_functions.cuh) for a GPU of an architecture: 90,
    "sm_90", "9.0" or (9, 0). Raises NotAvailable if there is none, InvalidArgument for what is no architecture."""
    folder = _PACKAGE / "bitcode"
    there = {}
    for file in folder.glob("gpusync-sm_*.bc"):
        found = re.fullmatch(r"gpusync-sm_(\d+)\.bc", file.name)
        if found:
            there[int(found.group(1))] = file
    fitting = [number for number in there if number <= _number(architecture)]
    if not fitting:
        raise NotAvailable(
            f"There is no bitcode for sm_{_number(architecture)} in {folder}"
            + (f", only for sm_{', sm_'.join(map(str, sorted(there)))}" if there else ": this package was built without clang")
            + ". Make it with scripts/device-bitcode, and install gpusync where clang is."
        )
    return str(there[max(fitting)])


def _version() -> str:
    text = (_include_dir() / "gpusync" / "core" / "version.hpp").read_text(encoding="utf-8")
    found = re.search(r'GPUSYNC_VERSION_STRING "([^"]*)"', text)
    return found.group(1) if found else "unknown"


__version__ = _version()
