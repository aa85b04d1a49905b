"""NVIDIA's run-time compiler, where its wheel (nvidia-cuda-nvrtc) or a toolkit is: for front ends that have none."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import site
import sys
from typing import Iterator, Sequence, Tuple

from ._errors import CompileError, Error, NotAvailable


def _candidates() -> Iterator[str]:
    for folder in [*site.getsitepackages(), site.getusersitepackages(), *sys.path]:
        for inner in ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib"):
            yield from sorted(glob.glob(os.path.join(folder, inner, "libnvrtc.so.*[0-9]")), reverse=True)
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
    yield from sorted(glob.glob("/usr/local/cuda*/lib64/libnvrtc.so.[0-9]*"), reverse=True)


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    for path in _candidates():
        try:
            # NVRTC opens a library beside it by name, wherever both lie.
            beside = glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*")) if "/" in path else []
            for builtins in beside:
                ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise NotAvailable("There is no NVRTC on this machine. pip install nvidia-cuda-nvrtc.")


def _call(name: str, *arguments: object) -> None:
    library = _library()
    code = getattr(library, name)(*arguments)
    if code != 0:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise Error(f"{name} failed: {(library.nvrtcGetErrorString(code) or b'').decode()}.")


def version() -> Tuple[int, int]:
    """NVRTC's."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compile_source(source: str, architecture: str, options: Sequence[str] = (), name: str = "gpusync.cu") -> bytes:
    """PTX (for a compute_ architecture) or machine code (sm_) of CUDA C++. Raises CompileError, NotAvailable."""
    library = _library()
    program = ctypes.c_void_p()
    _call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    try:
        given = [f"--gpu-architecture={architecture}".encode(), *(one.encode() for one in options)]
        code = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
        size = ctypes.c_size_t()
        if code != 0:
            _call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            _call("nvrtcGetProgramLog", program, log)
            raise CompileError(f"NVRTC does not compile {name}:\n{log.value.decode()}")
        kind = "CUBIN" if architecture.startswith("sm_") else "PTX"
        _call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        code_bytes = ctypes.create_string_buffer(size.value)
        _call(f"nvrtcGet{kind}", program, code_bytes)
        return code_bytes.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
