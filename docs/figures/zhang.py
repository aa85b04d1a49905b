"""Where the figures of docs/zhang.md are from; scripts/figures has the words of this text."""

from math import ceil

default = "placed-counters-acquire-release"
devices = {"H200": "nvidia-h200", "H100": "nvidia-h100"}
powers = {"KiB": 10, "MiB": 20, "GiB": 30}


def of_both(name, metric=None):
    """The same document of the H200 and of the H100."""
    return {device: record(f"{folder}/{name}", metric) for device, folder in devices.items()}


def paper(of, method, gpu, metric, **axes):
    """What the paper prints, which the records hold beside the measured rows."""
    return of.published(method, metric, device=f"published: Tesla {gpu}", **axes)


def interval(row, metric):
    return row["metrics"][metric]["interval"]


def sized(text):
    """4 MiB in bytes."""
    number, unit = text.split()
    return int(number) << powers[unit]


def unless_same(cell, of):
    """The H100's values for a cell, or the text of one that says that they are the H200's, if they are to three digits."""
    if cell == "the same":
        shown = [[f"{value:.3g}" for value in of(device)] for device in devices]
        return cell if shown[0] == shown[1] else "not the same"
    return of("H100")


# Launches.
states("with a unit of at least {} us and at least the host's time for a launch", "what the claim asks for")
states("a kernel of ten units of {} us, once and then five times", "what figure 3 asks for")
states("A sleep of {} ns ends with a tick", "what was asked for")

launches = of_both("launch-overhead", "launch_overhead")
clock = {"measure": "fusion", "unit": "clock"}
ways = ["traditional", "cooperative", "cluster-2", "gpusync-launch", "stream-pdl", "graph-replays", "graph",
        "graph-cooperative", "graph-pdl", "device-graph"]


def overhead(device, way, metric=None, unit_us=5):
    return launches[device](way, metric, unit_us=unit_us, **clock)


def figure_3(device, way):
    return launches[device](way, measure="figure-3", unit="clock")


def empty(device, way, metric="null_kernel_time"):
    return launches[device](way, metric, measure="null-kernel")


def queued(device, way):
    return empty(device, way, "queued_time")


def launch_cells(way):
    """A way's cells from left to right: columns of the two devices have the same names."""
    yield None
    for metric in ("launch_overhead", "null_kernel_time"):
        yield paper(launches["H200"], way, "V100", metric) if way in ("traditional", "cooperative", "multi-device") else None
    for device in devices:
        for value in (overhead, figure_3, empty, queued):
            yield None if way == "multi-device" else value(device, way)


def launch_row(row, column):
    global cells
    if column == "us":
        cells = launch_cells(row[0])
    return next(cells)


table("| us | V100, paper: overhead |", launch_row, rows=ways + ["multi-device"])
asleep = [one for of in launches.values() for one in of.values(metric="unit_time_in_a_row", unit="nanosleep", unit_us=1)]
says("and those behind it {} us on average", sum(asleep) / len(asleep))
states("overheads by equation 6 with units of {} us of the clock, *figure 3* by its units of {} us.", "asked for")
says("`least_unit` is {} us for every way: the host never takes that long for a launch (at most {} us)",
     max(one for of in launches.values() for one in of.values(metric="least_unit", **clock)),
     max(one for of in launches.values() for one in of.values(metric="host_time", measure="fusion")))
more = {(device, unit): overhead(device, "cooperative", "above_traditional", unit) for device in devices for unit in (5, 10)}
says("on the H200 {} us less (by units of 10 us {} less), on the H100 {} more ({})", -more["H200", 5], -more["H200", 10],
     more["H100", 5], more["H100", 10])
states("less (by units of {} us", "asked for")
below = {(device, way): overhead(device, way) - figure_3(device, way) for device in devices for way in ways}
overlapping = [below.pop((device, "stream-pdl")) for device in devices]
states("figure 3 agrees with equation {},", "an equation's number")
says("figure 3 agrees with equation 6, {} to {} us below it, and {} to {} where launches overlap", min(below.values()),
     max(below.values()), min(overlapping), max(overlapping))
says("the null kernel of a cooperative launch takes {} us more (H100 {}), on the V100 {}.",
     *(empty(device, "cooperative") - empty(device, "traditional") for device in devices),
     paper(launches["H200"], "cooperative", "V100", "null_kernel_time") -
     paper(launches["H200"], "traditional", "V100", "null_kernel_time"))
