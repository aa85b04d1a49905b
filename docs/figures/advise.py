"""Where figures of docs/advise.md are from; scripts/figures has the words of this text."""

near = record("nvidia-h200/advice", "near_best")
off = record("nvidia-h200/advice", "median_error")
says("**{} %** of 200 recommendations", 100 * near("adviser", cases=200))
says("predicted times were **{} %** off", 100 * off("adviser", cases=200))
h100_near = record("nvidia-h100/advice", "near_best")
h100_off = record("nvidia-h100/advice", "median_error")
says("of 0052c51) **{} %** and **{} %**", 100 * h100_near("adviser", cases=200), 100 * h100_off("adviser", cases=200))
