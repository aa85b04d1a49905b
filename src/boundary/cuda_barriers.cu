#include "boundary/cuda_barriers.hpp"

#include <type_traits>
#include <utility>

#include <gpusync/gpusync.cuh>

#include "boundary/barrier_methods.hpp"
#include "boundary/cuda_survey.cuh"

namespace gpusync::tool {

namespace {

/// Whether a storage's algorithm chooses where its words lie, and does not take them where they come.
template <class Storage, class = void>
struct chooses_lines : std::false_type {};
template <class Storage>
struct chooses_lines<Storage, std::void_t<decltype(std::declval<const Storage&>().counters().placed())>>
    : std::true_type {};

template <class Algorithm>
class barrier_of : public cuda_barrier {
 public:
  barrier_of(const cuda_target& where, uint32_t blocks, const barrier_tuning& tuning)
      : where_(where), blocks_(blocks), tuning_(tuning), storage_(make()) {}

  void launch(const cuda_target& where, const launch_shape& shape, const void* kernel,
              std::vector<void*> arguments) override {
    launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments), storage_->barrier());
  }
  void launch_dropping(const cuda_target& where, const launch_shape& shape, const void* kernel,
                       std::vector<void*> arguments) override {
    if constexpr (Algorithm::whole_grid_only) {
      refuse();
    } else {
      launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments),
                        storage_->dropping_barrier());
    }
  }
  void launch_parts(const cuda_target& where, const launch_shape& shape, const void* kernel,
                    std::vector<void*> arguments, cuda_barrier& second, cuda_barrier& third,
                    const std::array<block_range, 3>& parts) override {
    if constexpr (Algorithm::whole_grid_only) {
      refuse();
    } else {
      const auto of = [&](cuda_barrier& other, size_t i) {
        return static_cast<barrier_of&>(other).storage_->barrier(parts[i]);
      };
      launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments), of(*this, 0),
                        of(second, 1), of(third, 2));
    }
  }
  void place_anew() override {
    if constexpr (placed_anywhere) {
      const cuda_buffer spacer = where_.spacer();
      storage_ = make();
    }
  }
  std::vector<missing_block> missing() const override { return storage_->missing(); }

 private:
  using storage_type = cuda_barrier_storage<Algorithm>;
  static constexpr bool placed_anywhere = !chooses_lines<storage_type>::value;

  std::unique_ptr<storage_type> make() const {
    if constexpr (placed_anywhere) {
      return std::make_unique<storage_type>(where_.device(), blocks_, tuning_);
    } else {
      return with_survey(
          where_,
          [this](const l2_survey& survey) {
            return std::make_unique<storage_type>(where_.device(), blocks_, survey, tuning_);
          },
          [](const auto& made) { return made->counters().placed(); });
    }
  }

  [[noreturn]] static void refuse() {
    throw invalid_argument(grid::name_of<Algorithm>() + " joins nothing but whole grids.");
  }

  const cuda_target where_;
  const uint32_t blocks_;
  const barrier_tuning tuning_;
  std::unique_ptr<storage_type> storage_;
};

barrier_tuning tuning_for(const cuda_device& device, const std::optional<grid::counter_plan>& plan) {
  barrier_tuning rules = barrier_tuning::shipped_for(device.name());
  if (plan) {
    rules.rules.count = 1;
    rules.rules.rules[0] = {grid::counter_rules::any, grid::counter_rules::any, *plan};
  }
  return rules;
}

}  // namespace

std::vector<step_method> cuda_barrier_methods() {
  return barrier_methods<grid::cuda_algorithms>("grid barrier");
}

std::vector<step_method> cuda_barrier_methods_in(const kernel_table& kernels) {
  std::vector<step_method> methods;
  grid::cuda_algorithms::for_each([&](auto algorithm) {
    using barrier = decltype(algorithm);
    if (kernels.find(grid::name_of<barrier>()) == nullptr) return;
    methods.push_back(barrier_method(grid::name_of<barrier>(), barrier::order, "grid barrier", is_of_others<barrier>));
  });
  return methods;
}

std::unique_ptr<cuda_barrier> make_cuda_barrier(const std::string& name, const cuda_target& where, uint32_t blocks,
                                                const std::optional<grid::counter_plan>& plan) {
  std::unique_ptr<cuda_barrier> made;
  grid::cuda_algorithms::for_each([&](auto algorithm) {
    if (name != grid::name_of<decltype(algorithm)>()) return;
    made = std::make_unique<barrier_of<decltype(algorithm)>>(where, blocks, tuning_for(where.device(), plan));
  });
  if (!made) throw invalid_argument("There is no grid barrier " + name + ".");
  return made;
}

}  // namespace gpusync::tool
