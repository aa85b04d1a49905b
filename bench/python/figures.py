"""Measures the ways of one front end: 10^6 checked phases, then rounds in which all ways are timed in turn."""

import os
import random
import statistics
import time

from kernels import BLOCKS, THREADS

CHECKED, CONTROL = 1_000_000, 1_000
RUN_STEPS = [1_000, 11_000]
ROUNDS = 11


class Way:
    """A way to wait: `run(phases, check, seed)` queues a kernel."""

    def __init__(self, method, run, kind="barrier", rival=False, phases=CHECKED, must_be_wrong=False):
        self.method, self.run, self.kind, self.rival = method, run, kind, rival
        self.phases, self.must_be_wrong = phases, must_be_wrong


def seed():
    """Small enough for 10^6 phases in an int, and another one each time."""
    return random.randrange(1, 1 << 30)


def metric(samples, unit, run_steps=None):
    """A metric of the result document."""
    ordered = sorted(samples)
    quartiles = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else [None] * 3
    made = {"value": statistics.median(ordered) if ordered else None, "unit": unit, "n": len(ordered),
            "q1": quartiles[0], "median": statistics.median(ordered) if ordered else None, "q3": quartiles[2],
            "stddev": statistics.stdev(ordered) if len(ordered) > 1 else None,
            # The 2nd and the 10th of 11 hold the median in 98.8 % of cases.
            "interval": [ordered[1], ordered[-2]] if len(ordered) >= 9 else None,
            "samples": samples, "stop": "samples"}
    if run_steps is not None:
        made["run_steps"] = run_steps
    return made


def row(experiment, axes, method, metrics, verified, verification, status=None, reason=None, kind=None, rival=False,
        ordered=True):
    """A row of the result document."""
    return {"experiment": experiment, "items": [], "device": "cuda:0", "axes": axes, "method": method,
            "metrics": metrics, "verified": verified, "verification": verification, "clock_mhz": None,
            "status": status or ("failed" if verified is False else "ok"), "reason": reason, "kind": kind,
            "ordered": ordered, "rival": rival}


def check(way, seen):
    """Runs a way with its checks: whether it is as it must be, and a sentence."""
    begin = time.perf_counter()
    way.run(way.phases, 1, seed())
    values = seen()
    seconds = time.perf_counter() - begin
    wrong, phases = sum(values[:BLOCKS]), values[BLOCKS:]
    words = (f"{way.phases} phases of {BLOCKS}x{THREADS} in {seconds:.2f} s, each thread read another block's word in each: "
             f"{wrong} threads saw a wrong one")
    if any(int(one) != way.phases for one in phases):
        return False, f"{words}; not every block ran all phases"
    if way.must_be_wrong:
        return wrong > 0, f"{words}; without a barrier there must be some"
    return wrong == 0, words


def rows_of(front_end, ways, timed, seen):
    """The rows of a front end. `timed(f)`: microseconds that the GPU takes for what f queues. `seen()`: waits, and returns
    the words of the last run, blocks' wrong threads first, then their phases."""
    checked = {}
    for way in ways:
        checked[way.method] = check(way, seen)
        print(f"{front_end}, {way.method}: {checked[way.method][1]}", flush=True)
    rows = []
    for stores in (0, 1):
        live = [way for way in ways if not way.must_be_wrong and checked[way.method][0]]
        samples = {way.method: [] for way in live}
        for way in live:
            way.run(RUN_STEPS[0], stores, seed())
        seen()
        for _ in range(ROUNDS):
            for way in live:
                short, long = (timed(lambda: way.run(steps, stores, seed())) for steps in RUN_STEPS)
                samples[way.method].append((long - short) / (RUN_STEPS[1] - RUN_STEPS[0]))
        rival = next((way.method for way in live if way.rival), None)
        for way in ways:
            right, words = checked[way.method]
            if way.must_be_wrong and stores == 0:
                continue
            metrics = {}
            if way.method in samples:
                mine = samples[way.method]
                metrics["step_time"] = metric(mine, "us", RUN_STEPS)
                if rival is not None:
                    over = [a / b for a, b in zip(mine, samples[rival])]
                    metrics[f"step_time_over_{rival}"] = metric(over, "1")
            rows.append(row("python-front-ends", {"front_end": front_end, "shape": f"{BLOCKS}x{THREADS}", "stores": stores},
                            way.method, metrics, right, words, kind=None if way.must_be_wrong else way.kind,
                            rival=way.rival, ordered=not way.must_be_wrong,
                            reason=None if right else "The check did not end as it must."))
    return rows


def unplaced(plan):
    """A barrier without a survey that is used by a plan: five numbers as in a tuning table's rule."""
    import gpusync
    from gpusync import _driver, _layout

    barrier, driver = gpusync.GridBarrier(placed=False), _driver.get()
    plans = [_layout.Plan(*map(int, plan.split(",")))] * 4
    image = _layout.image(barrier.capacity, driver.device(0).sm_count, barrier.ptr, barrier._report, plans)
    with driver.on(0):
        driver.write(barrier.ptr, image)
    return barrier


def barriers():
    """The library's barriers by method: placed by a survey, where the library is there for that, and without."""
    import gpusync

    made = {"gpusync-unplaced": gpusync.GridBarrier(placed=False)}
    # GPUSYNC_PLANS="1,1,2,0,200 2,1,2,0,200" tries other plans for lines that no survey has placed.
    for plan in os.environ.get("GPUSYNC_PLANS", "").split():
        made[f"gpusync-unplaced {plan}"] = unplaced(plan)
    try:
        made = {"gpusync": gpusync.GridBarrier(placed=True), **made}
    except gpusync.NotAvailable as error:
        print(f"not placed: {error}", flush=True)
    return made
