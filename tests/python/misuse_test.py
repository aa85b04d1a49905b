"""What a careless or hostile caller of the package meets: one sentence of gpusync's, never a crash or another's traceback.
With a driver that only pretends.
    misuse_test.py COMPILER"""

import concurrent.futures
import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import fake_driver

if "GPUSYNC_FAKE" not in os.environ:
    sys.exit(fake_driver.run_with_fake(sys.argv[1]) if len(sys.argv) > 1 else __doc__)

import gpusync
from barrier_test import FAKE, Array, Case, DLPack
from gpusync import _library


class Index:
    """A whole number as numpy has them."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Errors(unittest.TestCase):
    def test_every_error_survives_the_way_from_another_process(self):
        for error in (gpusync.Error("a"), gpusync.InvalidArgument("b"), gpusync.NoSuchDevice("c"), gpusync.NotAvailable("d"),
                      gpusync.StorageInUse("e"), gpusync.CompileError("f"), gpusync.NotCoResident("g", 5, 3),
                      gpusync.BrokenBarrier("h", [gpusync.MissingBlock(7, 1, True)]),
                      gpusync.CudaError("cuInit", 2, "CUDA_ERROR", "no memory")):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))
            self.assertEqual(str(copy.copy(error)), str(error))


class Barriers(Case):
    def setUp(self):
        self.barrier = gpusync.GridBarrier(blocks=132)
        self.kernel = FAKE.function()

    def test_it_is_not_copied(self):
        before = FAKE.allocations()
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            self.raises(gpusync.InvalidArgument, "neither copied nor pickled", way, self.barrier)
        self.assertEqual(FAKE.allocations(), before)
        gpusync.launch(self.kernel, 1, 32, (self.barrier,))

    def test_two_in_one_memory(self):
        array = Array(1 << 16)
        first = gpusync.GridBarrier(blocks=132, memory=array)
        self.raises(gpusync.InvalidArgument, "Another barrier lies in the", gpusync.GridBarrier, blocks=100, memory=array)
        overlapping = Array(1 << 16)
        overlapping.__cuda_array_interface__["data"] = (array.base + 128, False)
        overlapping.__cuda_array_interface__["shape"] = (1 << 15,)
        self.raises(gpusync.InvalidArgument, "Another barrier lies in the", gpusync.GridBarrier, blocks=132,
                    memory=overlapping)
        self.raises(gpusync.InvalidArgument, "is a barrier already", gpusync.GridBarrier, blocks=100, memory=first)
        first.close()
        for call in ("cuMemHostAlloc", "cuMemcpyHtoD_v2"):
            FAKE.fail(call)
            try:
                gpusync.GridBarrier(blocks=132, memory=array)
            except gpusync.CudaError:  # what was not made is not in the way, even while its error is looked at
                gpusync.GridBarrier(blocks=132, memory=array).close()
        again = gpusync.GridBarrier(blocks=132, memory=array)  # once it is closed, or gone
        del again
        gpusync.GridBarrier(blocks=132, memory=array)

    def test_what_it_raises_is_not_hidden_by_what_closing_does(self):
        gc.collect()
        before = FAKE.allocations()
        with self.assertRaises(KeyError):
            with gpusync.GridBarrier(blocks=132):
                FAKE.fail("cuMemFreeHost")
                raise KeyError("first")
        self.assertEqual(FAKE.allocations(), before + 1, "the device's memory was given back")
        barrier = gpusync.GridBarrier(blocks=132)
        FAKE.fail("cuMemFreeHost")
        self.raises(gpusync.CudaError, "cuMemFreeHost failed", barrier.close)
        barrier.close()

    def test_closed(self):
        self.barrier.close()
        self.barrier.close()
        for way in (self.barrier.describe, self.barrier.__enter__, self.barrier.missing, self.barrier.reset):
            self.raises(gpusync.InvalidArgument, "This barrier has been closed", way)
        self.assertEqual(repr(self.barrier), "<gpusync.GridBarrier: closed>")

    def test_whole_numbers_of_every_kind_and_nothing_else(self):
        gpusync.launch(self.kernel, Index(66), (Index(32), Index(2)), (self.barrier,), shared=Index(8), stream=Index(0))
        self.assertEqual(FAKE.last_launch(), (66, 64, 8, 0))
        self.assertEqual(gpusync.GridBarrier(Index(0), blocks=Index(132)).capacity, 132)
        for wrong in ("0", 0.0, None, [0], True, object()):
            self.raises(gpusync.InvalidArgument, "A device's number is a whole number, not ", gpusync.GridBarrier, wrong)
        for wrong in ("132", 132.0, (132,), True):
            self.raises(gpusync.InvalidArgument, "A number of blocks is a whole number, not ", gpusync.GridBarrier, blocks=wrong)
        self.raises(gpusync.InvalidArgument, "A number of blocks is a whole number, not 1.5.", gpusync.image_bytes, 1.5)
        for wrong in (132.0, True, None, lambda meta: 1, object(), (1, "2"), {"x": 1}):
            self.raises(gpusync.InvalidArgument, "A dimension of a grid or a block is a whole number, not ", gpusync.launch,
                        self.kernel, wrong, 32, (self.barrier,))
        self.raises(gpusync.InvalidArgument, "are whole numbers, not '132'", gpusync.launch, self.kernel, "132", 32,
                    (self.barrier,))
        for name, what in (("shared", "Dynamic shared memory"), ("stream", "A stream's handle")):
            for wrong in ("1", 1.5, object()):
                self.raises(gpusync.InvalidArgument, f"{what} is a whole number, not ", gpusync.launch, self.kernel, 1, 32,
                            (self.barrier,), **{name: wrong})
        self.raises(gpusync.InvalidArgument, "A device's number is a whole number", gpusync.max_co_resident, self.kernel, 32,
                    device="0")

    def test_arguments_that_are_no_tuple(self):
        self.raises(gpusync.InvalidArgument, "A kernel's arguments are a tuple or a list, not <gpusync.Grid",
                    gpusync.launch, self.kernel, 1, 32, self.barrier)
        self.raises(gpusync.InvalidArgument, "1 is no gpusync.GridBarrier", gpusync.check_launch, self.kernel, 1, 32, [1])

    def test_kernels_that_are_none(self):
        class Loop:
            pass
        loop, other = Loop(), Loop()
        loop.func, other.func = other, loop
        for wrong in (1.5, True, "kernel", b"kernel", loop, object(), None):
            self.raises(gpusync.InvalidArgument, "A kernel is a CUfunction or an object that has one", gpusync.launch, wrong, 1,
                        32, (self.barrier,))
        for wrong in (0, -1, ctypes.c_void_p()):
            self.raises(gpusync.InvalidArgument, "A kernel's CUfunction is an address, not", gpusync.launch, wrong, 1, 32,
                        (self.barrier,))

    def test_arrays_as_arguments_are_not_spoken_of_as_barriers(self):
        kernel = FAKE.function(parameters=(8, 8))
        self.raises(gpusync.InvalidArgument, "Argument 1 of the kernel lies in the host. Move it to the GPU.", gpusync.launch,
                    kernel, 1, 32, (self.barrier, OnlyDLPack(DLPack(Array(64), 1, 0))))
        strided = DLPack(Array(64), 2, 0, strides=(2,))
        gpusync.launch(kernel, 1, 32, (self.barrier, OnlyDLPack(strided)))
        self.assertEqual(FAKE.last_argument(1, ctypes.c_uint64), strided.array.base)

    def test_floats_that_do_not_fit(self):
        kernel = FAKE.function(parameters=(8, 4))
        self.raises(gpusync.InvalidArgument, "Argument 1 of the kernel is 1e+300, which does not fit into the 4 bytes",
                    gpusync.launch, kernel, 1, 32, (self.barrier, 1e300))
        for value in (float("inf"), 3.0e38):
            gpusync.launch(kernel, 1, 32, (self.barrier, value))

    def test_launches_of_two_threads_take_turns(self):
        other = gpusync.GridBarrier(blocks=132)

        def go(stream):
            try:
                gpusync.launch(self.kernel, 1, 32, (other,), stream=stream)
            except gpusync.StorageInUse:
                return False
            return True
        for _ in range(50):
            other.hand_over()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                self.assertEqual(sorted(pool.map(go, (5, 6))), [False, True])


class OnlyDLPack:
    """An array that has nothing but DLPack."""

    def __init__(self, array):
        self.__array = array

    def __dlpack_device__(self):
        return self.__array.__dlpack_device__()

    def __dlpack__(self, **words):
        return self.__array.__dlpack__(**words)


class Described:
    """What says wrongly where it lies."""

    def __init__(self, interface=None, device=None, capsule=None):
        if device is None:
            self.__cuda_array_interface__ = interface
        else:
            self.__dlpack_device__ = lambda: device
            self.__dlpack__ = lambda **_: capsule


class Memory(Case):
    def test_descriptions_that_are_none(self):
        base = Array(1 << 16).base
        for wrong in (Described({}), Described(None), Described({"typestr": "garbage", "shape": (1,), "data": (base, False)}),
                      Described({"typestr": "|u1", "shape": (1,), "data": None}), Described(device=(2, 0)),
                      Described(device=(2, 0), capsule=ctypes.pythonapi.PyCapsule_GetName), Described(device="ab")):
            self.raises(gpusync.InvalidArgument, "does not describe its memory as an array does", gpusync.GridBarrier,
                        blocks=132, memory=wrong)
        self.raises(gpusync.InvalidArgument, "which is no memory", gpusync.GridBarrier, blocks=132,
                    memory=Described({"typestr": "|u1", "shape": (-9999,), "data": (base, False)}))

    def test_architectures_that_are_none(self):
        for wrong in ("hopper", "SM_90", None, "gfx942", [9, 0], (9,), 90.0, True, "", (9, 0, 0), -90):
            with self.assertRaises(gpusync.InvalidArgument, msg=repr(wrong)):
                gpusync.bitcode(wrong)
        self.raises(gpusync.InvalidArgument, 'An architecture is 90, "sm_90", "9.0" or (9, 0), not \'hopper\'.', gpusync.bitcode,
                    "hopper")


LIBRARY = """
#include <cstddef>
extern "C" {
const char* gpusync_last_error() { return "CUDA driver version is insufficient for CUDA runtime version."; }
int gpusync_barrier_create(int, unsigned long, void**) { return 2; }
int gpusync_barrier_address(void*, unsigned long*) { return 2; }
int gpusync_barrier_reset(void*) { return 2; }
void gpusync_barrier_destroy(void*) {}
#ifdef WHOLE
int gpusync_barrier_placed(void*, int*) { return 2; }
#endif
}
"""


class Library(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.named = os.environ.get(_library.VARIABLE)
        self.addCleanup(self.name, self.named)

    def name(self, path):
        os.environ[_library.VARIABLE] = path or ""
        _library.path.cache_clear()

    def build(self, *options):
        source, library = (os.path.join(self.folder.name, one) for one in ("a.cpp", f"lib{len(options)}.so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(LIBRARY)
        subprocess.run([os.environ["GPUSYNC_COMPILER"], "-shared", "-fPIC", *options, source, "-o", library], check=True)
        return library

    def test_one_that_was_named_and_is_none_is_said(self):
        text = os.path.join(self.folder.name, "text.so")
        with open(text, "w", encoding="utf-8") as file:
            file.write("no library")
        before = FAKE.allocations()
        for path in (os.path.join(self.folder.name, "none.so"), text, "libm.so.6", self.folder.name, self.build()):
            self.name(path)
            for placed in (None, True):
                self.raises(gpusync.NotAvailable, f"{path} cannot be used", gpusync.GridBarrier, blocks=132, placed=placed)
            gpusync.GridBarrier(blocks=132, placed=False)
        self.assertEqual(FAKE.allocations(), before)

    def test_one_that_cannot_work_here_is_done_without(self):
        self.name(self.build("-DWHOLE"))
        barrier = gpusync.GridBarrier(blocks=132)
        self.assertFalse(barrier.placed)
        gpusync.launch(FAKE.function(), 1, 32, (barrier,))
        self.raises(gpusync.NoSuchDevice, "driver version is insufficient", gpusync.GridBarrier, blocks=132, placed=True)


if __name__ == "__main__":
    unittest.main()
