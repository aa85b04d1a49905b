"""The kernel that all front ends run, in CUDA C++: phases that are checked, or empty.

In a phase one thread of each block, another one each time, writes the block's word, and after the barrier every thread reads
the word of another block with a plain load. What is written depends on a seed, so that nothing of an earlier launch can be
taken for it. `seen[block]` becomes how many threads of the block saw a wrong word, `seen[blocks + block]` the phases."""

BLOCKS, THREADS = 132, 256

BODY = r"""
template <class Barrier>
__device__ void phases_of(Barrier& barrier, unsigned* data, unsigned* seen, int phases, int check, int seed) {
  const unsigned b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
  unsigned bad = 0;
  for (int p = 0; p < phases; ++p) {
    if (check && t == p % blockDim.x) data[(p & 1) * n + b] = seed + p * n + b;
    barrier.sync();
    if (check) {
      unsigned other = b + 1 + (p + t) % (n - 1);
      if (other >= n) other -= n;
      bad |= data[(p & 1) * n + other] != seed + p * n + other;
    }
  }
  const int wrong = __syncthreads_count(bad);
  if (t == 0) {
    seen[b] = wrong;
    seen[n + b] = phases;
  }
}
struct block_alone { __device__ void sync() { __syncthreads(); } };
"""

_PARAMETERS = "unsigned* data, unsigned* seen, int phases, int check, int seed"

SOURCE = f"""
#include <gpusync/device.cuh>
{BODY}
extern "C" __global__ void gpusync_phases(unsigned long long address, {_PARAMETERS}) {{
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  phases_of(barrier, data, seen, phases, check, seed);
}}
extern "C" __global__ void none_phases(unsigned long long, {_PARAMETERS}) {{
  block_alone barrier;
  phases_of(barrier, data, seen, phases, check, seed);
}}
"""

# NVIDIA's, which needs the toolkit's headers.
CG_SOURCE = f"""
#include <cooperative_groups.h>
{BODY}
extern "C" __global__ void cg_phases(unsigned long long, {_PARAMETERS}) {{
  auto grid = cooperative_groups::this_grid();
  phases_of(grid, data, seen, phases, check, seed);
}}
"""

# The same with the numbers in memory, for front ends whose scalars are part of the program.
FROM_MEMORY_SOURCE = f"""
#include <gpusync/device.cuh>
{BODY}
extern "C" __global__ void gpusync_phases(unsigned long long address, const int* numbers, unsigned* data, unsigned* seen) {{
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  phases_of(barrier, data, seen, numbers[0], numbers[1], numbers[2]);
}}
extern "C" __global__ void none_phases(unsigned long long, const int* numbers, unsigned* data, unsigned* seen) {{
  block_alone barrier;
  phases_of(barrier, data, seen, numbers[0], numbers[1], numbers[2]);
}}
"""

# A block that never comes, and others that wait for it 20 ms: for misuse.
DEAD_BLOCK = r"""
#include <gpusync/device.cuh>
extern "C" __global__ void dead_block(unsigned long long address, int dead) {
  using namespace gpusync::literals;
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  barrier.sync();
  if (blockIdx.x == dead) return;
  if (barrier.sync_for(20_ms) == gpusync::wait_status::timed_out) return;
  barrier.sync();
}
"""
