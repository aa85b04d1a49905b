// Writes the images of many barriers, each after a line with its numbers: image_test.py writes the same in Python.
#include <gpusync/device_layout.hpp>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

int main() {
  using gpusync::barrier_image;
  using gpusync::grid::counter_rules;
  const counter_rules all[] = {
      gpusync::unplaced_rules,
      {1, {{counter_rules::any, counter_rules::any, {8, 8, 1, 0, 0}}}},
      {3, {{4, 32, {4, 2, 2, 0, 325}}, {8, 512, {1, 2, 2, 1, 70000}}, {counter_rules::any, 0, {1, 1, 2, 1, 175}}}}};
  for (const uint64_t blocks : {1, 31, 32, 33, 132, 1056, 4224, 32767}) {
    for (const counter_rules& rules : all) {
      for (const uint64_t address : {uint64_t{0x7f0000000000}, uint64_t{0xdeadbeef00}}) {
        const uint64_t report = address == 0xdeadbeef00 ? 0 : 0x7fabcdef0040;
        const uint32_t sm_count = report == 0 ? 114 : 132;
        std::vector<unsigned char> bytes(barrier_image::bytes(static_cast<uint32_t>(blocks)), 0xff);
        gpusync::write_image(bytes.data(), bytes.size(), blocks, sm_count, address, report, rules);
        std::printf("%llu %u %llu %llu %zu", static_cast<unsigned long long>(blocks), sm_count,
                    static_cast<unsigned long long>(address), static_cast<unsigned long long>(report), bytes.size());
        for (const uint32_t per_sm : {1, 2, 4, 32}) {
          const gpusync::grid::counter_plan plan = rules.choose(per_sm * sm_count, 256, sm_count);
          std::printf(" %u %u %u %u %u", plan.sub_counters, plan.copies, plan.partitions, plan.second_warp,
                      plan.poll_backoff);
        }
        std::printf("\n");
        std::fwrite(bytes.data(), 1, bytes.size(), stdout);
      }
    }
  }
  try {
    unsigned char small[16];
    gpusync::write_image(small, sizeof small, 132, 132, 0, 0);
  } catch (const gpusync::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
}
