"""Figures of docs/zhang.md: sums of a device, by size."""

from math import ceil

# Reduction of a device.
kinds = of_both("reduction-forms", "bandwidth")
whole = of_both("reduction", "step_time")
large = {"bytes": 4 << 30, "type": "float", "input": "cold"}
reads = ("read-128x4", "read-256x4", "read-512x8", "read-dealt", "read-claimed")
ways_to_sum = {"implicit": ("implicit",), "grid barrier": ("grid-cg", "grid"), "CUB": ("cub-int",),
               "gpusync::reduce": ("gpusync",)}
printed_sums = {"implicit": "implicit", "grid barrier": "grid", "CUB": "cub", "CUDA sample": "cuda-sample",
                "theory; now the best kernel that only reads": "theory"}


def read_rows(device, **axes):
    return [row for read in reads for row in whole[device].rows(read, **axes)]


def best_read(device, **axes):
    return max(whole[device].of(row, "bandwidth") for row in read_rows(device, **axes))


def rate_row(row, column):
    name = row[0]
    if "printed" in column:
        return paper(kinds["H200"], printed_sums[name], column[:4], "bandwidth") if name in printed_sums else None
    device = column[:4]
    if device not in devices or name == "CUDA sample":
        return None
    if name.startswith("theory"):
        return best_read(device, **large)
    return [kinds[device](way, **large) for way in ways_to_sum[name]]


table("| GB/s | V100, printed |", rate_row)
mebi = 1 << 20
says("two kernels beat one with a barrier (at 1 MiB {} us, {} with `cg`)", *(
    kinds["H200"](way, "step_time", bytes=mebi) for way in ("implicit", "grid-cg")))
gibi = {"metric": "step_time", "bytes": 1 << 30}
faster = [100 * (kinds[device]("implicit", **gibi) / kinds[device]("grid-cg", **gibi) - 1) for device in devices]
says("a kernel with `cg` is the faster, by {} % (H100 {} %)", *faster)
two_kernels = [kinds["H200"](way, "step_time_over_cub", bytes=16 * mebi) for way in ("implicit", "implicit-pdl")]
says("at 16 MiB two kernels take {} to {} of its time", min(two_kernels), max(two_kernels))


# By size.
odds = of_both("reduction-odd", "step_time_over_cub")
passings = of_both("reduction-passing", "step_time_over_cub")
odd, passed = odds["H200"], passings["H200"]


def sized_row(device):
    def cell(row, column):
        size, of = sized(row[0]), whole[device]
        axes = {"bytes": size, "type": "float", "count": "n", "input": "cold"}
        if column == "gpusync, us":
            return of("gpusync", **axes)
        if column == "CUB":
            return min(of(cub, **axes) for cub in ("cub-int", "cub-size"))
        if column == "read":
            return min(of.of(row) for row in read_rows(device, **axes))
        if column in ("cold", "cold, double", "L2"):
            axes["type"] = "double" if "double" in column else "float"
            axes["input"] = "l2" if column == "L2" else "cold"
            return of("gpusync", "step_time_over_cub", **axes) if of.rows("gpusync", **axes) else ""
        if column in ("stream", "single"):
            return passed("gpusync", passing=column, **axes)
        return max(odd.values("gpusync", bytes=size, input="cold")) if column.startswith("n - 1") else None
    return cell


table("| | gpusync, us | CUB |", sized_row("H200"), digits=3)
table("| H100 | gpusync, us | CUB |", sized_row("H100"), digits=3)
of_counts = {"n": "n", "n-1": "n - 1", "3n/4+1": "3n/4 + 1"}


def text_of(size):
    return next(f"{size >> power} {unit}" for unit, power in reversed(powers.items()) if size >> power)


def over_cub(*ofs, **axes):
    """Rows of our sums in some documents."""
    return [row for of in ofs for row in of.rows("gpusync", **axes)]


def ratio(row):
    return row["metrics"]["step_time_over_cub"]["value"]


