"""For JAX: kernels of CUDA C++ as functions in jitted code, by XLA's foreign function interface. No C++ is built: the
handler is Python's, called when XLA queues the kernel, and NVRTC compiles the kernel.

    barrier = gpusync.GridBarrier()
    relax = gpusync.jax.Kernel(source, "relax", grid=132, block=256, barrier=barrier)
    out = relax(x, steps, results=jax.ShapeDtypeStruct(x.shape, x.dtype))     # also inside jax.jit

The kernel's parameters are the barrier's address, the inputs' addresses, the results' addresses, then the scalars.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any, Dict, List, Optional, Sequence

import jax
import numpy

from . import _driver, _launch, _nvrtc
from ._barrier import GridBarrier
from ._errors import InvalidArgument
from ._files import nvrtc_options
from ._residency import Extent

# XLA's C interface (xla/ffi/api/c_api.h, version 0.x): what of it a handler reads.


class _Extension(ctypes.Structure):
    pass


_Extension._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("type", ctypes.c_int),
    ("next", ctypes.POINTER(_Extension)),
]


class _ApiVersion(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("major_version", ctypes.c_int),
        ("minor_version", ctypes.c_int),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("api_version", _ApiVersion), ("traits", ctypes.c_uint32)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(_Metadata))]


class _Api(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("api_version", _ApiVersion),
        ("internal_api", ctypes.c_void_p),
        ("error_create", ctypes.c_void_p),
        ("error_get_message", ctypes.c_void_p),
        ("error_destroy", ctypes.c_void_p),
        ("handler_register", ctypes.c_void_p),
        ("stream_get", ctypes.c_void_p),
    ]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
    ]


class _List(ctypes.Structure):
    """Arguments, or results."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    ]


class _ByteSpan(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("names", ctypes.POINTER(ctypes.POINTER(_ByteSpan))),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    ]


