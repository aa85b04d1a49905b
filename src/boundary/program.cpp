#include "boundary/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <gpusync/core/error.hpp>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

uint32_t elements_of(const step_shape& shape) {
  const uint64_t all = uint64_t{shape.blocks} * shape.threads;
  if (all != 0 && all <= UINT32_MAX / 2) return static_cast<uint32_t>(all);
  throw invalid_argument(fmt::format("{} blocks of {} threads are {} elements; 1 to {} can be computed.", shape.blocks,
                                     shape.threads, all, UINT32_MAX / 2));
}

void require_whole_warps(const step_shape& shape, uint32_t warp_size) {
  if (shape.threads != 0 && shape.threads % warp_size == 0) return;
  throw invalid_argument(
      fmt::format("Its blocks are whole warps: multiples of {} threads, and not {}.", warp_size, shape.threads));
}

std::vector<uint32_t> distinct(std::vector<uint32_t> counts, uint32_t most) {
  std::erase_if(counts, [most](uint32_t count) { return count == 0 || count > most; });
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

checked_program::checked_program(std::shared_ptr<run_data> data, step_sequence steps)
    : data_(std::move(data)), steps_(std::move(steps)), unit_(std::max(1u, steps_.count)) {}

void checked_program::require_multiples_of(uint32_t steps) {
  unit_ = std::lcm(unit_, uint64_t{steps});
}

double checked_program::run(uint64_t steps) {
  if (steps == 0 || steps % unit_ != 0 || steps > UINT32_MAX || steps < steps_.least) {
    throw invalid_argument(fmt::format("A run has a multiple of {} steps, from {} to {}, not {}.", unit_,
                                       (std::max<uint64_t>(steps_.least, 1) + unit_ - 1) / unit_ * unit_,
                                       UINT32_MAX / unit_ * unit_, steps));
  }
  const uint64_t runs = steps_.whole ? steps / unit_ : 1;
  const auto each = static_cast<uint32_t>(steps_.whole ? steps_.count : steps);
  double elapsed = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    data_->reset();
    elapsed += compute(each);
    const check_result result = data_->check(each);
    ++runs_;
    all_.checked += result.checked;
    all_.wrong += result.wrong;
    found_ = data_->found();
  }
  return elapsed;
}

verification checked_program::verify() {
  verification found;
  found.performed = runs_ > 0;
  if (!found.performed) return found;
  const check_result last = data_->check_last();
  found.checked = all_.checked + last.checked;
  found.wrong = all_.wrong + last.wrong;
  found.how = data_->how();
  if (steps_.whole) found.how += fmt::format(", in each of {} runs", runs_);
  return found;
}

std::shared_ptr<workload> open_workload(const std::string& name, const device_description& device) {
  return open_side<workload>(device, name);
}

}  // namespace gpusync::tool
