"""Where the figures of docs/zhang.md are from: what the files in docs/figures/zhang/ share; scripts/figures has the words."""

default = "placed-counters-acquire-release"
barriers = ("cg", default)
devices = {"H200": "nvidia-h200", "H100": "nvidia-h100"}
powers = {"KiB": 10, "MiB": 20, "GiB": 30}


def of_both(name, metric=None):
    """The same document of the H200 and of the H100."""
    return {device: record(f"{folder}/{name}", metric) for device, folder in devices.items()}


def paper(of, method, gpu, metric, **axes):
    """What the paper prints, which the records hold beside the measured rows."""
    return of.published(method, metric, device=f"published: Tesla {gpu}", **axes)


def interval(row, metric):
    return row["metrics"][metric]["interval"]


def sized(text):
    """4 MiB in bytes."""
    number, unit = text.split()
    return int(number) << powers[unit]


def unless_same(cell, of):
    """The H100's values for a cell, or the text of one that says that they are the H200's, if they are to three digits."""
    if cell == "the same":
        shown = [[f"{value:.3g}" for value in of(device)] for device in devices]
        return cell if shown[0] == shown[1] else "not the same"
    return of("H100")


launches = of_both("launch-overhead", "launch_overhead")
clock = {"measure": "fusion", "unit": "clock"}


def overhead(device, way, metric=None, unit_us=5):
    return launches[device](way, metric, unit_us=unit_us, **clock)
