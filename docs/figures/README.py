"""Where the figures of README.md are from; scripts/figures has the words of this text."""

default = "placed-counters-acquire-release"

halos = record("nvidia-h200/halo-exchange", f"step_time_over_{default}")
says("a halo exchange in {} of the time of the barrier, {} where steps differ",
     halos("halo", shape="132x256", neighbours=2, work="none"),
     halos("halo", shape="132x256", neighbours=2, work="exponential-1000"))
panels = record("nvidia-h200/panels", "time_over_no-barrier")
says("(random reads in [{} of the time]", panels("window-2", op="gather"))

# Graphs beside the best barrier of each case; within one percent neither is faster.
four = record("nvidia-h200/grid-barriers-four-shapes", "step_time")
cases = [(shape, stores) for shape in ("132x32", "132x256", "264x1024", "1056x256") for stores in (0, 1)]


def gain(shape, stores):
    """How many times as long as the better graph with PDL the best barrier takes."""
    barriers = [four.of(row) for row in four.rows(shape=shape, stores=stores) if not row["method"].startswith("graph")]
    return min(barriers) / min(four(graph, shape=shape, stores=stores) for graph in ("graph-pdl", "graph-pdl-late"))


gains = {case: gain(*case) for case in cases}
says("is faster than the best one in {} of {} cases of", sum(one > 1.01 for one in gains.values()), len(cases))
says("by up to {} times. With eight", max(gains.values()))
says("the barrier takes {} and {} of that graph's time, and {} and {} of a plain graph's",
     *(gains["1056x256", stores] for stores in (0, 1)),
     *(four(default, "step_time_over_graph", shape="1056x256", stores=stores) for stores in (0, 1)))
states("eight blocks on a multiprocessor, {} x {},", "a shape")
plate = record("nvidia-h200/jacobi", "step_time")
says("a step of a Jacobi relaxation takes {} us so, and {} the usual way",
     *(plate(way, shape="132x512", elements=1024, type="float") for way in ("graph-pdl-late", "graph-pdl")))
over_cg = [four(default, "step_time_over_cg", shape=shape, stores=stores) for shape, stores in cases]
says("The default barrier takes {} to {} of the time of `cg` in the same {} cases ({} shapes", min(over_cg), max(over_cg),
     len(cases), len(cases) / 2)

chip = [min(plate(way, shape=shape, elements=1024, type="float") for shape in ("132x256", "132x512")) for way in (
    f"{default}-strips-split", "halo-strips")]
says("kept on the chip takes {} us a step with a barrier, and {} with", *chip)

asked = record("nvidia-h200/advice", "step_time")
better = {str(row["axes"]): asked.of(row) for row in asked.rows(default) if "step_time" in row["metrics"]}
for graph in ("graph-pdl", "graph-pdl-late"):
    beside = {str(row["axes"]): asked.of(row) for row in asked.rows(graph) if str(row["axes"]) in better}
    pdl = beside if graph == "graph-pdl" else {axes: min(pdl[axes], time) for axes, time in beside.items()}
over_pdl = [better[axes] / pdl[axes] for axes in better]
says("In {} random situations, most with work, the barrier is ahead in {}, PDL in {}, and they are within {} % in {} (", len(over_pdl),
     sum(one < 0.98 for one in over_pdl), sum(one > 1.02 for one in over_pdl), 2,
     sum(0.98 <= one <= 1.02 for one in over_pdl))

# The table.
methods = {
    "gpusync::grid_barrier (placed counters)": default,
    "replicated counters (4)": "replicated-4-acquire-release",
    "lock-based, acquire-release": "lock-based-acquire-release",
    "cluster-first, 4 blocks a cluster": "cluster-first-4",
    "cg::grid_group::sync()": "cg",
    "lock-based, fences as in 2010": "lock-based-fence",
    "sense-reversing": "sense-reversing-acquire-release",
    "tree of 2 levels": "tree-2-acquire-release",
    "lock-free (flag array)": "lock-free-acquire-release",
    "dissemination": "dissemination-acquire-release",
    "CUDA graph of kernels": "graph",
    "CUDA graph, programmatic dependent launch": "graph-pdl",
    "the same, the next let in behind the wait": "graph-pdl-late",
}
columns = {"empty step": 0, "with stores in flight": 1}
results = {True: "right", None: "not checked"}


def cell(row, column):
    if column in columns:
        return four(methods[row[0]], shape="132x256", stores=columns[column])
    if column == "results":
        return [results[four.row(methods[row[0]], shape="132x256", stores=stores)["verified"]] for stores in (0, 1)]
    return None


table("| way to wait | empty step |", cell, rows=methods)
picture("nvidia-h200/grid-barriers.svg", "nvidia-h200/grid-barriers-four-shapes.json", 132, 256)
