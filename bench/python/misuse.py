"""What must be refused, or must end by itself, on a real GPU: each case is an exception with the numbers. A case per process,
for some take the CUDA context with them.

    misuse.py CASE     prints what was said; its exit code is 0 if that is what must be said"""

import sys

import cupy
import numpy

import gpusync
import gpusync.cupy
from kernels import BLOCKS, DEAD_BLOCK, SOURCE, THREADS


def kernel(source=SOURCE, name="gpusync_phases"):
    return cupy.RawModule(code=source, options=gpusync.nvrtc_options(), enable_cooperative_groups=True).get_function(name)


def arguments(barrier, blocks=BLOCKS):
    words = [cupy.zeros(2 * blocks, cupy.uint32) for _ in range(2)]
    return (barrier, *words, numpy.int32(10), numpy.int32(0), numpy.int32(1))


def expect(kind, *parts):
    """A context that wants an exception of a kind whose text has all these parts."""
    class Expected:
        def __enter__(self):
            return self

        def __exit__(self, found, error, _):
            if found is None:
                raise SystemExit(f"nothing was raised; {kind.__name__} was expected")
            words = f"{found.__name__}: {error}"
            print(words)
            if not issubclass(found, kind) or any(part not in words for part in parts):
                raise SystemExit(f"{kind.__name__} with {parts} was expected")
            return True
    return Expected()


def too_many_blocks():
    with expect(gpusync.NotCoResident, "2640 blocks of 256 threads cannot all run at once on NVIDIA", "at most"):
        gpusync.cupy.launch(kernel(), 2640, THREADS, arguments(gpusync.GridBarrier(), 2640))


def too_many_blocks_numba():
    import numba_ways

    with expect(gpusync.NotCoResident, "2640 blocks of 256 threads cannot all run at once on NVIDIA", "at most"):
        numba_ways.launch(numba_ways.gpusync_phases, 2640, THREADS, (gpusync.GridBarrier(), numba_ways.data,
                                                                     numba_ways.seen_words, 1, 0, 1))


