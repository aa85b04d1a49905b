"""Where the figures of docs/feng-xiao.md are from; scripts/figures has the words of this text."""

default = "placed-counters-acquire-release"
programs = {name: record(f"nvidia-h200/{name}", "run_time") for name in ("smith-waterman", "bitonic-sort")}
align, sort = programs.values()
gain = "improvement_over_relaunch"


def measured(program, method, metric=None, blocks=30):
    """Of a barrier that orders nothing, too, whose results are wrong, as the document says beside each."""
    rows = [row for row in program.all if row["method"] == method and row["axes"].get("blocks") == blocks and row["metrics"]]
    return program.of(rows[0], metric)


states("132 multiprocessors, CUDA {})", "a version")

# Over a launch for each step.
for name, program in (("Smith-Waterman", align), ("bitonic sort", sort)):
    for kind in ("lock-based", "lock-free"):
        says(f"| {name}, {kind}, no fence | +{{}} % | +{{}} % | wrong |", program(f"published-{kind}-none", gain),
             measured(program, f"{kind}-none", gain))
    fenced = [program(f"{kind}-fence", gain, blocks=30) for kind in ("lock-based", "lock-free")]
    signs = ["+" if one > 0 else "-" for one in fenced]
    says(f"| {name}, with fences | -{{}} % (which, is not said) | lock-based {signs[0]}{{}} %, lock-free {signs[1]}{{}} % | "
         "right |", -program("published-grid-barrier-fence", gain), *map(abs, fenced))
for text, program in (("graph with dependent launch", align), ("bitonic sort, the same", sort)):
    says(text + " | | +{}, +{}, +{}, +{} % | right |", *(program(method, gain, blocks=30)
                                                        for method in (default, "cg", "graph", "graph-pdl")))

# With how many blocks, by today's rule (src/models/crossing.cpp): the records have the ranges of an earlier one.
def faster(program, method):
    """The range of blocks with which a method's quartiles lie below relaunching's, its ends interpolated; () of several."""
    ours, theirs = ({row["axes"]["blocks"]: row["metrics"]["run_time"] for row in program.rows(name)
                     if "run_time" in row["metrics"]} for name in (method, "relaunch"))
    gaps = [(n, theirs[n]["value"] - ours[n]["value"], ours[n]["q3"] < theirs[n]["q1"]) for n in sorted(ours)
            if ours[n]["q3"] < theirs[n]["q1"] or ours[n]["q1"] > theirs[n]["q3"]]
    below = [i for i, gap in enumerate(gaps) if gap[2]]

    def end(inside, outside):
        if outside not in range(len(gaps)):
            return gaps[inside][0]
        (n, gap, _), (other, other_gap, _) = gaps[inside], gaps[outside]
        return n + (other - n) * gap / (gap - other_gap)

    first, last = below[0], below[-1]
    return (end(first, first - 1), end(last, last + 1)) if last - first + 1 == len(below) else ()


for name, program in (("Smith-Waterman", align), ("bitonic sort", sort)):
    for kind in ("lock-based", "lock-free"):
        unit = " blocks" if (name, kind) == ("Smith-Waterman", "lock-based") else ""
        says(f"| {name}, {kind} with fence | below {{}}{unit} | {{}} to {{}} |",
             program(f"published-{kind}-fence", "faster_until"), *faster(program, f"{kind}-fence"))
says("Smith-Waterman {} to {}, bitonic sort {} to {} |", *faster(align, default), *faster(sort, default))

# What one call costs.
parts = record("nvidia-h200/cost-decomposition", "part_time")
line = {"fit": "part_time over blocks"}


def fit(part, metric="intercept"):
    return parts(part, metric, stores=0, **line)


def then(part, metric="intercept"):
    return parts(f"published-{part}", metric, **line)


ts, ta, tc, tf = "ts-block-barriers", "ta-atomic-add", "tc-check", "tf-fence"
slope = "time_per_block"
says("ts | {} (one) | {} (two) |", then(ts), fit(ts))
says("ta | {} n | {} + {} n |", then(ta, slope), fit(ta), fit(ta, slope))
says("tc | {} | {} + {} n |", then(tc), fit(tc), fit(tc, slope))
says("tf | {} + {} n | {} - {} n |", then(tf), then(tf, slope), fit(tf), -fit(tf, slope))


