"""For numba-cuda: the barrier's functions, to be called in kernels with the barrier's address, and a checked launch.

    from gpusync.numba import enter, launch, sync

    @cuda.jit
    def relax(barrier, a, b, steps):
        enter(barrier)
        for step in range(steps):
            ...
            sync(barrier)

    launch(relax, 132, 256, (gpusync.GridBarrier(), a, b, steps))

They keep their state in some 2 KB of shared memory, and every thread of the block calls them.
"""

from __future__ import annotations

import ctypes
from typing import Any, Sequence

from numba import cuda
from numba.cuda.core import config

from . import _driver, _launch
from ._barrier import GridBarrier
from ._errors import InvalidArgument
from ._files import include_dir
from ._residency import Extent, extent

_SEARCHED = "CUDA_NVRTC_EXTRA_SEARCH_PATHS"


def _find_headers() -> None:
    """numba gives NVRTC no options but the folders of this setting, which it looks up at every compilation."""
    folders = [one for one in str(getattr(config, _SEARCHED, "") or "").split(":") if one]
    if include_dir() not in folders:
        setattr(config, _SEARCHED, ":".join([*folders, include_dir()]))


_find_headers()
_source = cuda.CUSource("#include <gpusync/device_functions.cuh>\n", name="gpusync.cu")


def _declare(name: str, *parameters: str) -> Any:
    """A function of gpusync/device_functions.cuh. use_cooperative is what makes numba launch cooperatively."""
    signature = f"int32({', '.join(parameters)})"
    return cuda.declare_device(f"gpusync_numba_{name}", signature, link=_source, use_cooperative=True)


#: enter(barrier): finds the block's part. Before the others.
enter = _declare("enter", "int64")
#: sync(barrier): every thread of every block sees all that was written before.
sync = _declare("sync", "int64")
#: arrive(barrier), wait(barrier): sync in two, with work of the block's own between.
arrive = _declare("arrive", "int64")
wait = _declare("wait", "int64")
#: sync_for(barrier, nanoseconds): 0 when all have come; otherwise leave the kernel, and ask barrier.missing().
sync_for = _declare("sync_for", "int64", "int64")
#: sync_or(barrier, mine): sync that says whether `mine` is not 0 in any thread of any block: 1 or 0.
sync_or = _declare("sync_or", "int64", "int32")
#: sync_count(barrier, mine): sync that says in how many threads of all blocks `mine` is not 0.
sync_count = _declare("sync_count", "int64", "int32")
#: sync_add(barrier, value): sync that says the sum of the blocks' values, modulo 2^32: of each, that of its first thread.
sync_add = _declare("sync_add", "int64", "int32")


def _function_of(kernel: Any) -> int:
    """The CUfunction of a compiled kernel of numba's, which has it from cuda.core: there it is a CUkernel."""
    handle = kernel._codelibrary.get_cufunc().handle
    if "kernel" not in type(handle).__name__.lower():
        return _launch.function_of(handle)
    function, driver = ctypes.c_void_p(), _driver.get()
    with driver.on(cuda.get_current_device().id):
        driver.call("cuKernelGetFunction", ctypes.byref(function), ctypes.c_void_p(int(handle)))
    return function.value or 0


def launch(kernel: Any, grid: Extent, block: Extent, args: Sequence[Any], *, shared: int = 0, stream: Any = 0) -> None:
    """Launches a @cuda.jit function on the current device, on `stream` (numba's). Barriers go as their addresses, all
    other arguments as numba takes them. Raises as gpusync.launch()."""
    barriers = _launch.barriers_among(args)
    values = tuple(one.ptr if isinstance(one, GridBarrier) else one for one in args)
    compiled = kernel.compile(tuple(kernel.typeof_pyval(one) for one in values))
    device = cuda.get_current_device().id
    with _launch.checked_launch(
        _function_of(compiled), grid, block, barriers, shared=shared, device=device, stream=int(stream)
    ):
        if not compiled.cooperative:
            raise InvalidArgument("The kernel calls none of gpusync.numba's functions, so nothing in it waits at a barrier.")
        kernel[extent(grid), extent(block), stream, shared](*values)
