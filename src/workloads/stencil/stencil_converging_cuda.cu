// Workload "stencil" on CUDA devices until it has converged.
#include "boundary/cuda_survey.cuh"
#include "workloads/stencil/stencil_converging.hpp"
#include "workloads/stencil/stencil_cuda.cuh"

namespace gpusync::tool {

namespace {

/// Barriers that bring nothing, to compare with: our default and NVIDIA's.
using converging_barriers =
    grid::algorithm_list<grid::cooperative_groups, grid::placed_counters<ordering::acquire_release>>;

template <class Text, class Real>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    converge_by_votes(stencil_by_votes<Text, Real> text, uint32_t, grid_barrier barrier) {
  text.run(cuda_exchange_grid{}, barrier);
}

template <class Text, template <class, uint32_t, class> class Exchange, class Barrier>
__global__ void __launch_bounds__(Text::most_threads, 1) converge_strips(Text text, uint32_t, Barrier barrier) {
  const cuda_exchange_grid grid;
  Exchange<typename Text::real, Text::columns / 2, Barrier> rows(barrier, grid, text);
  text.converge(grid, rows);
}

template <class Text, class Halo>
__global__ void __launch_bounds__(Text::most_threads, 1)
    converge_strips_by_halo(Text text, uint32_t, Halo halo, grid_barrier votes) {
  const cuda_exchange_grid grid;
  strips_by_halo_and_votes<typename Text::real, Text::columns / 2, Halo, grid_barrier> rows(halo, votes, grid, text);
  text.converge(grid, rows);
}

/// What the blocks of converge_strips_by_halo wait by.
template <class Real>
struct halo_and_votes {
  std::unique_ptr<halo_storage<Real>> rows;
  grid_barrier_storage votes;
};

/// One kernel whose barriers bring the answers; `fit`: see cuda_own_method.
template <class Text, class Real, class Fit>
cuda_own_method by_votes(const char* name, const char* title, Fit fit) {
  return {stencil_barrier_method(name, title), reinterpret_cast<const void*>(&converge_by_votes<Text, Real>),
          waiting_by_barrier(method_names::default_barrier), fit};
}

template <class Real, uint32_t Dimensions>
void add_converging_tiles(cuda_computation& to, const stencil_size& size, Real* a, Real* b,
                          const convergence<Real>& until) {
  using text_type = stencil_on_chip<Real, Dimensions>;
  to.own.push_back(by_votes<text_type, Real>(
      "votes-on-chip", "grid barrier that brings the answer, data on the chip",
      [&where = *to.where, size, a, b, until](const step_shape& shape) {
        const tiles_that_fit found = tiles_on_chip<text_type, Real>(where, size, shape);
        const text_type text{{}, a, b, size, found.tiles};
        return cuda_on_chip::fitted{bytes_of(stencil_by_votes<text_type, Real>{text, until}), found.bytes};
      }));
}

template <class Real, uint32_t Rows, uint32_t... Pairs>
void add_converging_strips(cuda_computation& to, const stencil_size& size, Real* body, Real* rim,
                           const convergence<Real>& until) {
  const auto text_of = [=](auto pairs) {
    return converging_strips<Real, Rows, decltype(pairs)::value>{{{}, body, rim, size}, until};
  };
  const auto add = [&](step_method method, auto kernel_of, auto waits_by) {
    add_strip_method<Pairs...>(to, size, std::move(method), text_of, kernel_of, waits_by);
  };
  const auto by = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  add(
      stencil_barrier_method("cg-strips", "cooperative groups and words in memory, strips on the chip", true),
      [by](const auto& text) {
        using barrier_type = barrier_with<grid::cooperative_groups>;
        return by(&converge_strips<std::decay_t<decltype(text)>, strips_by_words, barrier_type>);
      },
      waiting_by_barrier("cg"));
  add(
      stencil_barrier_method("votes-strips", "grid barrier that brings the answer, strips on the chip, split phase"),
      [by](const auto& text) {
        return by(&converge_strips<std::decay_t<decltype(text)>, strips_by_votes, grid_barrier>);
      },
      waiting_by_barrier(method_names::default_barrier));
  add(
      stencil_method("halo-votes-strips", "halo of words, and votes without ordering beside it, strips on the chip"),
      [by](const auto& text) {
        return by(&converge_strips_by_halo<std::decay_t<decltype(text)>, halo<Real, halo_form::words>>);
      },
      [size](const cuda_target& on, const step_shape& shape) {
        const auto rows = [&on, size, shape] {
          return std::make_unique<halo_storage<Real>>(strips_halo<Real>(on, size, shape));
        };
        return waiting_by_several(
            on,
            [&on, shape, rows] {
              return halo_and_votes<Real>{rows(), default_grid_barrier(on, shape.blocks)};
            },
            [](halo_and_votes<Real>& both, auto&& take) {
              take(both.rows->template halo<halo_form::words>(), both.votes.barrier());
            },
            [rows](halo_and_votes<Real>& both) { both.rows = rows(); });
      });
}

template <class Real, uint32_t Dimensions>
cuda_computation converging(const cuda_target& where, const stencil_body& body) {
  const stencil_size size = body.size();
  std::vector<array_content> content = converging_arrays(body);
  content.push_back(array_content::filled(size_t{4} * most_strips * size.width, Real{0}, false));  // strips' rims
  const auto memory = std::make_shared<cuda_arrays>(where, std::move(content));
  Real* const a = memory->address<Real>(0);
  Real* const b = memory->address<Real>(1);
  const step_sequence steps = converging_steps(body);
  const auto until = convergence_of<Real>(body, memory->address<uint32_t>(2));
  const auto text = stencil_text_ending_in<Dimensions>(a, b, size, steps.count);
  const converging_stencil<Real, Dimensions> asking(text, until);
  cuda_computation made{where, kernels_of<converging_stencil<Real, Dimensions>, converging_barriers>(), asking, steps,
                        std::make_shared<converged_result>(body, memory)};
  made.goes_on = [asking](uint32_t number) { return asking.goes_on(number); };
  using text_type = stencil_text<Real, Dimensions>;
  made.own.push_back(
      by_votes<text_type, Real>("votes", "grid barrier that brings the answer", [text, until](const step_shape&) {
        return cuda_on_chip::fitted{bytes_of(stencil_by_votes<text_type, Real>{text, until}), 0};
      }));
  add_converging_tiles<Real, Dimensions>(made, size, a, b, until);
  if constexpr (Dimensions == 2) {
    Real* const rim = memory->address<Real>(3);
    if (strip_rows(size.width) == 8) {
      add_converging_strips<Real, 8, 1, 2>(made, size, a, rim, until);
    } else {
      add_converging_strips<Real, 16, 2, 4>(made, size, a, rim, until);
    }
  }
  return made;
}

template <class Real>
cuda_computation converging(const cuda_target& where, const stencil_body& body) {
  if (body.size().depth == 1) return converging<Real, 2>(where, body);
  return converging<Real, 3>(where, body);
}

}  // namespace

cuda_computation converging_relaxation_on_cuda(const cuda_target& where, const stencil_body& body) {
  return body.real() == stencil_real::twice ? converging<double>(where, body) : converging<float>(where, body);
}

}  // namespace gpusync::tool
