#!/usr/bin/env python3
"""Compiles every ```cpp block of README.md as it is printed.

usage: readme_snippets.py README INCLUDE_DIRECTORY --cxx COMPILER [--nvcc COMPILER] [--clang COMPILER]

A block leaves out what a reader can do without: includes, the function around it, the names that it takes from there.
WRAPPERS has these, block by block in the order of README.md, and says where a block passes from device to host code. A
block without a wrapper, or one that a wrapper does not fit any more, is a failure.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

# begins: how the part's first line begins; the first part of a block has all lines up to the next part.
# around: what it stands in; PRINTED is replaced by the part.
Part = collections.namedtuple("Part", "begins around")
# language: cuda or host. before: at the head of the file.
Wrapper = collections.namedtuple("Wrapper", "language before parts")

AS_IT_IS = "PRINTED"

WRAPPERS = [
    # The shortest useful program.
    Wrapper("cuda", "", [
        Part("#include", AS_IT_IS),
        Part("gpusync::cuda_device gpu", """
void host(cudaStream_t stream, unsigned blocks, unsigned threads, float* a, float* b, int n, int steps) {
PRINTED
}"""),
    ]),
    # Split phase, a deadline, and who was missing.
    Wrapper("cuda", """
#include <gpusync/gpusync.cuh>
__device__ void prefetch_next() {}
void report(gpusync::uint32_t, gpusync::uint32_t) {}
""", [
        Part("auto token", """
__global__ void kernel(gpusync::grid_barrier barrier) {
PRINTED
}"""),
        Part("for (auto late", """
void host(gpusync::grid_barrier_storage& storage) {
PRINTED
}"""),
    ]),
    # Blocks that leave, teams, a warp that waits for its block.
    Wrapper("cuda", """
#include <gpusync/gpusync.cuh>
__global__ void teams(gpusync::part_grid_barrier, gpusync::part_grid_barrier) {}
""", [
        Part("barrier.arrive_and_drop", """
__global__ void leaves(gpusync::dropping_grid_barrier barrier) {
PRINTED
}"""),
        Part("gpusync::launch", """
void host(const gpusync::cuda_device& gpu, cudaStream_t stream, const gpusync::launch_shape& shape,
          gpusync::grid_barrier_storage& left, gpusync::grid_barrier_storage& right) {
PRINTED
}"""),
        Part("gpusync::proxy_barrier", """
__global__ void proxy(gpusync::grid_barrier barrier, unsigned workers) {
PRINTED
  proxy.serve();
}"""),
    ]),
    # Wait-free objects.
    Wrapper("cuda", """
#include <gpusync/rmw/cuda.cuh>
#include <gpusync/rmw/fault_tolerant_cuda.cuh>
using namespace gpusync::literals;
__device__ void redo_lost_rows() {}
""", [
        Part("auto total", """
__global__ void kernel(gpusync::rmw_object<float, 132> object, gpusync::fault_tolerant_barrier<132> barrier,
                       const float* values, float* results) {
  const unsigned i = blockIdx.x;
PRINTED
  results[i] = before;
}"""),
    ]),
]


def blocks_of(readme):
    """The text of every cpp block, with the number of its first line."""
    blocks, lines, begin = [], None, 0
    with open(readme, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if lines is None and line.strip() in ("```cpp", "```c++", "```cuda"):
                lines, begin = [], number + 1
            elif lines is not None and line.startswith("```"):
                blocks.append((begin, lines))
                lines = None
            elif lines is not None:
                lines.append(line.rstrip("\n"))
    return blocks


def source_of(readme, begin, lines, wrapper):
    """The program around a block; a compiler's message names README.md's line."""
    starts = []
    for part in wrapper.parts:
        found = [i for i, line in enumerate(lines) if line.startswith(part.begins)]
        if len(found) != 1 or (starts and found[0] <= starts[-1]) or (not starts and found[0] != 0):
            raise ValueError(f"{readme}:{begin}: no part of this block begins with {part.begins!r} where its wrapper in "
                             f"{os.path.basename(__file__)} wants it. Make the wrapper fit.")
        starts.append(found[0])
    text = wrapper.before + "\n"
    for part, start, end in zip(wrapper.parts, starts, starts[1:] + [len(lines)]):
        printed = "\n".join(lines[start:end])
        head, tail = part.around.split("PRINTED")
        text += f'{head}\n#line {begin + start} "{readme}"\n{printed}\n{tail}\n'
    return text


def commands(options, language, source, folder):
    """What compiles a source of this language here."""
    include = f"-I{options.include}"
    if language == "cuda":
        if options.nvcc:
            yield [options.nvcc, "-std=c++17", "-Werror=all-warnings", "-Wno-deprecated-gpu-targets", "-arch=compute_75",
                   "-Xcompiler=-Wall", include, "-c", source, "-o", os.path.join(folder, "snippet.o")]
    else:
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Wnarrowing", "-Werror", "-fsyntax-only", include, source]
        yield [options.cxx, *strict]
        if options.clang:
            yield [options.clang, *strict]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("readme")
    parser.add_argument("include")
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--clang")
    options = parser.parse_args()
    blocks = blocks_of(options.readme)
    failures = []
    if len(blocks) != len(WRAPPERS):
        failures.append(f"{options.readme} has {len(blocks)} blocks of C++, and there are {len(WRAPPERS)} wrappers.")
    for number, ((begin, lines), wrapper) in enumerate(zip(blocks, WRAPPERS), 1):
        try:
            text = source_of(options.readme, begin, lines, wrapper)
        except ValueError as reason:
            failures.append(str(reason))
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "snippet.cu" if wrapper.language == "cuda" else "snippet.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            compiled = 0
            for command in commands(options, wrapper.language, source, folder):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                compiled += 1
                if done.returncode != 0:
                    failures.append(f"{options.readme}:{begin}: {os.path.basename(command[0])} refuses block {number}:\n"
                                    f"{done.stdout}{done.stderr}")
            print(f"block {number} (line {begin}): {'compiled' if compiled else 'fits its wrapper; there is no nvcc'}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


sys.exit(main())
