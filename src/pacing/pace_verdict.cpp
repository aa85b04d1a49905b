#include "pacing/pace_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gpusync::tool {

namespace {

bool counts(const kernel_variant& one) {
  return one.found == kernel_variant::state::measured && !one.nanoseconds.empty();
}

/// "10.4 % [10.1, 10.6]"
std::string in_words(const gain& one) {
  const std::string figure = fmt::format("{:.1f} %", one.percent);
  return one.between ? fmt::format("{} [{:.1f}, {:.1f}]", figure, one.between->low, one.between->high) : figure;
}

std::vector<paced_samples> samples_of(const std::vector<kernel_variant>& variants) {
  std::vector<paced_samples> all;
  for (const kernel_variant& each : variants) {
    const paced_role role = each.what.is_barrier()                 ? paced_role::paced
                            : each.what.form == variant_form::none ? paced_role::plain
                                                                   : paced_role::control;
    all.push_back({each.what.name, each.what.every, role, counts(each) ? each.nanoseconds : std::vector<double>{}});
  }
  return all;
}

std::string sentence_of(const pace_verdict& v) {
  const std::string rounds = fmt::format("({} rounds, 95 % for all variants together)", v.rounds);
  const std::string figures = fmt::format("of the {} that {} gains, {:.1f} % are the compiler's and {} the barrier's",
                                          in_words(v.total), v.best, v.compilers.percent, in_words(v.barriers));
  switch (v.finding) {
    case pace_finding::barrier_gains: return fmt::format("Yes, {}: {} {}.", v.best, figures, rounds);
    case pace_finding::compiler_gains:
      return fmt::format(
          "No: {}, in which no warp waits for another, gains {}, and the best barrier, {}, takes {:.1f} % {} time than "
          "that {}. The gain is the compiler's doing: put {} in the mark's place.",
          v.base, in_words(v.compilers), v.best, std::abs(v.barriers.percent), v.barriers.percent > 0 ? "less" : "more",
          rounds, v.base.starts_with("warp-sync") ? "__syncwarp()" : "asm volatile(\"\" ::: \"memory\")");
    case pace_finding::no_gain:
      return fmt::format("No: the best barrier, {}, has a gain of {} on {} {}.", v.best, in_words(v.barriers), v.base,
                         rounds);
    case pace_finding::loses:
      return fmt::format(
          "No: every barrier loses; the best, {}, has a gain of {} on {} {}.{}", v.best, in_words(v.barriers), v.base,
          rounds,
          is_gain(v.compilers) ? fmt::format(" Of {} alone the gain is {}.", v.base, in_words(v.compilers)) : "");
    case pace_finding::too_few:
      return fmt::format("Too few rounds to say: {}. A smaller problem gives more.", v.rounds);
    case pace_finding::marked_wrongly: return "";
  }
  return "?";
}

/// Why there is no barrier to judge: what the first refused one was refused for.
std::string why_none(const std::vector<kernel_variant>& variants) {
  for (const kernel_variant& each : variants) {
    if (each.marks_are_wrong()) {
      return fmt::format("Marked wrongly, refused: {}. {}", each.what.name, each.reason);
    }
  }
  for (const kernel_variant& each : variants) {
    if (each.what.is_barrier() && !each.reason.empty()) {
      return fmt::format("No barrier can be judged: {}. {}", each.what.name, each.reason);
    }
  }
  return "No barrier was measured.";
}

}  // namespace

const char* to_string(pace_finding finding) {
  switch (finding) {
    case pace_finding::barrier_gains: return "barrier-gains";
    case pace_finding::compiler_gains: return "compiler-gains";
    case pace_finding::no_gain: return "no-gain";
    case pace_finding::loses: return "loses";
    case pace_finding::too_few: return "too-few-rounds";
    case pace_finding::marked_wrongly: return "marked-wrongly";
  }
  return "?";
}

pace_verdict judge_paced(const std::vector<kernel_variant>& variants) {
  pace_verdict v;
  // A mark that is wrong at one interval is wrong: others have only been lucky. But groups of warps use named barriers,
  // and those may be the kernel's own.
  const auto is_wrong = [](const kernel_variant& each) {
    return each.marks_are_wrong() && each.what.form != variant_form::warps;
  };
  const pace_judgement found = counts(variants.front()) ? judge_samples(samples_of(variants)) : pace_judgement{};
  if (!found.best || std::ranges::any_of(variants, is_wrong)) {
    v.finding = pace_finding::marked_wrongly;
    v.sentence = why_none(variants);
    return v;
  }
  v.best = variants[*found.best].what.name;
  v.base = variants[found.best_base].what.name;
  v.rounds = found.rounds;
  v.total = found.total;
  v.compilers = found.compilers;
  v.barriers = found.barriers;
  const bool is_plain_base = found.best_base == 0;
  const bool is_judged = v.barriers.between && (is_plain_base || v.compilers.between);
  const bool barrier_pays = is_gain(v.barriers), fence_pays = is_gain(v.compilers);
  v.finding = !is_judged            ? pace_finding::too_few
              : barrier_pays        ? pace_finding::barrier_gains
              : is_loss(v.total)    ? pace_finding::loses
              : fence_pays          ? pace_finding::compiler_gains
              : is_loss(v.barriers) ? pace_finding::loses
                                    : pace_finding::no_gain;
  // As shares of one time, that without barriers, the two add up.
  const double scale = 1 - v.compilers.percent / 100;
  v.barriers.percent *= scale;
  if (v.barriers.between)
    v.barriers.between = interval{v.barriers.between->low * scale, v.barriers.between->high * scale};
  v.compilers.percent = v.total.percent - v.barriers.percent;
  if (is_plain_base) v.compilers = {};
  v.sentence = sentence_of(v);
  return v;
}

std::vector<std::string> other_cures(const source_kernel& kernel, int narrow_loads, int wide_loads) {
  std::vector<std::string> cures;
  if (!kernel.strided.empty() && !kernel.uses_shared) {
    cures.push_back(
        fmt::format("Neighbouring threads seem to be far apart in {}: a tile in shared memory, read and written along "
                    "its rows, may "
                    "gain more than any barrier.",
                    kernel.strided.front()));
  } else if (narrow_loads > 0 && wide_loads == 0) {
    cures.push_back(
        "No load of this kernel has more than 32 bits: loads of four neighbouring elements (float4, int4) may gain as "
        "much or more, without a barrier.");
  }
  return cures;
}

}  // namespace gpusync::tool
