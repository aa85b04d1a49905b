"""Where figures of docs/decisions.md are from; scripts/figures has the words of this text."""

import math


# A deadline's price: what a step of the same run takes more with one, ns.
def idle(shape, more=""):
    return logs("nvidia-h200/barrier-versions.txt", rf"^step +{shape} idle{more} +before.*after +([\d.]+) ")


def middle(values):
    return sorted(values)[len(values) // 2]


prices = {shape: [with_one - without for with_one, without in zip(idle(shape, ", deadline"), idle(shape))]
          for shape in ("132 x  256", "264 x 1024", "1056 x  256")}
parts = {shape: [100 * price / without for price, without in zip(more, idle(shape))] for shape, more in prices.items()}
says("behind the block barrier: {} ns of an idle step of {} us at 132 x 256 on an H200, {} % where", middle(prices["132 x  256"]),
     middle(idle("132 x  256")) / 1000, middle(parts["132 x  256"]))
says("at 264 x 1024 {} to {} %, at 1056 x 256 {} to {} %.", *(edge(parts[shape]) for shape in ("264 x 1024", "1056 x  256")
                                                            for edge in (min, max)))
states("% where the goal was {} %", "a goal")

states_of_graphs = record("nvidia-h200/graph-states", "step_time")
slow, fast = (states_of_graphs("graph", history=history, stores=0) for history in ("graph-uploaded", "clean"))
says("make idle nodes of every graph {} us slower on an H200", slow - fast)


def farthest(gpu):
    """How far any experiment has moved a kept graph's step, in percent, rounded up: they are within it."""
    before, after = (logs(f"{gpu}/graph-steps.txt", r"^[\w-]+\.json ([\d.]+) ([\d.]+)", group) for group in (1, 2))
    return math.ceil(10 * max(abs(100 * b / a - 100) for a, b in zip(before, after))) / 10


says("within {} % on an [H100](../results/nvidia-h100/graph-steps.txt), {} % on an [H200]", farthest("nvidia-h100"),
     farthest("nvidia-h200"))

across = record("nvidia-h200-x2/multi-gpu-barrier", "step_time")
says("on two H200s {} us against {} at 132 x 256", *(across(method, gpus=2, shape="132x256", data="none")
                                                      for method in ("multi-gpu-replicated", "multi-gpu-all-to-all")))

states("**OpenCL {} as CLHPP's minimum**: the CLHPP of Debian 12 does not compile with minimum {} and target {}.", "versions")
