"""Figures of docs/zhang.md: relaxations."""

# Stencils.
stencils = record("nvidia-h200/stencil-on-chip", "step_time")
on_chip = {"cg, on chip": "cg-on-chip", "default, on chip": f"{default}-on-chip", "split": f"{default}-on-chip-split"}
lock = "lock-based-acquire-release"
persistent = ["cg", default, lock, *on_chip.values()]
graphs = ("graph", "graph-pdl")
elements = {"102": 1024, "256": 4096}  # along a cube's edge, and points as many as in a plate this wide
small_plate, large_plate = "plate, 1024 x 1024 doubles", "plate, 4096 x 4096 doubles"
small_cube, large_cube = "cube, 102 x 102 x 102 doubles", "cube, 256 x 256 x 256 doubles"


def best_step(name, *methods):
    """The least time of some methods, each at its own best shape, or None if none fits."""
    size = name.split()[-2]
    axes = {"dimensions": 2 if name.startswith("plate") else 3, "elements": elements.get(size, size)}
    return min((stencils.of(row) for method in methods for row in stencils.rows(method, **axes)), default=None)


def over_graphs(name, *methods):
    return best_step(name, *methods) / best_step(name, *graphs)


def stencil_row(row, column):
    if column == "over the better graph":
        return over_graphs(row[0], *persistent)
    if column.startswith("H200"):
        return None
    value = best_step(row[0], default if column == "default" else on_chip.get(column, column))
    return "does not fit" if value is None else value


table("| H200, us a step |", stencil_row)
says("{} of the better graph's time for the plate, {} for the cube", over_graphs(small_plate, *persistent),
     over_graphs(small_cube, *persistent))
says("{} for the large plate, where memory decides, and {} for the large cube (`lock-based-acquire-release`, {} us)",
     over_graphs(large_plate, *persistent), over_graphs(large_cube, lock), best_step(large_cube, lock))
says("it takes {} times that of a plate with as many points",
     best_step(small_cube, *graphs) / best_step(small_plate, *graphs))
above = [100 * (best_step(cube, other) / best_step(cube, lock) - 1)
         for cube in (small_cube, large_cube) for other in barriers]
says("`lock-based-acquire-release` takes {} and {} us where `cg` and the default take {} to {} % more",
     best_step(small_cube, lock), best_step(large_cube, lock), min(above), max(above))
says("The split form takes {} times as long as the whole one on the plate, and {} on the cube", *(
    best_step(name, on_chip["split"]) / best_step(name, on_chip["default, on chip"]) for name in (small_plate, small_cube)))
