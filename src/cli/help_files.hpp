// Completions for shells and a manual page, made of what --help is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpusync::tool {

/// What a value on the command line may be.
enum class value_kind { none, text, file, device, experiment };

/// An option, or an argument without a name.
struct option_help {
  std::vector<std::string> names;  ///< "-d", "--device"; empty for an argument
  std::string value_name;          ///< "DEVICE"; empty for a flag
  std::string about;
  value_kind takes = value_kind::none;
};

struct command_help {
  std::string name;
  std::string about;
  std::vector<option_help> options;
};

/// The whole program.
struct program_help {
  std::string about;
  std::string footer;
  std::vector<option_help> options;  ///< of every command
  std::vector<command_help> commands;
  std::vector<std::string> experiments;
};

/// The shells that complete_for() knows.
inline const std::vector<std::string> known_shells{"bash", "zsh", "fish"};

/// A script that lets a shell complete gpusync's commands, options, experiments and files; devices it asks for when
/// they are wanted. Throws usage_error for a shell that is none of known_shells.
std::string completions_for(const std::string& shell, const program_help& program);

/// The manual page gpusync(1) in roff, of that version.
std::string manual_page(const program_help& program, const std::string& version);

}  // namespace gpusync::tool
