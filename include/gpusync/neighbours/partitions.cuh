// Which places in memory suit what a block writes for its neighbours.
#pragma once

#include <algorithm>
#include <vector>

#include <gpusync/grid/l2_survey.cuh>
#include <gpusync/neighbours/flags.hpp>
#include <gpusync/neighbours/neighbourhood.hpp>

namespace gpusync::detail {

/// Which partition each block's places should lie in: the other one than the block's if a neighbour is near that, for
/// what is read across the partitions comes sooner from there, and all steps go at the pace of the slowest pair.
/// `sides`: of each multiprocessor. It supposes that blocks start where they do on an idle device.
inline std::vector<uint32_t> wanted_partitions(const neighbourhood& who, const std::vector<unsigned char>& sides,
                                               const l2_survey& survey) {
  const std::vector<uint32_t> sms = survey.sms_of(who.blocks()), readers = who.table();
  const auto side = [&](uint32_t block) { return sides[sms[block]] & 1u; };
  std::vector<uint32_t> wanted(who.blocks());
  for (uint32_t block = 0; block < who.blocks(); ++block) {
    const auto row = readers.begin() + static_cast<std::ptrdiff_t>(size_t{block} * who.slots());
    const bool is_read_afar = std::any_of(row, row + who.slots(), [&](uint32_t reader) {
      return reader != neighbour_places::none && side(reader) != side(block);
    });
    wanted[block] = side(block) ^ (is_read_afar ? 1u : 0u);
  }
  return wanted;
}

/// Of `places` places in memory, `stride` words of 32 bits apart, the numbers of `per_block` for each block: of the
/// wanted partition, or where that has no more, of the other. Empty where there are no partitions. Precondition:
/// nothing else uses them. Some 7 us a place, in which the calling thread waits for the device. Throws cuda_failure.
inline std::vector<uint32_t> places_for_readers(const neighbourhood& who, const l2_survey& survey, uint32_t* memory,
                                                uint32_t stride, uint32_t places, size_t per_block) {
  const grid::line_survey found = survey.survey_of(memory, stride, places);
  std::vector<uint32_t> free[2], chosen;
  if (!found.has_partitions()) return chosen;
  for (uint32_t i = places; i-- != 0;) free[found.homes()[i] & 1u].push_back(i);
  for (const uint32_t partition : wanted_partitions(who, found.partitions(), survey)) {
    for (size_t i = 0; i < per_block; ++i) {
      std::vector<uint32_t>& from = free[partition].empty() ? free[1 - partition] : free[partition];
      chosen.push_back(from.back());
      from.pop_back();
    }
  }
  return chosen;
}

}  // namespace gpusync::detail
