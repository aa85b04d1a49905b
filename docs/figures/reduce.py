"""Where the figures of docs/reduce.md are from; scripts/figures has the words of this text."""

sums = record("nvidia-h200/reduction", "step_time")
over = "step_time_over_cub"
sizes = {f"{number} {unit}": number * factor for unit, factor in (("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30))
         for number in (1, 4, 64)}


def cell(row, column):
    at = {"bytes": sizes[row[0]], "type": "float", "input": "cold", "device": "cuda:0"}
    if column in ("CUB", "read"):
        return min(sums.of(one) for one in sums.rows(**at) if one["method"].startswith(column.lower() + "-"))
    return {"gpusync": lambda: sums("gpusync", **at), "GB/s": lambda: sums("gpusync", "bandwidth", **at),
            "CUB / gpusync": lambda: 1 / sums("gpusync", over, **at)}.get(column, lambda: None)()


table("| float, cold | gpusync |", cell)

# Every cell in which CUB was measured beside.
cells = [(one["metrics"][over], one["axes"]) for name in ("reduction", "reduction-odd", "reduction-passing")
         for one in record(f"nvidia-h200/{name}").rows("gpusync")]
slower = [both for both in cells if both[0]["value"] >= 1]
says("Of {} cells, cold and in the L2 cache, on a stream, in single calls, with n - 1 and 3n/4 + 1 elements, {} is below 1",
     len(cells), len(slower))
says("3n/4 + 1 doubles of {} MiB, cold, where the sum takes {} of CUB's time ({} to {})", slower[0][1]["bytes"] / 2**20,
     slower[0][0]["value"], *slower[0][0]["interval"])
largest = {"bytes": 2**32, "type": "float", "input": "cold"}
says("At 4 GiB the sum runs at {} of the fastest kernel that only reads", 1 / sums("gpusync", "step_time_over_read", **largest))

forms = record("nvidia-h200/reduction-forms", "step_time")
says("slower than `cub-int` at 1 MiB ({} of its time) and 4 MiB ({};",
     *(forms("gpusync-independent", bytes=size) / forms("cub-int", bytes=size) for size in (2**20, 2**22)))

h100 = record("nvidia-h100/reduction", over)
of_h100 = h100.values("gpusync")
says("a sum with the default options takes {} to {} of CUB's time in {} cells, and {} of the fastest reading kernel's at 4 GiB",
     min(of_h100), max(of_h100), len(of_h100), h100("gpusync", "step_time_over_read", **largest))
