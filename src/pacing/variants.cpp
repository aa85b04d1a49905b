#include "pacing/variants.hpp"

#include <fmt/format.h>

#include <gpusync/pace/forms.hpp>

namespace gpusync::tool {

namespace {

constexpr uint32_t warps_of_group = 8;
constexpr uint32_t lanes = 32;
constexpr uint32_t named_barriers = 16;  ///< of a block, with number 0

std::string name_of(variant_form form) {
  switch (form) {
    case variant_form::none: return pace::off::name;
    case variant_form::fence: return pace::compiler_fence::name;
    case variant_form::warp: return "warp-sync";
    case variant_form::block: return pace::block::name;
    case variant_form::warps: return fmt::format("{}-{}", pace::warps<warps_of_group>::name, warps_of_group);
  }
  return "?";
}

uint32_t groups_of(uint64_t threads) {
  const uint64_t of_group = warps_of_group * lanes;
  return static_cast<uint32_t>((threads + of_group - 1) / of_group);
}

/// The statements of a meeting. Groups take the named barriers with the highest numbers: what others write begins with
/// the lowest.
std::string meeting(variant_form form, uint64_t threads) {
  switch (form) {
    case variant_form::none: return "";
    case variant_form::fence: return R"(asm volatile("" ::: "memory");)";
    case variant_form::warp: return "__syncwarp();";
    case variant_form::block: return "__syncthreads();";
    case variant_form::warps: break;
  }
  return fmt::format(
      "const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
      "  const unsigned all = (blockDim.x * blockDim.y * blockDim.z + {1}u) / {0}u * {0}u;\n"
      "  const unsigned group = thread / {2}u, rest = all - group * {2}u;\n"
      "  asm volatile(\"barrier.cta.sync %0, %1;\" ::\"r\"({3}u + group), \"r\"(rest < {2}u ? rest : {2}u) : "
      "\"memory\");",
      lanes, lanes - 1, warps_of_group * lanes, named_barriers - groups_of(threads));
}

std::string quoted(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

std::vector<pace_variant> pace_variants(bool marks_have_arguments, const std::vector<uint32_t>& intervals,
                                        uint64_t threads) {
  std::vector<pace_variant> variants{{variant_form::none, 1, name_of(variant_form::none)}};
  std::vector<uint32_t> all{1};
  if (marks_have_arguments) all.insert(all.end(), intervals.begin(), intervals.end());
  for (const uint32_t every : all) {
    for (const variant_form form :
         {variant_form::fence, variant_form::warp, variant_form::block, variant_form::warps}) {
      if (form == variant_form::warps && groups_of(threads) < 2) continue;
      variants.push_back({form, every, every == 1 ? name_of(form) : fmt::format("{}/{}", name_of(form), every)});
    }
  }
  return variants;
}

std::string program_text(const pace_variant& variant, std::string_view text, const std::string& path,
                         uint64_t threads) {
  std::string program;
  if (variant.form == variant_form::none) {
    program = "#define GPUSYNC_PACE(...) ((void)0)\n";
  } else {
    const std::string due = variant.every == 1 ? "(void)at;" : fmt::format("if (at % {} == 0)", variant.every);
    program = fmt::format(
        "#line 1 \"the mark's macro\"\n"
        "namespace gpusync_pace_of_tool {{\n"
        "__device__ __forceinline__ void meet() {{\n  {}\n}}\n"
        "__device__ __forceinline__ void visit() {{ meet(); }}\n"
        "template <class Integer> __device__ __forceinline__ void visit(Integer at) {{\n"
        "  static_assert(Integer(1) / 2 == 0, \"GPUSYNC_PACE() takes an integer\");\n  {} meet();\n}}\n"
        "}}\n"
        "#define GPUSYNC_PACE(...) ::gpusync_pace_of_tool::visit(__VA_ARGS__)\n",
        meeting(variant.form, threads), due);
  }
  return program + fmt::format("#line 1 \"{}\"\n", quoted(path)) + std::string(text);
}

}  // namespace gpusync::tool
