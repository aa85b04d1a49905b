// Which plan a reduction takes for an input of some size: tables that were measured.
#pragma once

#include <istream>
#include <ostream>
#include <sstream>
#include <string>

#include <gpusync/core/error.hpp>
#include <gpusync/core/tuning_text.hpp>
#include <gpusync/reduce/plan.hpp>

namespace gpusync {

/// The plans of one kind of device: what `gpusync tune` measures and writes, into the file that has the rules of its
/// barriers too.
///
/// As text: `gpusync-tuning 1`, `device NAME`, then lines `reduce TYPE BYTES FORM THREADS VECTORS [COUNT]` by rising
/// BYTES for each TYPE (float, double), the last of which is `any`. FORM: one-block, cluster (COUNT: its blocks),
/// messages and ticket, messages-dealt, messages-claimed, ticket-dealt and ticket-claimed (COUNT: blocks for each
/// multiprocessor). Lines `rule …` are for barrier_tuning.
struct reduction_tuning {
  std::string device;            ///< the name of the device that it was measured on
  reduction_rules float_rules;   ///< for sums of float
  reduction_rules double_rules;  ///< and of double

  /// The most blocks of a grid of which each has one tile.
  static constexpr uint32_t most_tiles = 1u << 14;

  /// What was fastest on H200s, from 1 to 16 MiB on an H100, cold and in the L2 cache; right everywhere.
  static reduction_tuning generic() {
    using namespace detail;
    constexpr uint64_t kib = 1024, mib = 1024 * kib;
    reduction_tuning made;
    made.device = "any";
    made.float_rules = {{2 * kib, one_block_plan(32, 4)},
                        {4 * kib, one_block_plan(128, 2)},
                        {8 * kib, one_block_plan(128, 4)},
                        {16 * kib, one_block_plan(256, 4)},
                        {32 * kib, one_block_plan(512, 4)},
                        {64 * kib, cluster_plan(8, 256, 2)},
                        {128 * kib, cluster_plan(8, 256, 4)},
                        {256 * kib, cluster_plan(16, 256, 4)},
                        {512 * kib, cluster_plan(16, 512, 4)},
                        {1 * mib, message_plan(128, 8)},
                        {8 * mib, message_plan(256, 8)},
                        {32 * mib, message_plan(512, 8)},
                        {1024 * mib, loop_plan(reduction_walk::dealt, 2, 512, 8)},
                        {reduction_rule::any, loop_plan(reduction_walk::claimed, 2, 512, 8)}};
    made.double_rules = made.float_rules;
    return made;
  }

  /// The table for the device of this name; until one was measured that differs, generic().
  static reduction_tuning shipped_for(const std::string& device) {
    (void)device;
    return generic();
  }

  /// Throws invalid_argument, naming `source` and the line, if the text is not a table with rules for both types.
  static reduction_tuning read(std::istream& text, const std::string& source) {
    reduction_tuning made;
    made.device = detail::read_tuning_text(
        text, source, [&](const std::string& key, std::istringstream& words, const auto& refuse) {
          if (key != "reduce") return;  // a barrier's
          std::string type, bytes, form;
          reduction_rule rule{};
          uint32_t threads = 0, vectors = 0, count = 0;
          if (!(words >> type >> bytes >> form) || (type != "float" && type != "double") ||
              !read_limit(bytes, rule.bytes) || !detail::read_number(words, threads) ||
              !detail::read_number(words, vectors) ||
              (!detail::line_ended(words) && !detail::read_number(words, count)) || !detail::line_ended(words)) {
            throw refuse("a line for reductions is `reduce float|double BYTES FORM THREADS VECTORS [COUNT]`");
          }
          if (threads > 1024 || vectors > 64 || count > 1024 || !take_form(form, threads, vectors, count, rule.plan)) {
            throw refuse(
                "FORM is one-block, cluster, messages, ticket, or one of the last two with -dealt or -claimed behind "
                "it; only clusters (of 2, 4, 8 or 16) and these have a COUNT, of at least 1");
          }
          (type == "float" ? made.float_rules : made.double_rules).push_back(rule);
        });
    made.check();
    return made;
  }

  /// Throws invalid_argument unless both types have rules by rising bytes, of which the last is for any size, and whose
  /// plans can hold what they are for.
  void check() const {
    check(float_rules, "float");
    check(double_rules, "double");
  }