says("with PDL a quarter (H100 {})", overhead("H100", "graph-pdl") / overhead("H100", "traditional"))
then = paper(launches["H200"], "traditional", "V100", "launch_overhead")
says("A launch's overhead is {} times the V100's (H100 {})", *(overhead(device, "traditional") / then for device in devices))

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

# Whole grids.
grids = of_both("grid-sync", "step_time")
acceptable = paper(grids["H200"], "cg", "V100", "above_launch_overhead", blocks_per_sm=2)
says("its text says at most {} us beyond a launch at two blocks per SM", acceptable)
barriers = ("cg", default)


def heat_map(device):
    def cell(row, column):
        if column.removesuffix(" threads").isdigit():
            axes = {"blocks_per_sm": row[0].partition(" ")[0], "threads": column.partition(" ")[0], "stores": 0}
            fits = grids[device].rows("cg", **axes)
            return [grids[device](barrier, **axes) for barrier in barriers] if fits else ""
        return STATED
    return cell


table("| H200, idle step, us: cg / ours |", heat_map("H200"), digits=3)
table("| H100 | 32 |", heat_map("H100"), digits=3)
states("cg / ours | {} | {} | {} | {} | {} | {} threads |", "what was asked for")
states("| H100 | {} | {} | {} | {} | {} | {} threads |", "what was asked for")


def fit(launched):
    return {"launched": launched, "fit": "launch_time over barriers"}


def per_launch(row, column):
    device, ours = row[0].split(", ")
    method = default if ours == "ours" else "cg"
    if column.isdigit():
        return grids[device](method, "launch_time", launched="graph", barriers=column)
    return grids[device](method, "wins_from", **fit("graph")) if column == "break-even" and ours == "ours" else None


table("| barriers in a launch, graph, us |", per_launch)
states("| barriers in a launch, graph, us | {} | {} | {} | {} | {} | {} |", "what was asked for")
few = [max(grids[device].of(row) for size in (1, 2) for row in grids[device].rows("cg", blocks_per_sm=size, stores=0))
       for device in devices]
says("With two blocks `cg` takes at most {} us (H100 {}), less than the overhead of a launch ({}, H100 {}), where", *few,
     *(overhead(device, "traditional") for device in devices))
says("where the paper has up to {} more", acceptable)
ratios = [grids[device].values(default, "step_time_over_cg", stores=stores) for device in devices for stores in (0, 1)]
says("Our default takes {} to {} of `cg`'s time idle, {} to {} with stores in flight; on the H100 {} to {} and {} to {}.",
     *(least(one) for one in ratios for least in (min, max)))
of_lines = [grids[device](method, metric, **fit("graph")) for device in devices for method in (default, "cg")
            for metric in ("intercept", "time_per_barrier")]
gain = [grids[device]("cg", "launch_time", launched="graph", barriers=1) -
        grids[device](default, "launch_time", launched="graph", barriers=1) for device in devices]
says("takes {} + {} *k* us, with `cg` {} + {} *k*; ours is the faster from the first barrier on, by {} us (H100: {} + {} "
     "*k*, {} + {} *k*, by {})", *of_lines[:4], gain[0], *of_lines[4:], gain[1])
says("A launch without one takes {}, a cooperative one {}", *(
    grids["H200"](f"no-barrier{kind}", "launch_time", launched="graph", barriers=1) for kind in ("", "-cooperative")))
streams = {device: [grids[device](default, "launch_time_over_cg", launched="stream", barriers=count) for count in (1, 2, 32)]
           for device in devices}
one = grids["H200"].row(default, launched="stream", barriers=1)
says("ours takes {} of `cg`'s time ({} to {}), with two {}, with 32 {}; on the H100 {}, {} and {}", streams["H200"][0],
     *interval(one, "launch_time_over_cg"), *streams["H200"][1:], *streams["H100"])
says("`wins_from` is {} there too (H100 {})", *(grids[device](default, "wins_from", **fit("stream")) for device in devices))

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

# Switches between numbers of threads.
states("the prediction must be within {} % of the middle", "what a row must keep")
switches, kernels = of_both("switch-points", "switch_point"), of_both("switch-points-kernels", "switch_point")
counts = {"1 thread: Thr, T, C": "1-thread", "1 warp": "1-warp", "1,024 threads": "1024-threads"}
loop = ("bandwidth", "latency", "concurrency")
between = {"thread, warp": ("1-thread", "1-warp"), "warp, 256 threads": ("1-warp", "256-threads"),
           "warp, 1,024 threads": ("1-warp", "1024-threads")}
