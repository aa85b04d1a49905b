"""For CuPy's RawModule and RawKernel.

    barrier = gpusync.GridBarrier()
    module = cupy.RawModule(code=source, options=gpusync.nvrtc_options(), enable_cooperative_groups=True)
    gpusync.cupy.launch(module.get_function("relax"), 132, 256, (barrier, a, b, n, steps))
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _launch
from ._barrier import GridBarrier
from ._errors import InvalidArgument
from ._residency import Extent, extent


def launch(
    kernel: Any, grid: Extent, block: Extent, args: Sequence[Any], *, shared: int = 0, stream: Optional[Any] = None
) -> None:
    """Launches a RawKernel on the current device and stream, or on `stream` (a cupy.cuda.Stream). Barriers go as their
    addresses, all other arguments as CuPy takes them: a Python int as 64 bits, a float as a double.

    CuPy by itself cuts a cooperative grid that does not fit, without an error; this refuses it. Raises as
    gpusync.launch()."""
    import cupy
    import numpy

    if not getattr(kernel, "enable_cooperative_groups", False):
        raise InvalidArgument(
            "The kernel would not be launched cooperatively, so its blocks need not run at once. Make its module with "
            "enable_cooperative_groups=True."
        )
    barriers = _launch.barriers_among(args)
    on = cupy.cuda.get_current_stream() if stream is None else stream
    device = cupy.cuda.Device().id
    values = tuple(numpy.uint64(one.ptr) if isinstance(one, GridBarrier) else one for one in args)
    with _launch.checked_launch(kernel, grid, block, barriers, shared=shared, device=device, stream=on.ptr), on:
        kernel(extent(grid), extent(block), values, shared_mem=shared)
