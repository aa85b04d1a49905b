"""Checked launches: what could wait for ever, or corrupt a barrier, is refused before it starts."""

from __future__ import annotations

import ctypes
import math
import numbers
import threading
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import _driver, _memory
from ._barrier import GridBarrier
from ._errors import InvalidArgument
from ._numbers import shown, whole
from ._residency import (
    Extent,
    Needs,
    Residency,
    check_shape,
    count,
    explain,
    extent,
    require_co_resident,
)


#: One check and launch after another, so that no other thread's comes between them.
_turn = threading.RLock()


def _function_in(kernel: Any, depth: int) -> Optional[int]:
    if isinstance(kernel, ctypes.c_void_p):
        return kernel.value or 0
    for name in ("func", "function", "handle"):  # torch._compile_kernel's, Triton's compiled, cuda.core's
        inner = getattr(kernel, name, None)
        if inner is not None and inner is not kernel:
            return _function_in(inner, depth - 1) if depth > 0 else None
    inner = getattr(kernel, "kernel", None)  # cupy.RawKernel
    if inner is not None and isinstance(getattr(inner, "ptr", None), int):
        return int(inner.ptr)
    if isinstance(getattr(kernel, "ptr", None), int):
        return int(kernel.ptr)
    # A number, or cuda.bindings' CUfunction, which has __int__; other numbers have that too.
    if isinstance(kernel, numbers.Number) and (isinstance(kernel, bool) or not isinstance(kernel, numbers.Integral)):
        return None
    if isinstance(kernel, (str, bytes)) or hasattr(kernel, "__array_interface__"):
        return None
    return int(kernel) if hasattr(kernel, "__index__") or hasattr(kernel, "__int__") else None


def function_of(kernel: Any) -> int:
    """The CUfunction of a kernel: a number, or something that holds one."""
    found = _function_in(kernel, 4)
    if found is None:
        raise InvalidArgument(f"A kernel is a CUfunction or an object that has one; {type(kernel).__name__} has none.")
    if found <= 0:
        raise InvalidArgument(f"A kernel's CUfunction is an address, not {found}.")
    return found


def max_co_resident(kernel: Any, threads: Extent, shared: int = 0, device: int = 0) -> Residency:
    """How many blocks of a kernel run at once on a device, and what limits them. Raises InvalidArgument for a shape that
    no launch can have."""
    ordinal = whole(device, "A device's number")
    return _residency_of(function_of(kernel), count(threads), whole(shared, "Dynamic shared memory"), ordinal)[0]


def _residency_of(function: int, threads: int, shared: int, ordinal: int) -> Tuple[Residency, Needs]:
    driver = _driver.get()
    device = driver.device(ordinal)
    check_shape(device, 1, threads, shared)
    with driver.on(ordinal):
        if max(driver.function_attribute(function, which) for which in _CLUSTER) > 1:
            raise InvalidArgument("The kernel was compiled for clusters of blocks; launches from Python have none.")
        static = driver.function_attribute(function, _driver.SHARED_BYTES)
        if static + shared > device.shared_bytes_per_block:
            raise InvalidArgument(
                f"A block of this kernel would take {static + shared} bytes of shared memory ({static} static and {shared} "
                f"dynamic); {device.name} allows at most {device.shared_bytes_per_block}."
            )
        if shared > driver.function_attribute(function, _driver.MAX_DYNAMIC_SHARED_BYTES):
            driver.allow_shared(function, shared)
        needs = Needs(threads, driver.function_attribute(function, _driver.REGISTERS), static + shared)
        bound = driver.function_attribute(function, _driver.MAX_THREADS_PER_BLOCK)
        # A block larger than the kernel allows makes the query fail instead of answering 0.
        per_sm = driver.blocks_per_sm(function, threads, shared) if threads <= bound else 0
    found = explain(device.sm_count, per_sm, device.sm, needs)
    if per_sm == 0 and not found.limited_by:
        found = found._replace(limited_by=(f"the kernel's __launch_bounds__ of {bound} threads",))
    return found, needs


_CLUSTER = (_driver.CLUSTER_WIDTH, _driver.CLUSTER_HEIGHT, _driver.CLUSTER_DEPTH)


def _only_barriers(given: Iterable[Any]) -> Iterator[GridBarrier]:
    for one in given:
        if not isinstance(one, GridBarrier):
            raise InvalidArgument(f"A launch is checked for barriers; {shown(one)} is no gpusync.GridBarrier.")
        yield one


def check_launch(
    kernel: Any,
    grid: Extent,
    block: Extent,
    barriers: Iterable[GridBarrier],
    *,
    shared: int = 0,
    device: int = 0,
    stream: Optional[int] = None,
) -> None:
    """Raises what launch() would raise, and starts nothing."""
    function, blocks, threads = function_of(kernel), count(grid), count(block)
    shared, device = whole(shared, "Dynamic shared memory"), whole(device, "A device's number")
    stream = None if stream is None else whole(stream, "A stream's handle")
    check_shape(_driver.get().device(device), blocks, threads, shared)
    found, needs = _residency_of(function, threads, shared, device)
    require_co_resident(found, _driver.get().device(device).name, blocks, needs)
    seen: List[GridBarrier] = []
    for barrier in _only_barriers(barriers):
        if any(other.overlaps(barrier.ptr, barrier.nbytes) for other in seen):
            raise InvalidArgument(
                "Two barriers among the kernel's arguments share one storage, and would count in the same words. Pass "
                "one of them and refer to it, or make a storage for each."
            )
        barrier.require_usable(blocks, device, stream)
        seen.append(barrier)


