"""What a barrier and a launch from Python refuse, and in which words: with a driver that only pretends.
    barrier_test.py COMPILER"""

import ctypes
import os
import struct
import sys
import unittest

import fake_driver

if "GPUSYNC_FAKE" not in os.environ:
    sys.exit(fake_driver.run_with_fake(sys.argv[1]) if len(sys.argv) > 1 else __doc__)

import gpusync
from gpusync import _driver, _layout, _report

FAKE = fake_driver.Fake()


class Array:
    """Device memory with __cuda_array_interface__, as frameworks have it."""

    def __init__(self, size, device=0, strides=None, shape=None, read_only=False, offset=0):
        with _driver.get().on(device):
            self.base = _driver.get().allocate(size)
        shape = (size,) if shape is None else shape
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "|u1", "data": (self.base + offset, read_only),
                                         "version": 3, "strides": strides}

    def free(self):
        _driver.get().free(self.base)


class Case(unittest.TestCase):
    def raises(self, kind, words, call, *arguments, **named):
        launched = FAKE.launches()
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))
        self.assertEqual(FAKE.launches(), launched, "something was launched")
        return caught.exception

    def tearDown(self):
        self.assertEqual(FAKE.contexts(), 0, "a context was left current")


class Making(Case):
    def test_a_barrier_serves_all_blocks_that_a_device_holds(self):
        self.assertEqual(gpusync.GridBarrier().capacity, 132 * 32)

    def test_everything_is_given_back(self):
        before = FAKE.allocations()
        with gpusync.GridBarrier(blocks=132):
            self.assertEqual(FAKE.allocations(), before + 2)
        self.assertEqual(FAKE.allocations(), before)
        barrier = gpusync.GridBarrier(blocks=132)
        del barrier
        self.assertEqual(FAKE.allocations(), before)

    def test_nothing_is_kept_when_making_one_fails(self):
        before = FAKE.allocations()
        for call in ("cuMemAlloc_v2", "cuMemHostAlloc", "cuMemcpyHtoD_v2"):
            FAKE.fail(call)
            error = self.raises(gpusync.CudaError, f"{call} failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY).",
                                gpusync.GridBarrier, blocks=132)
            self.assertEqual((error.call, error.code, error.name), (call, 2, "CUDA_ERROR_OUT_OF_MEMORY"))
            self.assertEqual(FAKE.allocations(), before, call)

    def test_a_device_that_is_not_there(self):
        self.raises(gpusync.NoSuchDevice, "There is no CUDA device 7: this machine has 2, counted from 0.",
                    gpusync.GridBarrier, 7)
        self.raises(gpusync.NoSuchDevice, "There is no CUDA device -1", gpusync.GridBarrier, -1)

    def test_numbers_of_blocks_that_it_does_not_serve(self):
        for blocks in (0, -1, _layout.MAX_BLOCKS + 1):
            self.raises(gpusync.InvalidArgument,
                        f"A placed-counters barrier serves 1 to {_layout.MAX_BLOCKS} blocks, not {blocks}.",
                        gpusync.GridBarrier, blocks=blocks)

    def test_a_survey_needs_the_library(self):
        self.raises(gpusync.NotAvailable, "Counters are placed by libgpusync_c.so", gpusync.GridBarrier, placed=True)
        self.assertFalse(gpusync.GridBarrier().placed)

    def test_it_is_an_array_for_those_that_take_no_addresses(self):
        barrier = gpusync.GridBarrier(blocks=132)
        interface = barrier.__cuda_array_interface__
        self.assertEqual(interface["data"], (barrier.ptr, False))
        self.assertEqual(interface["shape"], (gpusync.image_bytes(132),))

    def test_its_image_lies_at_its_address(self):
        barrier = gpusync.GridBarrier(blocks=132)
        self.assertEqual(ctypes.string_at(barrier.ptr, barrier.nbytes),
                         _layout.image(132, 132, barrier.ptr, barrier._report))


