"""The grid barrier whose whole state one address leads to."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import weakref
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type

from . import _driver, _layout, _library, _memory, _report
from ._errors import BrokenBarrier, Error, InvalidArgument, MissingBlock, NotAvailable, StorageInUse
from ._numbers import whole
from ._residency import Extent

#: Those that there are, the closed among them: two that are open do not lie in the same memory.
_open: "weakref.WeakSet[GridBarrier]" = weakref.WeakSet()
_opening = threading.Lock()


class GridBarrier:
    """A barrier of all blocks of a grid, for kernels of any front end: give `barrier` (or its address, `barrier.ptr`) to
    the kernel, and make the barrier there by `gpusync::barrier_at(address)`.

    `device` is the CUDA device's number. `blocks` is the most that a grid may have; by default as many as the device can
    hold at once, whatever the kernel. `memory` is an array on that device (DLPack or __cuda_array_interface__) of
    `image_bytes(blocks)` bytes, which is kept for as long as the barrier; by default the barrier has memory of its own.
    `placed` says whether its counters lie where a survey of the L2 cache wants them, which needs libgpusync_c and some
    20 ms: True, False, or None: if that library is there and can work. It is faster, and as correct without.

    Reusable by one launch after another on one stream without a reset, unless a wait timed out. It is memory of one
    device in one process: it cannot be copied or pickled.

    Raises NoSuchDevice, InvalidArgument, NotAvailable, CudaError.
    """

    def __init__(
        self,
        device: int = 0,
        blocks: Optional[int] = None,
        memory: Any = None,
        placed: Optional[bool] = None,
    ):
        self._close: List[Any] = []
        self._address = 0
        device = whole(device, "A device's number")
        driver = _driver.get()
        described = driver.device(device)
        if blocks is None:
            blocks = min(described.sm_count * described.sm.blocks, _layout.MAX_BLOCKS)
        self._capacity = _layout.require_servable(blocks)
        self._device, self._sm_count = device, described.sm_count
        self._stream: Optional[Tuple[int, int]] = None
        wanted = memory is None and _library.is_wanted() if placed is None else placed
        if wanted and memory is not None:
            raise InvalidArgument("A survey places counters in memory of its own. Give no memory, or placed=False.")
        self._own: Any = None
        self._size = _layout.image_bytes(self._capacity)
        if wanted:
            try:
                self._own = _library.Barrier(device, self._capacity)
            except Error as error:
                # Without it the barrier is as correct: only who asked for it, or named it, is told.
                if placed or isinstance(error, NotAvailable):
                    raise
        if self._own is not None:
            self._close.append(self._own.close)
            self._lie_at(self._own.address)
            with driver.on(device):
                self._report = _layout.report_address(driver.read(self._address, _layout.HEADER_BYTES))
        else:
            try:
                self._allocate(memory)
                self.reset()
            except Exception:  # which may keep this half of a barrier alive, and its place taken
                with contextlib.suppress(Error):
                    self.close()
                raise

    def _lie_at(self, address: int, given: bool = False) -> None:
        """From now on this barrier's place. Raises InvalidArgument if it was given, and another barrier lies there."""
        with _opening:
            if given and any(one.overlaps(address, self._size) for one in _open):
                raise InvalidArgument(
                    f"Another barrier lies in the {self._size} bytes at {address:#x}: both would count in the same words. "
                    "Close that one first, or give other memory."
                )
            self._address = address
            _open.add(self)

    def _allocate(self, memory: Any) -> None:
        driver, size = _driver.get(), self._size
        with driver.on(self._device):
            if memory is None:
                address = driver.allocate(size)
                self._close.append(lambda: driver.free(address))
                self._lie_at(address)
            else:
                if isinstance(memory, GridBarrier):
                    raise InvalidArgument("This buffer is a barrier already. Give memory that nothing else uses.")
                given = _memory.of(memory)
                if given.size < size:
                    raise InvalidArgument(
                        f"A barrier of {self._capacity} blocks takes {size} bytes; this buffer has {given.size}. Ask "
                        "image_bytes() how many a barrier takes."
                    )
                if given.address % _layout.ALIGNMENT != 0:
                    raise InvalidArgument(
                        f"A barrier's memory begins at a multiple of {_layout.ALIGNMENT} bytes; this buffer begins at "
                        f"{given.address:#x}."
                    )
                if given.device not in (None, self._device):
                    raise InvalidArgument(
                        f"The buffer lies on CUDA device {given.device}, but the barrier is for CUDA device {self._device}. "
                        "Give it memory there."
                    )
                driver.require_memory(given.address, size, self._device, "The buffer")
                self._lie_at(given.address, given=True)
                self._close.append(lambda owner=given.owner: None)
            self._report = driver.allocate_mapped(_report.size(self._capacity))
            report = self._report
            self._close.append(lambda: driver.free_mapped(report))

    @property
    def ptr(self) -> int:
        """The address that kernels take. Raises InvalidArgument if the barrier has been closed."""
        if self._address == 0:
            raise InvalidArgument("This barrier has been closed: its memory is gone. Make another one.")
        return self._address

    @property
    def device(self) -> int:
        """The CUDA device's number."""
        return self._device

    @property
    def capacity(self) -> int:
        """The most blocks that a grid may have."""
        return self._capacity

    @property
    def placed(self) -> bool:
        """Whether its counters lie where a survey of the L2 cache wants them."""
        return self._own is not None and bool(self._own.placed)

    @property
    def nbytes(self) -> int:
        """Bytes of device memory behind the address."""
        return self._size

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """The same memory as an array of bytes: for front ends whose kernels take arrays, and no addresses."""
        return {"shape": (self._size,), "typestr": "|u1", "data": (self.ptr, False), "version": 3, "strides": None}

    def overlaps(self, address: int, size: int) -> bool:
        """Whether it lies in any of so many bytes at an address; no, once it is closed."""
        return self._address != 0 and address < self._address + self._size and self._address < address + size

    def describe(self) -> str:
        """What it is, in a line. Raises InvalidArgument if the barrier has been closed."""
        where = "placed by a survey of the L2 cache" if self.placed else "lines as they come"
        name = _driver.get().device(self._device).name
        return (
            f"grid barrier of up to {self._capacity} blocks on CUDA device {self._device} ({name}), {self._size} bytes at "
            f"{self.ptr:#x}, {where}"
        )

    def __repr__(self) -> str:
        return f"<gpusync.GridBarrier: {self.describe()}>" if self._address else "<gpusync.GridBarrier: closed>"

    def _read_report(self) -> _report.Report:
        self.ptr  # not closed
        return _report.parse(ctypes.string_at(self._report, _report.size(self._capacity)))

    def missing(self) -> List[MissingBlock]:
        """The blocks that a timed-out wait missed, with the phase; empty if none timed out. Synchronizes with nothing:
        call it after the kernel, or while it runs; it works also after a launch has failed and taken the CUDA context
        with it."""
        return list(self._read_report().missing)

    def report(self) -> str:
        """What went wrong in a launch on this barrier, in a sentence or two; empty if nothing did. Call it as
        missing()."""
        return _report.in_words(self._read_report())

    def check(self) -> None:
        """Raises BrokenBarrier, with report() and missing(), if something went wrong. Call it as missing()."""
        found = self._read_report()
        if found:
            raise BrokenBarrier(_report.in_words(found), found.missing)

    def reset(self) -> None:
        """Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the barrier, and no launch
        on it is queued. Blocks."""
        self.ptr  # not closed
        if self._own is not None:
            self._own.reset()
        else:
            driver = _driver.get()
            fresh = _report.fresh(self._capacity)
            ctypes.memmove(self._report, fresh, len(fresh))
            image = _layout.image(self._capacity, self._sm_count, self._address, self._report)
            with driver.on(self._device):
                driver.write(self._address, image)
        self._stream = None

    def require_usable(self, blocks: int, device: int, stream: Optional[int]) -> None:
        """Raises what a launch of so many blocks on a device and a stream would raise because of this barrier. A stream
        of None is not looked at."""
        address = self.ptr
        if device != self._device:
            raise InvalidArgument(
                f"A barrier's storage was made for CUDA device {self._device}, but the launch is on CUDA device {device}. "
                "Make a storage there."
            )
        if blocks > self._capacity:
            raise InvalidArgument(
                f"The grid has {blocks} blocks, but the barrier's storage was made for {self._capacity}. Make a larger "
                "storage."
            )
        self.check()
        if self._own is None:
            driver = _driver.get()
            with driver.on(device):
                driver.require_memory(address, self._size, device, "The barrier's memory")
        if stream is not None and self._stream is not None:
            now = self._name_of(stream)
            if now is not None and now != self._stream:
                raise StorageInUse(
                    "This storage was last used by a launch on another stream, which may still run: the two would count in "
                    "the same words. Give each stream a storage of its own; or, once one stream waits for the other, call "
                    "hand_over() on the storage."
                )

    def check_launch(
        self, kernel: Any, grid: Extent, block: Extent, shared: int = 0, stream: Optional[int] = None
    ) -> None:
        """Raises what launching a kernel (its CUfunction, or an object that has one) with this barrier would raise: for
        launches by other means than gpusync's. Starts nothing. Raises as gpusync.launch()."""
        from ._launch import check_launch

        check_launch(kernel, grid, block, [self], shared=shared, device=self._device, stream=stream)

    def _name_of(self, stream: int) -> Optional[Tuple[int, int]]:
        driver = _driver.get()
        with driver.on(self._device):
            number = driver.stream_number(stream)
        return None if number is None else (stream if number == 0 else 0, number)

    def note_launch(self, stream: int) -> None:
        """Notes that a launch on a stream has taken place."""
        name = self._name_of(stream)
        if name is not None:
            self._stream = name

    def hand_over(self) -> None:
        """Says that the next launch may come on another stream: the caller has seen to it that it follows those before."""
        self._stream = None

    def close(self) -> None:
        """Gives its memory back. Precondition: no kernel uses it. Afterwards it can be neither launched with nor asked.
        Gives all back that it can, and raises CudaError for what it could not."""
        self._address = 0
        failure: Optional[Error] = None
        with contextlib.ExitStack() as stack:
            if self._close:
                with contextlib.suppress(Error):  # a context that has failed is none to work in
                    stack.enter_context(_driver.get().on(self._device))
            while self._close:
                try:
                    self._close.pop()()
                except Error as error:
                    failure = failure or error
        if failure is not None:
            raise failure

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise InvalidArgument(
            "A barrier is memory of one device in one process, and is neither copied nor pickled. Make another one there."
        )

    def __enter__(self) -> "GridBarrier":
        self.ptr  # not closed
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.close()
        except Error:
            if error is None:  # or what went wrong first is what matters
                raise

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:
            pass  # the context has gone, and the memory with it


def image_bytes(blocks: int) -> int:
    """Bytes of device memory that a barrier of so many blocks takes. Raises InvalidArgument for numbers it does not
    serve."""
    return _layout.image_bytes(_layout.require_servable(blocks))
