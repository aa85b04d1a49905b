"""Where figures of docs/grid-barriers.md are from; scripts/figures has the words of this text."""

import math
import re

default = "placed-counters-acquire-release"


def sizes(row, column):
    """What an algorithm does and takes: of its text, and tested there."""
    of = {"hops": 1, "adds per block and phase": 2, "storage, bytes": 4, "most blocks": 5, "name": 0}.get(column)
    numbers = re.findall(r"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?|\d*\.\d+)(?![\w])", row[of]) if of is not None else []
    return [STATED] * len(numbers) or None


table("| name | hops |", sizes)

four = record("nvidia-h200/grid-barriers-four-shapes", "step_time")
shapes = ["132 x 32", "132 x 256", "264 x 1024", "1056 x 256"]


def step(row, column):
    if column not in shapes:
        return [STATED] if column == "take it where" and "20 ms" in row[5] or "2010" in row[5] and column != "method" else None
    return [four(row[0], shape=column.replace(" ", ""), stores=stores) for stores in (0, 1)]


table("| method | 132 x 32 |", step)
says("by its idle 132 x 256 of {} us this run was in the fast one", four("graph", shape="132x256", stores=0))
states("by its idle 132 x {} of", "a shape")
states_of_graphs = record("nvidia-h200/graph-states", "step_time")
slow, fast = (states_of_graphs("graph", history=history, stores=0) for history in ("graph-uploaded", "clean"))
says("Graphs have a slow state, {} us an idle step more", slow - fast)

h100 = record("nvidia-h100/grid-barriers-four-shapes", "step_time")
says("On an H100 the default takes {} / {} us at 132 x 256 and {} / {} at 1056 x 256, `cg` {} / {} and {} / {}, a graph with "
     "PDL {} / {} and {} / {}",
     *(h100(method, shape=shape, stores=stores) for method in (default, "cg", "graph-pdl")
       for shape in ("132x256", "1056x256") for stores in (0, 1)))

split = record("nvidia-h200/split-phase", "exposed")
states("with {} us of own work, 132 x 256 and stores", "asked for on the command line")
says("{} us of the default barrier, {} with a proxy, {} of `cg`", split(default), split(default + "+attendant"), split("cg"))

def in_turns(text, kind, call, shape):
    """The median of the turns of a call compiled with the old or the new headers, on an H100."""
    return middle(f"nvidia-h100/{text}.txt", rf"^{kind}\n(?:\d.*\n)*?{shape} {call} +([\d.]+) us")


shapes = ("132 x 256", "1056 x 256")
says("{} and {} us at 1056 x 256, {} and {} at 132 x 256", *(in_turns("votes-before-after", kind, "vote_add", shape)
                                                             for shape in reversed(shapes) for kind in ("old", "new")))
answers = "votes-answer-before-after"
says("`sync_add` {} and {} us at 132 x 256, {} and {} at 1056 x 256; `sync_or` {} and {}, {} and {}; `vote_add` {} and {}, {} "
     "and {}; `sync()` {} and {}.",
     *(in_turns(answers, kind, call, shape) for call in ("sync_add", "sync_or", "vote_add") for shape in shapes
       for kind in ("old", "new")),
     *(in_turns(answers, "new", "sync", shape) for shape in shapes))
ways_out = "votes-two-ways-out"


def two_for_one(shape):
    return in_turns(ways_out, "two", "sync_add", shape) / in_turns(ways_out, "one", "sync_add", shape)


says("gains {} % with one block on a multiprocessor and loses {} % with eight", 100 * (1 - two_for_one("132 x 256")),
     100 * (two_for_one("1056 x 256") - 1))
votes, votes_there = (record(f"nvidia-{gpu}/grid-votes", "step_time") for gpu in ("h200", "h100"))
graphs_with_pdl = ("graph-pdl", "graph-pdl-late")


def of_votes(of, shape):
    return (*(of(one, shape=shape) for one in ("vote-add", "vote-or", "barrier-alone", "sync-add", "sync-or", default, "cg")),
            min(of(one, shape=shape) for one in graphs_with_pdl))