def too_many_blocks_triton():
    import torch
    import triton_ways

    words = torch.zeros(2, dtype=torch.int32, device="cuda")
    with expect(gpusync.NotCoResident, "2640 blocks of 256 threads cannot all run at once on NVIDIA", "at most"):
        triton_ways.launch(triton_ways.gpusync_phases, 2640, gpusync.GridBarrier(), words, words, 1, 0, 1, BLOCK=THREADS,
                           num_warps=THREADS // 32)


def too_many_blocks_torch():
    import torch

    import gpusync.torch

    words = torch.zeros(2, dtype=torch.int32, device="cuda")
    with expect(gpusync.NotCoResident, "2640 blocks of 256 threads cannot all run at once on NVIDIA", "at most"):
        gpusync.torch.launch(gpusync.torch.compile_kernel(SOURCE, "gpusync_phases"), 2640, THREADS,
                             (gpusync.GridBarrier(), words, words, 1, 0, 1))


def too_many_blocks_jax():
    import gpusync.jax

    with expect(gpusync.NotCoResident, "2640 blocks of 256 threads cannot all run at once on NVIDIA", "at most"):
        gpusync.jax.Kernel(SOURCE, "gpusync_phases", grid=2640, block=THREADS, barrier=gpusync.GridBarrier())


def lose_a_block(launch):
    """`launch(barrier, dead)` queues a kernel of which a block never comes: the host learns which, and that the barrier can
    be used again after reset()."""
    barrier = gpusync.GridBarrier()
    launch(barrier, 77)
    cupy.cuda.Device().synchronize()
    print(barrier.missing())
    if [one.block for one in barrier.missing()] != [77] or not barrier.missing()[0].started:
        raise SystemExit("block 77 was expected")
    with expect(gpusync.BrokenBarrier, "timed out in phase 1 of an earlier launch, missing block 77"):
        launch(barrier, -1)
    barrier.reset()
    launch(barrier, -1)
    cupy.cuda.Device().synchronize()
    barrier.check()


def dead_block():
    dead_block = kernel(DEAD_BLOCK, "dead_block")
    lose_a_block(lambda barrier, dead: gpusync.cupy.launch(dead_block, BLOCKS, THREADS, (barrier, numpy.int32(dead))))


def dead_block_numba():
    import numba_ways

    lose_a_block(lambda barrier, dead: numba_ways.launch(numba_ways.dead_block, BLOCKS, THREADS,
                                                         (barrier, numpy.int32(dead))))


def dead_block_triton():
    import triton_ways

    lose_a_block(lambda barrier, dead: triton_ways.launch(triton_ways.dead_program, BLOCKS, barrier, dead,
                                                          num_warps=THREADS // 32))


def votes_numba():
    """Votes are no misuse, but their answers are checked, and that they end."""
    import numba_ways

    wrong = cupy.zeros(1, cupy.int32)
    numba_ways.launch(numba_ways.votes, BLOCKS, THREADS, (gpusync.GridBarrier(), wrong, numpy.int32(10000)))
    require_none(wrong)


def votes_triton():
    import torch
    import triton_ways

    wrong = torch.zeros(1, dtype=torch.int32, device="cuda")
    triton_ways.launch(triton_ways.votes, BLOCKS, gpusync.GridBarrier(), wrong, 10000, num_warps=THREADS // 32)
    require_none(wrong)


def require_none(wrong):
    if int(wrong[0]) != 0:
        raise SystemExit(f"{int(wrong[0])} answers were wrong")
    print("every answer was right")


def storage_too_small():
    wanted = gpusync.image_bytes(BLOCKS)
    with expect(gpusync.InvalidArgument, f"takes {wanted} bytes; this buffer has {wanted - 4}"):
        gpusync.GridBarrier(blocks=BLOCKS, memory=cupy.zeros(wanted // 4 - 1, cupy.uint32))


def grid_too_large():
    with expect(gpusync.InvalidArgument, "The grid has 132 blocks, but the barrier's storage was made for 100."):
        gpusync.cupy.launch(kernel(), BLOCKS, THREADS, arguments(gpusync.GridBarrier(blocks=100)))


def grid_too_large_unchecked():
    """Launched past gpusync: the kernel itself refuses, and the host can still say why."""
    barrier = gpusync.GridBarrier(blocks=100)
    _, *others = arguments(barrier)
    kernel()((BLOCKS,), (THREADS,), (numpy.uint64(barrier.ptr), *others))
    try:
        cupy.cuda.Device().synchronize()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        print(error)
    with expect(gpusync.BrokenBarrier, "100"):
        barrier.check()


def no_barrier_there():
    """An address where no barrier is, launched past gpusync: the launch fails and hangs nothing."""
    _, *others = arguments(None)
    memory = cupy.zeros(1 << 16, cupy.uint32)
    with expect(cupy.cuda.runtime.CUDARuntimeError, "cudaError"):
        kernel()((BLOCKS,), (THREADS,), (numpy.uint64(memory.data.ptr), *others))
        cupy.cuda.Device().synchronize()


def wrong_device():
    count = cupy.cuda.runtime.getDeviceCount()
    with expect(gpusync.NoSuchDevice, f"There is no CUDA device {count}: this machine has {count}"):
        gpusync.GridBarrier(count)
    with expect(gpusync.InvalidArgument, "this buffer lies in the host"):
        gpusync.GridBarrier(blocks=BLOCKS, memory=numpy.zeros(1 << 16, numpy.uint32))


def freed_buffer():
    address = cupy.cuda.runtime.malloc(1 << 20)
    owned = cupy.cuda.UnownedMemory(address, 1 << 20, None)
    memory = cupy.ndarray(1 << 18, cupy.uint32, cupy.cuda.MemoryPointer(owned, 0))
    barrier = gpusync.GridBarrier(blocks=BLOCKS, memory=memory)
    run = kernel()
    gpusync.cupy.launch(run, BLOCKS, THREADS, arguments(barrier))
    cupy.cuda.Device().synchronize()
    cupy.cuda.runtime.free(address)
    with expect(gpusync.InvalidArgument, "is no memory of a CUDA device, or it has been freed"):
        gpusync.cupy.launch(run, BLOCKS, THREADS, arguments(barrier))


def closed():
    barrier = gpusync.GridBarrier()
    barrier.close()
    with expect(gpusync.InvalidArgument, "This barrier has been closed"):
        gpusync.cupy.launch(kernel(), BLOCKS, THREADS, arguments(barrier))


def another_stream():
    barrier, run = gpusync.GridBarrier(), kernel()
    gpusync.cupy.launch(run, BLOCKS, THREADS, arguments(barrier))
    with expect(gpusync.StorageInUse, "on another stream, which may still run"):
        gpusync.cupy.launch(run, BLOCKS, THREADS, arguments(barrier), stream=cupy.cuda.Stream(non_blocking=True))


def wrong_number_of_arguments():
    run = kernel()
    function = run.kernel.ptr
    with expect(gpusync.InvalidArgument, "The kernel takes 6 arguments; it was given 1."):
        gpusync.launch(function, BLOCKS, THREADS, (gpusync.GridBarrier(),))
    with expect(gpusync.InvalidArgument, "which does not fit into the 4 bytes"):
        gpusync.launch(function, BLOCKS, THREADS, (gpusync.GridBarrier(), *arguments(None)[1:3], 1 << 40, 0, 0))


def array_of_another_framework():
    """Memory of PyTorch by DLPack, of CuPy by __cuda_array_interface__: both make a barrier that works."""
    import torch

    class Interface:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__
    for memory in (torch.zeros(1 << 16, dtype=torch.int32, device="cuda"), Interface(cupy.zeros(1 << 16, cupy.uint32))):
        barrier = gpusync.GridBarrier(blocks=BLOCKS, memory=memory)
        given = arguments(barrier)
        gpusync.cupy.launch(kernel(), BLOCKS, THREADS, given)
        if given[2].get()[BLOCKS:].tolist() != [10] * BLOCKS:
            raise SystemExit("the kernel did not run to its end")
    print("both work")


CASES = {name: made for name, made in list(globals().items())
         if callable(made) and getattr(made, "__module__", "") == __name__ and not made.__code__.co_argcount}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CASES:
        sys.exit(f"{__doc__.strip()}\n\ncases: {' '.join(CASES)}")
    CASES[sys.argv[1]]()
