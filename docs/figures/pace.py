"""Where the figures of docs/pace.md are from; scripts/figures has the words of this text."""

over = "time_over_no-barrier"
panels = record("nvidia-h200/panels", "time")
ways = {"none": "no-barrier", "cg": "cg", "our barrier": "placed-counters-acquire-release", "launch a panel": "launch-a-panel",
        "launch order": "launch-order", "window 1": "window-1", "2": "window-2", "4": "window-4", "8": "window-8"}
states("launch order | window 1 | {} | {} | {} |", "a column's name: a window's lead")
table("| ms, an H200, panels of 8 MiB", lambda row, column: panels(ways[column], op=row[0]) if column in ways else None,
      rows=("gather", "scatter", "probe"))
says("a window of two panels takes {} of the time of none, {} of a `cg` barrier in the same place, {} of a launch for each panel",
     *(panels("window-2", metric, op="gather") for metric in (over, "time_over_cg", "time_over_launch-a-panel")))
read = record("nvidia-h200/pace-counters", "dram_read")
says("It reads {} GB from memory, the table once; without it {} GB (",
     *(read(method, workload="panels", op="gather") / 1e9 for method in ("window-2", "no-barrier")))


def of_windows(name, **axes):
    """What windows of any lead take of the time of none: the least and the most."""
    found = [one.of(row) for one in [record(name, over)] for row in one.rows(**axes) if "window" in row["method"]]
    return min(found), max(found)


says("takes {} to {} of the time ([`panels-oversubscribed.json`]", *of_windows("nvidia-h200/panels-oversubscribed"))
says("gather takes {} to {} of the time of none with a window, scatter {} to {};",
     *of_windows("two-cores/panels", op="gather"), *of_windows("two-cores/panels", op="scatter"))

# Where windows must not be used.
leads = ("window-1", "window-2", "window-4")
streams = record("nvidia-h200/panels-streams", over)
computing = record("nvidia-h200/panels-work", over)
rows = {"a stream in order, all from the same place, panels of 2 MiB": ("same", 2**21), "the same, panels of 8 MiB": ("same", 2**23),
        "a stream, each from a panel of its own, 2 MiB": ("spread", 2**21), "the same, 8 MiB": ("spread", 2**23)}
works = {"random reads, 0 multiply-adds on each word": 0, "16": 16, "64": 64, "256": 256}
speeds = {"blocks alike": "even", "of unlike speed": "blocks"}


def leads_of(row, column):
    if column not in speeds:
        return STATED if row[0].isdigit() else None
    if row[0] in works:
        return [computing(lead, work=works[row[0]], imbalance=speeds[column]) for lead in leads]
    return [streams(lead, start=rows[row[0]][0], panel=rows[row[0]][1], imbalance=speeds[column]) for lead in leads]


table("| | blocks alike |", leads_of, rows=[*rows, *works])


def gains(start, imbalance):
    """Percent that each of these windows gains, but for the one that the text says loses it again."""
    return [100 - 100 * streams(lead, start=start, imbalance=imbalance, panel=panel) for lead in leads
            for panel in (2**21, 2**23) if start == "spread" or (lead, panel) != ("window-4", 2**23)]


says("a window costs {} to {} % where blocks are alike. Where their speeds differ it gains up to {} %.",
     -max(gains("spread", "even")), -min(gains("spread", "even")), max(gains("spread", "blocks")))
says("gains {} to {} % here, {} to {} % with blocks of unlike speed", *(edge(gains("same", imbalance)) for imbalance in (
    "even", "blocks") for edge in (min, max)))

# The automatic choice.
for gpu, text, sums in (
        ("h200", "of {} loops {} gain 1 % or more by pacing, and all {} are found; of {} gains that are the compiler's none is "
                 "taken for a barrier's; the worst choice takes {} of the time without",
         ("loops", "real_gains", "real_gains_found", "compilers_gains", "worst_over_base")),
        ("h100", "{} of {}, {} of {}, {}.",
         ("real_gains_found", "real_gains", "compilers_gains_taken", "compilers_gains", "worst_over_base"))):
    choice = record(f"nvidia-{gpu}/pace-choice")
    says(text, *(choice("all-loops", one) for one in sums))

rule = "what the tool is set to"
states("or after the storage's limit ({} us unless you say otherwise)", "the default")
states("A barrier that looks {} % slower than the fastest without is left out", rule)
states("if a gain of {} % is not excluded: the interval of the gain lies above {} and reaches {} %. All barriers together are "
       "wrong in at most {} % of cases", rule)
states("what it calls a gain is at least {} % by itself", rule)
states("whether one gains {} % or more for certain", rule)
states("`slower_loops` (by more than {} %)", rule)
states("of 66 loops 34 gain {} % or more", rule)
states("a loop's memory, of up to {} GB", "a size that the table of loops asks for")
states("More than {} for a window of gather or scatter is a failure", rule)
states("It is *yes* for a rest of at least {} % whose interval", rule)
states("it finds a gain of {} % in noise of {} %", "what the test makes up")
