"""Where the figures of docs/lo.md are from; scripts/figures has the words of this text."""

cards = ("GTX 295", "GTX 480", "GTX 690")
names = ("memory-test", "memory-test-large", "vector-add", "scalar-product", "sparse-product", "column-walk", "transpose")
loops = {name: record(f"nvidia-h200/{name}", "rho") for name in names}


def gain(loop, method, **axes):
    """What a form gains, in percent of the fastest that waits for nothing."""
    return loops[loop](method, part="time", **axes)


def loss(*what, **axes):
    return -gain(*what, **axes)


def with_interval(loop, method, **axes):
    rho = loops[loop].row(method, part="time", **axes)["metrics"]["rho"]
    return rho["value"], *rho["interval"]


def then(loop, method, card, metric="rho_none", **axes):
    """What the paper prints of a card; the document has its rows."""
    return loops[loop].published(method, metric, device=f"published: GeForce {card}", **axes)


def then_gains(loop, method, **axes):
    return [then(loop, method, card, **axes) for card in cards]


# The paper, and what was asked for.
states("480 and 690, CUDA {})", "a version")
says("made kernels up to {} % faster", max(then_gains("vector-add", "block-1")))
states("as in the paper's section {}: `bar.arrive`, `__threadfence()`, {} cycles", "a section, and what the form waits")
states("replayed up to {} times in a graph", "a limit of the program")
states("lengths vary by {} %", "asked for")
states("whether it fits ({} of the variance)", "a threshold of the program")
states("three conditions (section {})", "a section")
states("Kernel Align of MUMmerGPU {} (", "a version")
states("-l min-match` {}, of the forward strand", "a version")
states("| of letters and files | here | mummer {} |", "a version")

# Then and now: a row of the table each.
says("30 x 512 (table 1) | +{} / +{} / +{} | -{} | none: `warps8-128` -{} |", *then_gains("memory-test", "block-1024"),
     *(loss("memory-test", method, shape="30x512") for method in ("block-1024", "warps8-128")))
says("30 x 520 (figure 5) | | -{}, -{} | -{}, -{} |", *(loss("memory-test", method, shape=shape) for method in
                                                     ("block-1024", "warps8-128") for shape in ("30x516", "30x520")))
says("neighbours share sectors | | +{} | `warps8-128` **+{}** [{}, {}] |", gain("memory-test", "block-1024", shape="132x516"),
     *with_interval("memory-test", "warps8-128", shape="132x516"))
for text, shape, best in (("264 x 512, four times the cells | | +{} | `block-32`", "264x512", "block-32"),
                          ("528 x 512, the same | | +{} | `warps8-8`", "528x512", "warps8-8")):
    says(text + " **+{}** [{}, {}] |", gain("memory-test-large", "block-1024", shape=shape),
         *with_interval("memory-test-large", best, shape=shape))

figure_6 = {"shape": "256x256", "elements": 2**26}
says("2^26 (figure 6) | +{} / +{} / +{} | **-{}** | none: `lead4-16` -{} |", *then_gains("vector-add", "block-1"),
     *(loss("vector-add", method, **figure_6) for method in ("block-1", "lead4-16")))
forms = [loops["vector-add"].of(row) for row in loops["vector-add"].rows(part="time")
         if row["method"].startswith(("block", "warps", "lead")) and "rho" in row["metrics"]]
everywhere = loops["vector-add"].values("block-1", part="time")
says("three shapes | 2 to 22 | -{} to -{} | none above +{} |", -max(everywhere), -min(everywhere), max(forms))

pairs = {"length": 32768, "place": "set"}
for text, kind in (("of one length (figure 7)", "regular"), ("lengths vary (figure 8)", "irregular")):
    says(text + " | +{} / +{} / +{} | -{} | none at", *then_gains("scalar-product", "block-1", kind=kind),
         loss("scalar-product", "block-1", shape="128x256", kind=kind, **pairs))
says("| the same, 1056 x 256 | | **+{}** [{}, {}] | that |",
     *with_interval("scalar-product", "block-1", shape="1056x256", kind="irregular", **pairs))
says("banded, 1056 x 256 | | +{} | every 8: **+{}**; `warps8-8` +{} |",
     *(gain("sparse-product", method, shape="1056x256", row="warp", band=4096)
       for method in ("block-1", "block-8", "warps8-8")))
walk = {"shape": "264x1024", "l1": "large"}
says("| column walk, 264 x 1024 | | **+{}** | `warps8-16` +{} |", *(gain("column-walk", method, **walk)
                                                                    for method in ("block-1", "warps8-16")))
