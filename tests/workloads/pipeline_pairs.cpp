// Pairs of sequences by Smith-Waterman's pipeline, many in one process, for a program that compares them with
// another's: pipeline_pairs_test.py.
//
//   pipeline_pairs letters SEED PAIRS LONGEST          QUERY REFERENCE MATCH MISMATCH GAP_OPEN GAP_EXTEND
//   pipeline_pairs align DEVICE SEED PAIRS LONGEST     SCORE QUERY_END REFERENCE_END
//
// A line for each pair, on any machine the same for a seed. Ends with 77 if there is no such device.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gpusync/core/error.hpp>
#include "workloads/smith_waterman/alignment_problem.hpp"

namespace gpusync::tool {
namespace {

constexpr int no_device = 77;

/// What a number of std::mt19937 makes is the same everywhere; what its distributions make is not.
class source {
 public:
  explicit source(uint32_t seed) : random_(seed) {}
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(uint64_t{random_()} * count >> 32); }

 private:
  std::mt19937 random_;
};

struct pair_of_sequences {
  alignment_problem problem;
  uint32_t some_blocks;  ///< how many to take, as far as there are so many
};

/// Random letters, or a reference that came from the query with letters changed, lost and inserted, here and there many
/// at once. Of lengths up to the longest, of which short ones are as likely as all others together.
pair_of_sequences next_pair(source& random, uint32_t longest) {
  static constexpr alignment_scoring scorings[] = {{},           {3, -3, 0, 2},  {2, -9, 1, 1},
                                                   {5, 0, 9, 0}, {5, -4, 10, 1}, {1, -3, 5, 2}};
  const auto length = [&] { return 1 + random.below(random.below(8) == 0 ? 1 + longest / 50 : longest); };
  pair_of_sequences made;
  made.problem.scoring = scorings[random.below(std::size(scorings))];
  const uint32_t letters = random.below(4) == 0 ? 5 : 2 + random.below(3);  // with the fifth, unknown ones
  const auto letter = [&] { return static_cast<uint8_t>(random.below(letters)); };
  std::vector<uint8_t>&query = made.problem.query, &reference = made.problem.reference;
  query.resize(length());
  for (uint8_t& one : query) one = letter();
  const size_t wanted = length();
  if (random.below(2) == 0) {
    for (size_t at = random.below(static_cast<uint32_t>(query.size()));
         at < query.size() && reference.size() < wanted;) {
      const uint32_t dice = random.below(1000);
      if (dice < 6) {
        at += 1 + random.below(20);
      } else if (dice < 12) {
        for (uint32_t i = 1 + random.below(20); i != 0 && reference.size() < wanted; --i) reference.push_back(letter());
      } else {
        reference.push_back(dice < 60 ? letter() : query[at]);
        ++at;
      }
    }
  }
  while (reference.size() < wanted) reference.push_back(letter());
  static constexpr uint32_t counts[] = {1, 2, 3, 8, 132};
  made.some_blocks = counts[random.below(std::size(counts))];
  return made;
}

void print_letters(uint32_t seed, uint32_t pairs, uint32_t longest) {
  source random(seed);
  const auto text = [](const std::vector<uint8_t>& bases) {
    std::string letters;
    for (const uint8_t base : bases) letters += base == unknown_base ? 'N' : "ACGT"[base];
    return letters;
  };
  for (uint32_t i = 0; i < pairs; ++i) {
    const alignment_problem problem = next_pair(random, longest).problem;
    std::printf("%s %s %d %d %d %d\n", text(problem.query).c_str(), text(problem.reference).c_str(),
                problem.scoring.match, problem.scoring.mismatch, problem.scoring.gap_open, problem.scoring.gap_extend);
  }
}

int align(const std::string& name, uint32_t seed, uint32_t pairs, uint32_t longest) {
  const std::vector<device_description> devices = all_devices();
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const device_description& one) { return one.id == name; });
  if (found == devices.end()) {
    std::fprintf(stderr, "There is no device %s here.\n", name.c_str());
    return no_device;
  }
  const auto device = open_side<smith_waterman_device>(*found);
  source random(seed);
  uint64_t most = 0;
  for (uint32_t i = 0; i < pairs; ++i) {
    const pair_of_sequences pair = next_pair(random, longest);
    const auto workload = device->aligning(pair.problem, alignment_form::pipeline);
    const std::vector<step_method> methods = workload->methods();
    if (most == 0) {
      most = workload->max_co_resident(methods, device->pipeline_threads());
      // Threads of the host that wait for each other want a processor each.
      if (found->kind == device_kind::host) most = std::min<uint64_t>(most, 2);
    }
    step_shape shape;
    shape.blocks = static_cast<uint32_t>(std::min<uint64_t>(pair.some_blocks, most));
    shape.threads = device->pipeline_threads();
    const auto program = workload->prepare(methods.front(), shape);
    // The host's own result is not asked for: another program says what is right.
    (void)program->run();
    const findings all = program->found();
    for (size_t k = 0; k < all.size(); ++k) {
      std::printf("%s%lld", k == 0 ? "" : " ", static_cast<long long>(all[k].second.value_or(-1)));
    }
    std::printf("\n");
  }
  return 0;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](size_t i) { return static_cast<uint32_t>(std::stoul(words.at(i))); };
  if (words.size() == 4 && words[0] == "letters") {
    print_letters(number(1), number(2), number(3));
    return 0;
  }
  if (words.size() == 5 && words[0] == "align") return align(words[1], number(2), number(3), number(4));
  std::fputs("usage: pipeline_pairs letters SEED PAIRS LONGEST | align DEVICE SEED PAIRS LONGEST\n", stderr);
  return 2;
}

}  // namespace
}  // namespace gpusync::tool

int main(int count, char** words) {
  try {
    return gpusync::tool::run({words + 1, words + count});
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
  }
}
