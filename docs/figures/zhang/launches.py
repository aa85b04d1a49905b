"""Figures of docs/zhang.md: what a launch costs."""

# Launches.
states("with a unit of at least {} us and at least the host's time for a launch", "what the claim asks for")
states("a kernel of ten units of {} us, once and then five times", "what figure 3 asks for")
states("A sleep of {} ns ends with a tick", "what was asked for")

ways = ["traditional", "cooperative", "cluster-2", "gpusync-launch", "stream-pdl", "graph-replays", "graph",
        "graph-cooperative", "graph-pdl", "device-graph"]


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