says("at its smallest | | **+{}** |", gain("column-walk", "block-1", shape="264x1024", l1="small"))
walk["shape"] = "1056x256"
says("| the same, 1056 x 256 | | -{} | every 16: +{} |", loss("column-walk", "block-1", **walk),
     gain("column-walk", "block-16", **walk))
says("1024 blocks | | +{}; **+{}** | `lead1-4` +{}; that |", *(gain("transpose", "block-1", shape=shape)
                                                              for shape in ("8192x256", "1024x256")),
     gain("transpose", "lead1-4", shape="8192x256"))

# What it comes to.
says("yet gains {} and not {} %", *(gain("sparse-product", method, shape="1056x256", row="warp", band=4096)
                                   for method in ("warps8-8", "block-8")))
says("`lead4-4` gains {} % on everything else",
     gain("scalar-product", "lead4-4", shape="128x256", place="element", kind="regular", length=32768))


def clocks(loop, metric, **axes):
    """Without the barrier and with it."""
    return [loops[loop](method, metric, part="clocks", **axes) for method in ("none-1", "block-1")]


says("256 x 256 memory {} -> {}, barrier {} -> {}; 1056 x 256 {} -> {} and {} -> {}; 264 x 1024 {} -> {} and {} -> {}.",
     *(value for shape in ("256x256", "1056x256", "264x1024") for metric in ("memory_per_visit", "barrier_per_visit")
       for value in clocks("vector-add", metric, shape=shape, elements=2**28)))
table_4 = {"shape": "1056x256", "kind": "irregular", **pairs}
says("loop {} -> {} thousand cycles, tree {} -> **{}**",
     *(value / 1000 for metric in ("accumulation", "tree") for value in clocks("scalar-product", metric, **table_4)))

counters = record("nvidia-h200/pace-counters", "dram_read")
columns = [counters.row(method, workload="column-walk", shape="264x1024", l1="small")
           for method in ("block-1", "block-16", "block-64", "block-256", "none")]
five = ", ".join(["{}"] * 5)
says(f"hits in L1 {five} %; read from memory {five} GB; {five} ms", *(100 * counters.of(row, "l1_hits") for row in columns),
     *(counters.of(row) / 1e9 for row in columns), *(counters.of(row, "time") / 1000 for row in columns))
says("with and without ({} GB, no hits)", counters("block-32", workload="memory-test") / 1e9)
says("makes the memory itself faster, {} to {} TB/s",
     *(loops["memory-test-large"](method, "bandwidth", shape="264x512") / 1000 for method in ("none", "block-32")))
says("The transpose writes and reads {} GB instead of {}",
     *(sum(counters(method, metric, workload="transpose") for metric in ("dram_read", "dram_write")) / 1e9
       for method in ("block-1", "none")))

# The model.
signs = []
for loop in ("vector-add", "scalar-product", "transpose", "column-walk", "sparse-product", "memory-test"):
    right = loops[loop].values(metric="sign_right")
    signs += [sum(right), len(right)]
says("right in {} of {} sums of vectors, {} of {} scalar products, {} of {} transposes, {} of {} column walks, {} of {} "
     "sparse products, {} of {} memory tests", *signs)
model = record("nvidia-h200/pace-model", "r_squared")
says("equation 3 {} and {}, with two levels of cache {} and {}; equation 4 {} and {}, a random walk {} and {}.",
     *(model(form, l1=l1) for form in ("equation-3", "two-levels", "equation-4", "random-walk") for l1 in ("large", "small")))


def ratio(loop, card, metrics, costs=(), **axes):
    """The reduction that the printed clocks give, in percent."""
    without, paced = (sum(then(loop, method, card, metric, **axes) for metric in wanted)
                      for method, wanted in (("none-1", metrics), ("block-1", (*metrics, *costs))))
    return 100 * (without - paced) / without


kinds = ("regular", "irregular")
says("These give {}, {} and {} % for table 3 (printed: {}, {}, {}), and {}, {}, {}, {}, {} and {} % for table 4 "
     "({}, {}, {}, {}, {}, {})",
     *(ratio("vector-add", card, ["memory_per_visit"], ["barrier_per_visit"]) for card in cards),
     *(then("vector-add", "block-1", card, "predicted_rho") for card in cards),
     *(ratio("scalar-product", card, ["accumulation", "tree"], kind=kind) for kind in kinds for card in cards),
     *(then("scalar-product", "block-1", card, "predicted_rho", kind=kind) for kind in kinds for card in cards))

