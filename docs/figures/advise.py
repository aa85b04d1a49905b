"""Where figures of docs/advise.md are from; scripts/figures has the words of this text."""

h200, h100 = ({metric: record(f"{gpu}/advice", metric)("adviser", cases=200)
               for metric in ("near_best", "median_error", "held", "worst_regret")} for gpu in ("nvidia-h200", "nvidia-h100"))
says("**{} %** of 200 recommendations", 100 * h200["near_best"])
says("predicted times were **{} %** off", 100 * h200["median_error"])
says("{} % of the times lay within their intervals, and the worst recommendation took {} % more", 100 * h200["held"],
     100 * h200["worst_regret"])
says("of seed 4) **{} %** and **{} %**; {} % and {} %", *(100 * h100[metric] for metric in h100))
states("documents](../results/nvidia-h100/advice.json), {} situations of seed {})", "asked for on the command line")
states("give {} % and {} % for the times of the H200's document, {} % and {} % for those of the H100's",
       "RecordedCosts.AdviseRightlyWhereTheyWereNotFitted writes it into its JUnit document")

states("so it takes less: by some {} us on an H200", "the two tables beside each other, of different shapes")
states("| `worked` | 1; with less than {} us of work", "what the term is made of")

# The model, and how situations are drawn.


def beside_predicted(*methods):
    """Measured over predicted time where small blocks with work crowd multiprocessors, all resident, in both documents."""
    found = []
    for gpu in ("nvidia-h200", "nvidia-h100"):
        of = record(f"{gpu}/advice", "step_time")
        for row in of.rows():
            axes = row["axes"]
            if (row["method"] in methods and "predicted" in row["metrics"] and axes["threads"] <= 64
                    and 12 * 132 < axes["blocks"] <= axes["resident"] and axes["skew"] != "exponential"
                    and axes["step_ns"] > 1000):
                found.append(of.of(row) / of.of(row, "predicted"))
    return found


says("took up to {} times as long as predicted, by graphs and by grid barriers alike",
     max(beside_predicted("graph", "graph-pdl", "graph-pdl-late", "cg", "placed-counters-acquire-release")))
says("a halo up to {} times ({} such situations in both documents)", max(beside_predicted("halo")),
     len(beside_predicted("graph")))
says("*H_B* means of an exponential ({} of 132 blocks)", sum(1 / k for k in range(1, 133)))
rates = "the model's constants, of no device: simulated, and held by a test, which simulates them anew"
states("of exponential draws {}, {}, {} means a step", rates)
states("of uniform ones {}, {}, {}. The rates", rates)
states("which a test repeats: within {} %", "what the test allows")
states("| `round_trip` | {} |", "the term's factor")
tool = "what the tool is set to"
states("share of recommendations within {} % of the best, the median", tool)
states("recommendations were within {} % of the best that was measured", tool)
states("{} to {} threads, steps of {} to {} microseconds with any part of skew", tool)
