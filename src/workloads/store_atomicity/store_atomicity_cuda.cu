// Workload "store atomicity" on CUDA devices.
#include "measure/host_timer.hpp"
#include "workloads/store_atomicity/store_atomicity.hpp"
#include "workloads/store_atomicity/store_atomicity_kernels.cuh"

namespace gpusync::tool {

namespace {

using part_barrier = basic_grid_barrier<grid::lock_based<ordering::acquire_release>, cuda_grid, block_range>;

/// How the launches of one test look.
struct litmus_form {
  void (*kernel)(litmus_task, part_barrier) = nullptr;
  uint32_t threads = litmus_threads;
  uint32_t writers = 2;
  uint32_t words = 32;       // of a segment
  uint32_t shift = 0;        // of 4 bytes
  uint32_t line_words = 32;  // of 4 bytes, for one segment
  bool cells = false, split = false;
};

/// A method's name and form for one memory.
struct named_form {
  litmus_method method;
  std::function<litmus_form(const litmus_setup&)> form;
};

template <rmw::space Where, class Word>
litmus_form stores(const litmus_setup& setup) {
  litmus_form form;
  form.kernel = litmus_stores<Where, Word, part_barrier>;
  form.words = setup.bytes / setup.word_bytes;
  return form;
}

template <rmw::space Where>
litmus_form stores_of_any(const litmus_setup& setup) {
  return setup.word_bytes == 8 ? stores<Where, uint64_t>(setup) : stores<Where, uint32_t>(setup);
}

template <rmw::space Where, uint32_t N, bool Fenced>
litmus_form consensus(const litmus_setup&) {
  litmus_form form;
  form.kernel = litmus_consensus<Where, N, Fenced, part_barrier>;
  form.writers = N;
  form.threads = N == 16 ? 512 : litmus_threads;
  form.line_words = (rmw::coalesced_store<litmus_under_test, Where>::words(N) + 15) / 16 * 32;
  return form;
}

template <rmw::space Where>
std::vector<named_form> forms() {
  const std::string item = Where == rmw::space::global ? "H3" : "H5";
  std::vector<named_form> all;
  all.push_back({{"random-masks", {item}}, stores_of_any<Where>});
  all.push_back({{"object-cells", {item, "H9"}, 15}, [](const litmus_setup& setup) {  // of five participants
                   litmus_form form = stores_of_any<Where>(setup);
                   form.writers = 5;
                   form.cells = true;
                   return form;
                 }});
  all.push_back({{"split-store", {item}, 2, true}, [](const litmus_setup& setup) {
                   litmus_form form = stores_of_any<Where>(setup);
                   form.split = true;
                   return form;
                 }});
  if constexpr (Where == rmw::space::global) {
    all.push_back({{"across-lines", {item}, 2, true}, [](const litmus_setup& setup) {
                     litmus_form form = stores_of_any<Where>(setup);
                     form.shift = (128 - setup.bytes / 2) / 4;
                     return form;
                   }});
  }
  all.push_back({{"consensus-5", {"H2"}, 0}, consensus<Where, 5, true>});
  all.push_back({{"consensus-5-unfenced", {"H2"}, 0, true}, consensus<Where, 5, false>});
  if constexpr (Where == rmw::space::shared) {
    all.push_back({{"consensus-16", {"H2"}, 0}, consensus<Where, 16, true>});
  }
  return all;
}

std::vector<named_form> forms_in(rmw::space where) {
  return where == rmw::space::global ? forms<rmw::space::global>() : forms<rmw::space::shared>();
}

class cuda_litmus_program : public litmus_program {
 public:
  cuda_litmus_program(const cuda_target& where, const litmus_setup& setup, const litmus_form& form)
      : where_(where), setup_(setup), form_(form), blocks_(writing_blocks(where.device(), setup, form)) {
    // Segments in two lines end behind the last line of all.
    const uint32_t columns = setup.same_sm ? blocks_ * std::max(1u, form.threads / 32 / form.writers)
                                           : std::max(1u, blocks_ / form.writers) * litmus_warps + litmus_warps;
    const size_t segments = size_t{columns} * segments_each;
    memory_ = std::make_unique<cuda_arrays>(
        where, std::vector{array_content::filled(segments * form.line_words + 2 * words_of_line, 0u, false),
                           array_content::filled(segments * form.writers, 0u, false),
                           array_content::filled(setup.stress ? noise_words : 1, 0u, false), array_content::counts(3),
                           array_content::filled(1, blocks_)});
    barrier_ = std::make_unique<cuda_barrier_storage<grid::lock_based<ordering::acquire_release>>>(
        where.device(), shape().blocks.count());
    require_co_resident(where.device(), form.kernel, shape());
  }

