"""Where the figures of docs/hagen.md are from; scripts/figures has the words of this text."""

# What a call costs.
calls = record("nvidia-h200/rmw-cost", "call_time")


def then(method, memory, participants, metric="call_time"):
    """What the paper prints of the GeForce 8800 GT; the document has its rows."""
    return calls.published(method, metric, device="published: GeForce 8800 GT", memory=memory, participants=participants)


def now(method, memory, participants, metric="call_time"):
    return calls(method, metric, memory=memory, type="uint32", operation="ADD", participants=participants,
                 capacity=max(5, participants))


def in_global(row, column):
    method = row[0].partition(",")[0]
    if column == "global memory, ADD":
        return None
    if column.startswith("then"):
        return {"hardware": [then("hardware", "global", n) for n in (1, 5)],
                "coalesced-store-32": [then("coalesced-store", "global", n, metric) for n in (1, 5)
                                       for metric in ("call_time", "call_time_over_hardware")]}.get(method)
    metrics = ["call_time"] if method == "hardware" else ["call_time", "call_time_over_hardware"]
    return [now(method, "global", int(column.split()[0]), metric) for metric in metrics]


def in_shared(row, column):
    method = row[0]
    if column.startswith("shared memory"):
        return None
    if column.startswith("then"):
        return {"hardware-global": [then("hardware-global", "shared", n) for n in (1, 5)],
                "coalesced-store-32": [then("coalesced-store", "shared", n, metric) for n in (1, 5)
                                       for metric in ("call_time", "call_time_over_hardware-global")]}.get(method)
    if (method, column) == ("coalesced-store-32", "16"):
        return None
    metrics = ["call_time", "call_time_over_hardware-global", "call_time_over_hardware"]
    metrics = metrics[:{"hardware-global": 1, "hardware": 2}.get(method, 2 if column == "16" else 3)]
    return [now(method, "shared", int(column.split()[0]), metric) for metric in metrics]


states("CUDA {})", "a version")
says("every answer of its {} calls checked", sum(int(row["verification"].split()[0]) for row in calls.all if row["verified"]))
states("| global memory, ADD | 1 block | {} | {} | {} | 5 blocks |", "numbers of blocks")
states("the shared one) | 1 warp | 5 warps | {} |", "a number of warps")
table("| global memory, ADD |", in_global)
table("| shared memory, ADD:", in_shared)
of_all = {"us for a call": "call_time", "10^6 calls/s": "calls_per_second", "slowest over mean": "slowest_over_mean",
          "longest call, us": "longest_call"}
table("| one object for 132,", lambda row, column: now(row[0], "global", 132, of_all[column]) if column in of_all else None)


def others(kind, metric="call_time", method="cas", operations=("SUB", "EXCH", "MIN", "MAX", "INC", "DEC", "CAS")):
    """The least and the most of the operations besides ADD, of 5 blocks in global memory."""
    found = [calls(method, metric, memory="global", type=kind, operation=operation, participants=5, capacity=5)
             for operation in operations]
    return min(found), max(found)


over = "call_time_over_hardware"
says("`cas`: {} to {} us on 32-bit words ({} to {} times the hardware's), {} to {} us on floats, {} to {} us on doubles; "
     "float INC and DEC, where the hardware loops itself, {} to {} times", *others("uint32"), *others("uint32", over),
     *others("float32"), *others("float64"), *others("float32", over, operations=("INC", "DEC")))

ours = ("cas-mail-16", "cas128", "cas")
ratios = [now(method, "global", 132, over) for method in ours]
paper = [then("coalesced-store", "global", n, over) for n in (1, 5)]
today = [now("coalesced-store-32", "global", n, over) for n in (1, 5)]
says("then {} times for one block, {} for five; now {} and {}. With 132 blocks {} to {} times", *paper, *today, min(ratios),
     max(ratios))
says("no: from {} to {}. An atomic addition then took longer with more blocks ({} to {} us), now {} us", *today,
     *(then("hardware", "global", n) for n in (1, 5)), now("hardware", "global", 5))
rates = {method: now(method, "global", 132, "calls_per_second") for method in ("hardware", "cas-mail-16", "cas-loop")}
says("with 132 blocks {} times the calls of a compare-and-swap loop, and no call longer than {} us where the loop had one of "
     "{} ms", rates["cas-mail-16"] / rates["cas-loop"], max(now(method, "global", 132, "longest_call") for method in ours),
     now("cas-loop", "global", 132, "longest_call") / 1000)
says("is always faster as that: {} times the calls at 132 blocks", rates["hardware"] / rates["cas-mail-16"])
states("as often as they can, from a common start, {} times each as in the paper ({} with more than five)", "asked for")

