// What C++ says of many launches and reports, a line each: the numbers that it was asked with, a tab, the sentence.
// sentences_test.py asks Python the same.
#include <gpusync/core/missing_block.hpp>
#include <gpusync/launch/residency.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

void say_residency() {
  const gpusync::sm_resources devices[] = {{2048, 32, 65536, 233472, 1024}, {1024, 16, 65536, 65536, 0}};
  for (const auto& sm : devices) {
    for (const uint32_t threads : {1u, 33u, 256u, 1000u, 1024u}) {
      for (const int registers : {0, 16, 32, 61, 255}) {
        for (const size_t shared : {size_t{0}, size_t{1}, size_t{20000}, size_t{100000}, size_t{400000}}) {
          const gpusync::block_needs needs{threads, registers, shared};
          uint64_t fit = UINT64_MAX;
          for (const auto& limit : gpusync::detail::limits_by_resource(sm, needs)) fit = std::min(fit, limit.second);
          for (const uint64_t blocks : {uint64_t{1}, 132 * fit, 132 * fit + 1}) {
            if (blocks == 0) continue;
            // One less than fits is what a runtime may say that knows of another limit.
            for (const int per_sm : {static_cast<int>(fit), static_cast<int>(fit) - 1}) {
              if (per_sm < 0) continue;
              const gpusync::residency found = gpusync::explain_residency(132, per_sm, sm, needs);
              std::string words;
              try {
                gpusync::require_co_resident(found, "NVIDIA H200", {blocks, threads}, needs);
              } catch (const gpusync::not_co_resident& error) {
                words = std::string(error.what()) + " " + std::to_string(error.requested()) + " " +
                        std::to_string(error.limit());
              }
              std::printf("residency %d %d %d %zu %zu %u %d %zu %d %llu\t%s\n", sm.threads, sm.blocks, sm.registers,
                          sm.shared_bytes, sm.reserved_shared_bytes_per_block, threads, registers, shared, per_sm,
                          static_cast<unsigned long long>(blocks), words.c_str());
            }
          }
        }
      }
    }
  }
}

void say_reports(int reasons) {
  constexpr uint32_t capacity = 16;
  for (uint32_t written = 0; written <= 2; ++written) {
    for (uint32_t count : {0u, 1u, 2u, 4u, 5u, 16u}) {
      for (int reason = 0; reason < reasons; ++reason) {
        for (const uint32_t detail : {0u, 5u, 17u}) {
          std::vector<uint32_t> words(gpusync::timeout_report::bytes(capacity) / sizeof(uint32_t));
          gpusync::timeout_report report{};
          report.written = written, report.phase = 41, report.missing_count = count, report.culprit = 9;
          report.reason = static_cast<gpusync::misuse>(reason), report.detail = detail, report.capacity = capacity;
          std::memcpy(words.data(), &report, sizeof report);
          for (uint32_t i = 0; i < count; ++i) {
            words[sizeof report / sizeof(uint32_t) + i] = i * 3 | (i % 2 == 0 ? +gpusync::timeout_report::started : 0u);
          }
          std::printf("report");
          for (const uint32_t word : words) std::printf(" %u", word);
          std::printf(
              "\t%s\n",
              gpusync::report_in_words(*reinterpret_cast<const gpusync::timeout_report*>(words.data())).c_str());
        }
      }
    }
  }
}

}  // namespace

int main(int, char** arguments) {
  say_residency();
  say_reports(std::atoi(arguments[1]));
}
