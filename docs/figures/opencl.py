"""Where figures of docs/opencl.md are from; scripts/figures has the words of this text."""

memory = record("nvidia-h200/reproduce", "step_time")
times = {row["method"]: memory.of(row) for row in memory.rows(stores=0) if row["experiment"] == "barrier-memory"}
kinds = {"lock-based": "lock-based", "tree of 2 levels": "tree-2", "lock-free (flag array)": "lock-free"}


def cell(row, column):
    if column == "barrier":
        return None
    return times[kinds[row[0]] + "-acquire-release" + ("-in-host-memory" if column.startswith("host") else "")]


table("| barrier | device's memory | host's memory |", cell)
