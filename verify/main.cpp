// The explorer's checks as GoogleTest cases: one per shipped barrier and one per mutant.
#include "checks.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gpusync::verify::add_shipped_checks();
  gpusync::verify::add_mutant_checks();
  gpusync::verify::add_phased_checks();
  gpusync::verify::add_rmw_checks();
  gpusync::verify::add_fault_tolerant_checks();
  gpusync::verify::add_multi_gpu_checks();
  gpusync::verify::add_pace_checks();
  gpusync::verify::add_dependency_counter_checks();
  gpusync::verify::add_vote_checks();
  gpusync::verify::add_channel_checks();
  gpusync::verify::add_neighbour_checks();
  return RUN_ALL_TESTS();
}
