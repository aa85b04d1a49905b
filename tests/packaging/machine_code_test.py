#!/usr/bin/env python3
"""Compiles barriers for sm_90 and looks at the instructions that came out.

usage: machine_code_test.py NVCC CUOBJDUMP INCLUDE_DIRECTORY [grid|address|votes|survivor|pace|neighbours|methods]

What is asked of the default grid barrier: one fence (MEMBAR) between the block's barrier and the arrival's add; polls
that are plain strong loads; after them one invalidation of L1 (CCTL.IVALL) and no fence any more; nothing of the
barrier's start in the loop, and where a kernel has not called enter(), no read of its parameters in each phase; the
same of one that is made of an address, and of its C functions. Of its first arrival:
both adds stand behind one fence, and no load before it; what the handle stands at is no jump table. Of votes: one add of 64 bits a phase and word, one fence in front of it if they order
data, and if they do not, no fence and no invalidation in the loop at all. Of an arrival at the fault-tolerant barrier: one fence of the device between what the block
has written and both the flag and the add. Of pace: what is off leaves the instructions of a kernel without it, and a window
orders nothing: no fence anywhere. Of a barrier of neighbours: one fence, one strong store, and polls that are plain strong
loads, behind which nothing is asked any more. Of a halo by words: each word is stored and polled by one strong access, and there is no fence at all.
Of the kernels that the tool measures: in a dependent one a thread finds its place and reads an argument before it waits, and a block keeps
what its threads have in common in uniform registers; a loop of idle steps has no data in it, with NVIDIA's barrier as with
ours, and no step keeps anything in local memory.
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
extern "C" __global__ void not_entered(gpusync::grid_barrier barrier, int steps, int* data) {
  for (int s = 0; s < steps; ++s) {
    data[s] = s;
    barrier.sync();
  }
}
template <class Barrier> __device__ void with_deadlines(Barrier& barrier, int steps) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    if (barrier.sync_for(gpusync::timeout(1000000)) == gpusync::wait_status::timed_out) return;
  }
}
extern "C" __global__ void bounded(gpusync::grid_barrier barrier, int steps) { with_deadlines(barrier, steps); }
extern "C" __global__ void bounded_part(gpusync::part_grid_barrier barrier, int steps) { with_deadlines(barrier, steps); }
extern "C" __global__ void bounded_dropping(gpusync::dropping_grid_barrier barrier, int steps) {
  with_deadlines(barrier, steps);
}
extern "C" __global__ void bounded_votes(gpusync::part_grid_barrier barrier, int steps, int* out) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    const auto found = barrier.sync_or_for(out[s] != 0, gpusync::timeout(1000000));
    if (found.status == gpusync::wait_status::timed_out) return;
    out[s] = found.answer;
  }
}
extern "C" __global__ void lock_based(
    gpusync::basic_grid_barrier<gpusync::grid::lock_based<gpusync::ordering::acquire_release>, gpusync::cuda_grid> barrier,
    int steps) {
  for (int s = 0; s < steps; ++s) barrier.sync();
}
"""
ADDRESS_SOURCE = """
#include <gpusync/device_functions.cuh>
extern "C" __global__ void by_address(unsigned long address, int steps) {
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  for (int s = 0; s < steps; ++s) barrier.sync();
}
extern "C" __global__ void by_functions(long long address, int steps) {
  gpusync_enter(address);
  for (int s = 0; s < steps; ++s) gpusync_sync(address);
}
extern "C" __global__ void votes_by_functions(long long address, int steps, int* out) {
  int sum = 0;
  gpusync_enter(address);
  for (int s = 0; s < steps; ++s) sum = gpusync_sync_add(address, sum + s);
  out[threadIdx.x] = sum;
}
"""
VOTES_SOURCE = """
#include <gpusync/gpusync.cuh>
extern "C" __global__ void ordered(gpusync::grid_barrier barrier, unsigned steps, unsigned* out) {
  unsigned sum = 0;
  barrier.enter_votes();
  for (unsigned s = 0; s < steps; ++s) sum = barrier.sync_add(sum + s);
  out[threadIdx.x] = sum;
}
extern "C" __global__ void unordered(gpusync::grid_barrier barrier, unsigned steps, unsigned* out) {
  unsigned sum = 0;
  barrier.enter_votes();
  for (unsigned s = 0; s < steps; ++s) sum = barrier.vote_add(sum + s);
  out[threadIdx.x] = sum;
}
extern "C" __global__ void any_thread(gpusync::grid_barrier barrier, unsigned steps, unsigned* out) {
  unsigned sum = 0;
  barrier.enter_votes();
  for (unsigned s = 0; s < steps; ++s) sum += barrier.vote_or(threadIdx.x == s);
  out[threadIdx.x] = sum;
}
extern "C" __global__ void split(gpusync::grid_barrier barrier, unsigned steps, unsigned* out) {
  unsigned sum = 0;
  barrier.enter_votes();
  for (unsigned s = 0; s < steps; ++s) {
    auto token = barrier.arrive_or(threadIdx.x == s);
    sum += barrier.wait(static_cast<decltype(token)&&>(token));
  }
  out[threadIdx.x] = sum;
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

PACE_SOURCE = """
#include <gpusync/pace/cuda.cuh>
namespace pace = gpusync::pace;
#define PANELS for (int p = 0; p < panels; ++p) { for (int i = 0; i < n; ++i) sum += t[(p * 977 + i * 31) & 0xffff];
template <class Window> __device__ void gather(Window& window, const float* t, float* o, int n, int panels) {
  float sum = 0;
  PANELS window.end_epoch(); }
  o[threadIdx.x] = sum;
}
template <class Form> __device__ void walk(const float* t, float* o, int n) {
  __shared__ gpusync::pace_memory<Form> memory;
  gpusync::block_pace<Form> keep(memory);
  float sum = 0;
  for (int i = 0; i < n; ++i) { sum += t[i * 4096 + threadIdx.x]; keep.visit(); }
  o[threadIdx.x] = sum;
}
extern "C" __global__ void no_window(const float* t, float* o, int n, int panels) {
  float sum = 0;
  PANELS }
  o[threadIdx.x] = sum;
}
extern "C" __global__ void window_off(const float* t, float* o, int n, int panels) {
  gpusync::basic_cuda_window<pace::off> window;
  gather(window, t, o, n, panels);
}
extern "C" __global__ void window(gpusync::grid_window window, const float* t, float* o, int n, int panels) {
  gather(window, t, o, n, panels);
}
extern "C" __global__ void no_pace(const float* t, float* o, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += t[i * 4096 + threadIdx.x];
  o[threadIdx.x] = sum;
}
extern "C" __global__ void pace_off(const float* t, float* o, int n) { walk<pace::off>(t, o, n); }
extern "C" __global__ void pace_compiler(const float* t, float* o, int n) { walk<pace::compiler_fence>(t, o, n); }
extern "C" __global__ void pace_block(const float* t, float* o, int n) { walk<pace::block>(t, o, n); }
extern "C" __global__ void pace_warps(const float* t, float* o, int n) { walk<pace::warps<8>>(t, o, n); }
extern "C" __global__ void pace_lead(const float* t, float* o, int n) { walk<pace::lead<2>>(t, o, n); }
"""

NEIGHBOURS_SOURCE = """
#include <gpusync/neighbours/cuda.cuh>
using namespace gpusync;
extern "C" __global__ void neighbours(neighbour_barrier barrier, int steps) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) barrier.sync();
}
extern "C" __global__ void bounded(neighbour_barrier barrier, int steps) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    if (barrier.sync_for(timeout(1000000)) == wait_status::timed_out) return;
  }
}
extern "C" __global__ void not_entered(neighbour_barrier barrier, int steps, int* data) {
  for (int s = 0; s < steps; ++s) {
    data[s] = s;
    barrier.sync();
  }
}
template <class T> __device__ void relax(halo<T, halo_form::words>& exchange, T* data, int steps) {
  const halo_word from[2] = {exchange.word(0, threadIdx.x), exchange.word(1, threadIdx.x)};
  T mine = data[blockIdx.x * blockDim.x + threadIdx.x], got[2];
  exchange.enter();
  for (int s = 0; s < steps; ++s) {
    exchange.put(threadIdx.x, mine);
    exchange.send();
    exchange.receive();
    exchange.get(from, got);
    mine += got[0] * got[1];
    exchange.next();
  }
  data[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
extern "C" __global__ void halo_float(halo<float, halo_form::words> exchange, float* data, int steps) {
  relax(exchange, data, steps);
}
extern "C" __global__ void halo_double(halo<double, halo_form::words> exchange, double* data, int steps) {
  relax(exchange, data, steps);
}
"""

METHODS_SOURCE = """
#include "boundary/cuda_text.cuh"
#include "workloads/average/average.hpp"
namespace gpusync::tool {
#define ONE_STEP(how) template __global__ void run_one_step<average_text, kernel_start::how>(average_text, uint32_t)
ONE_STEP(plain);
ONE_STEP(dependent);
ONE_STEP(dependent_late);
#define ALL_STEPS(...) \\
  template __global__ void run_all_steps(average_text, uint32_t, barrier_with<grid::__VA_ARGS__>)
ALL_STEPS(cooperative_groups);
ALL_STEPS(lock_based<ordering::acquire_release>);
ALL_STEPS(placed_counters<ordering::acquire_release>);
ALL_STEPS(tree<2, ordering::acquire_release>);
ALL_STEPS(tree<3, ordering::acquire_release>);
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


def loops(code):
    """Where a branch goes back: what it repeats. Instructions are 16 bytes each."""
    for i, one in enumerate(code):
        target = re.match(r"BRA(?:\.\S+)? (?:U?P\w+, )?0x([0-9a-f]+)$", one)
        if target and int(target[1], 16) // 16 < i:
            yield code[int(target[1], 16) // 16:i + 1]


def index_of(code, prefix, start=0):
    return next((i for i in range(start, len(code)) if code[i].startswith(prefix)), None)


def check(code, name, add, most=80):
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
    expect(end - begin < most, f"{name}: a phase is short ({end - begin} instructions), its start stands elsewhere")


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


def check_not_entered(code):
    """What the wait of a launch's first phase is given is not read in those that follow."""
    data = index_of(code, "STG.E ")
    expect(data is not None, "not entered: the block writes in each phase")
    if failures:
        return
    # Behind the branch stands the first phase's code as well.
    ahead = code[data:index_of(code, "BRA", data)]
    expect(not any(i.startswith("LDC") for i in ahead), "not entered: a phase begins without reading parameters")


def check_bounded(dump, kernels):
    """A handle whose waits carry deadlines is no more in memory than one without."""
    for kernel in kernels:
        if failures:
            return
        code = instructions(dump, kernel)
        expect(index_of(code, "LDG.E") is not None, f"{kernel}: it polls")
        local = sum(i.startswith(("LDL", "STL")) for i in code)
        expect(local == 0, f"{kernel}: nothing lies in local memory, not {local} accesses")


def check_votes(code, name, ordered, most=130, met=0, at_once=False):
    """Of the loop of votes, which stands behind the start. met: how often the block meets between the add and the polls;
    at_once: the add comes before the block has met."""
    add = index_of(code, "REDG.E.ADD.64.STRONG.GPU")
    expect(add is not None, f"{name}: a vote is one add of 64 bits")
    if failures:
        return
    expect(sum(i.startswith("REDG.E.ADD.64") for i in code) == 1, f"{name}: one, in the loop")
    begin = max(i for i in range(add) if code[i].startswith("BAR"))
    polled = index_of(code, "LDG.E.64.STRONG.GPU", add)
    expect(polled is not None, f"{name}: it polls 64 bits with strong loads")
    if failures:
        return
    meets = sum(i.startswith("BAR") for i in code[add:polled])
    expect(meets == met, f"{name}: {meets} block barriers between the add and the polls")
    if at_once:
        expect(any(i.startswith("SHFL") for i in code[add - 20:add]), f"{name}: the value comes from lane to lane")
    end = index_of(code, "BAR", polled)
    loop = code[begin:end + 1]
    arrival = index_of(loop, "REDG.E.ADD.64")
    fences = lambda part: sum(i.startswith("MEMBAR") for i in part)
    wanted = 1 if ordered else 0
    expect(fences(loop[:arrival]) == wanted, f"{name}: {wanted} fences before the add, not {fences(loop[:arrival])}")
    poll = index_of(loop, "LDG.E.64.STRONG.GPU")
    expect(poll is not None and arrival < poll, f"{name}: it polls 64 bits with strong loads")
    if failures:
        return
    expect(fences(loop[poll:]) == 0, f"{name}: no fence once it polls")
    if not ordered:
        expect(fences(loop) == 0, f"{name}: no fence")
    found = sum(i.startswith("CCTL") for i in loop)
    expect(found == wanted, f"{name}: {wanted} CCTL.IVALL, not {found}")
    expect(not any(i.startswith(("LDL", "STL")) for i in code), f"{name}: nothing of it lies in local memory")
    expect(end - begin < most, f"{name}: a vote is short ({end - begin} instructions), its start stands elsewhere")
    if name != "votes_by_functions":
        expect(not any("SR_TID" in i for i in loop), f"{name}: which thread this is was found before the loop")
        back = code[end:index_of(code, "BRA", end)]
        expect(sum(i.startswith("LDS") for i in back) == 1, f"{name}: an answer is one read of shared memory")


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


def check_pace(dump, barriers_of):
    """What is off leaves nothing; what is on waits, and orders nothing."""
    words = lambda kernel: [i.split()[0] for i in instructions(dump, kernel)]
    expect(words("window_off") == words("no_window"), "pace: a window that is off leaves nothing")
    expect(words("pace_off") == words("no_pace"), "pace: pace::off leaves nothing")
    for kernel, meets in (("window", True), ("pace_compiler", False), ("pace_block", True), ("pace_warps", True),
                          ("pace_lead", True)):
        code = words(kernel)
        expect(any(i.startswith("BAR") for i in code) == meets, f"pace: {kernel} {'meets' if meets else 'meets nobody'}")
        expect(not any(i.startswith("MEMBAR") for i in code), f"pace: {kernel} has no fence")
        expect(not any(i.startswith(("LDL", "STL")) for i in code), f"pace: nothing of {kernel} lies in local memory")
    # Where a warp's lanes come apart the assembler puts the number into a register, but knows what it may be.
    named = re.findall(r"BAR\.SYNC\S* 0x([1-9a-f])\b", "\n".join(instructions(dump, "pace_warps")))
    expect(sorted(set(named)) == list("1234"), f"pace: groups of eight warps meet at barriers 1 to 4: {sorted(set(named))}")
    expect(barriers_of.get("pace_warps") == 5,
           f"pace: a block with groups of eight warps is given 5 barriers of 64: {barriers_of.get('pace_warps')}")
    expect(any(i.startswith("REDG") for i in words("window")), "pace: a window counts by adds that nobody waits for")


def check_neighbours(code):
    """Of a phase: the block meets, one fence and one store, polls, one more meeting."""
    meetings = [i for i in range(len(code)) if code[i].startswith("BAR.SYNC")]
    expect(len(meetings) == 2, f"neighbours: the block meets twice in a phase, not {len(meetings)} times")
    if failures:
        return
    loop = code[meetings[0]:meetings[1] + 1]
    store, poll = index_of(loop, "STG.E.STRONG.GPU"), index_of(loop, "LDG.E.STRONG.GPU")
    expect(store is not None and poll is not None and store < poll, "neighbours: polls come behind the store of the flag")
    if failures:
        return
    expect(sum(i.startswith("STG") for i in loop) == 1, "neighbours: one store")
    expect(sum(i.startswith("MEMBAR") for i in loop[:store]) == 1, "neighbours: one fence before the store")
    expect(not any(i.startswith("MEMBAR") for i in loop[store:]), "neighbours: no fence behind it")
    expect(any(i.startswith("CCTL.IVALL") for i in loop[poll:]), "neighbours: the end of a wait acquires")
    behind = loop[next(i for i in range(len(loop)) if loop[i].startswith("CCTL.IVALL")) + 1:-1] if not failures else []
    expect(not any(i.startswith(("ISETP", "BRA", "BSYNC")) for i in behind), "neighbours: nothing is asked behind it")
    expect(not any(i.startswith(("ATOM", "RED")) for i in loop), "neighbours: no read-modify-write")
    expect(not any(i.startswith(("LDL", "STL")) for i in code), "neighbours: nothing lies in local memory")


def check_halo(code, kernel, access):
    """Of a step by words: from the store of a word to the block's meeting there is nothing that orders. Only
    before the first step of a launch does the block meet, outside the loop."""
    store = index_of(code, f"STG.E.{access}.STRONG.GPU")
    expect(store is not None, f"{kernel}: a word is put by one strong store of {access} bits")
    if failures:
        return
    poll = index_of(code, f"LDG.E.{access}.STRONG.GPU", store)
    end = None if poll is None else index_of(code, "BAR.SYNC", poll)
    expect(poll is not None and end is not None, f"{kernel}: words are polled, and then the block meets")
    if failures:
        return
    expect(sum(i.startswith("BAR") for i in code[:store]) == 1, f"{kernel}: one meeting before the steps")
    expect(not any(i.startswith("BAR") for i in code[store:poll]), f"{kernel}: none before the polls of a step")
    expect([i.split()[0] for i in code[store:end] if i.startswith("STG")] ==
           [f"STG.E.{access}.STRONG.GPU", "STG.E.STRONG.GPU"], f"{kernel}: one store of a word, one of the step's number")
    expect(not any(i.startswith(("MEMBAR", "CCTL", "ERRBAR")) for i in code[:end]), f"{kernel}: no fence")
    expect(not any(i.startswith(("ATOM", "RED")) for i in code), f"{kernel}: no read-modify-write")
    expect(not any(i.startswith(("LDL", "STL")) for i in code), f"{kernel}: nothing lies in local memory")
    expect(end - store < 120, f"{kernel}: a step is short ({end - store} instructions)")


def check_methods(dump):
    """Of the tool's own kernels, of which figures of rivals are."""
    names = re.findall(r"Function : (\S+)", dump)
    the_only = lambda *parts: next((one for one in names if all(part in one for part in parts)),
                                   f"{parts}, of which there is none")
    has = lambda part, what: any(i.startswith(what) for i in part)
    for how, number in (("plain", 0), ("dependent", 2), ("late", 3)):  # of kernel_start
        code = instructions(dump, the_only("run_one_step", f"kernel_startE{number}E"))
        wait, lets_in = index_of(code, "ACQBULK"), index_of(code, "PREEXIT")
        if how == "plain":
            expect(wait is None and lets_in is None, "plain: waits for no kernel, and lets none in")
            continue
        expect(wait is not None and lets_in is not None, f"{how}: waits for the kernel before, and lets in the next")
        if failures:
            return code
        expect((lets_in < wait) == (how == "dependent"), f"{how}: lets in the next on its side of the wait")
        expect(not any("SR_CTAID" in i or "SR_TID" in i for i in code[wait:]), f"{how}: a thread finds its place before it waits")
        expect(not has(code, "R2UR"), f"{how}: what a block has in common stays in uniform registers")
        expect(any("LDC" in i and "c[0x0][0x2" in i for i in code[:wait]), f"{how}: reads an argument before it waits")
    for barrier in ("cooperative_groups", "lock_based", "placed_counters", "treeILi2E", "treeILi3E"):
        code = instructions(dump, the_only("run_all_steps", barrier))
        steps = [part for part in loops(code) if has(part, "BAR.SYNC") and has(part, "MEMBAR")]
        expect(any(has(part, "STG.E desc") for part in steps), f"{barrier}: a loop of steps with data")
        expect(any(not has(part, "STG.E desc") for part in steps), f"{barrier}: idle steps are a loop of their own")
        expect(not any(has(part, ("LDL", "STL")) for part in steps), f"{barrier}: a step keeps nothing in local memory")
    return code


def disassembled(nvcc, cuobjdump, include, source_text, barriers_of=None):
    """The machine code; how many named barriers a block of each kernel is given goes to `barriers_of`."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "phases.cu"), os.path.join(folder, "phases.cubin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(source_text)
        tool = os.path.join(os.path.dirname(os.path.abspath(include)), "src")
        notes = subprocess.run([nvcc, "-std=c++17", "-O3", "-arch=sm_90", "-cubin", "-Xptxas", "-v", f"-I{include}", f"-I{tool}",
                                source, "-o", binary], check=True, stderr=subprocess.PIPE, text=True).stderr
        if barriers_of is not None:
            for kernel, text in re.findall(r"entry function '(\w+)'(.*?)(?=Compiling entry|$)", notes, re.S):
                used = re.search(r"used (\d+) barriers", text)
                barriers_of[kernel] = int(used[1]) if used else 0
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
        if not failures:
            code = instructions(dump, "not_entered")
            check_not_entered(code)
        check(instructions(dump, "lock_based"), "lock_based", "ATOMG.E.ADD.STRONG.GPU")
        check_bounded(dump, ("bounded", "bounded_part", "bounded_dropping", "bounded_votes"))
    if not failures and only in ([], ["address"]):
        dump = disassembled(nvcc, cuobjdump, include, ADDRESS_SOURCE)
        # The functions read what they know from shared memory.
        for name, most in (("by_address", 80), ("by_functions", 90)):
            if not failures:
                code = instructions(dump, name)
                check(code, name, "REDG.E.ADD.STRONG.GPU", most)
                expect(not any(i.startswith(("LDL", "STL")) for i in code), f"{name}: nothing lies in local memory")
        if not failures:
            code = instructions(dump, "votes_by_functions")
            check_votes(code, "votes_by_functions", True, 160)
    if not failures and only in ([], ["votes"]):
        dump = disassembled(nvcc, cuobjdump, include, VOTES_SOURCE)
        for name, ordered, met, at_once in (("ordered", True, 0, False), ("unordered", False, 1, True),
                                            ("any_thread", False, 0, False), ("split", True, 1, False)):
            if not failures:
                code = instructions(dump, name)
                check_votes(code, name, ordered, met=met, at_once=at_once)
    if not failures and only in ([], ["neighbours"]):
        dump = disassembled(nvcc, cuobjdump, include, NEIGHBOURS_SOURCE)
        code = instructions(dump, "neighbours")
        check_neighbours(code)
        if not failures:
            code = instructions(dump, "not_entered")
            check_not_entered(code)
        check_bounded(dump, ("bounded",))
        for kernel, access in (("halo_float", "64"), ("halo_double", "128")):
            if not failures:
                code = instructions(dump, kernel)
                check_halo(code, kernel, access)
    if not failures and only in ([], ["pace"]):
        barriers_of = {}
        check_pace(disassembled(nvcc, cuobjdump, include, PACE_SOURCE, barriers_of), barriers_of)
    if not failures and only in ([], ["methods"]):
        code = check_methods(disassembled(nvcc, cuobjdump, include, METHODS_SOURCE))
    if failures:
        print("\n".join(code))
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
