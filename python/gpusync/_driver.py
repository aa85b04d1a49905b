"""The CUDA driver's functions that gpusync needs, by ctypes: no toolkit, no other package."""

from __future__ import annotations

import ctypes
import functools
import sys
from contextlib import contextmanager
from typing import Any, Iterator, Optional

from ._errors import CudaError, InvalidArgument, NoSuchDevice
from ._residency import Device, Sm

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

_INVALID_VALUE = 1
_NOT_INITIALIZED = 3

# CUdevice_attribute
_THREADS_PER_BLOCK = 1
_SM_COUNT = 16
_THREADS_PER_SM = 39
_MAJOR, _MINOR = 75, 76
_SHARED_PER_SM = 81
_REGISTERS_PER_SM = 82
_COOPERATIVE_LAUNCH = 95
_SHARED_PER_BLOCK_OPTIN = 97
_BLOCKS_PER_SM = 106
_RESERVED_SHARED_PER_BLOCK = 111

# CUfunction_attribute
MAX_THREADS_PER_BLOCK = 0
SHARED_BYTES = 1
REGISTERS = 4
MAX_DYNAMIC_SHARED_BYTES = 8
CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH = 11, 12, 13

# CUpointer_attribute
_POINTER_MEMORY_TYPE = 2
_POINTER_DEVICE = 9
_POINTER_RANGE_START, _POINTER_RANGE_SIZE = 11, 12
_DEVICE_MEMORY = 2

_HOST_ALLOC_PORTABLE, _HOST_ALLOC_MAPPED = 1, 2


