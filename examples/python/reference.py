"""What all examples compute, on the host: `steps` times the mean of both neighbours, the ends as they are."""

import numpy


def relaxed(values, steps):
    """The same operations in the same order, so that the results are equal to the bit."""
    now = values.astype(numpy.float32)
    for _ in range(steps):
        now[1:-1] = numpy.float32(0.5) * (now[:-2] + now[2:])
    return now


def start(n=100_000):
    """Values to begin with."""
    return numpy.random.default_rng(1).random(n, numpy.float32)


def report(name, result, steps, n=100_000):
    """Says whether a result is right; raises if it is not."""
    if not (numpy.asarray(result) == relaxed(start(n), steps)).all():
        raise SystemExit(f"{name}: the result is wrong")
    print(f"{name}: {steps} steps of {n} values in one kernel, the result is right")