@contextmanager
def checked_launch(
    kernel: Any, grid: Extent, block: Extent, barriers: Sequence[GridBarrier], *, shared: int, device: int, stream: int
) -> Iterator[None]:
    """Checks a launch, which is what the `with` statement holds, and notes it. No other thread's comes between."""
    with _turn:
        check_launch(kernel, grid, block, barriers, shared=shared, device=device, stream=stream)
        yield
        for barrier in barriers:
            barrier.note_launch(stream)


def barriers_among(arguments: Sequence[Any]) -> List[GridBarrier]:
    """The barriers that a kernel is given. Raises InvalidArgument if there are none, for then nothing can be checked."""
    if not isinstance(arguments, (list, tuple)):
        raise InvalidArgument(f"A kernel's arguments are a tuple or a list, not {shown(arguments)}.")
    barriers = [one for one in arguments if isinstance(one, GridBarrier)]
    if not barriers:
        raise InvalidArgument(
            "None of the kernel's arguments is a gpusync.GridBarrier. Give the barrier itself where the kernel takes its "
            "address."
        )
    return barriers


def _scalar(value: Any, size: Optional[int], place: int) -> Any:
    """A number as the kernel takes it, in so many bytes."""
    where = f"Argument {place} of the kernel"
    if isinstance(value, bool):
        kinds: Any = {1: ctypes.c_bool}
    elif isinstance(value, int):
        kinds = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
    else:
        kinds = {4: ctypes.c_float, 8: ctypes.c_double}
    if size is None:
        raise InvalidArgument(
            f"{where} is {value!r}, and this driver does not say how many bytes the kernel takes (before CUDA 12.4). Give "
            "it as a number of numpy or ctypes."
        )
    if size not in kinds:
        raise InvalidArgument(f"{where} is {value!r}, but the kernel takes {size} bytes there.")
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
        raise InvalidArgument(f"{where} is {value}, which does not fit into the {size} bytes that the kernel takes there.")
    made = kinds[size](value)
    if isinstance(value, float) and math.isfinite(value) and not math.isfinite(made.value):
        raise InvalidArgument(f"{where} is {value!r}, which does not fit into the {size} bytes that the kernel takes there.")
    return made


def _argument(value: Any, size: Optional[int], place: int) -> Any:
    """One argument as a ctypes object."""
    if isinstance(value, GridBarrier):
        made: Any = ctypes.c_uint64(value.ptr)
    elif isinstance(value, (bool, int, float)):
        return _scalar(value, size, place)
    elif hasattr(value, "is_cuda") and hasattr(value, "data_ptr"):  # torch: a tensor that wants gradients has no interface
        if not value.is_cuda:
            raise InvalidArgument(f"Argument {place} of the kernel is a tensor on the host. Move it to the GPU.")
        made = ctypes.c_uint64(value.data_ptr())
    elif hasattr(value, "__cuda_array_interface__"):
        made = ctypes.c_uint64(value.__cuda_array_interface__["data"][0])
    elif isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Array)):
        made = value
    elif hasattr(value, "dtype") and hasattr(value, "tobytes") and getattr(value, "ndim", 1) == 0:
        data = value.tobytes()
        made = (ctypes.c_char * len(data)).from_buffer_copy(data)
    elif hasattr(value, "__dlpack__"):
        made = ctypes.c_uint64(_memory.address_of(value, f"Argument {place} of the kernel"))
    else:
        raise InvalidArgument(
            f"Argument {place} of the kernel is a {type(value).__name__}. A kernel takes barriers, arrays on the GPU, and "
            "numbers."
        )
    if size is not None and ctypes.sizeof(made) != size:
        raise InvalidArgument(
            f"Argument {place} of the kernel has {ctypes.sizeof(made)} bytes, but the kernel takes {size} there."
        )
    return made


def _arguments(function: int, values: Sequence[Any]) -> List[Any]:
    sizes = _driver.get().parameter_sizes(function)
    if sizes is not None and len(sizes) != len(values):
        raise InvalidArgument(f"The kernel takes {len(sizes)} arguments; it was given {len(values)}.")
    return [_argument(one, sizes[i] if sizes is not None else None, i) for i, one in enumerate(values)]


def launch(
    kernel: Any,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    *,
    shared: int = 0,
    stream: int = 0,
    device: Optional[int] = None,
) -> None:
    """Launches a kernel cooperatively, by the driver, on a stream (the number of its handle) of a device (that of the
    barrier among the arguments).

    Arguments are barriers, arrays on the GPU and numbers; Python's own numbers take the size of the kernel's parameter.
    Raises what C++'s gpusync::launch() throws, in its words: NotCoResident, InvalidArgument, BrokenBarrier,
    StorageInUse, CudaError; then nothing was started.
    """
    barriers = barriers_among(args)
    ordinal = barriers[0].device if device is None else whole(device, "A device's number")
    shared, stream = whole(shared, "Dynamic shared memory"), whole(stream, "A stream's handle")
    driver = _driver.get()
    function = function_of(kernel)
    with checked_launch(
        function, grid, block, barriers, shared=shared, device=ordinal, stream=stream
    ), driver.on(ordinal):
        values = _arguments(function, args)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(one) for one in values))
        driver.call(
            "cuLaunchCooperativeKernel",
            ctypes.c_void_p(function),
            *extent(grid),
            *extent(block),
            shared,
            ctypes.c_void_p(stream),
            pointers,
        )