  litmus_count run(uint32_t seed) override {
    const cuda_device_scope scope(where_.device().ordinal());
    memory_->reset();
    auto* const counts = memory_->address<unsigned long long>(3);
    litmus_task task{};
    task.lines = memory_->address<uint32_t>(0);
    task.winners = memory_->address<uint32_t>(1);
    task.noise = memory_->address<uint32_t>(2);
    task.noise_words = setup_.stress ? noise_words : 1;
    task.blocks = blocks_;
    task.writers = form_.writers;
    task.words = form_.words;
    task.shift = form_.shift;
    task.phases = phases_;
    task.first = next_phase_;
    task.seed = seed;
    task.same_sm = setup_.same_sm;
    task.cells = form_.cells;
    task.split = form_.split;
    task.trials = counts;
    task.violations = counts + 1;
    task.lasting = counts + 2;
    task.running = memory_->address<uint32_t>(4);
    const host_timer clock;
    launch(where_.device(), where_.stream(), shape(), form_.kernel, task, barrier_->barrier(block_range{0, blocks_}));
    where_.await(30);
    const double ns = clock.nanoseconds();
    next_phase_ += phases_;
    phases_ = static_cast<uint32_t>(std::clamp(0.1e9 / std::max(ns, 1.0) * phases_, 16.0, 8.0 * phases_));
    phases_ = std::min(phases_, 1u << 20);
    unsigned long long found[3];
    memory_->read(3, found);
    return {found[0], found[1], found[2]};
  }

 private:
  static constexpr uint32_t noise_words = 64u << 20;  // 256 MiB: more than an L2 cache

  launch_shape shape() const { return {setup_.stress ? 2 * blocks_ : blocks_, form_.threads}; }

  static uint32_t writing_blocks(const cuda_device& device, const litmus_setup& setup, const litmus_form& form) {
    const auto sms = static_cast<uint32_t>(device.properties().multiProcessorCount);
    if (!setup.same_sm && sms < form.writers) {
      throw invalid_argument(std::to_string(form.writers) + " writers on multiprocessors of their own need as many; " +
                             device.name() + " has " + std::to_string(sms) + ".");
    }
    return sms;
  }

  const cuda_target& where_;
  const litmus_setup setup_;
  const litmus_form form_;
  const uint32_t blocks_;
  std::unique_ptr<cuda_arrays> memory_;  ///< lines, winners, noise; counts; how many blocks still write
  std::unique_ptr<cuda_barrier_storage<grid::lock_based<ordering::acquire_release>>> barrier_;
  uint32_t phases_ = 64;
  uint32_t next_phase_ = 1;
};

class cuda_store_atomicity : public store_atomicity_device {
 public:
  explicit cuda_store_atomicity(const device_description& description) : where_(description.index) {}

  std::vector<litmus_method> methods(rmw::space where) const override {
    std::vector<litmus_method> all;
    for (const named_form& one : forms_in(where)) all.push_back(one.method);
    return all;
  }

  std::unique_ptr<litmus_program> prepare(const litmus_setup& setup) override {
    if (setup.where == rmw::space::shared && !setup.same_sm) {
      throw invalid_argument("Shared memory is that of one block, whose warps share a multiprocessor.");
    }
    for (const named_form& one : forms_in(setup.where)) {
      if (one.method.name == setup.method) {
        return std::make_unique<cuda_litmus_program>(where_, setup, one.form(setup));
      }
    }
    throw invalid_argument("There is no litmus test " + setup.method + ".");
  }

 private:
  const cuda_target where_;
};

const register_side<store_atomicity_device> store_atomicity_registered(device_kind::cuda,
                                                                       make_side<cuda_store_atomicity>);

}  // namespace

}  // namespace gpusync::tool
