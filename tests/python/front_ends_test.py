"""Each front end's launch() checks what gpusync.launch() checks, and then gives the kernel what it takes: with a driver and with
frameworks that only pretend.
    front_ends_test.py COMPILER"""

import ctypes
import os
import sys
import types
import unittest

import fake_driver

if "GPUSYNC_FAKE" not in os.environ:
    sys.exit(fake_driver.run_with_fake(sys.argv[1]) if len(sys.argv) > 1 else __doc__)

import gpusync

FAKE = fake_driver.Fake()
CALLS = []


def module(name, **members):
    """A package that pretends, with its parts."""
    made = types.ModuleType(name)
    vars(made).update(members)
    sys.modules[name] = made
    return made


class Object:
    def __init__(self, **members):
        vars(self).update(members)


class Stream(Object):
    def __enter__(self):
        CALLS.append(("stream", self.ptr))

    def __exit__(self, *_):
        pass


def pretend_cupy():
    def current():
        return Stream(ptr=7)
    cuda = Object(get_current_stream=current, Device=lambda: Object(id=0))
    module("cupy", cuda=cuda)
    module("numpy", uint64=ctypes.c_uint64)


class CupyKernel(Object):
    def __call__(self, grid, block, args, shared_mem=0):
        CALLS.append(("kernel", grid, block, args, shared_mem))


def pretend_torch():
    module("torch", cuda=Object(current_stream=lambda: Object(cuda_stream=9), current_device=lambda: 0,
                                _compile_kernel=lambda *a, **named: CALLS.append((a, named)) or "compiled"))


class NumbaKernel:
    """A dispatcher, and what it has compiled."""

    def __init__(self, handle, cooperative=True):
        self._codelibrary = Object(get_cufunc=lambda: Object(handle=handle))
        self.cooperative = cooperative

    def typeof_pyval(self, value):
        return type(value)

    def compile(self, signature):
        CALLS.append(("compile", signature))
        return self

    def __getitem__(self, configuration):
        return lambda *values: CALLS.append(("kernel", configuration, values))


def pretend_numba():
    declared = []
    config = module("numba.cuda.core", config=Object(CUDA_NVRTC_EXTRA_SEARCH_PATHS="/somewhere")).config
    cuda = module("numba.cuda", CUSource=lambda text, name: text, get_current_device=lambda: Object(id=0),
                  declare_device=lambda *a, **named: declared.append((a, named)) or a[0])
    module("numba", cuda=cuda)
    return config, declared


class TritonKernel:
    def __init__(self, function):
        self.compiled = Object(_init_handles=lambda: None, function=function,
                               metadata=Object(num_warps=8, shared=1024))

    def warmup(self, *values, grid, **named):
        return self.compiled

    def __getitem__(self, grid):
        return lambda *values, **named: CALLS.append(("kernel", grid, values, named))


def pretend_triton():
    active = Object(get_current_target=lambda: Object(arch=90), get_current_device=lambda: 0,
                    get_current_stream=lambda device: 11)
    module("triton")
    module("triton.language", core=Object(extern=lambda function: function, dtype=str))
    module("triton.runtime", driver=Object(active=active))


pretend_cupy()
pretend_torch()
NUMBA_CONFIG, DECLARED = pretend_numba()
pretend_triton()

import gpusync.cupy  # noqa: E402
import gpusync.numba  # noqa: E402
import gpusync.torch  # noqa: E402
import gpusync.triton  # noqa: E402

# Bitcode is made by the wheel's build, and not looked at here.
gpusync.triton.bitcode = lambda architecture: f"/bitcode/sm_{architecture}"


