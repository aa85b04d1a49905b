// Workload "oversubscription" on host threads.
#include <gpusync/gpusync.hpp>

#include "measure/host_timer.hpp"
#include "workloads/oversubscription/relay_result.hpp"

namespace gpusync::tool {

namespace {

/// Memory, counting and timing; what differs is how the phases of a run are carried out.
class host_relay : public step_program {
 public:
  explicit host_relay(const step_shape& shape) : shape_(shape), result_(shape), words_(result_.first_words()) {}

  double run(uint64_t phases) override {
    const host_timer timer;
    carry_out(result_.next_phase(), static_cast<uint32_t>(phases));
    const double elapsed = timer.nanoseconds();
    result_.add_run(phases, wrong_);
    wrong_ = 0;
    return elapsed;
  }
  uint64_t steps_unit() const override { return 2; }
  verification verify() override { return result_.verify(words_); }

 protected:
  virtual void carry_out(uint32_t first, uint32_t phases) = 0;
  relay_data data() { return {words_.data(), &wrong_, shape_.blocks}; }

  const host_device device_{};
  const step_shape shape_;

 private:
  relay_result result_;
  std::vector<uint32_t> words_;
  uint32_t wrong_ = 0;
};

/// A thread for each thread of each block, started for each phase and joined.
class relaunch_program : public host_relay {
 public:
  explicit relaunch_program(const step_shape& shape) : host_relay(shape) {
    require_co_resident(device_, {shape.blocks, shape.threads});
  }

 private:
  void carry_out(uint32_t first, uint32_t phases) override {
    for (uint32_t phase = first; phase < first + phases; ++phase) {
      launch(device_, {shape_.blocks, shape_.threads}, [this, phase] {
        const auto here = host_grid::current();
        const uint32_t wrong = relay_step(data(), here.block(), here.threads(), here.thread(), phase);
        if (wrong != 0) host_memory::fetch_add<memory_order::relaxed, scope::device>(data().wrong, wrong);
      });
    }
  }
};

template <class Schedule>
class phased_program : public host_relay {
 public:
  explicit phased_program(const step_shape& shape) : host_relay(shape), storage_(shape.blocks) {}

 private:
  using grid_type = typename host_phased_storage<Schedule>::grid_type;

  void carry_out(uint32_t first, uint32_t phases) override {
    launch_phased(
        device_, {shape_.blocks, shape_.threads},
        [this, first, phases](grid_type grid) { relay_phases(host_grid::current(), grid, data(), first, phases); },
        storage_);
  }

  host_phased_storage<Schedule> storage_;
};

class host_oversubscription : public step_workload {
 public:
  std::vector<step_method> methods() const override { return relay_methods(); }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(shape);
    if (method.name == "phased-striding") return std::make_unique<phased_program<phased::striding>>(shape);
    if (method.name == "phased-claiming") return std::make_unique<phased_program<phased::claiming>>(shape);
    if (method.name == "phased-flag-claiming") return std::make_unique<phased_program<phased::flag_claiming>>(shape);
    throw invalid_argument("There is no method " + method.name + " on the host.");
  }

  uint64_t max_co_resident(uint32_t threads) override { return std::max(1u, device_.cores() / threads); }
  std::vector<uint32_t> default_blocks(bool) override { return {device_.cores()}; }
  std::vector<uint32_t> default_threads(bool) override { return {1}; }

 private:
  const host_device device_{};
};

const register_workload registered("oversubscription", device_kind::host,
                                   [](const device_description&) { return std::make_unique<host_oversubscription>(); });

}  // namespace

}  // namespace gpusync::tool
