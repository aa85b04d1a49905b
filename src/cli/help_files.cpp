#include "cli/help_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

using option_list = std::vector<option_help>;

constexpr const char* ask_for_devices =
    "gpusync devices --quiet 2>/dev/null | sed -n 's/^\\([a-z][a-z]*[:0-9]*\\) .*/\\1/p'";

std::string with(std::string text, char from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, 1, to);
  }
  return text;
}

/// In single quotes, as all three shells read it.
std::string quoted(const std::string& text) {
  return "'" + with(text, '\'', "'\\''") + "'";
}

std::vector<std::string> names_of(const option_list& all) {
  std::vector<std::string> names;
  for (const option_help& one : all) names.insert(names.end(), one.names.begin(), one.names.end());
  return names;
}

option_list named(const option_list& all) {
  option_list found;
  std::ranges::copy_if(all, std::back_inserter(found), [](const option_help& one) { return !one.names.empty(); });
  return found;
}

/// What the arguments without a name are; none if there are none.
value_kind argument_of(const command_help& command) {
  const auto found = std::ranges::find_if(command.options, [](const option_help& one) { return one.names.empty(); });
  return found == command.options.end() ? value_kind::none : found->takes;
}

std::string bash_words(value_kind kind, const program_help& program) {
  switch (kind) {
    case value_kind::file: return "COMPREPLY=($(compgen -f -- \"$word\"))";
    case value_kind::device: return fmt::format("COMPREPLY=($(compgen -W \"$({})\" -- \"$word\"))", ask_for_devices);
    case value_kind::experiment:
      return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", fmt::join(program.experiments, " "));
    default: return "COMPREPLY=()";
  }
}

std::string bash_completions(const program_help& program) {
  std::vector<std::string> commands;
  for (const command_help& command : program.commands) commands.push_back(command.name);
  // A colon, as in cuda:0, ends a word of bash's.
  std::string text = fmt::format(
      "# Completion of gpusync for bash.\n"
      "_gpusync() {{\n"
      "  local word before command=\"\" i cur prev words cword\n"
      "  if ! _get_comp_words_by_ref -n : cur prev words cword 2>/dev/null; then  # without the package "
      "bash-completion\n"
      "    cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words=(\"${{COMP_WORDS[@]}}\") "
      "cword=$COMP_CWORD\n"
      "  fi\n"
      "  word=$cur before=$prev\n"
      "  for ((i = 1; i < cword; ++i)); do\n"
      "    case ${{words[i]}} in -*) ;; *) command=${{words[i]}}; break ;; esac\n"
      "  done\n"
      "  if [[ -z $command ]]; then\n"
      "    COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n",
      fmt::join(commands, " "), fmt::join(names_of(program.options), " "));
  for (const command_help& command : program.commands) {
    text += fmt::format("    {})\n      case $before in\n", command.name);
    for (const option_help& option : named(command.options)) {
      if (option.takes == value_kind::none) continue;
      text += fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"), bash_words(option.takes, program));
    }
    text += fmt::format(
        "        *)\n          if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\"))\n"
        "          else {}; fi ;;\n      esac ;;\n",
        fmt::join(names_of(command.options), " "), fmt::join(names_of(program.options), " "),
        bash_words(argument_of(command), program));
  }
  return text +
         "  esac\n"
         "  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions \"$word\"\n"
         "}\n"
         "complete -o filenames -F _gpusync gpusync\n";
}

std::string zsh_action(value_kind kind, const program_help& program) {
  switch (kind) {
    case value_kind::file: return "_files";
    case value_kind::device: return fmt::format("{{compadd -- $({})}}", ask_for_devices);
    case value_kind::experiment: return fmt::format("({})", fmt::join(program.experiments, " "));
    default: return " ";
  }
}

/// A text within a specification of _arguments.
std::string zsh_escaped(const std::string& text) {
  return with(with(with(text, '[', "("), ']', ")"), ':', "\\:");
}

std::string zsh_specifications(const option_list& all, const program_help& program) {
  std::string text;
  for (const option_help& option : all) {
    const std::string action = with(with(zsh_action(option.takes, program), ':', "\\:"), '\'', "'\\''");
    if (option.names.empty()) {
      text += fmt::format("        '*:{}:{}' \\\n", option.value_name, action);
      continue;
    }
    for (const std::string& name : option.names) {
      const std::string value =
          option.takes == value_kind::none ? "" : fmt::format(":{}:{}", option.value_name, action);
      text += fmt::format("        '*{}[{}]{}' \\\n", name, with(zsh_escaped(option.about), '\'', "'\\''"), value);
    }
  }
  return text;
}

