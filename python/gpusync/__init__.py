"""gpusync from Python: a grid barrier for kernels of CuPy, numba, Triton, PyTorch, JAX, or anything that compiles CUDA C++.

    import cupy, gpusync, gpusync.cupy

    barrier = gpusync.GridBarrier()
    module = cupy.RawModule(code=source, options=gpusync.nvrtc_options(), enable_cooperative_groups=True)
    gpusync.cupy.launch(module.get_function("relax"), 132, 256, (barrier, a, b, n, steps))

Importing it needs neither CUDA nor any other package.
"""

from __future__ import annotations

from ._barrier import GridBarrier, image_bytes
from ._errors import (
    BrokenBarrier,
    CompileError,
    CudaError,
    Error,
    InvalidArgument,
    MissingBlock,
    NoSuchDevice,
    NotAvailable,
    NotCoResident,
    StorageInUse,
)
from ._files import __version__, bitcode, include_dir, nvrtc_options
from ._launch import check_launch, launch, max_co_resident
from ._residency import Residency

__all__ = [
    "BrokenBarrier",
    "CompileError",
    "CudaError",
    "Error",
    "GridBarrier",
    "InvalidArgument",
    "MissingBlock",
    "NoSuchDevice",
    "NotAvailable",
    "NotCoResident",
    "Residency",
    "StorageInUse",
    "__version__",
    "bitcode",
    "check_launch",
    "image_bytes",
    "include_dir",
    "launch",
    "max_co_resident",
    "nvrtc_options",
]