def range_row(row, column):
    """The least and the greatest ratio of one type, and at which size the greatest is."""
    if column not in ("float", "double"):
        return None
    what, _, where = row[0].removeprefix("H100: ").rpartition(", ")
    device = "H100" if row[0].startswith("H100") else "H200"
    of = (passings if where in ("stream", "single") else odds if what != "n" else whole)[device]
    axes = {"passing": where} if of is passings[device] else {"input": where.lower()}
    rows = [one for one in over_cub(of, type=column, **axes) if (one["axes"]["count"] == "n") == (what == "n")]
    worst = max(rows, key=ratio)
    size, count = text_of(worst["axes"]["bytes"]), worst["axes"]["count"]
    place = size if count == "n" else f"{size}, {of_counts[count]}"
    if f"({place})" not in row[1 if column == "float" else 2]:
        return f"{ratio(min(rows, key=ratio)):.3f} to {ratio(worst):.3f} ({place})"
    in_count = {"n": [], "n-1": [STATED], "3n/4+1": [STATED, STATED]}  # how many numbers the count's text has
    return [ratio(min(rows, key=ratio)), ratio(worst), int(size.split()[0]), *in_count[count]]


table("| our time over CUB's, least to greatest |", range_row)
cells = over_cub(whole["H200"], odd, passed)
[slower] = [row for row in cells if ratio(row) > 1]
says("**One of {} cells of the H200 is slower than CUB**: 3n/4 + 1 doubles of 2 MiB, cold, as nodes of a graph, {} us where "
     "`cub-size` takes {}: {} of its time ({} to {})", len(cells), odd.of(slower, "step_time"),
     odd("cub-size", "step_time", **slower["axes"]), ratio(slower), *interval(slower, "step_time_over_cub"))
others = max(ratio(row) for row in cells if row is not slower)
unsure = [row for row in cells if row is not slower and interval(row, "step_time_over_cub")[1] > 1]
small = [row for row in unsure if row["axes"]["bytes"] <= 8 << 10]
[large_row] = [row for row in unsure if row["axes"]["bytes"] == 1 << 30]
says("No other ratio is above {}. {} other intervals reach above 1: {} of at most 8 KiB on a stream or single, and 1 GiB of "
     "floats, n - 1, single ({} to {})", ceil(1000 * others) / 1000, len(unsure), len(small),
     *interval(large_row, "step_time_over_cub"))
h100_cells = over_cub(whole["H100"], odds["H100"], passings["H100"])
h100_unsure = [row for row in h100_cells if interval(row, "step_time_over_cub")[1] > 1]
says("On the H100 none of {} is above {}; the intervals of {} reach above 1", len(h100_cells),
     ceil(1000 * max(map(ratio, h100_cells))) / 1000, len(h100_unsure))


def of_ceiling(device, kind):
    return [whole[device]("gpusync", "bandwidth", type=kind, bytes=size * mebi, input="cold") /
            best_read(device, **{**large, "type": kind}) for size in (256, 512, 1024, 2048, 4096)]


says("Of the ceiling, {} GB/s (`read-claimed` at 4 GiB), floats get {} at 256 MiB, {} at 512 MiB, {} at 1 GiB, {} at 2 GiB "
     "and {} at 4 GiB; doubles, of {}, {}, {}, {}, {} and {}. On the H100, of {} (`read-512x8`), floats get {}, {}, {}, {} and "
     "{}.",
     best_read("H200", **large), *of_ceiling("H200", "float"), best_read("H200", **{**large, "type": "double"}),
     *of_ceiling("H200", "double"), best_read("H100", **large), *of_ceiling("H100", "float"))
sixteen = of_both("reduction-16gib", "step_time")
metrics = ("step_time", "bandwidth", "step_time_over_cub")
says("{} us, {} GB/s, {} of the time of `cub-size`, and that of the", *(
    sixteen["H200"]("gpusync", metric) for metric in metrics))
says("{} us, {} GB/s, {}, and {} times that kernel's", *(
    sixteen["H100"]("gpusync", metric) for metric in (*metrics, "step_time_over_read")))
independent = {device: [kinds[device]("gpusync-independent", "step_time_over_cub", bytes=size * mebi) for size in (1, 4, 64)]
               for device in devices}
says("is slower than `cub-int` at 1 MiB ({}) and 4 MiB ({}), on the H100 at 1 MiB ({}), 4 MiB ({}) and 64 MiB ({}), and not",
     *independent["H200"][:2], *independent["H100"])
speeds = [1 / whole["H200"]("gpusync", "step_time_over_read", bytes=size << 10, type="float", input="cold")
          for size in (512, 1024, 2048)]
says("Weakest against reading: 512 KiB to 2 MiB, {} to {} of its speed", min(speeds), max(speeds))
