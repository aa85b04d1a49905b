"""Where figures of docs/opencl.md are from; scripts/figures has the words of this text."""

import math

memory = record("nvidia-h200/reproduce-quick", "step_time")
times = {row["method"]: memory.of(row) for row in memory.rows(blocks=132, stores=1) if row["experiment"] == "barrier-memory"}
kinds = {"lock-based": "lock-based", "tree of 2 levels": "tree-2", "lock-free (flag array)": "lock-free"}


def cell(row, column):
    if column == "barrier":
        return None
    return times[kinds[row[0]] + "-acquire-release" + ("-in-host-memory" if column.startswith("host") else "")]


table("| barrier | device's memory | host's memory |", cell)

# Then and now: fits of what was measured, and of what the thesis prints.
one = record("nvidia-h200/opencl-barriers", "at_largest")
many = record("nvidia-h200/opencl-iterations", "step_time")
memory_of = record("nvidia-h200/opencl-memory", "memory_per_group")
line = {"fit": "device_time over groups"}
steps = {"fit": "total_time over iterations"}
room = {"fit": "device_memory over groups"}


def then(name):
    return "published-" + name


def now(name):
    return name if name == "launch-wait" else name + "-acquire-release"


def more_than_host(which, name):
    return memory_of(which(name), **room) - memory_of(which("launch-wait"), **room)


says("host {} us, decentralized {}, centralized {} |", *(one(then(name), **line) for name in ("launch-wait", "decentralized",
                                                                                            "centralized")))
says("host {} us, centralized {}, decentralized {} |", *(one(now(name), **line) for name in ("launch-wait", "centralized",
                                                                                           "decentralized")))
says("decentralized {} us, centralized {}, host {} |", *(many(then(name), **steps) for name in (
    "decentralized", "centralized", "launch-wait")))
says("centralized {} us, decentralized {}, host {}; tree of two levels {} |", *(many(now(name), **steps) for name in (
    "centralized", "decentralized", "launch-wait", "tree-2")))
says("| decentralized {}, centralized {} | centralized", *(many(then(name), "wins_from", **steps)
                                                           for name in ("decentralized", "centralized")))
says("| centralized {}, decentralized {} |\n| memory", *(many(now(name), "wins_from", **steps)
                                                         for name in ("centralized", "decentralized")))
says("(`opencl-memory`) | centralized {} KB, decentralized {} KB |", *(more_than_host(then, name)
                                                               for name in ("centralized", "decentralized")))
says("KB | centralized {} KB, decentralized {} KB |", *(more_than_host(now, name)
                                                       for name in ("centralized", "decentralized")))
r_squared = record("nvidia-h200/opencl-barriers", "r_squared")
says("holds for both barriers (R² above {})",
     math.floor(100 * min(r_squared(f"{name}-acquire-release", items=256, fit="device_time over groups") for name in ("centralized", "decentralized"))) / 100)
states("OpenCL C {} atomics and the PTX fence. Elsewhere OpenCL C {} atomics", "a version")
for name in ("PoCL {}** makes wrong", "PoCL {}** crashes", "Oclgrind {}**"):
    states(name, "a version")
table("| in C++ | name |", lambda row, column: [STATED] if column == "hops" else [STATED] if (
    "own, bytes" in column and row[5].isdigit()) else None)
