"""Where the figures of docs/neighbours.md are from; scripts/figures has the words of this text."""

import math

default = "placed-counters-acquire-release"
halos = record("nvidia-h200/halo-exchange", "step_time")
methods = {"halo": ["halo"], "neighbour_barrier": ["neighbour-barrier"], "grid_barrier": [default], "cg": ["cg"],
           "graph": ["graph"], "PDL": ["graph-pdl", "graph-pdl-late"]}
works = {"none": "none", "exponential, 1 us": "exponential-1000"}
shapes = ["132x256", "132x1024", "264x512", "1056x256"]


def step(row, column):
    if column == "work" and row[2] != "none":
        return STATED  # what was asked for
    if column not in methods:
        return STATED if column == "neighbours" else None
    return min(halos(one, shape=row[0].replace(" ", ""), neighbours=row[1], work=works[row[2]]) for one in methods[column])


states("1 KB a block, no work besides, and with work before each publishing whose length is drawn per block and step with "
       "an exponential distribution of mean {} us", "asked for on the command line")
table("| shape | neighbours | work | `halo` |", step, digits=3, best=min)


def flags(where, shape):
    """The median of the turns of a ring whose flags lie there, on an H100."""
    return middle("nvidia-h100/neighbour-flags-placed.txt", rf"^{shape} {where} ([\d.]+) us")


says("{} and {} us a step at 132 x 256, {} and {} at 132 x 1024, {} and {} at 264 x 512, {} and {} at 1056 x 256.",
     *(flags(where, shape) for shape in ("132 x 256", "132 x 1024", "264 x 512", "1056 x 256")
       for where in ("anywhere", "placed")))


says("a word for each thread, takes {} ns in each of them", middle("nvidia-h200/placed-halo-orders.txt", r"a step of ([\d.]+) ns"))


def ring_turns(text, kind, shape, what="ring"):
    """The median of the turns of a loop whose polls are of that kind, on an H100."""
    return middle(f"nvidia-h100/{text}.txt", rf"^{shape} {what} {kind} ([\d.]+) us")


says("at 132 x 256 {} and {} us a step, at 132 x 1024 {} and {}, at 264 x 512 {} and {}, at 1056 x 256 {} and {}.",
     *(ring_turns("neighbour-barrier-before-after", kind, shape)
       for shape in ("132 x 256", "132 x 1024", "264 x 512", "1056 x 256") for kind in ("old", "new")))
in_flight = ("one", "2-in-flight-each-150-cycles", "4-in-flight-each-150-cycles")
says("at 132 x 256 a step of {} us takes {} with two and {} with four, the grid barrier's {} takes {} and {}",
     *(ring_turns("polls-in-flight", kind, "132 x 256", what) for what in ("ring", "grid") for kind in in_flight))


def entered(call, shape):
    """The median of the turns of a loop that calls enter() or does not, on an H100."""
    return middle("nvidia-h100/enter-before-after.txt", rf"^{shape}, 2 neighbours, idle: new {call} ([\d.]+) us")


says("a step at 132 x 256 takes {} us with it and {} without; the grid barrier's {} and {}, at 1056 x 256 {} and {}",
     entered("near", "132 x 256"), entered("near-no-enter", "132 x 256"), entered("grid", "132 x 256"),
     entered("grid-no-enter", "132 x 256"), entered("grid", "1056 x 256"), entered("grid-no-enter", "1056 x 256"))


def ring_step(shape, more, version):
    """The median of a ring's step with that version of the library, on an H100, ns."""
    return logs("nvidia-h100/deadlines-before-after.txt", rf"^step +{shape} ring{more} +(?:before.*)?{version} +([\d.]+) ")[0]


rings = ["132 x  256", "132 x  512", "264 x  512", "528 x  256"]
says("without and with: {} and {} ns at 132 x 256, {} and {} at 132 x 512, {} and {} at 264 x 512, {} and {} at 528 x 256. "
     "While the handle lay in local memory they were {}, {}, {} and {} with one",
     *(ring_step(shape, more, "after") for shape in rings for more in ("", ", deadline")),
     *(ring_step(shape, ", deadline", "before") for shape in rings))

