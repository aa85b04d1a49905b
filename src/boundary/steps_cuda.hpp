// Computations in steps on CUDA devices, under every way to pass from step to step: the engine. Needs no nvcc.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "boundary/cuda_arrays.hpp"
#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_kernels.hpp"
#include "boundary/cuda_target.hpp"
#include "boundary/program.hpp"
#include "measure/cuda_timer.cuh"

namespace gpusync::tool {

/// What queues a step where a function of a library does it: told the stream and the step's number.
using queued_call = std::function<void(cudaStream_t, uint32_t number)>;

/// Another text of a computation, which keeps its data on the chip from step to step: its methods are those of the
/// barriers that it was compiled with, with "-on-chip" behind their names, and with "-on-chip-split" where blocks
/// arrive in the middle of a step.
struct cuda_on_chip {
  /// For one shape.
  struct fitted {
    std::vector<unsigned char> text;
    size_t shared_bytes;           ///< of dynamic shared memory for a block
    const void* kernel = nullptr;  ///< that is compiled for this shape; null: the method's
  };

  cuda_on_chip_kernels kernels;
  /// Throws invalid_argument, with what lacks, if the data do not fit.
  std::function<fitted(const step_shape&)> fit;
};

/// A way to pass from step to step that only one computation has: a kernel (text, steps, handle) whose blocks wait by a
/// handle of their own, or a kernel (text, steps).
struct cuda_own_method {
  step_method method;
  const void* kernel;
  /// What it waits by, for a shape; null: nothing. Throws what a storage throws.
  std::function<std::unique_ptr<cuda_waiting>(const cuda_target&, const step_shape&)> waits_by;
  /// Another text for a shape; null: that of the computation, and no dynamic shared memory.
  std::function<cuda_on_chip::fitted(const step_shape&)> fit = nullptr;
};

/// The bytes of a text, as kernels get it.
template <class Text>
std::vector<unsigned char> bytes_of(const Text& text) {
  std::vector<unsigned char> bytes(sizeof(Text));
  std::memcpy(bytes.data(), &text, sizeof(Text));
  return bytes;
}

/// For a computation that ends by itself: the word in device memory that is not 0 behind the step told `number` if
/// another is to come. Steps behind the last do nothing. Launches replay 32 steps again and again, so that numbers must
/// come back after so many, whatever the length of a run.
using goes_on_word = std::function<const uint32_t*(uint32_t number)>;

/// One computation on one device: its kernels, what they get first, and what that works on.
struct cuda_computation {
  /// `where_` must outlive it.
  template <class Text>
  cuda_computation(const cuda_target& where_, cuda_kernels kernels_, const Text& text_, step_sequence steps_,
                   std::shared_ptr<run_data> data_)
      : where(&where_),
        kernels(std::move(kernels_)),
        text(bytes_of(text_)),
        steps(std::move(steps_)),
        data(std::move(data_)) {}

  /// Steps that are calls, which may be queued and captured: what they start, they know. Methods: the host waits for
  /// each, or they are queued one after the other, or they are a graph.
  cuda_computation(const cuda_target& where_, queued_call call_, step_sequence steps_, std::shared_ptr<run_data> data_)
      : where(&where_), call(std::move(call_)), steps(std::move(steps_)), data(std::move(data_)) {}

  /// The same text with the words that are waited on elsewhere: see program::place_anew().
  template <class Text>
  void add_place(const Text& text_) {
    places.push_back(bytes_of(text_));
  }

  const cuda_target* where;
  cuda_kernels kernels = {};
  queued_call call = nullptr;  ///< in the place of kernels
  std::vector<unsigned char> text;
  step_sequence steps;
  std::shared_ptr<run_data> data;
  goes_on_word goes_on = nullptr;  ///< not null: launches ask it; `steps` are then what they come to
  std::vector<std::vector<unsigned char>> places = {};    ///< other texts, if there are any
  std::shared_ptr<const cuda_on_chip> on_chip = nullptr;  ///< null: there is no such text
  std::vector<cuda_own_method> own = {};                  ///< methods besides those of the engine
};

/// Timing; what differs between programs is how the steps of a run are carried out.
class cuda_program : public checked_program {
 public:
  cuda_program(const cuda_target& where, const launch_shape& shape, std::shared_ptr<run_data> data,
               step_sequence steps);

 protected:
  /// Makes ready what a run of so many steps needs; not in the figure.
  virtual void arrange(uint32_t steps) { (void)steps; }
  /// Queues so many steps on the stream, or carries them out.
  virtual void carry_out(uint32_t steps) = 0;
  /// Whether the host waits within carry_out(), so that its clock says what the steps take.
  virtual bool by_host_clock() const { return false; }

  const cuda_target& where_;
  const launch_shape shape_;

 private:
  double compute(uint32_t steps) override;

  cuda_timer timer_;
};

/// Every method of a computation whose steps are calls.
std::vector<step_method> methods_of_calls();

/// Every method that a computation has on a device which was compiled with the barriers of `kernels`; the floor, one
/// kernel that waits for nothing, only if `floor`.
std::vector<step_method> methods_on_cuda(const cuda_device& device, const cuda_kernels& kernels, bool floor);

/// The program of one of these methods, or, though computations from an input to a result do not list it, of
/// method_names::none: tests see with it that checks find what a barrier prevents. See workload::prepare().
std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         cuda_computation computation);

/// See workload::max_co_resident().
uint64_t max_co_resident_on_cuda(const cuda_device& device, const cuda_kernels& kernels,
                                 const std::vector<step_method>& methods, uint32_t threads);

// What workload_of() asks of a computation.
std::vector<step_method> methods_of(const cuda_computation& what);
uint64_t max_co_resident_of(const cuda_computation& what, const std::vector<step_method>& methods, uint32_t threads);

/// Queues a kernel with all its blocks running at once, as gpusync::launch() does; the barrier, if there is one, is its
/// last parameter. Throws what gpusync::launch() throws.
void launch_with(const cuda_target& where, const launch_shape& shape, const void* kernel, std::vector<void*> arguments,
                 cuda_waiting* barrier);

}  // namespace gpusync::tool
