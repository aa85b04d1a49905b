// Workload "store atomicity": a litmus test. Is one masked store of a warp, of several words to one segment, seen as
// one? C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/rmw/machine.hpp>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

/// One test.
struct litmus_setup {
  /// What the writers do; see store_atomicity_device::methods().
  std::string method;
  rmw::space where = rmw::space::global;
  bool same_sm = false;     ///< all writers of a segment are warps of one block
  uint32_t bytes = 128;     ///< of a segment: a power of two up to 128
  uint32_t word_bytes = 4;  ///< of what each lane stores: 4 or 8
  bool stress = false;      ///< other blocks load the caches and the shared memories
};

/// What a method of the test is.
struct litmus_method {
  std::string name;
  std::vector<std::string> items;  ///< of the papers, that it is about
  /// A segment has as many words at least, of any size; 0 for a method that has a size of its own.
  uint32_t least_words = 2;
  bool control = false;  ///< meant to be found torn: it says what the test can see

  bool sized() const { return least_words != 0; }
};

struct litmus_count {
  uint64_t trials = 0;  ///< segments that several warps wrote at once
  uint64_t violations = 0;
  uint64_t lasting = 0;  ///< of them those that were still there after a fence: no load has made them
};

/// A prepared test.
class litmus_program {
 public:
  virtual ~litmus_program() = default;
  /// One launch, of about 0.1 s; `seed` says which masks and which multiprocessors meet. Blocking. Throws
  /// gpusync::error.
  virtual litmus_count run(uint32_t seed) = 0;
};

/// The device side.
///
/// In a phase all writers of a segment store to it, as near to each other in time as a grid barrier before it allows,
/// then all words are read, behind another barrier. Each word tells who wrote it last. If every store took effect as
/// one, these tell of one order in which the stores happened; a violation is a segment whose words contradict each
/// other, a word that nobody was to write but somebody did, or one whose writers all missed it.
class store_atomicity_device {
 public:
  virtual ~store_atomicity_device() = default;
  /// `random-masks`: two writers, each to lanes drawn at random, of which at least two are common. `object-cells`: five
  /// writers to the cells of rmw::coalesced_store. `consensus-N`: N participants decide a round as the shipped policy
  /// does; a violation is a round in which they do not agree. Controls: `split-store`, random masks in two
  /// instructions; `across-lines`, a segment on both sides of a line's border (global memory); `consensus-N-unfenced`.
  virtual std::vector<litmus_method> methods(rmw::space where) const = 0;
  /// Precondition: a segment has the method's least_words. Throws gpusync::error if the device cannot run it.
  virtual std::unique_ptr<litmus_program> prepare(const litmus_setup& setup) = 0;
};

}  // namespace gpusync::tool
