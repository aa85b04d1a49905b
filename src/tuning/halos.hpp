// The search for the rule by which halos choose their form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gpusync/neighbours/halo_rule.hpp>

#include "devices/device.hpp"

namespace gpusync::tool {

/// Bytes of the words that exchanges are tuned with.
inline constexpr uint32_t tuned_word = 4;

/// An exchange that was measured in both forms.
struct tuned_halo {
  uint32_t blocks = 0, slots = 0, words = 0, threads = 0;
  double by_words = 0, by_flags = 0;  ///< microseconds of a step

  uint64_t polled_bytes() const { return halo_rule::polled_bytes(blocks, slots, words, tuned_word); }
  uint32_t words_a_thread() const { return static_cast<uint32_t>(halo_rule::words_a_thread(words, threads)); }
};

/// The rule that is least wrong: of all, that whose worst choice among these is least slower than the other form; of
/// equals the one that takes words more often. Precondition: not empty.
halo_rule rule_for(const std::vector<tuned_halo>& found, uint32_t poll_backoff);

/// How much slower a rule's choice is than the better form, at worst: at least 1.
double worst_of(const halo_rule& rule, const std::vector<tuned_halo>& found);

/// Measures exchanges of one to eight blocks a multiprocessor, with 2 to 8 neighbours, in both forms.
/// `tried(fraction, what)` is called before each, and may throw. Throws gpusync::error if a word was wrong.
std::vector<tuned_halo> tune_halos(const device_description& device,
                                   const std::function<void(double, const std::string&)>& tried);

/// Lines of a table: what was measured, as comments, and the rule.
std::string halo_lines(const halo_rule& rule, const std::vector<tuned_halo>& found);

}  // namespace gpusync::tool