says("`vote_add` {}, `vote_or` {}, the barrier alone {}, `sync_add` {}, `sync_or` {}; a barrier behind which each block reads "
     "all partial sums {}, with `cg` {}, a graph with PDL {}.", *of_votes(votes, "132x256"))
says("At 1056 x 256: {}, {}, {}, {}, {}; {}, {}, {}.", *of_votes(votes, "1056x256"))
says("at 132 x 256: {}, {}, {}, {}, {}; {}, {}, {}.", *of_votes(votes_there, "132x256"))

solver, solver_there = (record(f"nvidia-{gpu}/conjugate-gradients", "step_time") for gpu in ("h200", "h100"))


def of_solver(of, **axes):
    return (*(of(one, **axes) for one in ("votes", default, "cg")),
            min(of(one, **axes) for one in ("graph", *graphs_with_pdl)))


says("on a square of 128² {} us by votes, {} by barriers and partial sums, {} with `cg`, {} by the best graph;",
     *of_solver(solver, side=128, type="float"))
says("of 512² floats {}, {}, {}, {}, of 512² doubles {}, {}, {}, {}. The H100's",
     *(value for kind in ("float", "double") for value in of_solver(solver, side=512, type=kind)))
apart = [abs(one / other - 1) for axes in ({"side": 128, "type": "float"}, {"side": 512, "type": "float"},
                                           {"side": 512, "type": "double"})
         for one, other in zip(of_solver(solver_there, **axes), of_solver(solver, **axes))]
says("The H100's, of 713b81e, are within {} % of these", math.ceil(100 * max(apart)))

# Where a dependent kernel lets in the next.
letting_in = {"first": "graph-pdl", "behind the wait": "graph-pdl-late", "graph": "graph", "grid barrier": default}
of_rings = record("nvidia-h200/halo-pdl", "step_time")
of_plates, of_ends = record("nvidia-h200/jacobi", "step_time"), record("nvidia-h200/converging-stencil", "step_time")
plate = {"elements": 1024, "type": "float"}
of_row = {"1056 x 128, ring, a microsecond of work": (of_rings, {"shape": "1056x128", "work": "constant-1000"}),
          "2112 x 128, ring, a microsecond of work": (of_rings, {"shape": "2112x128", "work": "constant-1000"}),
          "132 x 256, Jacobi of 1024² floats": (of_plates, {"shape": "132x256", **plate}),
          "132 x 512, Jacobi of 1024² floats": (of_plates, {"shape": "132x512", **plate}),
          "132 x 512, 2048² floats until converged": (of_ends, {"shape": "132x512", "elements": 2048, "type": "float"})}


def let_in(row, column):
    if column not in letting_in:
        return None
    if column == "grid barrier" and (row[0].startswith("2112") or "converged" in row[0]):
        return None  # it cannot run at once; it has no such barrier
    of, axes = of_row[row[0]]
    return of(letting_in[column], **axes)


table("| us a step, H200 | graph | first |", let_in, digits=3, best=min)
other_card = record("nvidia-h200/jacobi-slow-graphs", "step_time")
says("On one H200 the line of Jacobi at 132 x 512 is {}, {}, {} and {}",
     *(other_card(way, shape="132x512", **plate) for way in ("graph", "graph-pdl", "graph-pdl-late", default)))
states("the other two the same within {} %", "these figures and the table's, rounded up")
counts = logs("nvidia-h100/dependent-launches.txt", r"per SM (\d+) to \d+"), logs("nvidia-h100/dependent-launches.txt", r"to (\d+)$")
says("{} to {} blocks of one step on a multiprocessor", min(counts[0]), max(counts[1]))


def in_program_turns(row, of):
    """The mean steps of both turns of both programs; of: which of the tables that have this row."""
    turns = [logs("nvidia-h200/programs-in-turns.txt", f"^{row}" + 4 * r" +([\d.]+)" + "$", turn)[of] for turn in (1, 2, 3, 4)]
    return (turns[0] + turns[2]) / 2, (turns[1] + turns[3]) / 2


