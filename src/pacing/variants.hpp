// What stands in the place of a mark: the forms and intervals that `gpusync pace` compares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpusync::tool {

/// Forms without state, for a mark is a statement in the user's text: pace::lead, which the threads of a block begin
/// together, is not among them.
enum class variant_form {
  none,   ///< no instruction
  fence,  ///< a fence for the first half of the compiler, which makes PTX: no instruction. A control
  warp,   ///< the threads of each warp meet, and no warp waits for another. A control: it holds the assembler, too
  block,  ///< all threads of the block meet
  warps   ///< the warps of a block meet in groups of eight
};

/// One way to compile the user's file.
struct pace_variant {
  variant_form form = variant_form::none;
  uint32_t every = 1;  ///< of the mark's argument; 1: at each visit
  std::string name;    ///< in results: "block/4"

  bool is_barrier() const { return form == variant_form::block || form == variant_form::warps; }
};

/// Those that there are for blocks of so many threads: none first, then of each interval the controls and the barriers.
/// Without arguments of the marks every visit counts. Groups of eight warps are left out where they are the block.
std::vector<pace_variant> pace_variants(bool marks_have_arguments, const std::vector<uint32_t>& intervals,
                                        uint64_t threads);

/// The file's text for the compiler: a variant's macro before it, and `path` as the name in messages. Lines are counted
/// as in the file.
std::string program_text(const pace_variant& variant, std::string_view text, const std::string& path, uint64_t threads);

}  // namespace gpusync::tool
