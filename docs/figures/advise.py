"""Where figures of docs/advise.md are from; scripts/figures has the words of this text."""

h200, h100 = ({metric: record(f"{gpu}/advice", metric)("adviser", cases=200)
               for metric in ("near_best", "median_error", "held", "worst_regret")} for gpu in ("nvidia-h200", "nvidia-h100"))
says("**{} %** of 200 recommendations", 100 * h200["near_best"])
says("predicted times were **{} %** off", 100 * h200["median_error"])
says("{} % of the times lay within their intervals, and the worst recommendation took {} % more", 100 * h200["held"],
     100 * h200["worst_regret"])
says("of seed 4) **{} %** and **{} %**; {} % of the times lay within, and the worst took {} % more", *(100 * h100[metric] for metric in h100))
states("documents](../results/nvidia-h100/advice.json), {} situations of seed {})", "asked for on the command line")
states("give {} % and {} % for the times of the H200's document, {} % and {} % for those of the H100's",
       "RecordedCosts.AdviseRightlyWhereTheyWereNotFitted writes it into its JUnit document")

states("on an H200 by some {} us with barriers, {} to {} with graphs",
       "`gpusync advise --blocks 132 --threads 256 --step-us 0 --steps 1000 -d nvidia-h200` beside that table")
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


says("took up to {} times as long as predicted by graphs with PDL, {} by plain graphs, {} by grid barriers and {} by halos ({} such",
     *(max(beside_predicted(*methods)) for methods in (
         ("graph-pdl", "graph-pdl-late"), ("graph",), ("cg", "placed-counters-acquire-release"), ("halo",))),
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
states("with them {} % of the H200's are near the best", "the test of the next sentence but one, with these rows")
states("Ways within {} % of the best are named", tool)
