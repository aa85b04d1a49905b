"""Figures of docs/zhang.md: when fewer threads are faster."""

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
