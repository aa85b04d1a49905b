#!/usr/bin/env python3
"""Compiles barriers for sm_90 and looks at the instructions that came out.

usage: machine_code_test.py NVCC CUOBJDUMP INCLUDE_DIRECTORY [grid|survivor]

What is asked of the default grid barrier: one fence (MEMBAR) between the block's barrier and the arrival's add; polls
that are plain strong loads; after them one invalidation of L1 (CCTL.IVALL) and no fence any more; nothing of the
barrier's start in the loop. Of its first arrival: both adds stand behind one fence, and no load before it; what the
handle stands at is no jump table. Of an arrival at the fault-tolerant barrier: one fence of the device between what the block
has written and both the flag and the add.
Exit code 77 (skipped) where there is no cuobjdump.
"""

import os
import re
import subprocess
import sys
import tempfile

GRID_SOURCE = """
#include <gpusync/gpusync.cuh>
extern "C" __global__ void phases(gpusync::grid_barrier barrier, int steps) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) barrier.sync();
}
extern "C" __global__ void first_phase(gpusync::grid_barrier barrier, int steps) {
  for (int s = 0; s < steps; ++s) barrier.sync();
}
extern "C" __global__ void lock_based(
    gpusync::basic_grid_barrier<gpusync::grid::lock_based<gpusync::ordering::acquire_release>, gpusync::cuda_grid> barrier,
    int steps) {
  for (int s = 0; s < steps; ++s) barrier.sync();
}
"""
SURVIVOR_SOURCE = """
#include <gpusync/rmw/fault_tolerant_cuda.cuh>
using gpusync::uint64_t;
extern "C" __global__ void survivor(uint64_t* data, uint64_t* flag, uint64_t mark, uint64_t* word) {
  data[threadIdx.x] = mark;
  data[threadIdx.x] = gpusync::rmw::cuda_survivor{}.arrive(flag, mark, word);
}
"""

failures = []


def expect(right, what):
    if not right:
        failures.append(what)


def instructions(dump, kernel):
    """The kernel's instructions in their order, each without its predicate."""
    body = dump.split(f"Function : {kernel}\n", 1)[1].split("Function :", 1)[0]
    return re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z][^;]*?)\s*;", body)


def index_of(code, prefix, start=0):
    return next((i for i in range(start, len(code)) if code[i].startswith(prefix)), None)


def check(code, name, add):
    begin = index_of(code, "BAR.SYNC")
    expect(begin is not None, f"{name}: the block meets before it arrives")
    end = index_of(code, "BAR.SYNC", begin + 1)
    expect(end is not None, f"{name}: the block meets after the wait")
    loop = code[begin:end + 1]
    arrival = index_of(loop, add)
    poll = index_of(loop, "LDG.E.STRONG.GPU")
    expect(arrival is not None, f"{name}: it arrives with {add}")
    expect(poll is not None and arrival < poll, f"{name}: it polls with strong loads after the arrival")
    if failures:
        return
    fences = lambda part: sum(i.startswith("MEMBAR") for i in part)
    expect(fences(loop[:arrival]) == 1, f"{name}: one fence before the arrival, not {fences(loop[:arrival])}")
    expect(fences(loop[poll:]) == 0, f"{name}: no fence once it polls, not {fences(loop[poll:])}")
    invalidations = [i for i in range(len(loop)) if loop[i].startswith("CCTL.IVALL")]
    expect(len(invalidations) == 1 and invalidations[0] > poll, f"{name}: one CCTL.IVALL, after the polls")
    expect(not any(i.startswith(("LDL", "STL")) for i in loop), f"{name}: nothing of the barrier lies in local memory")
    expect(end - begin < 80, f"{name}: a phase is short ({end - begin} instructions), its start stands elsewhere")


def check_first(code):
    """Of the first phase of a launch, under a plan with one counter."""
    adds = [i for i in range(len(code)) if code[i].startswith("ATOMG.E.ADD.STRONG.GPU")]
    pair = next((i for i, j in zip(adds, adds[1:]) if j == i + 1), None)
    expect(pair is not None, "first phase: two adds, one right after the other")
    expect(not any(i.startswith("BRX") for i in code), "first phase: no jump table")
    if failures:
        return
    begin = max(i for i in range(pair) if code[i].startswith("BAR.SYNC"))
    head = code[begin:pair]
    expect(sum(i.startswith("MEMBAR") for i in head) == 1, "first phase: one fence for both adds")
    expect(not any(i.startswith("LDG") for i in head), "first phase: no load that the fence would wait for")


def check_survivor(code):
    """Of an arrival's flag and add, each is to release what came before; the add acquires, too."""
    data = index_of(code, "STG.E.64 ")
    flag = index_of(code, "STG.E.64.STRONG.GPU")
    add = index_of(code, "ATOMG.E.ADD.64.STRONG.GPU")
    expect(data is not None, "survivor: the block writes")
    expect(flag is not None, "survivor: its flag is a strong store")
    expect(add is not None, "survivor: it arrives with an add that returns the old value")
    if failures:
        return
    expect(data < flag < add, "survivor: the flag is stored between the block's writes and the add")
    fences = [i for i in range(len(code)) if code[i].startswith("MEMBAR")]
    expect(len(fences) == 1, f"survivor: one fence for both, not {len(fences)}")
    expect(any(data < i < flag and code[i].endswith(".GPU") for i in fences),
           "survivor: a fence of the device stands between the block's writes and the flag")
    expect(any(i.startswith("CCTL.IVALL") for i in code[add:]), "survivor: the add acquires")


def disassembled(nvcc, cuobjdump, include, source_text):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "phases.cu"), os.path.join(folder, "phases.cubin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(source_text)
        subprocess.run([nvcc, "-std=c++17", "-O3", "-arch=sm_90", "-cubin", f"-I{include}", source, "-o", binary],
                       check=True)
        environment = dict(os.environ, PATH=os.path.dirname(cuobjdump) + os.pathsep + os.environ["PATH"])
        return subprocess.run([cuobjdump, "--dump-sass", binary], check=True, capture_output=True, text=True,
                              env=environment).stdout


def main():
    nvcc, cuobjdump, include, *only = sys.argv[1:]
    if not os.access(cuobjdump, os.X_OK):
        print(f"There is no cuobjdump ({cuobjdump}): skipped.")
        return 77
    code = []
    if only in ([], ["survivor"]):
        code = instructions(disassembled(nvcc, cuobjdump, include, SURVIVOR_SOURCE), "survivor")
        check_survivor(code)
    if not failures and only in ([], ["grid"]):
        dump = disassembled(nvcc, cuobjdump, include, GRID_SOURCE)
        code = instructions(dump, "phases")
        check(code, "grid_barrier", "REDG.E.ADD.STRONG.GPU")
        if not failures:
            code = instructions(dump, "first_phase")
            check_first(code)
        check(instructions(dump, "lock_based"), "lock_based", "ATOMG.E.ADD.STRONG.GPU")
    if failures:
        print("\n".join(code))
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