there = record("nvidia-h100/memory-test-large", "rho")
best_there = there.row("lead1-128", part="time", shape="264x512")["metrics"]["rho"]
says("`lead1-128` +{} [{}, {}], `block-32` +{} (", best_there["value"], *best_there["interval"],
     there("block-32", part="time", shape="264x512"))

# Alignment.
genes = record("nvidia-h200/alignment", "rho")
states("Sections 1 and {} say of figure 9", "a section")
says("gains of {} to {} % (", *(genes(f"published-suffix-tree-{which}") for which in ("least", "most")))
states("({} % in the introduction)", "printed in the paper, section 1")
says("fell by {} % (placement 1) and {} % (2)",
     *(genes.values("published-suffix-tree", "l2_read_misses_saved", placement=place)[0] for place in (1, 2)))
states("texture hits stayed at {} %", "printed in the paper, section 5.4")
structures = {"tree": "suffix-tree", "array": "suffix-array"}


def placed_by(of_row):
    """A cell of placements: of_row(benchmark, whether its genome is real) is the record that has it."""
    def cell(row, column):
        name, _, real = row[0].partition(", ")
        of = of_row(name, real)
        if column == "reads/s":
            return max(of.of(one, "reads_per_second") for one in of.rows(reference=name)
                       if one["method"].startswith("suffix") and "reads_per_second" in one["metrics"])
        structure, _, place = column.partition(", ")
        if structure not in structures:
            return None
        value = of(f"{structures[structure]}+{place}", reference=name)
        signed = f"{value:+.1f}"
        return abs(value) if row[table_columns.index(column)].strip("*").startswith(signed[0]) else signed
    return cell


table_columns = ["", "tree, 1", "tree, 2", "tree, both", "array, 1", "array, 2", "array, both", "reads/s"]
table("| | tree, 1 |", placed_by(lambda name, real: genes), rows=["BANTH", "CBRIGG", "HSILL", "LMONO", "SSUIS"])
of_tree = [genes(f"suffix-tree+{place}", reference=name) for place in (1, 2, "both")
           for name in ("BANTH", "CBRIGG", "HSILL", "LMONO", "SSUIS")]
says("every placement gains, {} to {} %", min(of_tree), max(of_tree))


# The same on an H100, real genomes beside the made ones.
genomes = {"": record("nvidia-h100/alignment", "rho"),
           **{name: record(f"nvidia-h100/alignment-{name}", "rho") for name in ("BANTH", "CBRIGG", "LMONO", "SSUIS")}}


table("| H100 | tree, 1 |", placed_by(lambda name, real: genomes[name if real else ""]))
read_there = record("nvidia-h100/pace-counters", "l2_read_misses_saved")
counted = {"L2 read misses, %": ("l2_read_misses_saved", -1), "the same over the control": ("l2_read_misses_saved_over_control", -1),
           "memory, GB": ("dram_read", 1e-9), "read throughput, GB/s": ("global_read_throughput", 1), "hits in L1, %": ("l1_hits", 100)}


def counted_cell(row, column):
    if column not in counted or not row[list(counted).index(column) + 1]:
        return None
    metric, scale = counted[column]
    structure, _, place = row[0].partition(", ")
    values = [scale * read_there(structures[structure] + (f"+{place}" if place else ""), metric, reference=name)
              for name in ("BANTH", "LMONO")]
    signs = [text.strip()[0] for text in row[list(counted).index(column) + 1].split(",")]
    if scale == -1 and signs != [f"{value:+.1f}"[0] for value in values]:
        return ", ".join(f"{value:+.1f}" for value in values)
    return [abs(value) for value in values]


table("| BANTH, LMONO | L2 read misses, % |", counted_cell)

coli = record("nvidia-h200/alignment-ecoli", "run_time")
says("the tree {} ms, with placement 1 {} (+{} %); the array {}, with placement 2 {} (+{} %): {} million reads a second",
     coli("suffix-tree"), coli("suffix-tree+1"), coli("suffix-tree+1", "rho"), coli("suffix-array"), coli("suffix-array+2"),
     coli("suffix-array+2", "rho"), coli("suffix-array+2", "reads_per_second"))
alone, together = (coli("mummer", "reads_per_second", processes=n) for n in (1, 32))
ours = coli("all-matches", "reads_per_second")
says("{} million by one process, {} by 32. With copies and the written list ours is {} million a second, {} times one "
     "process, {} times 32", alone, together, ours, ours / alone, ours / together)
says("E. coli ({} Mbp", coli.row("suffix-tree")["axes"]["bases"] / 1e6)
