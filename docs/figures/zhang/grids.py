"""Figures of docs/zhang.md: barriers of a grid and of several GPUs, and the observations on them."""

# Whole grids.
grids = of_both("grid-sync", "step_time")
acceptable = paper(grids["H200"], "cg", "V100", "above_launch_overhead", blocks_per_sm=2)
says("its text says at most {} us beyond a launch at two blocks per SM", acceptable)


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


# Several GPUs.
pairs_of_gpus = {"sizes": record("nvidia-h200-x2/multi-gpu-reduction-sizes", "over_single"),
                 "both types": record("nvidia-h200-x2/multi-gpu-reduction", "over_single")}


def of_two(row, column):
    return pairs_of_gpus["sizes"](row[0], gpus=2, bytes=sized(column)) if column.split()[-1] in powers else None


table("| floats on each of two GPUs, `over_single` |", of_two)
says("4 GiB on each: {} TB/s", pairs_of_gpus["sizes"]("gpusync-messages", "bandwidth", gpus=2, bytes=4 << 30) / 1000)
equal = pairs_of_gpus["both types"].values("gpusync", gpus=2, bytes=4 << 30)
says("in one of the documents `gpusync` at 4 GiB lies at {} to {}", min(equal), max(equal))


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