# The masked store. A violation makes a row `failed`, and is what is asked here: all rows that have trials count.
stores = record("nvidia-h200/store-atomicity", "violations")
again = record("nvidia-h200/store-atomicity-together", "violations")
words_of = [(n, word) for n in (8, 16, 32, 64, 128) for word in (4, 8) if n > word]
cells_of_object = [("object-cells", *kind) for kind in ((64, 4), (128, 4), (128, 8))]
cases = {  # how a row begins: the (method, bytes, word_bytes) that its cells are of, in their order, or the worst of all
    "global, random masks, 8 to 32": [("random-masks", *kind) for kind in words_of if kind[0] <= 32],
    "global, random masks, 64": [("random-masks", 64, 4), ("random-masks", 64, 8)],
    "global, random masks, 128": [("random-masks", 128, 4), ("random-masks", 128, 8)],
    "global, the object's cells": cells_of_object,
    "global, the shipped consensus": [("consensus-5", None, None)],
    "shared, random masks and cells": [("random-masks", n, word) for n, word in words_of if n <= 16 * word] + cells_of_object,
    "shared, random masks, 32 words": [("random-masks", 128, 4)],
    "shared, the shipped consensus": [("consensus-5", None, None), ("consensus-16", None, None)],
    "controls": [("split-store", 64, 4), ("split-store", 128, 4)],
    "a segment across lines": [("across-lines", 64, 4), ("across-lines", 128, 4)],
    "consensus of 5 without": [("consensus-5-unfenced", None, None)],
    "split in two, 64; 128 bytes, shared": [("split-store", 64, 4), ("split-store", 128, 4)],
}
columns = ["stores", "apart", "apart, stress", "together", "together, stress"]
logged = r"together, stress 1\n.*\n  consensus-5 .*\n  consensus-16 +(\d+) 1 +(\d+) .*\npassed"


def scientific(value):
    exponent = len(str(int(value))) - 1
    return [value / 10**exponent, STATED, exponent]


def violations(row, column):
    text = row[columns.index(column)]
    if column == "stores" or not text:
        return None
    begin = next(name for name in cases if row[0].startswith(name))
    memory, writers = "shared" if "shared" in row[0] else "global", column.partition(",")[0]
    wanted = [(method, memory, writers, n, word, int("stress" in column)) for method, n, word in cases[begin]]
    axes = ("memory", "writers", "bytes", "word_bytes", "stress")
    found = [one for want in wanted for one in stores.all
             if one["metrics"] and (one["method"], *(one["axes"].get(axis) for axis in axes)) == want]
    if begin in list(cases)[-4:]:  # controls
        seen = [scientific(stores.of(one, "violations_per_1e9")) for one in found if stores.of(one)]
        return sum(seen, []) or [0] * len(found) + scientific(min(stores.of(one, "trials") for one in found))
    pairs = [[stores.of(one, metric) for metric in ("violations", "upper_bound_per_1e9")] for one in found]
    if "each" in text:
        return [max(numbers) for numbers in zip(*pairs)]
    of_log = []
    if len(found) < len(wanted):  # that run's second kind is in its log alone
        of_log = [log("nvidia-h200/measure-gpu-rmw.log", logged, 1)]
        of_log += scientific(log("nvidia-h200/measure-gpu-rmw.log", logged, 2))
    return sum(pairs, []) + of_log


states("the upper bound of violations in 10^9 trials ({} %)", "the confidence asked for")
states("the one-sided {} % bound", "the confidence asked for")
table("| stores | apart |", violations)
says("`store-atomicity-together.json`](../results/nvidia-h200/store-atomicity-together.json), {} x 10^8",
     min(again.of(row, "trials") for row in again.all if row["verified"] is not None and row["metrics"]) / 1e8)
table("| method | writers | |", lambda row, column: [STATED] * (1 + row[1].count(",")) if column == "writers" else None)

# Crashes and stalls.
faults = record("nvidia-h200/rmw-faults", "runs")
objects = {}  # a row names its memory and participants only where they change


def fault(row, column):
    if column == "object":
        place, _, method = row[0].rpartition(": ")
        if place:
            memory, _, participants = place.partition(", ")
            objects["axes"] = {"memory": memory, "participants": participants}
        objects["method"] = method
        return None
    method, axes = objects["method"], objects["axes"]
    if column in ("runs", "struck"):
        return sum(faults.values(method, column, **axes))
    what = column.split()[1]
    return [max(faults.values(method, metric, **axes)) for metric in (f"most_{what}", f"{what}_bound")]


table("| object | most passes (bound) |", fault)
says("{} runs, in which {} victims were struck, {} calls ended", *(sum(faults.values(metric=metric))
                                                                  for metric in ("runs", "struck", "calls")))

# A barrier that loses blocks.
ms = {name: log("nvidia-h200/lost-blocks.txt", rf"^{name} +([\d.]+) ms") for name in
      ("grid_barrier", "fault_tolerant_barrier, nobody lost", "fault_tolerant_barrier, blocks lost")}
us = {name: log("nvidia-h200/lost-blocks.txt", rf"^{name} .* ([\d.]+) us a step") for name in ms}
plain, nobody, lost = ms
says("blocks take {} ms under `grid_barrier`, {} ms under the fault-tolerant barrier with nobody lost ({} us more a step), "
     "and {} ms with", ms[plain], ms[nobody], us[nobody] - us[plain], ms[lost])
says("each noticed after {} ms", log("nvidia-h200/lost-blocks.txt", r"a block waits (\d+) ms"))