std::string zsh_completions(const program_help& program) {
  std::string text =
      "#compdef gpusync\n# Completion of gpusync for zsh.\n_gpusync() {\n  local -a commands\n  commands=(\n";
  for (const command_help& command : program.commands) {
    text += fmt::format("    {}\n", quoted(command.name + ":" + zsh_escaped(command.about)));
  }
  text += fmt::format(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    _arguments \\\n{}    return\n  fi\n"
      "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in\n",
      zsh_specifications(program.options, program) + "        && return\n");
  for (const command_help& command : program.commands) {
    text += fmt::format("    {})\n      _arguments \\\n{}{}        && return ;;\n", command.name,
                        zsh_specifications(command.options, program), zsh_specifications(program.options, program));
  }
  return text + "  esac\n}\n_gpusync \"$@\"\n";
}

std::string fish_values(value_kind kind, const program_help& program) {
  switch (kind) {
    case value_kind::file: return " -r -F";
    case value_kind::device: return fmt::format(" -x -a {}", quoted(fmt::format("({})", ask_for_devices)));
    case value_kind::experiment:
      return fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(program.experiments, " "))));
    case value_kind::text: return " -x";
    case value_kind::none: return "";
  }
  return "";
}

std::string fish_line(const std::string& condition, const option_help& option, const program_help& program) {
  std::string line = "complete -c gpusync";
  if (!condition.empty()) line += " -n " + quoted(condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return line + fish_values(option.takes, program) + " -d " + quoted(option.about) + "\n";
}

std::string fish_completions(const program_help& program) {
  std::string text = "# Completion of gpusync for fish.\ncomplete -c gpusync -f\n";
  for (const option_help& option : program.options) text += fish_line("", option, program);
  for (const command_help& command : program.commands) {
    text +=
        fmt::format("complete -c gpusync -n __fish_use_subcommand -a {} -d {}\n", command.name, quoted(command.about));
    for (const option_help& option : command.options) {
      text += fish_line("__fish_seen_subcommand_from " + command.name, option, program);
    }
  }
  return text;
}

/// Text of a manual page: a backslash, and a point or a quote at the beginning of a line, mean something to roff.
std::string roff(const std::string& text) {
  std::string escaped = with(with(text, '\\', "\\e"), '-', "\\-");
  for (size_t at = 0; at < escaped.size(); ++at) {
    const bool begins = at == 0 || escaped[at - 1] == '\n';
    if (begins && (escaped[at] == '.' || escaped[at] == '\'')) escaped.insert(at, "\\&");
  }
  return escaped;
}

std::string roff_options(const option_list& all) {
  std::string text;
  for (const option_help& option : all) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
    const std::string value = option.value_name.empty() ? "" : "\\fI" + roff(option.value_name) + "\\fR";
    text += fmt::format(".TP\n{}{}{}\n{}.\n", fmt::join(names, ", "), names.empty() || value.empty() ? "" : " ", value,
                        roff(option.about));
  }
  return text;
}

}  // namespace

std::string completions_for(const std::string& shell, const program_help& program) {
  if (shell == "bash") return bash_completions(program);
  if (shell == "zsh") return zsh_completions(program);
  if (shell == "fish") return fish_completions(program);
  throw usage_error(fmt::format("There are completions for {}, not for '{}'.", fmt::join(known_shells, ", "), shell));
}

std::string manual_page(const program_help& program, const std::string& version) {
  std::string text = fmt::format(
      ".TH GPUSYNC 1 \"\" \"gpusync {}\"\n.SH NAME\ngpusync \\- {}\n.SH SYNOPSIS\n"
      ".B gpusync\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH OPTIONS OF EVERY COMMAND\n{}",
      roff(version), roff(program.about), roff_options(program.options));
  for (const command_help& command : program.commands) {
    std::string title = command.name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text += fmt::format(".SH {}\n{}.\n{}", title, roff(command.about), roff_options(command.options));
  }
  return text + fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(program.footer));
}

}  // namespace gpusync::tool
