// Workloads whose kernels have variants that differ in pace alone (Lo, Lee, Kao, Chung and Chung 2014): what an
// experiment asks of a device. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "pacing/paced_role.hpp"

namespace gpusync::tool {

/// One variant.
struct paced_variant {
  std::string name;    ///< in results: "none", "control-16", "block-1"
  std::string title;   ///< in words
  uint32_t every = 1;  ///< iterations from visit to visit
  paced_role role = paced_role::plain;
};

/// The variant that has a form, under the name that form_name() gives it.
paced_variant variant_of(const std::string& form, uint32_t every, paced_role role, bool instrumented);

/// What a kernel works on; each text takes the numbers that it names.
struct paced_problem {
  step_shape shape;
  uint64_t elements = 1;   ///< of a vector, vectors, rows
  uint64_t length = 1;     ///< cells of a thread, elements of a vector or row, columns
  uint32_t percent = 0;    ///< lengths vary by so much, up and down
  uint64_t band = 0;       ///< columns of a row lie so far from the diagonal at most; 0: anywhere
  uint32_t warp_size = 1;  ///< the device's
  bool small_l1 = false;   ///< as much as can be of what L1 and shared memory have in common is shared memory
};

/// What a variant takes of a multiprocessor. On the host all are 0.
struct paced_resources {
  int registers = 0;        ///< a thread
  int shared_bytes = 0;     ///< a block, static
  int resident_blocks = 0;  ///< a multiprocessor
  int carve_out = 0;        ///< percent of the multiprocessor's memory that is to be shared memory
};

/// Why a variant's time must not be compared with that of the plain one; empty if it may. Blocks on a multiprocessor
/// and its L1 cache change the pattern of accesses as a barrier does, and would pass for its effect. Registers alone
/// do not: they are reported.
std::string why_not_comparable(const paced_resources& variant, const paced_resources& plain);

/// Clocks of an instrumented build, means over all warps.
struct paced_clocks {
  std::string unit;     ///< "cycles"; on the host "ns"
  double memory = 0;    ///< in accesses and arithmetic
  double barrier = 0;   ///< in visits
  double tree = 0;      ///< in what follows the loop: a block's sum
  double visits = 0;    ///< intervals that were timed
  double lifetime = 0;  ///< from a warp's begin to its end, over the kernel's: 1 if all live as long
};

/// A text on one device with its memory, all variants ready to run.
class paced_program {
 public:
  virtual ~paced_program() = default;
  virtual std::vector<paced_variant> variants() const = 0;
  /// Those that there are instrumented builds of.
  virtual std::vector<paced_variant> clocked() const = 0;
  /// Iterations of the loop that is paced, those of one pass: a variant with a longer interval makes no visit.
  virtual uint64_t trips() const = 0;
  /// Bytes that a run reads and writes if each is moved once.
  virtual uint64_t bytes() const = 0;
  virtual paced_resources resources(const paced_variant& which) = 0;
  /// Runs a variant from a fresh output; nanoseconds of one launch, by the device's timer. The whole output is compared
  /// before it returns. Throws gpusync::error.
  virtual double run(const paced_variant& which) = 0;
  /// The same by its instrumented build.
  virtual paced_clocks run_clocked(const paced_variant& which) = 0;
  /// What the checks of a variant's runs have found, of either build.
  virtual verification verify(const paced_variant& which, bool instrumented) const = 0;
  /// The name of its function in the machine code; empty if there is none.
  virtual std::string function_of(const paced_variant&) const { return ""; }
};

/// Throws invalid_argument with the reason why a variant must not be measured beside the plain one; a rival may.
void require_comparable(paced_program& program, const paced_variant& variant, const paced_variant& plain);

/// The device side of one text.
class paced_device {
 public:
  virtual ~paced_device() = default;
  /// What program() will have, without memory.
  virtual std::vector<paced_variant> variants() const = 0;
  /// It must not outlive this object. Throws invalid_argument if memory is short or the problem makes no sense.
  virtual std::unique_ptr<paced_program> program(const paced_problem& problem) = 0;
  /// Of the loaded machine code: 90 for sm_90; 0 where there is none.
  virtual int architecture() const { return 0; }
};

/// Percent of a multiprocessor's memory to ask for as shared memory, so that so many blocks have room whose variants
/// take `shared_bytes` at most.
int carve_out_for(int resident_blocks, int shared_bytes, int reserved_bytes, uint64_t bytes_of_multiprocessor);

/// The record of one warp in an instrumented build.
struct warp_clocks {
  uint64_t parts[3];  ///< memory, barrier, tree
  uint64_t visits;
  uint64_t begin, end;  ///< nanoseconds of a clock that all warps share
};

/// Their means.
paced_clocks mean_clocks(const std::vector<warp_clocks>& warps, const std::string& unit);

/// Throws invalid_argument if more memory is needed than `there_are`, with both and `of`: "free".
void require_room(uint64_t needed, uint64_t there_are, const char* of);

/// 32-bit words of a text's arrays: what it reads, then what it writes.
struct paced_arrays {
  uint64_t words[6];
  uint32_t count;

  uint64_t output_words() const { return words[count - 1]; }
  /// With the reference beside the output.
  uint64_t bytes() const;
};

/// How outputs are checked, in words.
inline constexpr const char* paced_check =
    "the whole output of every run, compared with what was computed without its arrays and loop";

}  // namespace gpusync::tool