forms = {"one block, cluster": ("one-block", "cluster"), "cluster, grid": ("cluster", "messages")}


def loop_row(row, column):
    method = counts[row[0]]
    if column in devices:
        return [switches[column](method, metric, part="proxy") for metric in loop]
    if "printed" in column:
        return [paper(switches["H200"], method, column[:4], metric, part="proxy") for metric in loop]
    return None


def switch_row(row, column):
    name = row[0].removeprefix("H100: ").partition(":")[0]
    if name in forms:
        if not column.startswith("H200: T_sync"):
            return None
        (less, method), of = forms[name], kernels["H100" if row[0].startswith("H100") else "H200"]
        switch = [of(method, metric, part="kernel-switch", input=where, **{"from": less})
                  for where in ("cold", "l2") for metric in ("sync_latency", "switch_point")]
        return switch + ([STATED] if "KiB" in row[3] else [])  # what the first holds
    less, method = between[name]
    axes = {"part": "switch", "from": less}
    if "printed" in column:
        return [paper(switches["H200"], method, gpu, metric, **axes) for gpu in ("V100", "P100") if gpu in column
                for metric in ("sync_latency", "switch_point")] if method != "256-threads" else None
    if "recipe" in column:
        return [switches["H200"](method, f"recipe_{metric}", **axes) for metric in ("sync_latency", "switch_point")]
    if "T_sync" not in column:
        return None
    found = switches["H200"].row(method, **axes)
    least, most = interval(found, "sync_latency")
    return [switches["H200"].of(found, "sync_latency"), *([least, most] if least < most else []),
            *(switches["H200"].of(found, metric)
              for metric in ("switch_point", "measured_switch_point", "measured_from", "measured_until"))]


table("| B/cycle; cycles; B |", loop_row)
table("| from the first to the second |", switch_row)
pairs = {(row["axes"]["from"], row["method"]): row for row in switches["H200"].rows(part="switch")
         if not row["method"].startswith("published")}
errors = {pair: 100 * abs(switches["H200"].of(row, "prediction_error")) for pair, row in pairs.items()}
says("Predictions are {} %, {} % and {} % off what is measured, and at most {} % for the {} other pairs of levels",
     *(errors.pop(pair) for pair in between.values()), max(errors.values()), len(errors))
says("the loop takes {} cycles an iteration, on the V100 {}, so one thread has {} of the bytes a cycle",
     switches["H200"]("1-thread", "latency", part="proxy"),
     paper(switches["H200"], "1-thread", "V100", "latency", part="proxy"),
     switches["H200"]("1-thread", "bandwidth", part="proxy") /
     paper(switches["H200"], "1-thread", "V100", "bandwidth", part="proxy"))
recipe = {pair: switches["H200"].of(row, "recipe_sync_latency") / switches["H200"].of(row, "sync_latency")
          for pair, row in pairs.items()}
low = [100 * (1 - value) for (less, _), value in recipe.items() if less == "1-warp"]
says("it is {} to {} % too low from a warp to a block, and from 512 to 1,024 threads {} times what it is", min(low),
     max(low), recipe["512-threads", "1024-threads"])
says("the recipe of table 4, is {} % low for a warp and {} to {} % for a block after a warp",
     100 * (1 - recipe["1-thread", "1-warp"]), min(low), max(low))
states("Tests hold it against tables 3 and 4 ({} %)", "the tests' tolerance")
says("but for an H100's clusters in the L2 cache, by {} %", 100 * (1 - kernels["H100"](
    "messages", part="kernel-switch", input="l2", **{"from": "cluster"}) / (512 << 10)))

# Reduction of a device.
kinds = of_both("reduction-forms", "bandwidth")
whole = of_both("reduction", "step_time")
large = {"bytes": 4 << 30, "type": "float", "input": "cold"}
reads = ("read-128x4", "read-256x4", "read-512x8", "read-dealt", "read-claimed")
ways_to_sum = {"implicit": ("implicit",), "grid barrier": ("grid-cg", "grid"), "CUB": ("cub-int",),
               "gpusync::reduce": ("gpusync",)}
printed_sums = {"implicit": "implicit", "grid barrier": "grid", "CUB": "cub", "CUDA sample": "cuda-sample",
                "theory; now the best kernel that only reads": "theory"}


