#include "workloads/shared_sum/shared_sum.hpp"

namespace gpusync::tool {

const std::vector<summing_group>& summing_groups() {
  static const std::vector<summing_group> all{{"1-thread", 1},      {"1-warp", 32},       {"128-threads", 128},
                                              {"256-threads", 256}, {"512-threads", 512}, {"1024-threads", 1024}};
  return all;
}

}  // namespace gpusync::tool
