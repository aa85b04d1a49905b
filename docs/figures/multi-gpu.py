"""Where figures of docs/multi-gpu.md are from; scripts/figures has the words of this text."""

steps = record("nvidia-h200-x2/multi-gpu-barrier", "step_time")
shapes = ["1x32", "132x32", "132x256", "132x1024", "264x1024"]


def step(row, column):
    return steps(row[0], gpus=2, shape=column) if column in shapes else None


table("| us a step, two H200s, blocks x threads on each |", step, digits=3)

between, on_one = (steps.row("message", payload=0), steps.row("message-on-gpu", payload=0))
sides = [steps.of(one, metric) for one in (between, on_one) for metric in ("one_way", "one_way_max")]
says("before each flag the message takes {} us longer", steps.of(steps.row("message", payload=1), "one_way") - sides[0])
default = steps("multi-gpu-replicated", gpus=2, shape="132x256")
says("takes {} us, the slowest {}, and on one GPU {}, the slowest {}", *sides)
says("the default is {} times the sum of the slowest, {} times the slowest message between GPUs and the median one on a GPU",
     default / (sides[1] + sides[3]), default / (sides[1] + sides[2]))
data = record("nvidia-h200-x2/multi-gpu-data", "step_time")
ways = [data(method, data=way) for method in ("multi-gpu-replicated", "three-steps-cg", "nccl-lsa-grid-barrier")
        for way in ("pull", "push")]
says("{} us pulled, {} pushed; `three-steps-cg` {} and {}, `nccl-lsa-grid-barrier` {} and {}.", *ways)
says("(`graph-across`) comes near: {} us a step with nothing to compute", steps("graph-across", gpus=2, shape="132x256"))
states("if CMake finds NCCL {} or later", "a version")
says("which joins no blocks: {} us", log("nvidia-h200-x2/nvshmem.txt", r"NVSHMEM [\d.]+: ([\d.]+) us"))


h100 = record("nvidia-h100-x2/multi-gpu-barrier", "step_time")
there = [h100.of(h100.row(way, payload=0), metric) for way in ("message", "message-on-gpu")
         for metric in ("one_way", "one_way_max")]
says("messages between the GPUs take {} us, the slowest {}, and on one GPU {}, the slowest {}. At 132 x 256 the default takes {} "
     "us, {} times the sum of the slowest; `graph-across` {}, `three-steps-grid-barrier` {}, `three-steps-cg` {}, `host-threads` "
     "{}.", *there, h100("multi-gpu-replicated", gpus=2, shape="132x256"),
     h100("multi-gpu-replicated", gpus=2, shape="132x256") / (there[1] + there[3]),
     *(h100(way, gpus=2, shape="132x256")
       for way in ("graph-across", "three-steps-grid-barrier", "three-steps-cg", "host-threads")))
exchanged = record("nvidia-h100-x2/multi-gpu-data", "step_time")
says("With words pulled and pushed {} and {}.", *(exchanged("multi-gpu-replicated", data=way) for way in ("pull", "push")))

# Beside NVSHMEM: the lines of a text.
lines = {
    ("nvshmem_gpu_part", "1x32"): "gpusync over NVSHMEM, 1 x 32",
    ("nvshmem_gpu_part", "132x256"): "gpusync over NVSHMEM, 132 x 256",
    ("this library over peer memory", "1x32"): "gpusync over peer memory, 1 x 32",
    ("this library over peer memory", "132x256"): "gpusync over peer memory, 132 x 256",
    ("nvshmem_barrier_all() by one thread of each GPU", "1x32"): "nvshmem_barrier_all, one thread of each of 2 GPUs",
    ("the same between two of our grid barriers", "132x256"):
        "nvshmem_barrier_all by one thread, between two grid barriers, 132 x 256",
}


def beside_nvshmem(row, column):
    line = lines.get((row[0], column))
    if line is None:
        return None
    return log("nvidia-h100-x2/nvshmem.txt", line + r"; NVSHMEM [\d.]+: ([\d.]+) us")


table("| us, two H100s, NVSHMEM |", beside_nvshmem, digits=3)
slower = [log("nvidia-h100-x2/nvshmem.txt", rf"gpusync over peer memory, {shape.replace('x', ' x ')}; NVSHMEM [\d.]+: ([\d.]+) us") /
          steps("multi-gpu-replicated", gpus=2, shape=shape) for shape in ("1x32", "132x256")]
says("Barriers over peer memory take {} to {} times those of the H200s above", min(slower), max(slower))