def read_rows(device, **axes):
    return [row for read in reads for row in whole[device].rows(read, **axes)]


def best_read(device, **axes):
    return max(whole[device].of(row, "bandwidth") for row in read_rows(device, **axes))


def rate_row(row, column):
    name = row[0]
    if "printed" in column:
        return paper(kinds["H200"], printed_sums[name], column[:4], "bandwidth") if name in printed_sums else None
    device = column[:4]
    if device not in devices or name == "CUDA sample":
        return None
    if name.startswith("theory"):
        return best_read(device, **large)
    return [kinds[device](way, **large) for way in ways_to_sum[name]]


table("| GB/s | V100, printed |", rate_row)
mebi = 1 << 20
says("two kernels beat one with a barrier (at 1 MiB {} us, {} with `cg`)", *(
    kinds["H200"](way, "step_time", bytes=mebi) for way in ("implicit", "grid-cg")))
gibi = {"metric": "step_time", "bytes": 1 << 30}
faster = [100 * (kinds[device]("implicit", **gibi) / kinds[device]("grid-cg", **gibi) - 1) for device in devices]
says("a kernel with `cg` is the faster, by {} % (H100 {} %)", *faster)
two_kernels = [kinds["H200"](way, "step_time_over_cub", bytes=16 * mebi) for way in ("implicit", "implicit-pdl")]
says("at 16 MiB two kernels take {} to {} of its time", min(two_kernels), max(two_kernels))

# By size.
odds = of_both("reduction-odd", "step_time_over_cub")
passings = of_both("reduction-passing", "step_time_over_cub")
odd, passed = odds["H200"], passings["H200"]


def sized_row(device):
    def cell(row, column):
        size, of = sized(row[0]), whole[device]
        axes = {"bytes": size, "type": "float", "count": "n", "input": "cold"}
        if column == "gpusync, us":
            return of("gpusync", **axes)
        if column == "CUB":
            return min(of(cub, **axes) for cub in ("cub-int", "cub-size"))
        if column == "read":
            return min(of.of(row) for row in read_rows(device, **axes))
        if column in ("cold", "cold, double", "L2"):
            axes["type"] = "double" if "double" in column else "float"
            axes["input"] = "l2" if column == "L2" else "cold"
            return of("gpusync", "step_time_over_cub", **axes) if of.rows("gpusync", **axes) else ""
        if column in ("stream", "single"):
            return passed("gpusync", passing=column, **axes)
        return max(odd.values("gpusync", bytes=size, input="cold")) if column.startswith("n - 1") else None
    return cell


table("| | gpusync, us | CUB |", sized_row("H200"), digits=3)
table("| H100 | gpusync, us | CUB |", sized_row("H100"), digits=3)
of_counts = {"n": "n", "n-1": "n - 1", "3n/4+1": "3n/4 + 1"}


def text_of(size):
    return next(f"{size >> power} {unit}" for unit, power in reversed(powers.items()) if size >> power)


def over_cub(*ofs, **axes):
    """Rows of our sums in some documents."""
    return [row for of in ofs for row in of.rows("gpusync", **axes)]


def ratio(row):
    return row["metrics"]["step_time_over_cub"]["value"]


def range_row(row, column):
    """The least and the greatest ratio of one type, and at which size the greatest is."""
    if column not in ("float", "double"):
        return None
    what, _, where = row[0].removeprefix("H100: ").rpartition(", ")
    device = "H100" if row[0].startswith("H100") else "H200"
    of = (passings if where in ("stream", "single") else odds if what != "n" else whole)[device]
    axes = {"passing": where} if of is passings[device] else {"input": where.lower()}
    rows = [one for one in over_cub(of, type=column, **axes) if (one["axes"]["count"] == "n") == (what == "n")]
    worst = max(rows, key=ratio)
    size, count = text_of(worst["axes"]["bytes"]), worst["axes"]["count"]
    place = size if count == "n" else f"{size}, {of_counts[count]}"
    if f"({place})" not in row[1 if column == "float" else 2]:
        return f"{ratio(min(rows, key=ratio)):.3f} to {ratio(worst):.3f} ({place})"
    in_count = {"n": [], "n-1": [STATED], "3n/4+1": [STATED, STATED]}  # how many numbers the count's text has
    return [ratio(min(rows, key=ratio)), ratio(worst), int(size.split()[0]), *in_count[count]]


