"""PyTorch's _compile_kernel."""

import os

import torch
import torch.utils.cpp_extension

import gpusync.torch
from figures import CONTROL, Way, barriers
from kernels import BLOCKS, CG_SOURCE, SOURCE, THREADS

data = torch.zeros(2 * BLOCKS, dtype=torch.int32, device="cuda")
seen_words = torch.zeros(2 * BLOCKS, dtype=torch.int32, device="cuda")


def ways():
    # cooperative_groups.h, for the rival, wants CCCL of the toolkit.
    folders = [os.path.join(one, "cccl") for one in torch.utils.cpp_extension.include_paths("cuda")]
    kernels = {name: gpusync.torch.compile_kernel(SOURCE, name) for name in ("gpusync_phases", "none_phases")}
    kernels["cg_phases"] = gpusync.torch.compile_kernel(CG_SOURCE, "cg_phases", cuda_include_dirs=folders)

    def run(name, barrier):
        return lambda *numbers: gpusync.torch.launch(kernels[name], BLOCKS, THREADS, (barrier, data, seen_words, *numbers))

    made = barriers()
    any_barrier = made["gpusync-unplaced"]  # a launch has one, and cg's kernel does not look at it
    return [*(Way(method, run("gpusync_phases", barrier)) for method, barrier in made.items()),
            Way("cg", run("cg_phases", any_barrier), rival=True),
            Way("none", run("none_phases", any_barrier), phases=CONTROL, must_be_wrong=True)]


def timed(run):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    run()
    last.record()
    last.synchronize()
    return 1000 * first.elapsed_time(last)


def seen():
    return seen_words.tolist()
