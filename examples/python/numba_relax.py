"""A persistent kernel in numba-cuda: a Jacobi relaxation whose steps are parted by gpusync's grid barrier."""

import numpy
from numba import cuda, float32

import gpusync
from gpusync.numba import enter, launch, sync
from reference import report, start


@cuda.jit
def relax(barrier, a, b, steps):
    enter(barrier)
    for _ in range(steps):
        for i in range(1 + cuda.grid(1), a.size - 1, cuda.gridsize(1)):
            b[i] = float32(0.5) * (a[i - 1] + a[i + 1])
        sync(barrier)  # every thread of every block now sees every write
        a, b = b, a


a, b = cuda.to_device(start()), cuda.to_device(start())

barrier = gpusync.GridBarrier()
launch(relax, 132, 256, (barrier, a, b, numpy.int32(1000)))

report("numba", a.copy_to_host(), 1000)
