"""Where figures of docs/task-graphs.md are from; scripts/figures has the words of this text."""

tasks = record("nvidia-h200/task-graph", "step_time")
barrier = "placed-counters-acquire-release"
methods = {"counters": "task-counters", "events": "task-events", "grid barrier a level": barrier, "graph a level": "graph",
           "with PDL": "graph-pdl"}


def cell(row, column):
    if column == "tasks take":
        return [STATED] * 2 if row[1] != "nothing" else None  # asked for on the command line
    if column not in methods:
        return [tasks.rows("graph", graph=row[0].split(" ")[0].strip(","))[0]["axes"][
            "levels" if "levels" in row[0] else "tasks"]]
    where = {"graph": row[0].split(" ")[0].strip(","), "work": "none" if row[1] == "nothing" else "random-500"}
    return [tasks(methods[column], **where), tasks(methods[column], "edge_overhead", **where)]


table("| graph | tasks take | counters |", cell)
states("Tasks of {} to {} us are of uniformly drawn length", "asked for on the command line")
states("(`work=random-500`), some {} us each", "the mean of what is asked for, 500 rounds of the work")
one = {"graph": "wavefront", "work": "random-500"}
says("take {} of the time of the barrier in a wavefront", tasks("task-counters", f"step_time_over_{barrier}", **one))
