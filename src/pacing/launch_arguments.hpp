// What a kernel is launched with, as the command line of `gpusync pace` spells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpusync::tool {

/// One to three sizes.
struct dimensions {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t all() const { return uint64_t{x} * y * z; }
};

/// "264", "256x4" or "32x32x2". Throws usage_error that names `option`, unless each is from 1 on, y and z are up to
/// `most_yz` and x up to 2^31 - 1.
dimensions parse_dimensions(const std::string& text, const std::string& option, uint32_t most_yz);

/// As `gpusync pace` prints and takes it: "256x4"; trailing ones are left out.
std::string to_string(const dimensions& size);

/// What an array or a scalar is made of.
struct element_type {
  const char* name = "int";  ///< as it is spelled in arguments and in CUDA C++
  uint32_t bytes = 4;
  bool floating = false;
};

/// What an array holds at the start.
enum class array_start { zero, constant, index, random };

/// One argument of a kernel.
struct kernel_argument {
  std::string text;  ///< as it was spelled
  element_type type;
  bool is_array = false;
  uint64_t count = 0;                     ///< elements of an array
  array_start start = array_start::zero;  ///< of an array
  uint64_t below = 16;                    ///< of a random array: whole numbers from 0 to below - 1
  std::vector<std::byte> value;           ///< of a scalar, or what a constant array is filled with

  uint64_t bytes() const { return is_array ? count * type.bytes : type.bytes; }
};

/// Reads
///   TYPE[COUNT], TYPE[COUNT]=index, =random, =random:BELOW or =NUMBER     an array: char, int, uint, long, ulong,
///   float, double 8192, 8192u, 5l, 5ul, 1.5f, 2.0, true                                 a scalar, by its spelling as
///   in C++
/// COUNT is a whole number, or a power such as 2^26. Throws usage_error with what is allowed.
kernel_argument parse_argument(const std::string& text);

/// What the array holds at the start, byte for byte. `seed`: random arrays of different seeds differ.
std::vector<std::byte> start_contents(const kernel_argument& array, uint64_t seed);

/// NAME or NAME=VALUE, for the compiler. Throws usage_error.
void require_definition(const std::string& text);

/// "4,16,64": intervals of marks, each from 2 on, none twice. Throws usage_error.
std::vector<uint32_t> parse_intervals(const std::string& text);

}  // namespace gpusync::tool
