"""Where figures of docs/advise.md are from; scripts/figures has the words of this text."""

near = record("nvidia-h200/advice", "near_best")
off = record("nvidia-h200/advice", "median_error")
says("**{} %** of 200 recommendations", 100 * near("adviser", cases=200))
says("predicted times were **{} %** off", 100 * off("adviser", cases=200))
h100_near = record("nvidia-h100/advice", "near_best")
h100_off = record("nvidia-h100/advice", "median_error")
says("of seed 4) **{} %** and **{} %**", 100 * h100_near("adviser", cases=200), 100 * h100_off("adviser", cases=200))
h100_held, h100_regret = (record("nvidia-h100/advice", metric) for metric in ("held", "worst_regret"))
says("{} % of its times lay within their intervals, and the worst recommendation took {} % more",
     100 * h100_held("adviser", cases=200), 100 * h100_regret("adviser", cases=200))
states("documents](../results/nvidia-h100/advice.json), of 3a7a1e8, {} situations of seed {})", "asked for on the command line")
states("give {} % and {} % for the times of the H200's document, {} % and {} % for those of the H100's",
       "RecordedCosts.AdviseRightlyWhereTheyWereNotFitted writes it into its JUnit document")

states("so it takes less: by some {} us on an H200", "the two tables beside each other, of different shapes")
states("| `worked` | 1; with less than {} us of work", "what the term is made of")

# The model, and how situations are drawn.
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
