// Workload "warp sum": 32 doubles added up by the lanes of one warp, in ways that are right and in ways that are not
// (Zhang et al. 2020, item Z13). C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// One way to add up.
struct warp_sum_form {
  std::string method;  ///< in results: "shuffle-tile"
  std::string title;   ///< in words
  std::string fault;   ///< why its sums prove nothing: "races: …", "not synchronized: …"; empty: they must be right
};

/// All of them, the right ones first.
const std::vector<warp_sum_form>& warp_sum_forms();
/// Two readings of the clock with nothing between, which is no sum.
inline constexpr const char* empty_warp_sum = "empty";

/// How many of so many different inputs came out right.
struct right_sums {
  uint64_t inputs = 0;
  uint64_t right = 0;
};

/// An input's number in place `lane`: whole numbers below 2^20, so that sums are exact in any order and a number that
/// is added twice, or not at all, shows.
#if defined(__CUDACC__)
__host__ __device__
#endif
    constexpr uint32_t
    warp_sum_number(uint32_t input, uint32_t lane) {
  uint32_t bits = (input * 32 + lane) * 0x9e3779b9u + 0x85ebca6bu;
  bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  bits = (bits ^ bits >> 12) * 0x297a2d39u;
  return (bits ^ bits >> 15) % (1u << 20);
}

/// One form, ready to run.
class warp_sum_program {
 public:
  virtual ~warp_sum_program() = default;
  /// A sum of another input each time, by a warp alone; cycles from the first reading of the clock to the one that
  /// waits for the sum.
  virtual double run() = 0;
  /// Of all that run() has added up.
  virtual right_sums timed() const = 0;
  /// Of every input, each by a warp of its own and by the machine code that is timed.
  virtual right_sums together() = 0;
  /// The same where lanes 0 to 7 take every step behind the others, as nothing but a barrier forbids.
  virtual right_sums apart() = 0;
};

/// The device side.
class warp_sums_device {
 public:
  virtual ~warp_sums_device() = default;
  /// Takes the names of warp_sum_forms() and empty_warp_sum. Throws gpusync::error.
  virtual std::unique_ptr<warp_sum_program> prepare(const std::string& method) = 0;
  /// What the timed function is called in the machine code; empty if the CUDA runtime cannot say.
  virtual std::string function_of(const std::string& method) const = 0;
  /// The architecture of the loaded machine code: 90 for sm_90.
  virtual int architecture() const = 0;
};

}  // namespace gpusync::tool
