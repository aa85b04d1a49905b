"""Figures of docs/zhang.md: warps and blocks: their barriers, the method that times them, sums of a warp, lanes."""

# Warps and blocks.
states("agree on a time of the device's timer {} us later", "what the launch waits for")
states("`sm_120` `nvcc` {} makes", "a version")
warps, blocks = of_both("warp-sync"), of_both("block-sync")
group = {"group": 32, "lanes": "convergent"}
parts = [2, 3, 4, 8, 16, 31]


def both(of, method, **axes):
    return [of(method, "latency", **axes), of(method, "throughput", **axes)]


def of_parts(of):
    """Shuffles of a part of a warp: the least and the greatest latency, the best throughput."""
    rows = [both(of, "coalesced-shuffle", group=size) for size in parts]
    return [min(one for one, _ in rows), max(one for one, _ in rows), max(one for _, one in rows)]


def clusters(method):
    return lambda device: [blocks[device](method, "latency", cluster=size, threads=1024) for size in (2, 16)]


measured = {
    "shuffle in a tile": lambda device: both(warps[device], "tile-shuffle", **group),
    "shuffle in a coalesced group": lambda device: [
        *both(warps[device], "coalesced-shuffle", **group), STATED, STATED, *of_parts(warps[device])],
    "block, a warp": lambda device: [blocks[device]("syncthreads", "latency", threads=32, blocks_per_sm=None),
                                     max(blocks[device].values("syncthreads", "throughput"))],
    "warp barrier of divergent lanes, all / own half": lambda device: [
        warps[device]("syncwarp", "latency", group=size, lanes="divergent") for size in (32, 16)],
    "__syncthreads(), a + b x warps": lambda device: [
        blocks[device]("syncthreads", metric, fit="latency over warps") for metric in ("intercept", "cycles_per_warp")],
    "cuda::barrier, 1,024 threads": lambda device: [
        blocks[device]("cuda-barrier", "latency", threads=1024, blocks_per_sm=None)],
    "cluster of 2 / 16, relaxed, 1,024 threads": clusters("cluster-relaxed"),
    "cluster of 2 / 16, release and acquire, 1,024 threads": clusters("cluster-acquire-release"),
}
as_printed = {"tile, latency / throughput": "tile-32", "shuffle in a tile": "shuffle-tile-32",
              "coalesced group of 1 to 31": "coalesced-1-31", "coalesced group of 32": "coalesced-32",
              "shuffle in a coalesced group": "shuffle-coalesced-32", "block, a warp": "syncthreads"}
removed = {"tile, latency / throughput": "tile-sync", "coalesced group of 1 to 31": "coalesced-sync",
           "coalesced group of 32": "coalesced-sync"}


def warp_row(row, column):
    name, gpu = row[0], column.partition(",")[0]
    if column.endswith("printed") and name in as_printed:
        of = blocks["H200"] if name == "block, a warp" else warps["H200"]
        return [paper(of, as_printed[name], gpu, metric) for metric in ("latency", "throughput")]
    if column not in devices:
        return None
    if name in removed:
        none = not warps[column].rows(removed[name])
        return ("removed by the compiler" if column == "H200" else "the same") if none else "is timed"
    return measured[name]("H200") if column == "H200" else unless_same(row[-1], measured[name])


table("| cycles, or warp operations a cycle |", warp_row, rows=list(as_printed) + list(measured)[3:])
full = [blocks["H200"].of(row, "throughput") for row in blocks["H200"].rows("syncthreads")
        if row["metrics"].get("warps_per_sm", {}).get("value") == 64]
says("2,048 threads on the multiprocessor reach {} to {}", min(full), max(full))
says("a barrier of convergent lanes cost {} cycles on the V100 and is no instruction now. Divergent lanes pay {} to meet, "
     "{} if each half", paper(warps["H200"], "tile-32", "V100", "latency"),
     *measured["warp barrier of divergent lanes, all / own half"]("H200"))
says("of a part of a warp it takes {} times what a tile's takes",
     warps["H200"]("coalesced-shuffle", "latency", group=31) / warps["H200"]("tile-shuffle", "latency", group=32))
growths = [clusters(method)("H200") for method in ("cluster-relaxed", "cluster-acquire-release")]
says("From 2 to 16 blocks both grow by {} cycles on the H200", *{round(most - least) for least, most in growths})


# Method.
checks = of_both("method-check", "latency")
ends = ("eq7-events", "eq7-host")


def jumps(device):
    return [checks[device](operation, "jumps", check="jumps")
            for operation in ("float-add", "syncthreads", "tile-shuffle", "syncwarp")]


def check_row(row, column):
    if column in ("V100, printed", "P100, printed") and row[0].startswith("float"):
        return paper(checks["H200"], "dependent-chain", column[:4], "latency", instruction="float-add")
    if column not in devices:
        return None
    if row[0].startswith("float"):
        return checks[column]("wong-chain")
    if row[0].startswith("the same"):
        return [checks[column](end) for end in ends] + [
            checks[column].row(end)["metrics"]["latency"]["stddev"] for end in ends]
    return jumps("H200") if column == "H200" else unless_same(row[-1], jumps)


table("| cycles | V100, printed |", check_row)
says("both methods agree within {} cycles, {} are allowed", *(
    max(checks[device](end, metric) for device in devices for end in ends)
    for metric in ("difference", "allowed_difference")))


# Reduction of a warp.
sums = of_both("warp-reduction", "latency")


def sum_of(device, method):
    """Its latency and how often it is right; wrong sums are a finding here, so the row may have failed."""
    [row] = [row for row in sums[device].all if row["method"] == method]
    return [sums[device].of(row), 100 * sums[device].of(row, "right"), 100 * sums[device].of(row, "right_apart")]


def sum_row(row, column):
    if column == "now":
        both_devices = [sum_of(device, row[0]) for device in devices]
        return both_devices[0] if both_devices[0] == both_devices[1] else "not the same on both"
    if column.endswith("printed") and sums["H200"].rows(f"published-{row[0]}"):
        return paper(sums["H200"], row[0], column[:4], "latency")
    return None


table("| cycles (right / right apart) |", sum_row)
says("An empty measurement takes {} cycles of each", sums["H200"]("empty"))


# Lanes of a warp.
timers = of_both("warp-timers", "margin")


def lanes_row(row, column):
    methods = row[0].split(", ")
    if column == "now: margin, cycles":
        margins = [[abs(timers[device](method, lane=None)) for method in methods] for device in devices]
        return margins[0] if margins[0] == margins[1] else "not the same on both"
    if column == "now: holds":
        held = {timers[device](method, "runs_held", lane=None) for method in methods for device in devices}
        return {(1,): "yes", (0,): "no"}.get(tuple(held), "in some runs")
    return None


table("| | V100, paper | P100, paper | now: holds |", lanes_row)
says("{} runs; [H100](../results/nvidia-h100/warp-timers.json): the same",
     timers["H200"].row("syncwarp")["metrics"]["margin"]["n"])