  /// Writes its lines, without the head that a file begins with, which barrier_tuning::write() writes too.
  void write_rules(std::ostream& text) const {
    text << "# type bytes  form threads vectors [count]\n";
    for (const reduction_rule& rule : float_rules) write(text, "float", rule);
    for (const reduction_rule& rule : double_rules) write(text, "double", rule);
  }
  /// Writes it as text, which read() reads.
  void write(std::ostream& text) const {
    text << "gpusync-tuning 1\ndevice " << device << '\n';
    write_rules(text);
  }

  /// A plan as in a table's lines: "messages-dealt 512 4 4".
  static std::string words_of(const reduction_plan& plan) {
    std::string words = form_in_words(plan) + ' ' + std::to_string(plan.threads) + ' ' + std::to_string(plan.vectors);
    if (plan.finish == reduction_finish::cluster) words += ' ' + std::to_string(plan.cluster);
    if (plan.walk != reduction_walk::one_tile) words += ' ' + std::to_string(plan.blocks_per_sm);
    return words;
  }

  /// A form as in a table's lines: "one-block", "cluster", "messages-dealt".
  static std::string form_in_words(const reduction_plan& plan) {
    switch (plan.finish) {
      case reduction_finish::one_block: return "one-block";
      case reduction_finish::cluster: return "cluster";
      case reduction_finish::messages: return "messages" + walk_in_words(plan.walk);
      case reduction_finish::ticket: return "ticket" + walk_in_words(plan.walk);
    }
    return "?";
  }

 private:
  static std::string walk_in_words(reduction_walk walk) {
    if (walk == reduction_walk::one_tile) return "";
    return walk == reduction_walk::dealt ? "-dealt" : "-claimed";
  }

  static bool read_limit(const std::string& word, uint64_t& bytes) {
    if (word == "any") {
      bytes = reduction_rule::any;
      return true;
    }
    std::istringstream number(word);
    return detail::read_number(number, bytes) && detail::line_ended(number) && bytes != 0;
  }

  static bool take_form(const std::string& form, uint32_t threads, uint32_t vectors, uint32_t count,
                        reduction_plan& plan) {
    for (const reduction_finish finish : {reduction_finish::one_block, reduction_finish::cluster,
                                          reduction_finish::messages, reduction_finish::ticket}) {
      for (const reduction_walk walk : {reduction_walk::one_tile, reduction_walk::dealt, reduction_walk::claimed}) {
        const bool clustered = finish == reduction_finish::cluster, loops = walk != reduction_walk::one_tile;
        plan = {finish,
                walk,
                static_cast<uint16_t>(threads),
                static_cast<uint16_t>(vectors),
                static_cast<uint16_t>(clustered ? count : 1),
                static_cast<uint16_t>(loops ? count : 0),
                loops};
        const bool may_loop = finish == reduction_finish::messages || finish == reduction_finish::ticket;
        if (form_in_words(plan) != form || (loops && !may_loop)) continue;
        if (clustered) return count == 2 || count == 4 || count == 8 || count == 16;
        return loops == (count != 0);
      }
    }
    return false;
  }

  static void check(const reduction_rules& rules, const std::string& type) {
    if (rules.empty() || rules.back().bytes != reduction_rule::any) {
      throw invalid_argument("A tuning table has rules for reductions of " + type +
                             ", the last of which is for `any` number of bytes; here " +
                             (rules.empty() ? "there is none." : "that one is missing."));
    }
    uint64_t before = 0;
    for (const reduction_rule& rule : rules) {
      if (rule.bytes <= before) {
        throw invalid_argument("A tuning table's rules for reductions of " + type + " rise in bytes; " +
                               std::to_string(rule.bytes) + " comes behind " + std::to_string(before) + ".");
      }
      if (rule.bytes > rule.plan.capacity(most_tiles)) {
        throw invalid_argument("A tuning table sums up to " +
                               (rule.bytes == reduction_rule::any ? "any number of" : std::to_string(rule.bytes)) +
                               " bytes of " + type + " by " + form_in_words(rule.plan) + " with " +
                               std::to_string(rule.plan.threads) + " threads and " + std::to_string(rule.plan.vectors) +
                               " vectors, which holds " + std::to_string(rule.plan.capacity(most_tiles)) + ".");
      }
      before = rule.bytes;
    }
  }

  static void write(std::ostream& text, const char* type, const reduction_rule& rule) {
    text << "reduce " << type << ' ';
    if (rule.bytes == reduction_rule::any) {
      text << "any";
    } else {
      text << rule.bytes;
    }
    text << ' ' << words_of(rule.plan) << '\n';
  }
};

}  // namespace gpusync