class Driver:
    """A loaded and initialized driver. Every call that fails raises CudaError."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._contexts: dict[int, ctypes.c_void_p] = {}
        code = library.cuInit(0)
        if code != 0:
            raise NoSuchDevice(f"No CUDA device can be used: {self._words(code)}.")

    def _text(self, function: str, code: int) -> str:
        text = ctypes.c_char_p()
        if getattr(self._library, function)(code, ctypes.byref(text)) != 0 or text.value is None:
            return f"error {code}"
        return text.value.decode()

    def _words(self, code: int) -> str:
        return self._text("cuGetErrorString", code)

    def failure(self, call: str, code: int) -> CudaError:
        """What a call raises that returned `code`."""
        return CudaError(call, code, self._text("cuGetErrorName", code), self._words(code))

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver by its name."""
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise self.failure(name, code)

    def has(self, name: str) -> bool:
        """Whether this driver is new enough for a function."""
        return hasattr(self._library, name)

    def device_count(self) -> int:
        """Devices of this machine."""
        number = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(number))
        return number.value

    def _attribute(self, handle: ctypes.c_int, which: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, handle)
        return value.value

    @functools.lru_cache(maxsize=None)
    def device(self, ordinal: int) -> Device:
        """What a device is. Raises NoSuchDevice, naming how many there are."""
        there = self.device_count()
        if not 0 <= ordinal < there:
            raise NoSuchDevice(f"There is no CUDA device {ordinal}: this machine has {there}, counted from 0.")
        handle = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(handle), ordinal)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, len(name), handle)
        ask = functools.partial(self._attribute, handle)
        if not ask(_COOPERATIVE_LAUNCH):
            raise NoSuchDevice(f"{name.value.decode()} cannot launch a grid whose blocks all run at once.")
        return Device(
            ordinal,
            name.value.decode(),
            ask(_SM_COUNT),
            (ask(_MAJOR), ask(_MINOR)),
            ask(_THREADS_PER_BLOCK),
            ask(_SHARED_PER_BLOCK_OPTIN),
            Sm(
                ask(_THREADS_PER_SM),
                ask(_BLOCKS_PER_SM),
                ask(_REGISTERS_PER_SM),
                ask(_SHARED_PER_SM),
                ask(_RESERVED_SHARED_PER_BLOCK),
            ),
        )

    @contextmanager
    def on(self, ordinal: int) -> Iterator[None]:
        """Makes a device's primary context, which all frameworks use, current for a `with` statement."""
        if ordinal not in self._contexts:
            self.device(ordinal)
            handle, context = ctypes.c_int(), ctypes.c_void_p()
            self.call("cuDeviceGet", ctypes.byref(handle), ordinal)
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
            self._contexts[ordinal] = context
        self.call("cuCtxPushCurrent_v2", self._contexts[ordinal])
        try:
            yield
        finally:
            self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def current_device(self) -> Optional[int]:
        """The device of the calling thread's context; None if it has none."""
        ordinal = ctypes.c_int()
        return ordinal.value if self._library.cuCtxGetDevice(ctypes.byref(ordinal)) == 0 else None

    def allocate(self, size: int) -> int:
        """Memory of the current device."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def free(self, address: int) -> None:
        """Gives it back."""
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def allocate_mapped(self, size: int) -> int:
        """Memory of the host that every device reaches under the same address."""
        address, on_device = ctypes.c_void_p(), ctypes.c_uint64()
        self.call(
            "cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(size), _HOST_ALLOC_PORTABLE | _HOST_ALLOC_MAPPED
        )
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(on_device), address, 0)
        if on_device.value != address.value:
            self._library.cuMemFreeHost(address)
            raise NoSuchDevice("This device reaches the host's memory under other addresses than the host does.")
        return on_device.value

    def free_mapped(self, address: int) -> None:
        """Gives it back."""
        self.call("cuMemFreeHost", ctypes.c_void_p(address))

    def write(self, address: int, data: bytes) -> None:
        """Copies to the current device. Blocks; all streams find it."""
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))
        self.call("cuStreamSynchronize", ctypes.c_void_p())

    def read(self, address: int, size: int) -> bytes:
        """Copies from the current device. Blocks."""
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def require_memory(self, address: int, size: int, ordinal: int, what: str) -> None:
        """Raises InvalidArgument unless so many bytes at an address are allocated on a device."""

        def ask(which: int, kind: Any) -> Any:
            value = kind()
            code = self._library.cuPointerGetAttribute(ctypes.byref(value), which, ctypes.c_uint64(address))
            if code == _INVALID_VALUE:
                return None
            if code != 0:
                raise self.failure("cuPointerGetAttribute", code)
            return value.value

        if ask(_POINTER_MEMORY_TYPE, ctypes.c_uint) != _DEVICE_MEMORY:
            raise InvalidArgument(
                f"{what} at {address:#x} is no memory of a CUDA device, or it has been freed. "
                "Keep the buffer for as long as the barrier."
            )
        lies_on = ask(_POINTER_DEVICE, ctypes.c_int)
        if lies_on != ordinal:
            raise InvalidArgument(
                f"{what} lies on CUDA device {lies_on}, but the barrier is for CUDA device {ordinal}. Give it memory there."
            )
        begin, length = ask(_POINTER_RANGE_START, ctypes.c_uint64), ask(_POINTER_RANGE_SIZE, ctypes.c_size_t)
        if begin is not None and length is not None and address + size > begin + length:
            raise InvalidArgument(
                f"{what} has {begin + length - address} bytes up to the end of its allocation, and the barrier takes {size}."
            )

    def function_attribute(self, function: int, which: int) -> int:
        """What a compiled kernel is like."""
        value = ctypes.c_int()
        self.call("cuFuncGetAttribute", ctypes.byref(value), which, ctypes.c_void_p(function))
        return value.value

    def allow_shared(self, function: int, size: int) -> None:
        """Raises a kernel's limit of dynamic shared memory."""
        self.call("cuFuncSetAttribute", ctypes.c_void_p(function), MAX_DYNAMIC_SHARED_BYTES, size)

    def blocks_per_sm(self, function: int, threads: int, shared: int) -> int:
        """Blocks of a kernel that fit on an SM."""
        blocks = ctypes.c_int()
        self.call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(blocks),
            ctypes.c_void_p(function),
            threads,
            ctypes.c_size_t(shared),
        )
        return blocks.value

    def stream_number(self, stream: int) -> Optional[int]:
        """A stream's number, which never comes back as its handle may; 0 if this driver has none (before CUDA 12), None
        for a stream that captures, which asking would disturb."""
        handle, capturing, number = ctypes.c_void_p(stream), ctypes.c_int(), ctypes.c_ulonglong()
        self.call("cuStreamIsCapturing", handle, ctypes.byref(capturing))
        if capturing.value != 0:
            return None
        if not self.has("cuStreamGetId"):
            return 0
        self.call("cuStreamGetId", handle, ctypes.byref(number))
        return number.value + 1

    def parameter_sizes(self, function: int) -> Optional[list[int]]:
        """The sizes of a kernel's parameters in bytes; None if this driver does not tell (before CUDA 12.4)."""
        if not self.has("cuFuncGetParamInfo"):
            return None
        sizes: list[int] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        while True:
            code = self._library.cuFuncGetParamInfo(
                ctypes.c_void_p(function), ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size)
            )
            if code == _INVALID_VALUE:
                return sizes
            if code != 0:
                raise self.failure("cuFuncGetParamInfo", code)
            sizes.append(size.value)


@functools.lru_cache(maxsize=None)
def get() -> Driver:
    """The driver of this machine. Raises NoSuchDevice if there is none."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        raise NoSuchDevice(f"No CUDA device can be used: there is no driver on this machine ({LIBRARY}).") from None
    return Driver(library)
