// Workload "stencil" on CUDA devices, for points of one kind: compiled for each kind in a file of its own.
#pragma once

#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/stencil/stencil_cuda.hpp"
#include "workloads/stencil/stencil_on_chip.hpp"

namespace gpusync::tool {

/// The text that keeps tiles on the chip. Rods have its methods too, and are refused when a program is prepared.
template <class Real, uint32_t Dimensions>
std::shared_ptr<const cuda_on_chip> on_chip_of(const cuda_target& where, const stencil_size& size, Real* a, Real* b) {
  using text_type = stencil_on_chip<Real, Dimensions>;
  const size_t shared_bytes = where.device().properties().sharedMemPerBlockOptin;
  const auto fit = [=](const step_shape& shape) {
    // A kernel with a barrier has some words of static shared memory.
    constexpr size_t of_barriers = 64;
    const tile_room room{shared_bytes - of_barriers, shape.threads, text_type::most_rows, sizeof(Real)};
    const tiles_that_fit found = tiles_for(size, shape.blocks, room);
    return cuda_on_chip::fitted{bytes_of(text_type{{}, a, b, size, found.tiles}), found.bytes};
  };
  return std::make_shared<const cuda_on_chip>(cuda_on_chip{on_chip_kernels_of<text_type, few_barriers>(), fit});
}

template <class Real>
cuda_computation relaxation_on_cuda(const cuda_target& where, const stencil_body& body) {
  const auto memory = std::make_shared<cuda_arrays>(where, body.content());
  const stencil_size size = body.size();
  Real* const a = memory->address<Real>(0);
  Real* const b = memory->address<Real>(1);
  cuda_computation made = with_stencil_text(size, a, b, [&](const auto& text) {
    using text_type = std::decay_t<decltype(text)>;
    return cuda_computation{where, kernels_of<text_type, grid::cuda_algorithms, barriers::that_order>(), text,
                            body.steps(), body.result(memory)};
  });
  made.on_chip = size.depth == 1 ? on_chip_of<Real, 2>(where, size, a, b) : on_chip_of<Real, 3>(where, size, a, b);
  return made;
}

}  // namespace gpusync::tool
