// Workload "halo-exchange", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/neighbours/neighbourhood.hpp>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/halo_exchange/halo_text.hpp"

namespace gpusync::tool {

/// An exchange.
struct halo_problem {
  uint32_t neighbours = 2;  ///< 2: a ring; 4 or 8: a torus as square as can be
  uint32_t words = 256;     ///< of a block, of 4 bytes
  halo_work::kind work = halo_work::kind::none;
  uint32_t mean_ns = 0;  ///< of the work
  bool overlaps = false;
};

/// Blocks of a row of the torus. For a ring, all. Throws invalid_argument if so many blocks make no
/// ring of two, or no torus of two rows at least.
uint32_t halo_blocks_across(const halo_problem& problem, uint32_t blocks);
/// Who reads whom.
neighbourhood halo_neighbourhood(const halo_problem& problem, uint32_t blocks);

/// Names of the methods besides the engine's.
namespace halo_methods {
inline constexpr const char *automatic = "halo", *words = "halo-words", *flags = "halo-flags",
                            *barrier = "neighbour-barrier", *split = "placed-counters-acquire-release-split",
                            *unplaced = "halo-words-unplaced";  // these two on CUDA devices only
}  // namespace halo_methods

/// Those methods, of the device whose simplest barrier is called so.
std::vector<step_method> halo_own_methods();
/// One of them.
step_method halo_own_method(const std::string& name);

/// What a run must end with, computed on the host; kept for the programs of one problem and shape.
class halo_reference {
 public:
  halo_reference(const halo_problem& problem, uint32_t blocks);
  /// All words after so many steps.
  const std::vector<uint32_t>& after(uint64_t steps);
  /// Steps of a run that the host can follow in a second or two.
  uint32_t affordable_steps() const;

 private:
  halo_problem problem_;
  uint32_t blocks_, across_;
  std::map<uint64_t, std::vector<uint32_t>> known_;
};

/// Two buffers of words, the first with the start.
std::vector<array_content> halo_arrays(halo_reference& reference);

/// Compares all words after each run.
class halo_result : public run_data {
 public:
  halo_result(std::shared_ptr<halo_reference> reference, std::shared_ptr<arrays> memory)
      : reference_(std::move(reference)), memory_(std::move(memory)) {}
  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override;
  std::string how() const override { return "every word of every block after each run, as the host computed it"; }

 private:
  const std::shared_ptr<halo_reference> reference_;
  const std::shared_ptr<arrays> memory_;
};

/// The device side.
class halo_device {
 public:
  virtual ~halo_device() = default;
  /// The workload of this exchange. It must not outlive this object.
  virtual std::unique_ptr<workload> exchanging(const halo_problem& problem) = 0;
};

}  // namespace gpusync::tool