class Memory(Case):
    def test_memory_of_a_framework_is_used_and_kept(self):
        array = Array(gpusync.image_bytes(132))
        barrier = gpusync.GridBarrier(blocks=132, memory=array)
        self.assertEqual(barrier.ptr, array.base)
        references = sys.getrefcount(array)
        barrier.close()
        self.assertLess(sys.getrefcount(array), references)
        array.free()

    def test_too_small(self):
        wanted = gpusync.image_bytes(132)
        error = self.raises(gpusync.InvalidArgument,
                            f"A barrier of 132 blocks takes {wanted} bytes; this buffer has {wanted - 1}.",
                            gpusync.GridBarrier, blocks=132, memory=Array(wanted - 1))
        self.assertIsInstance(error, ValueError)

    def test_smaller_than_it_says(self):
        array = Array(4096)
        array.__cuda_array_interface__["shape"] = (1 << 20,)
        self.raises(gpusync.InvalidArgument, "has 4096 bytes up to the end of its allocation", gpusync.GridBarrier,
                    blocks=_layout.MAX_BLOCKS // 2, memory=array)

    def test_on_another_device(self):
        self.raises(gpusync.InvalidArgument, "lies on CUDA device 1, but the barrier is for CUDA device 0",
                    gpusync.GridBarrier, blocks=132, memory=Array(1 << 16, device=1))

    def test_on_the_host(self):
        array = Array(1 << 16)
        array.__cuda_array_interface__["data"] = (0x1000, False)
        self.raises(gpusync.InvalidArgument, "is no memory of a CUDA device, or it has been freed", gpusync.GridBarrier,
                    blocks=132, memory=array)

    def test_in_pieces_or_read_only_or_crooked(self):
        self.raises(gpusync.InvalidArgument, "must lie in one piece", gpusync.GridBarrier, blocks=132,
                    memory=Array(1 << 16, shape=(256, 128), strides=(256, 1)))
        self.raises(gpusync.InvalidArgument, "is read-only", gpusync.GridBarrier, blocks=132,
                    memory=Array(1 << 16, read_only=True))
        self.raises(gpusync.InvalidArgument, f"begins at a multiple of {_layout.ALIGNMENT} bytes", gpusync.GridBarrier,
                    blocks=132, memory=Array(1 << 16, offset=4))

    def test_no_array_at_all(self):
        self.raises(gpusync.InvalidArgument, "bytes has neither", gpusync.GridBarrier, blocks=132, memory=b"x" * 65536)

    def test_dlpack(self):
        memory = DLPack(Array(1 << 16), 2, 0)
        self.assertEqual(gpusync.GridBarrier(blocks=132, memory=memory).ptr, memory.array.base)
        self.raises(gpusync.InvalidArgument, "this buffer lies in the host", gpusync.GridBarrier, blocks=132,
                    memory=DLPack(Array(1 << 16), 1, 0))
        self.raises(gpusync.InvalidArgument, "lies on CUDA device 1", gpusync.GridBarrier, blocks=132,
                    memory=DLPack(Array(1 << 16, device=1), 2, 1))
        self.raises(gpusync.InvalidArgument, "must lie in one piece", gpusync.GridBarrier, blocks=132,
                    memory=DLPack(Array(1 << 16), 2, 0, strides=(2,)))


class DLPack:
    """The same memory by DLPack."""

    def __init__(self, array, kind, number, strides=None):
        self.array, self.kind, self.number = array, kind, number
        size = array.__cuda_array_interface__["shape"][0]
        self.shape = (ctypes.c_int64 * 1)(size // 4 // (strides or (1,))[0])
        self.strides = (ctypes.c_int64 * 1)(*strides) if strides else None
        # DLManagedTensor: data, device, ndim, dtype, shape, strides, byte_offset, manager, deleter.
        self.tensor = ctypes.create_string_buffer(struct.pack(
            "<QiiiBBHQQQQQ", array.base, kind, number, 1, 0, 32, 1, ctypes.addressof(self.shape),
            ctypes.addressof(self.strides) if strides else 0, 0, 0, 0))

    def __dlpack_device__(self):
        return self.kind, self.number

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class Launching(Case):
    def setUp(self):
        self.barrier = gpusync.GridBarrier(blocks=2000)

    def test_a_launch_is_cooperative_and_has_its_arguments(self):
        kernel = FAKE.function(parameters=(8, 8, 4, 8, 4, 2))
        array = Array(64)
        gpusync.launch(kernel, (66, 2), (32, 8), (self.barrier, array, 7, -1, 2.5, ctypes.c_uint16(3)), shared=128,
                       stream=5)
        self.assertEqual(FAKE.last_launch(), (132, 256, 128, 5))
        kinds = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_int64, ctypes.c_float, ctypes.c_uint16)
        self.assertEqual([FAKE.last_argument(i, kind) for i, kind in enumerate(kinds)],
                         [self.barrier.ptr, array.base, 7, -1, 2.5, 3])

    def test_arguments_that_do_not_fit(self):
        def refused(words, sizes, *values):
            self.raises(gpusync.InvalidArgument, words, gpusync.launch, FAKE.function(parameters=(8, *sizes)), 1, 32,
                        (self.barrier, *values))
        refused("The kernel takes 2 arguments; it was given 1.", (4,))
        refused("Argument 1 of the kernel is 4294967296, which does not fit into the 4 bytes", (4,), 1 << 32)
        refused("Argument 1 of the kernel is -129, which does not fit into the 1 bytes", (1,), -129)
        refused("Argument 1 of the kernel is 0.5, but the kernel takes 2 bytes there.", (2,), 0.5)
        refused("Argument 1 of the kernel is True, but the kernel takes 4 bytes there.", (4,), True)
        refused("Argument 1 of the kernel has 8 bytes, but the kernel takes 4 there.", (4,), Array(64))
        refused("Argument 1 of the kernel is a str.", (8,), "a")

    def test_too_many_blocks(self):
        error = self.raises(
            gpusync.NotCoResident,
            "1057 blocks of 256 threads cannot all run at once on NVIDIA H200: at most 1056 (132 SMs x 8 blocks; limited "
            "by threads per SM and registers). Use fewer blocks.",
            gpusync.launch, FAKE.function(registers=32), 1057, 256, (self.barrier,))
        self.assertEqual((error.requested, error.limit), (1057, 1056))
        gpusync.launch(FAKE.function(registers=32), 1056, 256, (self.barrier,))
        self.assertEqual(FAKE.last_launch()[0], 1056)

    def test_limits_of_a_block(self):
        def refused(kind, words, kernel, threads, **named):
            return self.raises(kind, words, gpusync.launch, kernel, 1, threads, (self.barrier,), **named)
        refused(gpusync.InvalidArgument, "A block of 1025 threads is more than NVIDIA H200 allows: at most 1024.",
                FAKE.function(), 1025)
        refused(gpusync.InvalidArgument, "it was given 1 blocks of 0 threads", FAKE.function(), 0)
        refused(gpusync.InvalidArgument, "A block with 300000 bytes of dynamic shared memory", FAKE.function(), 32,
                shared=300000)
        refused(gpusync.InvalidArgument, "would take 232449 bytes of shared memory (1 static and 232448 dynamic)",
                FAKE.function(static=1), 32, shared=232448)
        refused(gpusync.NotCoResident, "(limited by the kernel's __launch_bounds__ of 128 threads)",
                FAKE.function(most_threads=128), 256)
        refused(gpusync.NotCoResident, "it takes 255 registers per thread", FAKE.function(registers=255), 1024)
        refused(gpusync.InvalidArgument, "clusters", FAKE.function(cluster=2), 32)
        refused(gpusync.InvalidArgument, "one to three dimensions", FAKE.function(), (1, 1, 1, 1))
        refused(gpusync.InvalidArgument, "Given was -1 as a size. Sizes are not negative.", FAKE.function(), (-1, 1))
        refused(gpusync.InvalidArgument, "A dimension of a grid or a block is a whole number, not 1.5.", FAKE.function(), (1.5,))

    def test_more_shared_memory_than_by_default_is_asked_for(self):
        gpusync.launch(FAKE.function(), 132, 256, (self.barrier,), shared=100_000)
        self.assertEqual(FAKE.last_launch()[2], 100_000)

    def test_more_blocks_than_the_barrier_has_words_for(self):
        self.raises(gpusync.InvalidArgument,
                    "The grid has 132 blocks, but the barrier's storage was made for 131. Make a larger storage.",
                    gpusync.launch, FAKE.function(), 132, 256, (gpusync.GridBarrier(blocks=131),))

    def test_another_device(self):
        self.raises(gpusync.InvalidArgument,
                    "A barrier's storage was made for CUDA device 0, but the launch is on CUDA device 1. Make a storage "
                    "there.", gpusync.launch, FAKE.function(), 1, 32, (self.barrier,), device=1)

    def test_a_closed_barrier_and_a_freed_buffer(self):
        array = Array(1 << 16)
        borrowed = gpusync.GridBarrier(blocks=132, memory=array)
        array.free()
        self.raises(gpusync.InvalidArgument, "it has been freed", gpusync.launch, FAKE.function(), 1, 32, (borrowed,))
        self.barrier.close()
        self.raises(gpusync.InvalidArgument, "This barrier has been closed", gpusync.launch, FAKE.function(), 1, 32,
                    (self.barrier,))
        for call in (self.barrier.missing, self.barrier.report, self.barrier.reset, self.barrier.check):
            self.raises(gpusync.InvalidArgument, "This barrier has been closed", call)

    def test_no_barrier_and_the_same_barrier_twice(self):
        self.raises(gpusync.InvalidArgument, "None of the kernel's arguments is a gpusync.GridBarrier.", gpusync.launch,
                    FAKE.function(), 1, 32, (self.barrier.ptr,))
        self.raises(gpusync.InvalidArgument, "share one storage", gpusync.launch, FAKE.function(parameters=(8, 8)), 1,
                    32, (self.barrier, self.barrier))

    def test_another_stream(self):
        kernel = FAKE.function()
        gpusync.launch(kernel, 1, 32, (self.barrier,), stream=3)
        self.raises(gpusync.StorageInUse, "was last used by a launch on another stream", gpusync.launch, kernel, 1, 32,
                    (self.barrier,), stream=4)
        gpusync.launch(kernel, 1, 32, (self.barrier,), stream=3)
        self.barrier.hand_over()
        gpusync.launch(kernel, 1, 32, (self.barrier,), stream=4)
        FAKE.capture(9)  # such a stream must not be asked
        gpusync.launch(kernel, 1, 32, (self.barrier,), stream=9)
        FAKE.capture(0)

    def test_the_driver_has_the_last_word(self):
        FAKE.fail("cuLaunchCooperativeKernel", 12345)
        self.raises(gpusync.CudaError, "cuLaunchCooperativeKernel failed: error 12345 (error 12345).", gpusync.launch,
                    FAKE.function(), 1, 32, (self.barrier,))

    def test_how_many_fit_is_said_without_a_launch(self):
        found = gpusync.max_co_resident(FAKE.function(registers=64), 256)
        self.assertEqual((found.blocks, found.limits_in_words()), (528, "registers"))
        self.raises(gpusync.NotCoResident, "cannot all run at once", self.barrier.check_launch, FAKE.function(), 1057,
                    256)

    def test_kernels_are_found_in_what_front_ends_make(self):
        handle = FAKE.function()

        class Holder:
            pass
        inside = Holder()
        inside.ptr = handle
        for name, value in (("func", ctypes.c_void_p(handle)), ("function", handle), ("kernel", inside)):
            kernel = Holder()
            setattr(kernel, name, value)
            self.barrier.check_launch(kernel, 1, 32)
        self.raises(gpusync.InvalidArgument, "Holder has none", self.barrier.check_launch, Holder(), 1, 32)


class AfterATimeOut(Case):
    def setUp(self):
        self.barrier = gpusync.GridBarrier(blocks=132)

    def lose(self, blocks, phase=3):
        words = [1, phase, len(blocks), 0, 0, 0, 132, *[0] * 9, *blocks]
        data = struct.pack(f"<{len(words)}I", *words)
        ctypes.memmove(self.barrier._report, data, len(data))

    def test_it_says_who_was_missing_and_refuses_launches_until_reset(self):
        self.assertEqual((self.barrier.missing(), self.barrier.report()), ([], ""))
        self.barrier.check()
        self.lose([7 | 1 << 31, 9])
        self.assertEqual(self.barrier.missing(), [(7, 3, True), (9, 3, False)])
        words = ("A wait on this barrier timed out in phase 3 of an earlier launch, missing block 7, 9 (not seen in that "
                 "launch), so its count is in the middle of a phase. Call reset() on its storage first.")
        error = self.raises(gpusync.BrokenBarrier, words, gpusync.launch, FAKE.function(), 1, 32, (self.barrier,))
        self.assertEqual(error.missing, self.barrier.missing())
        self.raises(gpusync.BrokenBarrier, words, self.barrier.check)
        self.barrier.reset()
        gpusync.launch(FAKE.function(), 1, 32, (self.barrier,))

    def test_a_list_that_is_damaged_is_not_read_beyond_its_end(self):
        ctypes.memmove(self.barrier._report, struct.pack("<3I", 1, 0, 1 << 30), 12)
        self.assertEqual(len(self.barrier.missing()), 132)
        self.assertEqual(_report.size(132), 16 * 4 + 132 * 4)


if __name__ == "__main__":
    unittest.main()
