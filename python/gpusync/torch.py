"""For PyTorch: torch.cuda._compile_kernel, launched cooperatively and checked, which PyTorch's own launch is not. A C++
extension needs nothing from here but gpusync.include_dir().

    relax = gpusync.torch.compile_kernel(source, "relax")
    gpusync.torch.launch(relax, 132, 256, (gpusync.GridBarrier(), a, b, n, steps))
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _launch
from ._files import include_dir
from ._residency import Extent


def compile_kernel(source: str, name: str, **options: Any) -> Any:
    """torch.cuda._compile_kernel() with gpusync's headers; `options` go to it. The source is CUDA C++ with `#include
    <gpusync/device.cuh>`, the kernel extern "C"."""
    import torch

    folders = [include_dir(), *(options.pop("cuda_include_dirs", None) or [])]
    flags = ["-std=c++17", *(options.pop("nvcc_options", None) or [])]
    return torch.cuda._compile_kernel(source, name, cuda_include_dirs=folders, nvcc_options=flags, **options)


def launch(
    kernel: Any, grid: Extent, block: Extent, args: Sequence[Any], *, shared: int = 0, stream: Optional[Any] = None
) -> None:
    """Launches a kernel of compile_kernel() cooperatively on the current device and stream, or on `stream` (a
    torch.cuda.Stream). Arguments and errors as gpusync.launch()."""
    import torch

    on = torch.cuda.current_stream() if stream is None else stream
    _launch.launch(
        kernel, grid, block, args, shared=shared, stream=on.cuda_stream, device=torch.cuda.current_device()
    )
