// Memory of a device that computations leave words in for each other to check: an array, and a count of those found
// wrong.
#pragma once

#include <cstdint>
#include <vector>

namespace gpusync::tool {

class word_memory {
 public:
  virtual ~word_memory() = default;
  /// Sets the count to 0, for all that comes behind it.
  virtual void clear_count() = 0;
  /// The count, and the array. Blocking. Precondition: nothing that writes them is under way.
  virtual uint32_t count() = 0;
  virtual std::vector<uint32_t> words() = 0;
};

}  // namespace gpusync::tool
