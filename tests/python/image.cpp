// Writes the images of many barriers, each after a line with its numbers: image_test.py writes the same in Python.
#include <gpusync/device_layout.hpp>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

int main() {
  using gpusync::barrier_image;
  const gpusync::grid::counter_plan plans[] = {
      gpusync::unplaced_plan, {1, 1, 2, 1, 175}, {8, 8, 1, 0, 0}, {4, 2, 2, 0, 325}, {1, 2, 2, 1, 70000}};
  for (const uint64_t blocks : {1, 31, 32, 33, 132, 1056, 4224, 32767}) {
    for (const auto& plan : plans) {
      for (const uint64_t address : {uint64_t{0x7f0000000000}, uint64_t{0xdeadbeef00}}) {
        const uint64_t report = address == 0xdeadbeef00 ? 0 : 0x7fabcdef0040;
        std::vector<unsigned char> bytes(barrier_image::bytes(static_cast<uint32_t>(blocks)), 0xff);
        gpusync::write_image(bytes.data(), bytes.size(), blocks, address, report, plan);
        std::printf("%llu %llu %llu %u %u %u %u %u %zu\n", static_cast<unsigned long long>(blocks),
                    static_cast<unsigned long long>(address), static_cast<unsigned long long>(report),
                    plan.sub_counters, plan.copies, plan.partitions, plan.second_warp, plan.poll_backoff, bytes.size());
        std::fwrite(bytes.data(), 1, bytes.size(), stdout);
      }
    }
  }
  try {
    unsigned char small[16];
    gpusync::write_image(small, sizeof small, 132, 0, 0);
  } catch (const gpusync::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
}