table("| our time over CUB's, least to greatest |", range_row)
cells = over_cub(whole["H200"], odd, passed)
[slower] = [row for row in cells if ratio(row) > 1]
says("**One of {} cells of the H200 is slower than CUB**: 3n/4 + 1 doubles of 2 MiB, cold, as nodes of a graph, {} us where "
     "`cub-size` takes {}: {} of its time ({} to {})", len(cells), odd.of(slower, "step_time"),
     odd("cub-size", "step_time", **slower["axes"]), ratio(slower), *interval(slower, "step_time_over_cub"))
others = max(ratio(row) for row in cells if row is not slower)
unsure = [row for row in cells if row is not slower and interval(row, "step_time_over_cub")[1] > 1]
small = [row for row in unsure if row["axes"]["bytes"] <= 8 << 10]
[large_row] = [row for row in unsure if row["axes"]["bytes"] == 1 << 30]
says("No other ratio is above {}. {} other intervals reach above 1: {} of at most 8 KiB on a stream or single, and 1 GiB of "
     "floats, n - 1, single ({} to {})", ceil(1000 * others) / 1000, len(unsure), len(small),
     *interval(large_row, "step_time_over_cub"))
h100_cells = over_cub(whole["H100"], odds["H100"], passings["H100"])
h100_unsure = [row for row in h100_cells if interval(row, "step_time_over_cub")[1] > 1]
says("On the H100 none of {} is above {}; the intervals of {} reach above 1", len(h100_cells),
     ceil(1000 * max(map(ratio, h100_cells))) / 1000, len(h100_unsure))


def of_ceiling(device, kind):
    return [whole[device]("gpusync", "bandwidth", type=kind, bytes=size * mebi, input="cold") /
            best_read(device, **{**large, "type": kind}) for size in (256, 512, 1024, 2048, 4096)]


says("Of the ceiling, {} GB/s (`read-claimed` at 4 GiB), floats get {} at 256 MiB, {} at 512 MiB, {} at 1 GiB, {} at 2 GiB "
     "and {} at 4 GiB; doubles, of {}, {}, {}, {}, {} and {}. On the H100, of {} (`read-512x8`), floats get {}, {}, {}, {} and "
     "{}.",
     best_read("H200", **large), *of_ceiling("H200", "float"), best_read("H200", **{**large, "type": "double"}),
     *of_ceiling("H200", "double"), best_read("H100", **large), *of_ceiling("H100", "float"))
sixteen = of_both("reduction-16gib", "step_time")
metrics = ("step_time", "bandwidth", "step_time_over_cub")
says("{} us, {} GB/s, {} of the time of `cub-size`, and that of the", *(
    sixteen["H200"]("gpusync", metric) for metric in metrics))
says("{} us, {} GB/s, {}, and {} times that kernel's", *(
    sixteen["H100"]("gpusync", metric) for metric in (*metrics, "step_time_over_read")))
independent = {device: [kinds[device]("gpusync-independent", "step_time_over_cub", bytes=size * mebi) for size in (1, 4, 64)]
               for device in devices}
says("is slower than `cub-int` at 1 MiB ({}) and 4 MiB ({}), on the H100 at 1 MiB ({}), 4 MiB ({}) and 64 MiB ({}), and not",
     *independent["H200"][:2], *independent["H100"])
speeds = [1 / whole["H200"]("gpusync", "step_time_over_read", bytes=size << 10, type="float", input="cold")
          for size in (512, 1024, 2048)]
says("Weakest against reading: 512 KiB to 2 MiB, {} to {} of its speed", min(speeds), max(speeds))

# Several GPUs.
pairs_of_gpus = {"sizes": record("nvidia-h200-x2/multi-gpu-reduction-sizes", "over_single"),
                 "both types": record("nvidia-h200-x2/multi-gpu-reduction", "over_single")}


def of_two(row, column):
    return pairs_of_gpus["sizes"](row[0], gpus=2, bytes=sized(column)) if column.split()[-1] in powers else None


table("| floats on each of two GPUs, `over_single` |", of_two)
says("4 GiB on each: {} TB/s", pairs_of_gpus["sizes"]("gpusync-messages", "bandwidth", gpus=2, bytes=4 << 30) / 1000)
equal = pairs_of_gpus["both types"].values("gpusync", gpus=2, bytes=4 << 30)
says("in one of the documents `gpusync` at 4 GiB lies at {} to {}", min(equal), max(equal))

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

