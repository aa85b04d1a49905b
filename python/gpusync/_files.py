"""The files that come with this package: headers and bitcode."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Tuple, Union

from ._errors import NotAvailable

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
    if isinstance(architecture, tuple):
        return 10 * architecture[0] + architecture[1]
    return int(str(architecture).rstrip("af").replace("sm_", "").replace("compute_", "").replace(".", ""))


def bitcode(architecture: Union[int, str, Tuple[int, int]] = 90) -> str:
    """The file of LLVM bitcode with the device functions (gpusync/device_functions.cuh) for a GPU of an architecture: 90,
    "sm_90" or (9, 0). Raises NotAvailable if there is none."""
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
