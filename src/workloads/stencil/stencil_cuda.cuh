// Workload "stencil" on CUDA devices, for points of one kind: compiled for each kind in a file of its own.
#pragma once

#include <gpusync/gpusync.cuh>
#include <gpusync/neighbours/cuda.cuh>

#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/cuda_waiting.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/stencil/stencil_cuda.hpp"
#include "workloads/stencil/stencil_on_chip.hpp"
#include "workloads/stencil/stencil_strips.hpp"

namespace gpusync::tool {

/// The tiles that a grid keeps on the chip. Throws invalid_argument if they do not fit.
template <class Text, class Real>
tiles_that_fit tiles_on_chip(const cuda_target& where, const stencil_size& size, const step_shape& shape) {
  // A kernel with a barrier has some words of static shared memory.
  constexpr size_t of_barriers = 64;
  const size_t shared_bytes = where.device().properties().sharedMemPerBlockOptin;
  return tiles_for(size, shape.blocks, {shared_bytes - of_barriers, shape.threads, Text::most_rows, sizeof(Real)});
}

/// The text that keeps tiles on the chip. Rods have its methods too, and are refused when a program is prepared.
template <class Real, uint32_t Dimensions>
void add_tiles_on_chip(cuda_computation& to, const stencil_size& size, Real* a, Real* b) {
  using text_type = stencil_on_chip<Real, Dimensions>;
  const cuda_target& where = *to.where;
  const auto fit = [&where, size, a, b](const step_shape& shape) {
    const tiles_that_fit found = tiles_on_chip<text_type, Real>(where, size, shape);
    return cuda_on_chip::fitted{bytes_of(text_type{{}, a, b, size, found.tiles}), found.bytes};
  };
  to.on_chip = std::make_shared<const cuda_on_chip>(cuda_on_chip{on_chip_kernels_of<text_type, few_barriers>(), fit});
  const auto of_neighbours = [size](const cuda_target& on, const step_shape& shape) {
    const stencil_tiles tiles = tiles_on_chip<text_type, Real>(on, size, shape).tiles;
    return waiting_by(
        on,
        [&on, tiles, blocks = shape.blocks] {
          return neighbour_barrier_storage(on.device(), tile_neighbours(tiles, blocks));
        },
        [](neighbour_barrier_storage& storage) { return storage.barrier(); });
  };
  to.own.push_back({stencil_method("neighbour-barrier-on-chip", "barrier of neighbours, data on the chip"),
                    reinterpret_cast<const void*>(&run_all_steps<text_type, neighbour_barrier>), of_neighbours, fit});
  to.own.push_back(
      {stencil_method("neighbour-barrier-on-chip-split", "barrier of neighbours, data on the chip, split phase"),
       reinterpret_cast<const void*>(&run_split_steps<text_type, neighbour_barrier>), of_neighbours, fit});
}

template <class Text, class Halo>
__global__ void __launch_bounds__(Text::most_threads, 1) relax_strips_by_halo(Text text, uint32_t steps, Halo halo) {
  const cuda_exchange_grid grid;
  strips_by_halo<typename Text::real, Text::columns / 2, Halo> rows(halo, grid, text.size.width);
  text.relax(grid, steps, rows);
}
template <class Text, class Barrier, bool Split>
__global__ void __launch_bounds__(Text::most_threads, 1)
    relax_strips_by_barrier(Text text, uint32_t steps, Barrier barrier) {
  const cuda_exchange_grid grid;
  strips_by_barrier<typename Text::real, Text::columns / 2, Barrier, Split> rows(barrier, grid, text.rim,
                                                                                 text.size.width, text.strips());
  text.relax(grid, steps, rows);
}

/// What blocks wait by whose strips lie side by side, and the grid: their storages for a shape.
template <class Real>
auto strips_halo(const cuda_target& on, const stencil_size& size, const step_shape& shape) {
  return placed_halo<Real>(on, strip_neighbours(size.height / strip_rows(size.width), shape.blocks), 2 * size.width);
}
inline auto waiting_by_barrier(const char* name) {
  return [name](const cuda_target& on, const step_shape& shape) -> std::unique_ptr<cuda_waiting> {
    return make_cuda_barrier(name, on, shape.blocks, std::nullopt);
  };
}

/// Adds a method of strips that is compiled for each number of pairs of points a thread that a shape may ask for:
/// `text_of(pairs)`, and its kernel: `kernel_of(text)`.
template <uint32_t... Pairs, class TextOf, class KernelOf, class WaitsBy>
void add_strip_method(cuda_computation& to, const stencil_size& size, step_method method, TextOf text_of,
                      KernelOf kernel_of, WaitsBy waits_by) {
  const auto fit = [=](const step_shape& shape) {
    require_strips(size, shape);
    cuda_on_chip::fitted found{};
    const auto take_if_it_fits = [&](const auto& text) {
      if (text.columns != 2 * strip_pairs(size, shape)) return;
      found = {bytes_of(text), text.shared_bytes(shape.threads, cuda_grid::warp_size), kernel_of(text)};
    };
    (take_if_it_fits(text_of(std::integral_constant<uint32_t, Pairs>{})), ...);
    return found;
  };
  const void* const kernels[] = {kernel_of(text_of(std::integral_constant<uint32_t, Pairs>{}))...};
  to.own.push_back({std::move(method), kernels[0], waits_by, fit});
}

/// The text that keeps strips on the chip, of so many rows, compiled for each number of pairs of points a thread that a
/// shape may ask for; `rim`: see there.
template <class Real, uint32_t Rows, uint32_t... Pairs>
void add_strips(cuda_computation& to, const stencil_size& size, Real* body, Real* rim) {
  using halo_type = halo<Real, halo_form::words>;
  const auto by_halo = [size](const cuda_target& on, const step_shape& shape) {
    return waiting_by(
        on, [&on, size, shape] { return strips_halo<Real>(on, size, shape); },
        [](halo_storage<Real>& storage) { return storage.template halo<halo_form::words>(); });
  };
  const auto by_neighbours = [size](const cuda_target& on, const step_shape& shape) {
    return waiting_by(
        on,
        [&on, size, blocks = shape.blocks] {
          return neighbour_barrier_storage(on.device(), strip_neighbours(size.height / Rows, blocks));
        },
        [](neighbour_barrier_storage& storage) { return storage.barrier(); });
  };
  const auto add = [&](step_method method, auto kernel_of, auto waits_by) {
    const auto text_of = [=](auto pairs) {
      return stencil_strips<Real, Rows, decltype(pairs)::value>{{}, body, rim, size};
    };
    add_strip_method<Pairs...>(to, size, std::move(method), text_of, kernel_of, waits_by);
  };
  const auto by = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  add(
      stencil_method("halo-strips", "halo of words that carry their step, strips on the chip"),
      [by](const auto& text) { return by(&relax_strips_by_halo<std::decay_t<decltype(text)>, halo_type>); }, by_halo);
  add(
      stencil_method("neighbour-barrier-strips", "barrier of neighbours, strips on the chip, split phase"),
      [by](const auto& text) {
        return by(&relax_strips_by_barrier<std::decay_t<decltype(text)>, neighbour_barrier, true>);
      },
      by_neighbours);
  step_method barrier = stencil_barrier_method(method_names::default_barrier + std::string("-strips"),
                                               "grid barrier, strips on the chip");
  add(
      barrier,
      [by](const auto& text) {
        return by(&relax_strips_by_barrier<std::decay_t<decltype(text)>, grid_barrier, false>);
      },
      waiting_by_barrier(method_names::default_barrier));
  barrier.name += "-split";
  barrier.title += ", split phase";
  add(
      barrier,
      [by](const auto& text) { return by(&relax_strips_by_barrier<std::decay_t<decltype(text)>, grid_barrier, true>); },
      waiting_by_barrier(method_names::default_barrier));
  add(
      stencil_barrier_method("cg-strips", "cooperative groups, strips on the chip", true),
      [by](const auto& text) {
        using barrier_type = barrier_with<grid::cooperative_groups>;
        return by(&relax_strips_by_barrier<std::decay_t<decltype(text)>, barrier_type, false>);
      },
      waiting_by_barrier("cg"));
}

template <class Real>
cuda_computation relaxation_on_cuda(const cuda_target& where, const stencil_body& body) {
  const stencil_size size = body.size();
  std::vector<array_content> content = body.content();
  content.push_back(array_content::filled(size_t{4} * most_strips * size.width, Real{0}, false));  // their rims
  const auto memory = std::make_shared<cuda_arrays>(where, std::move(content));
  Real* const a = memory->address<Real>(0);
  Real* const b = memory->address<Real>(1);
  cuda_computation made = with_stencil_text(size, a, b, [&](const auto& text) {
    using text_type = std::decay_t<decltype(text)>;
    return cuda_computation{where, kernels_of<text_type, grid::cuda_algorithms, barriers::that_order>(), text,
                            body.steps(), body.result(memory)};
  });
  if (size.depth != 1) {
    add_tiles_on_chip<Real, 3>(made, size, a, b);
    return made;
  }
  add_tiles_on_chip<Real, 2>(made, size, a, b);
  Real* const rim = memory->address<Real>(2);
  if (strip_rows(size.width) == 8) {
    add_strips<Real, 8, 1, 2>(made, size, a, rim);
  } else {
    add_strips<Real, 16, 2, 4>(made, size, a, rim);
  }
  return made;
}

}  // namespace gpusync::tool
