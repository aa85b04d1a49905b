// What workload "bitonic sort" is given and must find. C++17: CUDA sources include it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "workloads/bitonic_sort/sort_elements.hpp"
#include "workloads/device_side/application_device.hpp"

namespace gpusync::tool {

/// What to sort.
struct sort_problem {
  uint64_t count = 0;
  std::string type = "float32";  ///< of the keys, one of sort_types()
  bool values = false;           ///< every key carries a value of its own size: its place in the input
  std::string input = "random";  ///< how the keys are made, one of sort_inputs()
};

/// "uint32", "int32", "float32", "uint64", "int64", "float64".
const std::vector<std::string>& sort_types();
/// "random" (all bits), "sorted", "reversed", "equal", "few" (eight different keys), "special" (of floating point:
/// NaNs, infinities, zeros of both signs, subnormal numbers among others; of whole numbers: the extremes).
const std::vector<std::string>& sort_inputs();

/// The most elements that can be sorted.
inline constexpr uint64_t most_elements = uint64_t{1} << 31;

/// Elements before and after. A 32-bit key with its value is one 64-bit element, the key in the high half.
struct sort_input {
  uint32_t element_bytes = 4;  ///< 4, 8 or 16
  key_order order;
  uint64_t count = 0;
  std::vector<uint32_t> unsorted;  ///< element_bytes / 4 words an element, in memory order
  std::vector<uint32_t> sorted;    ///< as std::sort puts them

  size_t bytes() const { return unsorted.size() * sizeof(uint32_t); }
};

/// Bytes of an element of such a problem: its key, with its value if it carries one.
uint32_t element_bytes_of(const sort_problem& problem);

/// Bytes that the host needs at once for a problem: the keys as they are made, then the elements as they come, as
/// std::sort puts them and as they are found, on host threads and on devices that live in the host's memory likewise.
constexpr uint64_t host_bytes_of_sort(uint64_t count, uint32_t element_bytes) {
  return 4 * count * element_bytes;
}

/// The input and the result of a problem. Sorts on the host: 0.1 s for a million elements. Asks `interrupted`, if it is
/// there, often, and throws run_interrupted once it has said yes. Throws invalid_argument for more than most_elements
/// or an unknown type or input.
sort_input make_sort_input(const sort_problem& problem, const std::function<bool()>& interrupted = {});

/// The elements as they come, and as a run must leave them. `input` must outlive it.
array_content elements_of(const sort_input& input);

/// What a run on such elements, the first of the arrays, must have done.
std::shared_ptr<run_data> sorted_result(const sort_input& input, std::shared_ptr<arrays> memory);

/// How a sort's elements are kept. In registers, there is a boundary after each step between blocks only.
using sort_form = kept_form;

/// What a sort needs of a device's memory, in bytes.
struct memory_need {
  uint64_t all = 0;
  uint64_t largest_buffer = 0;
};

/// The device side.
class bitonic_device : public application_device {
 public:
  /// The workload on this input, which must outlive it, as must the device. Throws invalid_argument if the device does
  /// not have that form.
  virtual std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) = 0;
  /// What a sort takes: elements as they come, as they are sorted and as they should be; in registers also two halves,
  /// padded to a power of two, to exchange them.
  virtual memory_need need_of(uint64_t count, uint32_t element_bytes, sort_form form) const {
    uint64_t padded = 1;
    while (padded < count) padded *= 2;
    const uint64_t exchanged = form == sort_form::registers ? 2 * padded * element_bytes : 0;
    return {3 * count * element_bytes + exchanged, std::max(count * element_bytes, exchanged)};
  }
};

}  // namespace gpusync::tool