ring = {"shape": "132x256", "neighbours": 2, "work": "none"}
says("{} of the time of the grid barrier and {} of a graph with programmatic launch (PDL), at 132 x 256 in a ring",
     halos("halo", f"step_time_over_{default}", **ring),
     max(halos("halo", f"step_time_over_{graph}", **ring) for graph in ("graph-pdl", "graph-pdl-late")))

lockstep = [halos("neighbour-barrier", f"step_time_over_{default}", shape=shape, neighbours=n, work="none")
            for shape in ("132x256", "132x1024") for n in (2, 4, 8)]
says("on one block a multiprocessor: {} to {} of the grid barrier's time", min(lockstep), max(lockstep))

# Work of unlike length, 4 KB a block.
big = record("nvidia-h200/halo-exchange-bytes", "step_time")
big_shapes = ["132x256", "132x1024", "264x512"]
uniform = [big("halo", f"step_time_over_{default}", shape=shape, neighbours=n, work="uniform-1000")
           for shape in big_shapes for n in (2, 4)]
exponential = [halos("halo", f"step_time_over_{default}", shape=shape, neighbours=n, work="exponential-1000")
               for shape in shapes for n in (2, 4, 8)]
says("a halo takes {} to {} of the time of the grid barrier there. Under uniform work of 0 to 2 us", min(exponential),
     max(exponential))
says("Under uniform work of 0 to 2 us, 4 KB a block, it is {} to {}", min(uniform), max(uniform))
states("Under uniform work of {} to {} us, 4 KB", "asked for on the command line")
behind = [big("halo", "step_time_over_graph-pdl", shape="132x256", neighbours=4, work=work)
          for work in ("none", "constant-1000", "constant-5000")]
says("with 4 neighbours and 4 KB, lets a graph with PDL be ahead at 132 x 256: a halo takes {} to {} of its time",
     min(behind), max(behind))

# The neighbour barrier's.
many = {"shape": "1056x256", "work": "none"}
slower = [halos("halo", neighbours=n, **many) / halos("neighbour-barrier", neighbours=n, **many) for n in (4, 8)]
says("a halo takes {} to {} times as long there, without work", min(slower), max(slower))
two = {"shape": "264x512", "neighbours": 4, "work": "none"}
says("two blocks with 4 neighbours and 4 KB each: {} times", big("halo", **two) / big("neighbour-barrier", **two))
says("The cliff** of words at many blocks and neighbours is {} times the neighbour barrier here",
     halos("halo-words", neighbours=8, **many) / halos("neighbour-barrier", neighbours=8, **many))


def over_better(device):
    """By how much the form that a launch chooses is slower than the better one, in each shape."""
    forms = record(f"{device}/halo-forms", "step_time")
    return [max(forms.of(row, "step_time_over_halo-words"), forms.of(row, "step_time_over_halo-flags"))
            for row in forms.rows("halo")]


chosen, chosen_there = over_better("nvidia-h200"), over_better("nvidia-h100")
says("Of {} shapes `halo` takes at most {} times", len(chosen), max(chosen))
says("{} times in [an H100's]", max(chosen_there))
states("Since dd9a66d it comes {} cycles later, but at once in grids of {} threads", "the rule's, gpusync/neighbours/halo_rule.hpp")
ring = {"shape": "132x256", "neighbours": 2, "work": "exponential-1000"}
bound = 2.377  # of the draws of 1 us at 1980 MHz; tests/workloads/situations_test.cpp holds them against fair ones
states("flags where the grid polls more than {} MB in a step", "the rule's, gpusync/neighbours/halo_rule.hpp")
states("or, in grids of {} threads and more, eight words of {} bytes", "the rule's, gpusync/neighbours/halo_rule.hpp")
states("at {} cycles a microsecond, no way to wait can take less than {} means a step", "a simulation, which a test repeats")
states("the set used here is within {} % of the average", "what the test allows")
states("Sets of 256 steps differ by {} % in that", "a simulation of fair draws")
says("So a halo's waits take {} us of the {}, and a neighbour barrier's {}", halos("halo", **ring) - bound,
     halos("halo", **ring), halos("neighbour-barrier", **ring) - bound)

# Plates and cubes.
plates = record("nvidia-h200/jacobi", "step_time")
plate_methods = {"halo-strips": "halo-strips", "neighbour barrier": "neighbour-barrier-strips",
                 "grid barrier, split": f"{default}-strips-split", "grid barrier": f"{default}-strips", "cg": "cg-strips"}


