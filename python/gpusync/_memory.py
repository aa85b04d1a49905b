"""Memory of any framework: DLPack, __cuda_array_interface__, or a plain address with its size."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional

from ._errors import Error, InvalidArgument


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_CUDA = 2
_DL_REACHED = (2, 3, 13)  # by kernels
_DL_NAMES = {1: "the host", 2: "CUDA", 3: "pinned memory of the host", 10: "ROCm", 13: "managed memory"}

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Memory(NamedTuple):
    """Where a buffer lies."""

    address: int
    size: int  #: bytes
    device: Optional[int]  #: None if the buffer does not say
    owner: Any  #: what is to be kept for as long as the memory is used


def _require_contiguous(shape: Any, strides: Any, item: int) -> None:
    expected = item
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length > 1 and stride != expected:
            raise InvalidArgument(
                f"A barrier's memory must lie in one piece; this array of shape {tuple(shape)} has strides {tuple(strides)} "
                "in bytes."
            )
        expected *= length


def _size(shape: Any, item: int) -> int:
    size = item
    for length in shape:
        size *= length
    return size


def _dlpack_place(kind: int) -> str:
    return _DL_NAMES.get(kind, f"DLPack device {kind}")


def _tensor_of(capsule: Any) -> _DLTensor:
    return ctypes.cast(_pointer_of(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents


def _from_dlpack(owner: Any) -> Memory:
    kind, number = owner.__dlpack_device__()
    if int(kind) != _DL_CUDA:
        raise InvalidArgument(
            f"A barrier lies in memory of a CUDA device; this buffer lies in {_dlpack_place(int(kind))}."
        )
    capsule = owner.__dlpack__()
    tensor = _tensor_of(capsule)
    item = (tensor.dtype.bits * tensor.dtype.lanes + 7) // 8
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    if tensor.strides:
        _require_contiguous(shape, [tensor.strides[i] * item for i in range(tensor.ndim)], item)
    address = (tensor.data or 0) + tensor.byte_offset
    # A capsule that nobody consumes gives its tensor back when it goes.
    return Memory(address, _size(shape, item), int(number), (owner, capsule))


def _from_cuda_array(owner: Any) -> Memory:
    interface = owner.__cuda_array_interface__
    item = int(interface["typestr"].lstrip("<>|=")[1:])
    shape = interface["shape"]
    if interface.get("strides") is not None:
        _require_contiguous(shape, interface["strides"], item)
    address, read_only = interface["data"]
    if read_only:
        raise InvalidArgument("A barrier's memory is written to; this array is read-only.")
    return Memory(address, _size(shape, item), None, owner)


def address_of(array: Any, what: str) -> int:
    """Where an array begins that a kernel is given by DLPack. Raises InvalidArgument, naming `what` it is, for one that
    no kernel reaches."""
    try:
        kind = int(array.__dlpack_device__()[0])
        if kind not in _DL_REACHED:
            raise InvalidArgument(f"{what} lies in {_dlpack_place(kind)}. Move it to the GPU.")
        tensor = _tensor_of(array.__dlpack__())
        return int((tensor.data or 0) + tensor.byte_offset)
    except Error:
        raise
    except Exception as error:
        raise InvalidArgument(f"{what} does not say by DLPack where it lies: {error}.") from error


def of(buffer: Any) -> Memory:
    """The memory of a buffer. Raises InvalidArgument for what is none, or lies elsewhere, or in pieces."""
    try:
        if hasattr(buffer, "__dlpack__") and hasattr(buffer, "__dlpack_device__"):
            found = _from_dlpack(buffer)
        elif hasattr(buffer, "__cuda_array_interface__"):
            found = _from_cuda_array(buffer)
        else:
            found = None
    except Error:
        raise
    except Exception as error:  # whatever its owner's description leads to
        raise InvalidArgument(
            f"This {type(buffer).__name__} does not describe its memory as an array does: {type(error).__name__}: {error}."
        ) from error
    if found is not None:
        if found.size < 0 or found.address <= 0:
            raise InvalidArgument(f"This buffer has {found.size} bytes at {found.address:#x}, which is no memory.")
        return found
    raise InvalidArgument(
        f"A barrier's memory is an array on a CUDA device, with __dlpack__ or __cuda_array_interface__; "
        f"{type(buffer).__name__} has neither."
    )
