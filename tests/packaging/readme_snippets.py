#!/usr/bin/env python3
"""Compiles the C++ that README.md and the documents print, as it is printed.

usage: readme_snippets.py README INCLUDE_DIRECTORY --cxx COMPILER [--nvcc COMPILER] [--clang COMPILER] [--also FILE…]

A block of C++ behind a line `<!-- compiled: NAME -->` is compiled. In README that is every block; in the other files it
is those that are marked. A block leaves out what a reader can do without: includes, the function around it, the names
that it takes from there. WRAPPERS has these by name, and says where a block passes from device to host code. A block
without a wrapper, a wrapper without a block, or one that does not fit any more, is a failure.

All CUDA blocks are one file for the compiler, each in a namespace of its own; its messages name the document's line.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

# begins: how the part's first line begins; the first part of a block has all lines up to the next part.
# around: what it stands in; PRINTED is replaced by the part.
Part = collections.namedtuple("Part", "begins around")
# language: cuda or host. before: at the head of it.
Wrapper = collections.namedtuple("Wrapper", "language before parts")
# name: None for a block that is not marked. begin: the number of its first line.
Block = collections.namedtuple("Block", "file name begin lines")

ALONE = "PRINTED"
LIBRARY = "#include <gpusync/gpusync.cuh>\n"


def cuda(before, *parts):
    return Wrapper("cuda", before, [Part(*part) for part in parts])


def host_function(parameters):
    """A part that stands in host code, with what it takes from there."""
    return f"void host({parameters}) {{\nPRINTED\n}}"


def kernel(parameters, after=""):
    """A part that stands in a kernel."""
    return f"__global__ void kernel({parameters}) {{\nPRINTED\n{after}}}"


STREAM = "const gpusync::cuda_device& gpu, cudaStream_t stream"
SHAPE = "unsigned blocks, unsigned threads"
LAUNCH = f"{STREAM}, {SHAPE}"
SUMS = "#include <gpusync/reduce/reduce.cuh>\n"
SUM = "cudaStream_t stream, const float* values, size_t count, float* result"
STORAGE = "gpusync::grid_barrier_storage& storage"
WORK = "__device__ void work(float*, int) {}\n"
SOLVE = WORK + """
__global__ void solve(gpusync::grid_barrier barrier, float* data, int steps) {
  for (int s = 0; s < steps; ++s) { work(data, s); barrier.sync(); }
}
"""

WRAPPERS = {
    # README.md
    "relax": cuda(
        "",
        ("#include", ALONE),
        ("gpusync::cuda_device gpu",
         host_function(f"cudaStream_t stream, {SHAPE}, float* a, float* b, int n, int steps"))),
    "split": cuda(
        LIBRARY + "__device__ void prefetch_next() {}\nvoid report(gpusync::uint32_t, gpusync::uint32_t) {}\n",
        ("auto token", kernel("gpusync::grid_barrier barrier")),
        ("for (auto late", host_function(STORAGE))),
    "phased": cuda(
        LIBRARY,
        ("__global__", ALONE),
        ("gpusync::phased_grid_storage", host_function(f"{STREAM}, float* data"))),
    "survive": cuda(
        "#include <gpusync/rmw/cuda.cuh>\n#include <gpusync/rmw/fault_tolerant_cuda.cuh>\n"
        "using namespace gpusync::literals;\n__device__ void redo_lost_rows() {}\n",
        ("auto total", kernel("gpusync::rmw_object<float, 132> object, gpusync::fault_tolerant_barrier<132> barrier, "
                              "const float* values, float* results, int i", "results[i] = before;\n"))),

    # docs/device-header.md
    "by_address": cuda(
        "__device__ void sweep(float*, float*, int) {}\n",
        ("#include <gpusync/device.cuh>", ALONE),
        ("#include <gpusync/launch/cuda_function.cuh>", ALONE),
        ("gpusync::addressed_barrier_storage",
         host_function(f"{STREAM}, CUfunction function, float* a, float* b, int n, int steps"))),
    "by_functions": cuda(
        "#include <gpusync/device_functions.cuh>\n__device__ float step(float*) { return 0; }\n",
        ("extern", ALONE)),
    "in_c": cuda(
        "#include <gpusync/c.h>\nvoid fail(const char*);\n",
        ("gpusync_barrier*", host_function("void* function, void* stream, float* data, int steps"))),

    # docs/neighbours.md
    "neighbours": cuda(
        "",
        ("#include <gpusync/gpusync.cuh>", ALONE),
        ("gpusync::cuda_device gpu", host_function(f"cudaStream_t stream, {SHAPE}, float* state, int steps"))),
    "neighbourhoods": cuda("#include <gpusync/neighbours/cuda.cuh>\n", ("auto ring", host_function(""))),
    "neighbour_barrier": cuda(
        LIBRARY + "#include <gpusync/neighbours/cuda.cuh>\n",
        ("__global__", ALONE),
        ("gpusync::neighbour_barrier_storage",
         host_function(f"{LAUNCH}, float* rows0, float* rows1, int steps"))),

    "channel": cuda(
        LIBRARY,
        ("#include", ALONE),
        ("gpusync::channel_storage", host_function(f"{STREAM}, unsigned threads, float* rows, int chunks"))),

    # docs/concepts.md
    "before": cuda(
        WORK,
        ("#include", ALONE),
        ("void* arguments", host_function(f"float* data, int steps, cudaStream_t stream, {SHAPE}"))),
    "port": cuda(
        WORK,
        ("#include", ALONE),
        ("gpusync::cuda_device gpu",
         host_function(f"cudaStream_t stream, {SHAPE}, float* data, int steps"))),
    "lambda": cuda(
        LIBRARY + WORK,
        ("gpusync::launch", host_function(f"{LAUNCH}, {STORAGE}, float* data, int steps"))),
    "cooperative": cuda(
        LIBRARY + SOLVE,
        ("gpusync::check_launch", host_function(f"{LAUNCH}, {STORAGE}, float* data, int steps"))),
    "chevrons": cuda(
        LIBRARY + SOLVE,
        ("gpusync::check_launch", host_function(f"{LAUNCH}, {STORAGE}, float* data, int steps"))),
    "threads": Wrapper("host", "void work(float*, unsigned, int) {}\n", [
        Part("#include", ALONE),
        Part("gpusync::host_grid_barrier_storage", host_function("float* data, int steps"))]),

    # docs/multi-gpu.md
    "several_gpus": cuda(
        "#include <vector>\n",
        ("#include <gpusync/gpusync.cuh>", ALONE),
        ("gpusync::cuda_device_group", host_function(
            f"const std::vector<cudaStream_t>& streams, {SHAPE}, std::vector<float*>& own, std::vector<float*>& next, "
            "int steps"))),
    "gpu_part": cuda(
        LIBRARY + "#include <vector>\n",
        ("#include", "PRINTED\n__global__ void together(gpusync::multi_gpu_barrier, float*);\n"
                     "std::vector<gpusync::multi_gpu::part_address> exchange(const gpusync::multi_gpu::part_address&);"),
        ("gpusync::cuda_gpu_part", host_function(
            f"{STREAM}, unsigned rank, unsigned ranks, {SHAPE}, float* data"))),
    "nvshmem_part": cuda(
        "",
        ("#include", "PRINTED\n__global__ void together(gpusync::nvshmem_gpu_part::barrier_type, float*);"),
        ("cudaSetDevice", host_function(f"{STREAM}, int own, {SHAPE}, float* data"))),

    # docs/pace.md
    "window": cuda(
        "#include <gpusync/core/config.hpp>\n__device__ size_t place(int panel, int i) { return size_t(panel) * 64 + i; }\n",
        ("#include", ALONE),
        ("gpusync::grid_window_storage", host_function(f"{STREAM}, {SHAPE}, const float* table, float* sums, int panels"))),
    "block_pace": cuda(
        "#include <gpusync/pace/cuda.cuh>\n__device__ float work(int i) { return 1.0f * i; }\n",
        ("__shared__", kernel("float sum, int n, float* out", "*out = sum;\n"))),
    "votes": cuda(
        "#include <gpusync/pace/cuda.cuh>\n__device__ bool step() { return false; }\n",
        ("bool mine", "__device__ void run(gpusync::block_pace<>& pace) {\nPRINTED\n}\n")),

    # docs/advise.md
    "advise": Wrapper("host", "void run_with_grid_barrier() {}\n", [
        Part("#include <gpusync/advice/advice.hpp>", ALONE),
        Part("gpusync::advice::situation", host_function(""))]),

    # docs/task-graphs.md
    "task_graph": cuda(
        "#include <vector>\n#include <gpusync/core/config.hpp>\n"
        "struct tables {\n  gpusync::uint32_t tasks;\n"
        "  __device__ const gpusync::uint32_t* followers(gpusync::uint32_t) const { return nullptr; }\n"
        "  __device__ gpusync::uint32_t followers_of(gpusync::uint32_t) const { return 0; }\n};\n"
        "using gpusync::uint32_t;\n__device__ void work(uint32_t, float*) {}\n",
        ("#include", ALONE),
        ("gpusync::dependency_counter_storage", host_function(
            f"{STREAM}, {SHAPE}, const std::vector<gpusync::uint32_t>& needs, tables graph, float* data"))),

    # docs/grid-barriers.md
    "algorithm": cuda(
        LIBRARY,
        ("#include", host_function("const gpusync::cuda_device& gpu, unsigned blocks"))),
    "handle": cuda(LIBRARY, ("__device__", ALONE)),
    "view": cuda(
        LIBRARY,
        ("auto view", kernel("gpusync::grid_barrier barrier, unsigned first_thread, unsigned threads"))),
    "grid_votes": cuda(LIBRARY + "__device__ float change(const float*, float*) { return 0; }\n", ("__global__", ALONE)),
    "proxy": cuda(
        LIBRARY + "__device__ void compute() {}\n__device__ void own_work() {}\n",
        ("gpusync::proxy_barrier", kernel("gpusync::grid_barrier barrier, unsigned workers, int steps"))),
    "clients": cuda(
        LIBRARY + "__device__ void produce(float&) {}\n__device__ void consume(float&) {}\n",
        ("gpusync::proxy_barrier", kernel("gpusync::grid_barrier barrier, unsigned both, unsigned only_arrive, "
                                          "unsigned only_wait, float* ring, int steps"))),
    "drop": cuda(
        LIBRARY + "__device__ bool relax(float*) { return true; }\n",
        ("__global__", ALONE),
        ("gpusync::launch", host_function(f"{LAUNCH}, {STORAGE}, float* data"))),
    "parts": cuda(
        LIBRARY + "using gpusync::uint32_t;\n",
        ("__global__", ALONE),
        ("gpusync::grid_barrier_storage", host_function("const gpusync::cuda_device& gpu, cudaStream_t stream"))),
    "deadline": cuda(
        LIBRARY + "using namespace gpusync::literals;\nvoid report(gpusync::uint32_t, gpusync::uint32_t, bool) {}\n",
        ("if (barrier", kernel("gpusync::grid_barrier barrier")),
        ("for (auto late", host_function(STORAGE))),
    "clusters": cuda(
        LIBRARY
        + "using barrier_type = gpusync::basic_grid_barrier<gpusync::grid::cluster_first, gpusync::cuda_grid>;\n"
        "__global__ void kernel(barrier_type barrier) { barrier.sync(); }\n",
        ("#include", host_function("const gpusync::cuda_device& gpu, cudaStream_t stream"))),
    "tuning": cuda(
        LIBRARY + "#include <fstream>\n",
        ("std::ifstream", host_function("const gpusync::cuda_device& gpu, unsigned blocks"))),

    # docs/phased.md
    "virtual_blocks": cuda(
        "using gpusync::uint32_t;\n",
        ("#include", ALONE),
        ("gpusync::phased_grid_storage", host_function(f"{STREAM}, float* a, float* b, int n, "
                                                       "unsigned steps"))),
    "state": cuda(
        LIBRARY + "using gpusync::uint32_t;\n__device__ float step(float value, uint32_t) { return value; }\n",
        ("__global__", ALONE),
        ("gpusync::cuda_phased_state", host_function("const gpusync::cuda_device& gpu, unsigned virtual_blocks, "
                                                     "unsigned threads"))),

    # docs/reduce.md
    "sum": cuda(
        "",
        ("#include", ALONE),
        ("gpusync::cuda_device gpu", host_function(SUM))),
    "sum_options": cuda(
        SUMS,
        ("gpusync::reduction_options", host_function(f"gpusync::reduction_storage& storage, {SUM}"))),
    "sum_in_kernel": cuda(
        "",
        ("#include <gpusync/gpusync.cuh>", ALONE),
        ("gpusync::launch", host_function(f"{STREAM}, unsigned blocks, {STORAGE}, const float* values, size_t count, "
                                          "float* parts, float* total"))),
    "sum_tuning": cuda(
        SUMS + "#include <fstream>\n",
        ("std::ifstream", host_function("const gpusync::cuda_device& gpu"))),

    # docs/rmw.md
    "object": cuda(
        "",
        ("#include", ALONE),
        ("gpusync::cuda_rmw_storage", host_function("const gpusync::cuda_device& gpu, const float* values"))),
    "function": cuda(
        "#include <gpusync/rmw/cuda.cuh>\nusing gpusync::uint64_t;\n",
        ("struct extremes", ALONE),
        ("gpusync::cuda_rmw_storage", host_function("const gpusync::cuda_device& gpu"))),
    "lost_blocks": cuda(
        "using namespace gpusync::literals;\n"
        "struct plate {};\nstruct rows {};\n"
        "__device__ rows share(plate, unsigned, unsigned) { return {}; }\n"
        "__device__ void relax_rows(plate, int, rows) {}\n"
        "__device__ void redo_lost_rows(gpusync::fault_tolerant_barrier<132>&, plate, int) {}\n",
        ("#include <gpusync/gpusync.cuh>", ALONE),
        ("gpusync::cuda_fault_tolerant_storage", host_function(f"{LAUNCH}, plate of, int steps"))),
}


def blocks_of(name):
    """Every block of C++ in a document."""
    blocks, lines, begin, mark = [], None, 0, None
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            marked = re.match(r"<!-- compiled: (\S+) -->$", line)
            if lines is None and line.strip() in ("```cpp", "```c++", "```cuda"):
                lines, begin = [], number + 1
            elif lines is not None and line.startswith("```"):
                blocks.append(Block(name, mark, begin, lines))
                lines, mark = None, None
            elif lines is not None:
                lines.append(line.rstrip("\n"))
            elif marked:
                mark = marked.group(1)
            elif mark and line.strip():
                raise ValueError(f"{name}:{number}: behind the mark of {mark!r} no block of C++ begins.")
    return blocks


def in_wrapper(block, wrapper):
    """The program around a block, without its includes, and these. A compiler's message names the document's line."""
    starts = []
    where = f"{block.file}:{block.begin}"
    for part in wrapper.parts:
        found = [i for i, line in enumerate(block.lines) if line.startswith(part.begins)]
        if len(found) != 1 or (starts and found[0] <= starts[-1]) or (not starts and found[0] != 0):
            raise ValueError(f"{where}: no part of this block begins with {part.begins!r} where its wrapper in "
                             f"{os.path.basename(__file__)} wants it. Make the wrapper fit.")
        starts.append(found[0])
    before = wrapper.before.split("\n")
    includes = [line for line in before if line.startswith("#include")]
    text = "\n".join(line for line in before if not line.startswith("#include")) + "\n"
    for part, start, end in zip(wrapper.parts, starts, starts[1:] + [len(block.lines)]):
        printed = block.lines[start:end]
        for number, line in enumerate(printed):
            if line.startswith("#include"):
                includes.append(f'#line {block.begin + start + number} "{block.file}"\n{line}')
                printed[number] = ""
        head, tail = part.around.split("PRINTED")
        text += f'{head}\n#line {block.begin + start} "{block.file}"\n' + "\n".join(printed) + f"\n{tail}\n"
    return includes, text


def one_file(found):
    """One program of many blocks: all includes, then each block in a namespace of its own."""
    includes = [line for _, lines, _ in found for line in lines]
    return "\n".join(includes) + "\n" + "".join(
        f"namespace snippet_{block.name} {{\n{text}\n}}\n" for block, _, text in found)


def commands(options, language, source, folder):
    """What compiles a source of this language here."""
    include = f"-I{options.include}"
    if language == "cuda":
        if options.nvcc:
            # NVSHMEM's calls, which are declared here for where it is not installed.
            nvshmem = f"-I{os.path.join(os.path.dirname(os.path.abspath(__file__)), 'nvshmem')}"
            yield [options.nvcc, nvshmem, "-std=c++17", "--extended-lambda", "-Werror=all-warnings",
                   "-Wno-deprecated-gpu-targets", "-arch=compute_75", "-Xcompiler=-Wall", include, "-c", source,
                   "-o", os.path.join(folder, "snippets.o")]
    else:
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Wnarrowing", "-Werror", "-fsyntax-only", include, source]
        yield [options.cxx, *strict]
        if options.clang:
            yield [options.clang, *strict]


def compiled(options, language, text):
    """How many compilers took it, and what the others say."""
    taken, refused = 0, []
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "snippets.cu" if language == "cuda" else "snippets.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for command in commands(options, language, source, folder):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            taken += done.returncode == 0
            if done.returncode != 0:
                refused.append(f"{os.path.basename(command[0])} refuses the {language} blocks:\n"
                               f"{done.stdout}{done.stderr}")
    return taken, refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("readme")
    parser.add_argument("include")
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--clang")
    parser.add_argument("--also", nargs="*", default=[])
    options = parser.parse_args()
    failures, found, unused = [], {"cuda": [], "host": []}, set(WRAPPERS)
    for document in [options.readme, *options.also]:
        for block in blocks_of(document):
            if block.name is None:
                if document == options.readme:
                    failures.append(f"{document}:{block.begin}: mark this block, `<!-- compiled: NAME -->`.")
                continue
            if block.name not in unused:
                failures.append(f"{document}:{block.begin}: {block.name!r} has no wrapper, or stands twice.")
                continue
            unused.discard(block.name)
            wrapper = WRAPPERS[block.name]
            try:
                found[wrapper.language].append((block, *in_wrapper(block, wrapper)))
            except ValueError as reason:
                failures.append(str(reason))
    failures += [f"no document has the block {name!r}." for name in sorted(unused)]
    for language, blocks in found.items():
        if not blocks:
            continue
        taken, refused = compiled(options, language, one_file(blocks))
        failures += refused
        said = "refused" if refused else "compiled" if taken else "fit their wrappers; there is no nvcc"
        print(f"{len(blocks)} blocks of {language}: {said}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
