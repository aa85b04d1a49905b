// Rows of levels of synchronization inside a multiprocessor or a cluster: what warp-sync, block-sync and method-check
// have in common.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/method_comparison.hpp"
#include "measure/machine_code.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/levels/levels.hpp"

namespace gpusync::tool {

/// Samples: cycles of one operation in a warp or block alone; cycles of a multiprocessor for each warp's operation, and
/// nanoseconds from the first to the last block's begin, where all its blocks begin together.
inline constexpr const char *latency_sample = "latency", *spacing_sample = "spacing", *start_sample = "start";

/// What the machine code holds of a device's operations. It is read once, when it is first asked for.
class counted_levels {
 public:
  /// `device` must outlive it.
  counted_levels(levels_device& device, std::vector<level_variant> variants);

  /// A row that says how much was read, or why not; said once, and not in each row.
  row summary(const char* experiment, const experiment_request& request);
  /// Adds `own_instructions`, `other_path_instructions` and `all_instructions`, each for one operation, and says it in
  /// the verification; without figures if the code could not be read.
  void add_to(row& entry, const level_variant& variant);
  /// Whether it is known that the compiler has removed the operation.
  bool is_removed(const level_variant& variant);

 private:
  void read();
  std::optional<operation_code> of(const level_variant& variant);

  levels_device& device_;
  const std::vector<level_variant> variants_;
  std::map<std::string, operation_code> codes_;  ///< by name_of()
  std::string why_not_;
  int architecture_ = 0;
  bool read_ = false;
};

/// Gives a row of an operation that is not there no times: "Removed by the compiler: …".
void mark_removed(row& entry);

/// The variant as a method of a comparison, by its name_of().
step_method method_of(const level_variant& variant);

/// A row of a comparison as that of its variant: method, kind, order.
void name_by(row& entry, const level_variant& variant);

/// The two lengths whose difference counts.
repeat_counts counts_of(const level_variant& variant);

/// Latency of the operation, the slowest warp's of the first block.
prepared_method prepare_latency(levels_device& device, const level_variant& variant, const level_shape& shape);

/// Throughput of the operation with all blocks started together.
prepared_method prepare_throughput(levels_device& device, const level_variant& variant, const level_shape& shape);

/// `spacing` turned round: operations of warps in a cycle of a multiprocessor.
metric throughput_of(const method_result& result, bool keep_samples);

/// Until when cycles are compared; they hardly vary.
stop_rule rule_for_cycles(bool quick);

/// These operations side by side: their latency, or, in a shape with blocks for each multiprocessor, their throughput.
std::vector<method_result> compare_variants(const comparison_setting& setting, levels_device& device,
                                            const std::vector<level_variant>& variants, const level_shape& shape,
                                            const std::function<void(double)>& progress);

/// Threads and blocks per multiprocessor that fill it by one warp and more, up to what it holds.
std::vector<level_shape> filling_shapes(uint32_t threads_per_sm, const std::vector<int64_t>& threads, bool quick);

/// Whether a latency by a chain and one by Eq 7 are equal within 2 sigma (Eq 8) and a cycle.
bool methods_agree(double chain_cycles, double difference_cycles, double sigma_cycles);

/// From how many neighbours of `latencies` to the next one there is a jump: by more than a tenth and a cycle.
uint64_t count_jumps(const std::vector<double>& latencies);

}  // namespace gpusync::tool
