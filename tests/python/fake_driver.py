"""gpusync with a driver that only pretends (fake_cuda.cpp), for tests: build it, and run the test again where the loader
finds it as libcuda.so.1."""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "python"


def run_with_fake(compiler):
    """The exit code of this program, run again with the fake driver built by this compiler."""
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "libcuda.so.1")
        subprocess.run([compiler, "-std=c++17", "-O0", "-shared", "-fPIC", "-o", library, str(HERE / "fake_cuda.cpp")],
                       check=True)
        environment = dict(os.environ, LD_LIBRARY_PATH=folder, GPUSYNC_FAKE=library, PYTHONPATH=str(PACKAGE),
                           GPUSYNC_LIBRARY="", GPUSYNC_COMPILER=compiler)
        return subprocess.run([sys.executable, sys.argv[0], *sys.argv[2:]], env=environment).returncode


class Fake:
    """What tests ask of the fake driver."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["GPUSYNC_FAKE"])
        self.library.fake_function.restype = ctypes.c_void_p

    def fail(self, name, code=2):
        self.library.fake_fail(name.encode(), code)

    def capture(self, stream):
        self.library.fake_capture(ctypes.c_uint64(stream))

    def function(self, registers=32, static=0, most_threads=1024, cluster=0, parameters=(8,)):
        sizes = (ctypes.c_int * len(parameters))(*parameters)
        return self.library.fake_function(registers, static, most_threads, cluster, len(parameters), sizes)

    def launches(self):
        return self.library.fake_launches()

    def last_launch(self):
        blocks, threads, shared, stream = (ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint64())
        self.library.fake_last_launch(*(ctypes.byref(one) for one in (blocks, threads, shared, stream)))
        return blocks.value, threads.value, shared.value, stream.value

    def last_argument(self, i, kind):
        value = kind()
        self.library.fake_last_argument(i, ctypes.byref(value))
        return value.value

    def allocations(self):
        return self.library.fake_allocations()

    def contexts(self):
        return self.library.fake_contexts()