says("`graph-pdl-late` took {} us without and {} with it, `graph-pdl` {} and {}, in turns",
     *in_program_turns("132x256 +1 +graph-pdl-late", 1), *in_program_turns("132x256 +1 +graph-pdl", 1))
says("it gained little or nothing: {} and {}, {} and {}.",
     *in_program_turns("1056x256 +1 +graph-pdl-late", 1), *in_program_turns("1056x256 +1 +graph-pdl", 1))
states("; at {} x {} it gained little", "a shape")
states("(__any_sync(~{}u, (place & number) == ~{}u)", "numbers of the example")
states("a step of the plates above took {} us ([{} x {}]",
       "jacobi.json of 7cb9210: `git show 8fdc305:results/nvidia-h200/jacobi.json`")
by_block, together = in_program_turns("1024 +graph-pdl-late", 0)
late_by_block, late_together = in_program_turns("132x256 +1 +graph-pdl-late", 2)
says("have in common, it took {};", by_block)
says("late kernels at 132 x 256 took {}.", late_by_block)
says("which the tool does: {} and {} in turns", together, late_together)
first_of = [in_program_turns(f"{shape} +1 +graph-pdl", 2) for shape in ("132x256", "264x1024")]
says("in flight, take {} us more for it at 132 x 256 and {} less at 264 x 1024", first_of[0][1] - first_of[0][0],
     first_of[1][0] - first_of[1][1])
exchanged = [in_program_turns(f"132x256 +{n} +graph-pdl", 0) for n in (2, 4)]
says("they take {} less with 2 neighbours and {} with 4", *(before - after for before, after in exchanged))


def late_beside_first(name):
    """Of each situation, by how much kernels that let in behind their wait take more than those that let in first, us."""
    of = record(name, "step_time")
    first = {str(row["axes"]): of.of(row) for row in of.rows("graph-pdl") if "step_time" in row["metrics"]}
    return [of.of(row) - first[str(row["axes"])] for row in of.rows("graph-pdl-late") if "step_time" in row["metrics"]]


late, late_there = (late_beside_first(f"{gpu}/step-costs") + late_beside_first(f"{gpu}/advice")
                    for gpu in ("nvidia-h200", "nvidia-h100"))
says("In {} random situations of an H200", len(late))
states("behind the wait took over {} us less in", "a difference that counts")
says("us less in {}, more in {}; in as many of an H100", sum(one < -0.2 for one in late), sum(one > 0.2 for one in late))
says("documents](../results/nvidia-h100/advice.json)) in {} and {}.", sum(one < -0.2 for one in late_there),
     sum(one > 0.2 for one in late_there))


def deadline(gpu, shape, stores):
    """What a deadline adds to a step in each run, ns."""
    with_one, without = (logs(f"{gpu}/barrier-versions.txt", rf"^step +{shape} {stores}{more} +before.*after +([\d.]+) ")
                         for more in (", deadline", ""))
    return [slow - fast for slow, fast in zip(with_one, without)]


padded = ["132 x  256", "264 x 1024", "1056 x  256"]
idle, busy = ([deadline("nvidia-h200", shape, stores) for shape in padded] for stores in ("idle", "exchange"))
says("**Cost** of the deadline, per step: {} to {} ns at 132 x 256, {} to {} at 264 x 1024, {} to {} at 1056 x 256 without "
     "stores in flight, {} to {} with them, in three runs on an H200", *(edge(runs) for runs in idle for edge in (min, max)),
     min(map(min, busy)), max(map(max, busy)))
says("{}, {} and {} ns idle on an H100", *(deadline("nvidia-h100", shape, "idle")[0] for shape in padded))
states("in steps of {}, or `any`", "of the table's form")
states("(`line_survey.hpp`; some {} ms, on an idle device)", "an order of magnitude, of no record")