launches = ("relaunch", "graph", "graph-pdl", "graph-pdl-late")


def best_of_launches(of, ways=launches, **axes):
    """The least of relaunches and graphs."""
    return min(of(method, **axes) for method in ways)


def plate_of(of, *shapes, methods=plate_methods, ways=launches):
    """A cell of a plate: the least over these shapes, or over all that there are."""
    def cell(row, column):
        column = column.strip("`")
        axes = {"elements": row[0].partition("²")[0], "type": "double" if "double" in row[0] else "float"}
        each = [{**axes, "shape": shape} for shape in shapes] or [axes]
        if column == "best of graphs":
            return min(best_of_launches(of, ways, **one) for one in each)
        return min(of(methods[column], **one) for one in each) if column in methods else None
    return cell


table("| plate | `halo-strips` |", plate_of(plates, "132x256", "132x512"), digits=3, best=min)
there = record("nvidia-h100/halo-exchange", "step_time")
says("On an H100, of 713b81e, `halo` takes {}, {} and {} us a step with 2, 4 and 8 neighbours at 132 x 256, the neighbour barrier {}, {} and "
     "{} (", *(there(way, shape="132x256", neighbours=n, work="none") for way in ("halo", "neighbour-barrier")
               for n in (2, 4, 8)))
says("a plate of 1024² floats in strips takes {} (", plate_of(record("nvidia-h100/jacobi", "step_time"), "132x256", "132x512")(
    ["1024², float"], "halo-strips"))

# Where the words lie.
placed = record("nvidia-h100/halo-placed", "step_time")
ways_to_lie = ("halo-words", "halo-words-unplaced")


def lying(way, shape):
    return [placed(way, shape=shape, neighbours=n, work="none") for n in (2, 4, 8)]


says("placed by a survey {} / {} / {} us a step with 2 / 4 / 8 neighbours, in memory as it comes {} / {} / {}; at 264 x 512 "
     "{} / {} / {} and {} / {} / {}", *(value for shape in ("132x256", "264x512") for way in ways_to_lie
                                        for value in lying(way, shape)))
apart_in_skew = [abs(placed(ways_to_lie[1], **axes) / placed(ways_to_lie[0], **axes) - 1)
                 for axes in ({"shape": shape, "neighbours": n, "work": "exponential-1000"}
                              for shape in ("132x256", "264x512") for n in (2, 4, 8))]
says("Under exponential skew both are alike within {} of their time", math.ceil(1000 * max(apart_in_skew)) / 1000)

cubes = record("nvidia-h200/jacobi-cube", "step_time")
values = [cubes(f"{method}-on-chip", type=kind) for method in ("neighbour-barrier", default) for kind in ("float", "double")]
says("neighbour barrier {} us (float) and {} (double), grid barrier {} and {}, the best graph {} and {} (", *values,
     *(best_of_launches(cubes, type=kind) for kind in ("float", "double")))

# Until they have converged.
ends = record("nvidia-h200/converging-stencil", "step_time")
ending_ways = (*launches, "graph-while")
ending = {name: name for name in ("halo-votes-strips", "votes-strips", "cg-strips", "votes", "cg", "launch-wait")}
table("| plate | `halo-votes-strips` |", plate_of(ends, "132x256", "132x512", methods=ending, ways=ending_ways), digits=3,
      best=min)
small = {"elements": 1024, "type": "float", "shape": "132x256"}
says("Little of that is hidden: {} us at 132 x 256, where the same plate takes {} if the number of steps is known, and a vote "
     "alone {} (", ends("halo-votes-strips", **small), plates("halo-strips", **small),
     record("nvidia-h200/grid-votes", "step_time")("vote-or", shape="132x256"))
chosen = {(float(row["axes"]["tolerance"]), row["axes"]["steps"]) for row in ends.rows() if "tolerance" in row["axes"]}
says("a tolerance ({}, of points between 0 and 1, after {} steps)", *chosen.pop())
of_before = [way for way in ending_ways if way != "graph-pdl-late"]
ending_cubes = record("nvidia-h100/converging-cube", "step_time")
says("`votes-on-chip` {} us (float) and {} (double), the best graph {} and {} (",
     *(ending_cubes("votes-on-chip", type=kind) for kind in ("float", "double")),
     *(best_of_launches(ending_cubes, of_before, type=kind) for kind in ("float", "double")))
