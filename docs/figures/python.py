"""Where figures of docs/python.md are from; scripts/figures has the words of this text."""

ends = {"CuPy": ("cupy", "cg"), "PyTorch": ("torch", "cg"), "Triton (its own: a loop of atomics)": ("triton", "atomic-loop"),
        "numba": ("numba", "cg"), "JAX (has none)": ("jax", None)}
devices = {"H200": record("nvidia-h200/python", "step_time"), "H100": record("nvidia-h100/python", "step_time")}


def cell(row, column):
    if column not in devices:
        return None
    front_end, own = ends[row[0]]
    return [devices[column](method, front_end=front_end, stores=0)
            for method in ("gpusync", "gpusync-unplaced", own) if method]


states("({} placed and {} not in CuPy, PyTorch and Triton, {} and {} in numba)", "what was aimed at")
table("| | H200 | H100 |", cell)
states("numba {} fails with numpy {} at its first kernel", "versions")
aims = {"cupy": (0.82, 0.87), "torch": (0.82, 0.87), "triton": (0.82, 0.87), "numba": (0.90, 0.96)}
missed = [time / aim for end, both in aims.items() for aim, method in zip(both, ("gpusync", "gpusync-unplaced"))
          for time in [devices["H100"](method, front_end=end, stores=0)] if time > aim]
says("on this H100 {} miss it by {} to {} %", len(missed), 100 * min(missed) - 100, 100 * max(missed) - 100)
