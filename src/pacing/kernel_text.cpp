#include "pacing/kernel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <gpusync/core/error.hpp>
#include <optional>

#include "pacing/source_tokens.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

/// Behind ".entry SYMBOL(".
size_t entry_of(std::string_view ptx, const std::string& symbol) {
  constexpr std::string_view entry = ".entry";
  for (size_t at = ptx.find(entry); at != std::string_view::npos; at = ptx.find(entry, at + 1)) {
    size_t name = at + entry.size();
    while (name < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[name])) != 0) ++name;
    const size_t end = name + symbol.size();
    if (ptx.substr(name, symbol.size()) == symbol && (end == ptx.size() || !is_name(ptx[end]))) return end;
  }
  throw error(fmt::format("The compiler's PTX has no kernel '{}'.", symbol));
}

/// ".param .u64 .ptr .align 1 NAME" or ".param .align 4 .b8 NAME[20]".
kernel_parameter parameter_in(std::string_view text) {
  kernel_parameter found;
  const size_t open = text.find('[');
  if (open != std::string_view::npos) {
    found.structure = true;
    found.bytes = static_cast<uint32_t>(std::strtoul(std::string(text.substr(open + 1)).c_str(), nullptr, 10));
    return found;
  }
  for (const char* type : {".u8", ".s8", ".b8", ".u16", ".s16", ".b16", ".f16", ".u32", ".s32", ".b32", ".f32", ".u64",
                           ".s64", ".b64", ".f64"}) {
    const size_t at = text.find(std::string(type) + " ");
    if (at == std::string_view::npos) continue;
    found.bytes = static_cast<uint32_t>(std::strtoul(type + 2, nullptr, 10)) / 8;
    found.floating = type[1] == 'f';
  }
  return found;
}

std::vector<kernel_parameter> parameters_in(std::string_view list) {
  std::vector<kernel_parameter> found;
  constexpr std::string_view word = ".param";
  for (size_t at = list.find(word); at != std::string_view::npos;) {
    const size_t next = list.find(word, at + word.size());
    found.push_back(parameter_in(list.substr(at, next == std::string_view::npos ? next : next - at)));
    at = next;
  }
  return found;
}

/// The opcode of "@%p1 ld.global.v4.f32 …"; empty if the line has none.
std::string_view opcode_in(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  if (begin != std::string_view::npos && line[begin] == '@') {
    begin = line.find_first_of(" \t", begin);
    begin = begin == std::string_view::npos ? begin : line.find_first_not_of(" \t", begin);
  }
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_first_of(" \t;"));
}

/// Bits of one load: "ld.global.v4.f32" has 128.
int width_of(std::string_view opcode) {
  const size_t dot = opcode.rfind('.');
  const int bits = dot + 2 <= opcode.size() ? std::atoi(std::string(opcode.substr(dot + 2)).c_str()) : 0;
  const int count = opcode.find(".v8.") != std::string_view::npos   ? 8
                    : opcode.find(".v4.") != std::string_view::npos ? 4
                    : opcode.find(".v2.") != std::string_view::npos ? 2
                                                                    : 1;
  return bits * count;
}

/// Bytes of what a parameter points to or is, if it is spelled with a type that is known; nothing else is certain.
std::optional<uint32_t> bytes_of_type(const std::vector<source_token>& tokens) {
  const auto has = [&](const char* word) {
    return std::ranges::any_of(tokens, [&](const source_token& each) { return each.text == word; });
  };
  for (const source_token& each : tokens) {
    if (each.text == "<" || each.text == "::" || each.text == "(") return std::nullopt;
  }
  if (has("long") || has("double") || has("size_t") || has("int64_t") || has("uint64_t")) return 8;
  if (has("char") || has("bool") || has("int8_t") || has("uint8_t")) return 1;
  if (has("short") || has("int16_t") || has("uint16_t")) return 2;
  if (has("float") || has("int") || has("unsigned") || has("int32_t") || has("uint32_t")) return 4;
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& what, const kernel_argument& argument, const std::string& why) {
  throw usage_error(fmt::format("--arg '{}' does not go with {}: {}.", argument.text, what, why));
}

void require_argument(const std::string& what, const std::string& spelled, const kernel_parameter& parameter,
                      const kernel_argument& argument) {
  const std::vector<source_token> tokens = tokens_of(spelled);
  const std::optional<uint32_t> known = bytes_of_type(tokens);
  const auto signs = [&](const char* sign) {
    return std::ranges::count_if(tokens, [&](const source_token& each) { return each.text == sign; });
  };
  const auto stars = signs("*") + signs("[");
  if (parameter.structure) refuse(what, argument, "structures cannot be given on the command line");
  if (argument.is_array) {
    if (parameter.bytes != 8 || parameter.floating || (known && stars == 0)) {
      refuse(what, argument, "an array is for a pointer, and this is a number");
    }
    if (stars == 1 && known && *known != argument.type.bytes) {
      refuse(what, argument,
             fmt::format("its elements have {} bytes, and {} has {}", *known, argument.type.name, argument.type.bytes));
    }
    return;
  }
  if (stars > 0) refuse(what, argument, "a pointer wants an array, such as float[2^20]=random");
  if (parameter.bytes != argument.type.bytes || parameter.floating != argument.type.floating) {
    refuse(what, argument,
           fmt::format("it is a{} number of {} bytes, and '{}' is {} {}",
                       parameter.floating ? " floating-point" : " whole", parameter.bytes, argument.text,
                       argument.type.name[0] == 'i' || argument.type.name[0] == 'u' ? "an" : "a", argument.type.name));
  }
}

}  // namespace

kernel_text read_ptx(std::string_view ptx, const std::string& symbol) {
  kernel_text found;
  const size_t behind = entry_of(ptx, symbol);
  const size_t body = std::min(ptx.find('{', behind), ptx.size());
  found.parameters = parameters_in(ptx.substr(behind, body - behind));
  int depth = 0;
  size_t end = body;
  for (; end < ptx.size(); ++end) {
    if (ptx[end] == '{') ++depth;
    if (ptx[end] == '}' && --depth == 0) break;
  }
  std::string_view rest = ptx.substr(body, end - body);
  while (!rest.empty()) {
    const size_t line_end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
    const std::string_view opcode = opcode_in(line);
    if (opcode.empty() || opcode == ".loc" || opcode.starts_with("//")) continue;
    found.body.append(line).append("\n");
    if (opcode.starts_with("call")) found.calls = true;
    if (opcode.starts_with("ld.global")) ++(width_of(opcode) > 32 ? found.wide_loads : found.narrow_loads);
  }
  return found;
}

void require_arguments(const source_kernel& kernel, const std::vector<kernel_parameter>& parameters,
                       const std::vector<kernel_argument>& arguments) {
  if (parameters.size() != arguments.size()) {
    throw usage_error(fmt::format("{} takes {} argument{} ({}), and --arg was given {} time{}.", kernel.name,
                                  parameters.size(), parameters.size() == 1 ? "" : "s",
                                  fmt::join(kernel.parameters, ", "), arguments.size(),
                                  arguments.size() == 1 ? "" : "s"));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    // A template's parameter types are not in the text.
    const std::string spelled =
        i < kernel.parameters.size() && kernel.parameters.size() == parameters.size() ? kernel.parameters[i] : "";
    const std::string what =
        fmt::format("parameter {} of {}{}", i + 1, kernel.name, spelled.empty() ? "" : fmt::format(" ({})", spelled));
    require_argument(what, spelled, parameters[i], arguments[i]);
  }
}

}  // namespace gpusync::tool