# Stencils.
stencils = record("nvidia-h200/stencil-on-chip", "step_time")
on_chip = {"cg, on chip": "cg-on-chip", "default, on chip": f"{default}-on-chip", "split": f"{default}-on-chip-split"}
lock = "lock-based-acquire-release"
persistent = ["cg", default, lock, *on_chip.values()]
graphs = ("graph", "graph-pdl")
elements = {"102": 1024, "256": 4096}  # along a cube's edge, and points as many as in a plate this wide
small_plate, large_plate = "plate, 1024 x 1024 doubles", "plate, 4096 x 4096 doubles"
small_cube, large_cube = "cube, 102 x 102 x 102 doubles", "cube, 256 x 256 x 256 doubles"


def best_step(name, *methods):
    """The least time of some methods, each at its own best shape, or None if none fits."""
    size = name.split()[-2]
    axes = {"dimensions": 2 if name.startswith("plate") else 3, "elements": elements.get(size, size)}
    return min((stencils.of(row) for method in methods for row in stencils.rows(method, **axes)), default=None)


def over_graphs(name, *methods):
    return best_step(name, *methods) / best_step(name, *graphs)


def stencil_row(row, column):
    if column == "over the better graph":
        return over_graphs(row[0], *persistent)
    if column.startswith("H200"):
        return None
    value = best_step(row[0], default if column == "default" else on_chip.get(column, column))
    return "does not fit" if value is None else value


table("| H200, us a step |", stencil_row)
says("{} of the better graph's time for the plate, {} for the cube", over_graphs(small_plate, *persistent),
     over_graphs(small_cube, *persistent))
says("{} for the large plate, where memory decides, and {} for the large cube (`lock-based-acquire-release`, {} us)",
     over_graphs(large_plate, *persistent), over_graphs(large_cube, lock), best_step(large_cube, lock))
says("it takes {} times that of a plate with as many points",
     best_step(small_cube, *graphs) / best_step(small_plate, *graphs))
above = [100 * (best_step(cube, other) / best_step(cube, lock) - 1)
         for cube in (small_cube, large_cube) for other in barriers]
says("`lock-based-acquire-release` takes {} and {} us where `cg` and the default take {} to {} % more",
     best_step(small_cube, lock), best_step(large_cube, lock), min(above), max(above))
says("The split form takes {} times as long as the whole one on the plate, and {} on the cube", *(
    best_step(name, on_chip["split"]) / best_step(name, on_chip["default, on chip"]) for name in (small_plate, small_cube)))

# The observations. Their sentences hold the figures.
states("is the difference of section {}: with up to two", "a section's number")
says("the barrier takes at most {} us more than the overhead of a launch", acceptable)
states("the overhead of a launch, by a unit of at least {} us of the clock", "what the statement asks for")
N = r"(\d+(?:\.\d+)?)"
sentences = {
    "warp-shuffle": f"takes {N} cycles by shuffles, {N} through",
    "block-warps": f"takes {N} cycles with 1 warps on the multiprocessor, {N} with 32",
    "grid-blocks": f"make cg up to {N} times as slow, more threads in a block up to {N} times",
    "grid-acceptable": f"cg takes at most {N} us, and the overhead of a launch is {N} us",
    "implicit-one-gpu": f"runs at {N} GB/s with two kernels, at {N} with a grid barrier",
    "implicit-few-steps": f"2 launches take {N} us, one with 1 barrier of cg between takes {N} us",
}


def seen_row(row, column):
    name = row[0].partition(":")[0]
    if column not in devices or name not in sentences:
        return None

    def seen(device):
        return [log(f"{devices[device]}/observations.json", sentences[name], which) for which in (1, 2)]

    values = seen("H200") if column == "H200" else unless_same(row[-1], seen)
    return [values[0], STATED, values[1], STATED] if name == "block-warps" and column == "H200" else values


table("| statement | 2020 | H200 | H100 |", seen_row)
states("| statement | {} | H200 |", "the paper's year")
single = {device: [2 * grids[device]("no-barrier", "launch_time", launched="graph", barriers=1),
                   grids[device]("cg", "launch_time", launched="graph", barriers=1)] for device in devices}
says("two launches take {} us, one with `cg`'s barrier {} (H100 {}, {})", *single["H200"], *single["H100"])