class _CallFrame(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("api", ctypes.POINTER(_Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", _List),
        ("results", _List),
        ("attributes", _Attributes),
    ]


class _ErrorCreate(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


class _StreamGet(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_Extension)),
        ("context", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    ]


_METADATA = 1
_EXECUTE = 3
_FAILED_PRECONDITION = 9
_CALL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_CAPSULE_NEW = ctypes.pythonapi.PyCapsule_New
_CAPSULE_NEW.restype = ctypes.py_object
_CAPSULE_NEW.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _say_version(frame: _CallFrame) -> bool:
    """Answers XLA's question for which of its versions the handler was written: its own. Whether that was the question."""
    extension = frame.extension_start
    while extension:
        if extension.contents.type == _METADATA:
            metadata = ctypes.cast(extension, ctypes.POINTER(_MetadataExtension)).contents.metadata.contents
            api = frame.api.contents.api_version if frame.api else _ApiVersion(0, None, 0, 1)
            metadata.api_version.major_version = api.major_version
            metadata.api_version.minor_version = api.minor_version
            return True
        extension = extension.contents.next
    return False


def _error(frame: _CallFrame, words: str) -> Optional[int]:
    create = _CALL(frame.api.contents.error_create)
    arguments = _ErrorCreate(ctypes.sizeof(_ErrorCreate), None, words.encode(), _FAILED_PRECONDITION)
    made: Optional[int] = create(ctypes.addressof(arguments))
    return made


def _stream(frame: _CallFrame) -> int:
    get = _CALL(frame.api.contents.stream_get)
    arguments = _StreamGet(ctypes.sizeof(_StreamGet), None, frame.context, None)
    error = get(ctypes.addressof(arguments))
    if error:
        raise InvalidArgument("XLA gives no stream: the kernel runs on CUDA devices only.")
    return arguments.stream or 0


def _addresses(values: _List) -> List[int]:
    buffers = (ctypes.cast(values.values[i], ctypes.POINTER(_Buffer)).contents for i in range(values.size))
    return [one.data or 0 for one in buffers]


# XLA's data types of scalars, and their bytes.
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 16: 2}


def _scalars(attributes: _Attributes) -> List[Any]:
    """The bytes of the scalars, in the order of their names, in which XLA keeps them."""
    found = []
    for i in range(attributes.size):
        scalar = ctypes.cast(attributes.values[i], ctypes.POINTER(_Scalar)).contents
        size = _SIZES[scalar.dtype]
        found.append((ctypes.c_char * size).from_buffer_copy(ctypes.string_at(scalar.value, size)))
    return found


_numbers = itertools.count()


class Kernel:
    """A kernel of CUDA C++ that jitted functions can call.

    `source` is compiled for the barrier's device when the object is made; it has `#include <gpusync/device.cuh>`, and the
    kernel is extern "C". One barrier serves launches on one stream; XLA has one for a device.

    Raises NotAvailable, CompileError, NotCoResident, InvalidArgument, CudaError: everything that a launch would raise and
    that is known already."""

    def __init__(
        self,
        source: str,
        name: str,
        *,
        grid: Extent,
        block: Extent,
        barrier: GridBarrier,
        shared: int = 0,
        options: Sequence[str] = (),
    ):
        self._grid, self._block, self._shared, self._barrier = grid, block, shared, barrier
        self._lock = threading.Lock()
        driver = _driver.get()
        major, minor = driver.device(barrier.device).capability
        code = _nvrtc.compile_source(source, f"sm_{major}{minor}", [*nvrtc_options(), *options], f"{name}.cu")
        self._module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with driver.on(barrier.device):
            driver.call("cuModuleLoadData", ctypes.byref(self._module), code)
            driver.call("cuModuleGetFunction", ctypes.byref(function), self._module, name.encode())
        self._function = function.value or 0
        _launch.check_launch(self._function, grid, block, [barrier], shared=shared, device=barrier.device)
        self._handler = _CALL(self._run)  # XLA calls it for as long as the process lives
        _kept.append(self._handler)
        self._target = f"gpusync_{name}_{next(_numbers)}"
        address = ctypes.cast(self._handler, ctypes.c_void_p)
        capsule = _CAPSULE_NEW(address, None, None)
        jax.ffi.register_ffi_target(self._target, capsule, platform="CUDA")

    def _run(self, at: int) -> Optional[int]:
        frame = ctypes.cast(at, ctypes.POINTER(_CallFrame)).contents
        if _say_version(frame) or frame.stage != _EXECUTE:
            return None
        try:
            buffers = [ctypes.c_uint64(one) for one in (*_addresses(frame.arguments), *_addresses(frame.results))]
            values = [self._barrier, *buffers, *_scalars(frame.attributes)]
            with self._lock:
                _launch.launch(
                    self._function, self._grid, self._block, values, shared=self._shared, stream=_stream(frame)
                )
        except Exception as error:  # nothing may pass through XLA
            return _error(frame, f"{type(error).__name__}: {error}")
        return None

    def __call__(self, *args: Any, results: Any) -> Any:
        """Calls the kernel with arrays and scalars (numpy's, whose sizes are the parameters'; Python's int as 32 bits) and
        returns arrays as `results` describes: a jax.ShapeDtypeStruct, or several."""
        arrays = [one for one in args if hasattr(one, "shape") and getattr(one, "ndim", 0) > 0]
        scalars: Dict[str, Any] = {}
        for one in args[len(arrays) :]:
            if hasattr(one, "shape") and getattr(one, "ndim", 0) > 0:
                raise InvalidArgument("Arrays come before scalars, as the kernel's parameters do.")
            value = numpy.int32(one) if isinstance(one, int) and not isinstance(one, bool) else one
            if not isinstance(value, numpy.generic):
                raise InvalidArgument(
                    f"A scalar is a number of numpy or an int, not {type(one).__name__}: its size is the parameter's."
                )
            scalars[f"scalar_{len(scalars):04}"] = value
        return jax.ffi.ffi_call(self._target, results)(*arrays, **scalars)


_kept: List[Any] = []
