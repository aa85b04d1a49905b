// For kernels alone: barriers, votes, phased grids, neighbours, pace and wait-free objects, under the names that they
// have in the headers with host code. Compiles under NVRTC with this folder on the path and nothing else, and under
// nvcc and clang (docs/device-header.md).
#pragma once

#include <gpusync/grid/device.cuh>
#include <gpusync/grid/proxy_barrier.cuh>
#include <gpusync/neighbours/device.cuh>
#include <gpusync/pace/device.cuh>
#include <gpusync/phased/device.cuh>
#include <gpusync/rmw/device.cuh>