def variant(method):
    """With no stores, of 30 blocks; one without fence is wrong, as in 2010."""
    return next(parts.of(row, "variant_time") for row in parts.all if row["method"] == method and
                row["axes"].get("blocks") == 30 and row["axes"].get("stores") == 0 and "variant_time" in row["metrics"])


barriers = [variant(f"lock-based-{order}") - variant("no-barrier") for order in ("none", "fence")]
says("without and with fence | {}, {} (added up) | {}, {} (measured, less the work)",
     *(parts(f"published-lock-based-{order}", "synchronization_time", blocks=30) for order in ("none", "fence")), *barriers)
for text, part in (("to the blocks | no: {} to {} us for up to 132 blocks, on no line (R² {})", ta),
                   ("so does the fence | no: {} to {} us, on no line (R² {})", tf)):
    each = [parts.of(row) for row in parts.rows(part, stores=0, time_of="parts") if "blocks" in row["axes"]]
    says(text, min(each), max(each), fit(part, "r_squared"))
says("next to nothing | yes: {} us of {} to {} |", fit(ts), *barriers)
says("ts = {}, ta = {} n, tc = {}, tf = {} n + {}.",
     *(10 * one for one in (then(ts), then(ta, slope), then(tc), then(tf, slope), then(tf))))

# The claims.
says("Smith-Waterman {} ms (the default barrier) against {} ms; the sort from {} blocks on. But a graph of the same kernels "
     "takes {} ms, {} with dependent launch", align(default, blocks=30), align("relaunch", blocks=30),
     faster(sort, default)[0], *(align(method, blocks=30) for method in ("graph", "graph-pdl")))


def times(method, blocks=30, over="lock-based-none"):
    return [measured(program, method, blocks=blocks) / measured(program, over, blocks=blocks) for program in (align, sort)]


says("no: {} times the time for Smith-Waterman, {} for the sort; at 264 blocks {} and {} |", *times("lock-free-none"),
     *times("lock-free-none", 264))
says("it makes lock-based Smith-Waterman {} times as long, the sort {}; release and acquire {} and {} |",
     *times("lock-based-fence"), *times("lock-based-acquire-release"))

# Larger problems.
genome = record("nvidia-h200/genome", "run_time")
cells = [record(f"nvidia-h200/{name}", "run_time") for name in ("million", "million-1024")]
kinds = {"graph": "graph", "graph-pdl": "graph", "relaunch": "relaunch"}  # the others are persistent kernels


def best(document, **axes):
    """The row with the least time of a persistent kernel, of a graph, and of a relaunch."""
    rows = [row for row in document.rows(**axes) if row["metrics"].get("run_time")]
    return [min((row for row in rows if kinds.get(row["method"], "kernel") == kind), key=document.of)
            for kind in ("kernel", "graph", "relaunch")]


persistent, graph, relaunch = best(genome)
says("score {}) | {} ms ({} x 10^9 cells/s; registers, 132 x 512, the default barrier) | {} ms (memory, dependent launch) | "
     "{} ms |", genome.of(persistent, "score"), genome.of(persistent), genome.of(persistent, "cell_updates"), genome.of(graph),
     genome.of(relaunch))
for text, document, form in (("in registers", cells[0], "registers"), ("in memory, 132 x 1,024", cells[1], "memory")):
    says(f"| 2^20 floats, {text} | {{}} ms | {{}} ms | {{}} ms |", *map(document.of, best(document, form=form)))

# The pipeline.
pipeline = record("nvidia-h200/pipeline", "run_time")
says("of E. coli in {} ms, {} billion cell updates", pipeline("channels"), pipeline("channels", "cell_updates"))
says("the best form with a grid barrier took {} ms", genome.of(persistent))
says("200,000 x 200,000 in {} ms", record("nvidia-h200/pipeline-long", "run_time")(
    "channels", query="generated-200000-mutated"))
