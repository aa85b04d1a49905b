#include "workloads/warp_sum/warp_sum.hpp"

namespace gpusync::tool {

const std::vector<warp_sum_form>& warp_sum_forms() {
  static const std::vector<warp_sum_form> all{
      {"serial", "one lane adds all", ""},
      {"tile", "through shared memory, two barriers of a tile in a step", ""},
      {"coalesced", "through shared memory, two barriers of a coalesced group in a step", ""},
      {"shuffle-tile", "shuffles of a tile", ""},
      {"shuffle-coalesced", "shuffles of a coalesced group", ""},
      {"nosync", "through shared memory, no barrier", "not synchronized: nothing orders a step behind the one before"},
      {"nosync-volatile", "through volatile shared memory, no barrier",
       "not synchronized: it is right only as long as lanes go in lockstep"},
      {"figure-11", "figure 11 as printed, one barrier of a tile in a step",
       "races: a lane's write and its neighbour's read of the same word lie in one step; a register and a second "
       "barrier (tile) mend it"},
  };
  return all;
}

}  // namespace gpusync::tool