class FrontEnds(unittest.TestCase):
    def setUp(self):
        CALLS.clear()
        self.barrier = gpusync.GridBarrier(blocks=4000)

    def ways(self):
        """A launch of so many blocks by each front end, with these barriers."""
        cupy = CupyKernel(kernel=Object(ptr=FAKE.function()), enable_cooperative_groups=True)
        torch = Object(func=ctypes.c_void_p(FAKE.function()))
        numba, triton = NumbaKernel(FAKE.function()), TritonKernel(FAKE.function())
        return {
            "cupy": lambda blocks, one: gpusync.cupy.launch(cupy, blocks, 256, (one,)),
            "numba": lambda blocks, one: gpusync.numba.launch(numba, blocks, 256, (one,)),
            "torch": lambda blocks, one: gpusync.torch.launch(torch, blocks, 256, (one,)),
            "triton": lambda blocks, one: gpusync.triton.launch(triton, blocks, one),
        }

    def launched(self):
        return [one for one in CALLS if one[0] == "kernel"], FAKE.launches()

    def refused(self, kind, words, blocks, barrier):
        for name, launch in self.ways().items():
            with self.subTest(name):
                before = self.launched()
                with self.assertRaises(kind) as caught:
                    launch(blocks, barrier)
                self.assertIn(words, str(caught.exception))
                self.assertEqual(self.launched(), before, "something was launched")

    def test_too_many_blocks(self):
        self.refused(gpusync.NotCoResident, "1057 blocks of 256 threads cannot all run at once on NVIDIA H200: at most 1056",
                     1057, self.barrier)

    def test_more_blocks_than_the_barrier_serves(self):
        self.refused(gpusync.InvalidArgument, "The grid has 132 blocks, but the barrier's storage was made for 131.", 132,
                     gpusync.GridBarrier(blocks=131))

    def test_another_device(self):
        self.refused(gpusync.InvalidArgument, "made for CUDA device 1, but the launch is on CUDA device 0", 132,
                     gpusync.GridBarrier(1))

    def test_a_closed_barrier(self):
        self.barrier.close()
        self.refused(gpusync.InvalidArgument, "This barrier has been closed", 132, self.barrier)

    def test_an_address_is_no_barrier(self):
        self.refused(gpusync.InvalidArgument, "None of the kernel's arguments is a gpusync.GridBarrier", 132,
                     self.barrier.ptr)

    def test_one_stream_after_another(self):
        ways = self.ways()
        ways["cupy"](132, self.barrier)
        for name in ("numba", "torch", "triton"):
            with self.assertRaises(gpusync.StorageInUse):
                ways[name](132, self.barrier)

    def test_kernels_get_the_address(self):
        for name, launch in self.ways().items():
            CALLS.clear()
            self.barrier.hand_over()
            launch(132, self.barrier)
            if name == "torch":  # by the driver
                self.assertEqual(FAKE.last_launch(), (132, 256, 0, 9))
                self.assertEqual(FAKE.last_argument(0, ctypes.c_uint64), self.barrier.ptr)
                continue
            call = CALLS[-1]
            if name == "cupy":
                self.assertEqual(call[1:3], ((132, 1, 1), (256, 1, 1)))
                self.assertEqual(call[3][0].value, self.barrier.ptr)
                self.assertEqual(CALLS[0], ("stream", 7))
            elif name == "numba":
                self.assertEqual(call, ("kernel", ((132, 1, 1), (256, 1, 1), 0, 0), (self.barrier.ptr,)))
            else:
                self.assertEqual(call, ("kernel", (132, 1, 1), (self.barrier.ptr,), {
                    "launch_cooperative_grid": True, "extern_libs": {"gpusync": "/bitcode/sm_90"}}))

    def test_launches_that_would_not_be_cooperative(self):
        plain = CupyKernel(kernel=Object(ptr=FAKE.function()), enable_cooperative_groups=False)
        with self.assertRaisesRegex(gpusync.InvalidArgument, "enable_cooperative_groups=True"):
            gpusync.cupy.launch(plain, 132, 256, (self.barrier,))
        with self.assertRaisesRegex(gpusync.InvalidArgument, "calls none of gpusync.numba's functions"):
            gpusync.numba.launch(NumbaKernel(FAKE.function(), cooperative=False), 132, 256, (self.barrier,))
        with self.assertRaisesRegex(gpusync.InvalidArgument, "Leave launch_cooperative_grid"):
            gpusync.triton.launch(TritonKernel(FAKE.function()), 132, self.barrier, launch_cooperative_grid=False)
        self.assertEqual([one for one in CALLS if one[0] == "kernel"], [])

    def test_what_front_ends_are_told_to_compile(self):
        self.assertEqual(NUMBA_CONFIG.CUDA_NVRTC_EXTRA_SEARCH_PATHS, f"/somewhere:{gpusync.include_dir()}")
        for arguments, named in DECLARED:
            self.assertTrue(named["use_cooperative"])
            self.assertTrue(arguments[0].startswith("gpusync_numba_"))
            self.assertIn("gpusync/device_functions.cuh", named["link"])
        self.assertEqual(gpusync.torch.compile_kernel("source", "name", nvcc_options=["-g"]), "compiled")
        self.assertEqual(CALLS[-1], (("source", "name"), {"cuda_include_dirs": [gpusync.include_dir()],
                                                          "nvcc_options": ["-std=c++17", "-g"]}))

    def test_functions_that_are_declared_are_there(self):
        with open(os.path.join(gpusync.include_dir(), "gpusync", "device_functions.cuh"), encoding="utf-8") as file:
            text = file.read()
        named = {arguments[0] for arguments, _ in DECLARED}
        self.assertGreaterEqual(len(named), 5)
        for name in named:
            self.assertIn(f" {name}(", text)
            self.assertIn(f" {name.replace('numba_', '')}(", text)


if __name__ == "__main__":
    unittest.main()
