"""For Triton: the barrier's functions, to be called in kernels with the barrier's address, and a checked launch.

    from gpusync.triton import enter, launch, sync

    @triton.jit
    def relax(barrier, a, b, n, steps, BLOCK: tl.constexpr):
        enter(barrier)
        for step in tl.range(0, steps, num_stages=1):
            ...
            sync(barrier)

    launch(relax, 132, gpusync.GridBarrier(), a, b, n, steps, BLOCK=256, num_warps=8)

They come from LLVM bitcode, which `extern_libs` links, and keep their state in some 2 KB of shared memory. Every warp of the
program must come to them: no warp specialization around them, and no pipelined loop (num_stages=1).
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Union

from triton.language import core
from triton.runtime import driver as _triton

from . import _launch
from ._barrier import GridBarrier
from ._errors import InvalidArgument
from ._files import bitcode
from ._residency import Extent, extent

_WARP = 32


def _call(name: str, values: Any, types: Any, semantic: Any) -> Any:
    symbol = {tuple(core.dtype(one) for one in types): (f"gpusync_{name}", core.dtype("int32"))}
    return core.extern_elementwise("", "", values, symbol, is_pure=False, _semantic=semantic)


@core.extern
def enter(barrier: Any, _semantic: Any = None) -> Any:
    """Finds the block's part. Before the others."""
    return _call("enter", [barrier], ["int64"], _semantic)


@core.extern
def sync(barrier: Any, _semantic: Any = None) -> Any:
    """Every program of the grid sees all that was written before."""
    return _call("sync", [barrier], ["int64"], _semantic)


@core.extern
def arrive(barrier: Any, _semantic: Any = None) -> Any:
    """The first half of sync(), before work of the program's own."""
    return _call("arrive", [barrier], ["int64"], _semantic)


@core.extern
def wait(barrier: Any, _semantic: Any = None) -> Any:
    """The second half of sync()."""
    return _call("wait", [barrier], ["int64"], _semantic)


def _call_with(name: str, barrier: Any, value: Any, type: str, semantic: Any) -> Any:
    """With a scalar of the program behind the barrier's address."""
    value = semantic.cast(semantic.to_tensor(value), core.dtype(type))
    return _call(name, [barrier, value], ["int64", type], semantic)


@core.extern
def sync_for(barrier: Any, nanoseconds: Any, _semantic: Any = None) -> Any:
    """sync() with a deadline: 0 when all have come; otherwise leave the kernel, and ask barrier.missing()."""
    return _call_with("sync_for", barrier, nanoseconds, "int64", _semantic)


@core.extern
def sync_or(barrier: Any, mine: Any, _semantic: Any = None) -> Any:
    """sync() that says whether `mine`, a scalar, is not 0 in any program of the grid: 1 or 0."""
    return _call_with("sync_or", barrier, mine, "int32", _semantic)


@core.extern
def sync_add(barrier: Any, value: Any, _semantic: Any = None) -> Any:
    """sync() that says the sum of the programs' values, scalars, modulo 2^32."""
    return _call_with("sync_add", barrier, value, "int32", _semantic)


def options() -> Dict[str, Any]:
    """What `kernel[grid](...)` needs besides its own arguments: a cooperative launch, and the bitcode for the current
    GPU."""
    target = _triton.active.get_current_target()
    return {"launch_cooperative_grid": True, "extern_libs": {"gpusync": bitcode(target.arch)}}


def launch(kernel: Any, grid: Union[Extent, Callable[[Dict[str, Any]], Extent]], *args: Any, **named: Any) -> None:
    """Launches a @triton.jit function on the current device and stream. Barriers go as their addresses, all else as
    `kernel[grid](...)` takes it. Raises as gpusync.launch()."""
    barriers = _launch.barriers_among([*args, *named.values()])
    given = {**options(), **named}
    given["extern_libs"] = {**(named.get("extern_libs") or {}), **options()["extern_libs"]}
    if not given["launch_cooperative_grid"]:
        raise InvalidArgument(
            "A launch that is not cooperative does not see to it that all blocks run at once. Leave launch_cooperative_grid "
            "to gpusync.triton."
        )
    values = [one.ptr if isinstance(one, GridBarrier) else one for one in args]
    given = {name: one.ptr if isinstance(one, GridBarrier) else one for name, one in given.items()}
    if callable(grid):  # as Triton takes it: of the arguments by name
        grid = grid({**dict(zip(getattr(kernel, "arg_names", ()), values)), **given})
    blocks = extent(grid)
    compiled = kernel.warmup(*values, grid=blocks, **given)
    compiled = compiled.result() if hasattr(compiled, "result") else compiled
    compiled._init_handles()
    device = _triton.active.get_current_device()
    stream = _triton.active.get_current_stream(device)
    # The driver's own count of shared memory has what Triton asks for only at the launch.
    with _launch.checked_launch(
        compiled,
        blocks,
        compiled.metadata.num_warps * _WARP,
        barriers,
        shared=compiled.metadata.shared,
        device=device,
        stream=stream,
    ):
        kernel[blocks](*values, **given)
