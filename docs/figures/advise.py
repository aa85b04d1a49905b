"""Where figures of docs/advise.md are from; scripts/figures has the words of this text."""

near = record("nvidia-h200/advice", "near_best")
off = record("nvidia-h200/advice", "median_error")
says("**{} %** of 200 recommendations", 100 * near("adviser", cases=200))
says("predicted times were **{} %** off", 100 * off("adviser", cases=200))
