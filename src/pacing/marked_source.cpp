#include "pacing/marked_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "nearest.hpp"
#include "pacing/source_tokens.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* mark_name = "GPUSYNC_PACE";

/// What may stand before a kernel's name with parentheses of its own.
constexpr std::array<std::string_view, 6> attributes = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__",
                                                        "__block_size__",    "__attribute__",    "__align__"};

/// Reads tokens one construct after the other.
class source_scanner {
 public:
  explicit source_scanner(std::string_view text)
      : clean_(without_remarks(text)), tokens_(tokens_of(clean_)), closes_(partners_of(tokens_)) {}

  marked_source scan() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& word = tokens_[i].text;
      if (word == "namespace") {
        i = enter_namespace(i);
      } else if (word == "{") {
        scopes_.push_back({"", closes_[i]});
      } else if (word == "__global__") {
        i = read_kernel(i);
      } else if (is_mark(i)) {
        ++found_.marks_elsewhere;
        note_argument(i);
      }
      while (!scopes_.empty() && i >= scopes_.back().end) scopes_.pop_back();
    }
    return std::move(found_);
  }

 private:
  struct scope {
    std::string name;
    size_t end;  ///< the token that closes it
  };

  const std::string& at(size_t i) const {
    static const std::string none;
    return i < tokens_.size() ? tokens_[i].text : none;
  }
  bool is_mark(size_t i) const { return at(i) == mark_name && at(i + 1) == "("; }
  void note_argument(size_t i) { found_.marks_have_arguments = found_.marks_have_arguments || at(i + 2) != ")"; }

  /// Text between two tokens, its white space made one space each.
  std::string text_between(size_t first, size_t end) const {
    std::string text;
    if (first >= end || end > tokens_.size()) return text;
    const size_t last = tokens_[end - 1].begin + tokens_[end - 1].text.size();
    for (size_t i = tokens_[first].begin; i < last; ++i) {
      const bool space = std::isspace(static_cast<unsigned char>(clean_[i])) != 0;
      if (!space) text += clean_[i];
      if (space && !text.empty() && text.back() != ' ') text += ' ';
    }
    return text;
  }

  size_t enter_namespace(size_t i) {
    std::string name;
    size_t next = i + 1;
    for (; at(next) != "{" && at(next) != ";" && at(next) != "=" && next < tokens_.size(); ++next) name += at(next);
    if (at(next) != "{") return next;
    scopes_.push_back({name, closes_[next]});
    return next;
  }

  std::string qualified(const std::string& name) const {
    std::string whole;
    for (const scope& each : scopes_) {
      if (!each.name.empty()) whole += each.name + "::";
    }
    return whole + name;
  }

  /// Whether the declaration that token i belongs to begins with template <…>; `specialized` if that is empty.
  bool is_template(size_t i, bool& specialized) const {
    while (i > 0 && at(i - 1) != ";" && at(i - 1) != "}" && at(i - 1) != "{") --i;
    for (; at(i) != "__global__"; ++i) {
      if (at(i) != "template") continue;
      specialized = at(i + 1) == "<" && at(i + 2) == ">";
      return !specialized;
    }
    return false;
  }

  /// Returns the last token of the kernel.
  size_t read_kernel(size_t first) {
    source_kernel kernel;
    bool specialized = false;
    kernel.is_template = is_template(first, specialized);
    size_t name = first + 1;
    for (; name < tokens_.size(); ++name) {
      if (at(name) == ";" || at(name) == "{") return name - 1;  // no function
      if (at(name + 1) != "(" || !tokens_[name].is_word) continue;
      if (std::ranges::find(attributes, at(name)) == attributes.end()) break;
      name = closes_[name + 1];
    }
    if (name >= tokens_.size()) return name;
    kernel.name = qualified(at(name));
    kernel.line = tokens_[name].line;
    const size_t end = closes_[name + 1];
    read_parameters(name + 2, end, kernel);
    size_t body = end + 1;
    while (body < tokens_.size() && at(body) != "{" && at(body) != ";") ++body;
    if (at(body) != "{") return std::min(body, tokens_.size());
    read_body(body, kernel);
    if (!specialized) found_.kernels.push_back(std::move(kernel));
    return closes_[body];
  }

  void read_parameters(size_t first, size_t end, source_kernel& kernel) const {
    int angles = 0;
    size_t begin = first;
    for (size_t i = first; i <= end; ++i) {
      if (at(i) == "<") ++angles;
      if (at(i) == ">") --angles;
      if (at(i) == "(" || at(i) == "[" || at(i) == "{") i = closes_[i];
      if (i != end && (at(i) != "," || angles > 0)) continue;
      if (i > begin) kernel.parameters.push_back(text_between(begin, i));
      begin = i + 1;
    }
    if (kernel.parameters == std::vector<std::string>{"void"}) kernel.parameters.clear();
  }

  /// The token behind the statement that begins at i.
  size_t behind_statement(size_t i) const {
    while (i < tokens_.size()) {
      const std::string& word = at(i);
      if (word == "{") return closes_[i] + 1;
      if (word == "for" || word == "while" || word == "if" || word == "switch") {
        const size_t open = at(i + 1) == "constexpr" ? i + 2 : i + 1;
        const size_t behind = behind_statement((at(open) == "(" ? closes_[open] : open) + 1);
        return word == "if" && at(behind) == "else" ? behind_statement(behind + 1) : behind;
      }
      if (word == "do") {
        i = behind_statement(i + 1);  // at its while
        while (i < tokens_.size() && at(i) != ";") i = at(i) == "(" ? closes_[i] + 1 : i + 1;
        return i + 1;
      }
      for (; i < tokens_.size(); ++i) {
        if (at(i) == ";") return i + 1;
        if (at(i) == "}") return i;
        if (at(i) == "(" || at(i) == "[" || at(i) == "{") i = closes_[i];
      }
    }
    return tokens_.size();
  }

  bool uses_memory(size_t first, size_t end) const {
    for (size_t i = first; i < end; ++i) {
      const std::string& word = at(i);
      const bool behind_value = i > 0 && (tokens_[i - 1].is_word || at(i - 1) == "]" || at(i - 1) == ")");
      if (word == "[" && behind_value) return true;
      if (word == "->" || word.starts_with("atomic") || word.starts_with("__ld") || word.starts_with("__st"))
        return true;
      if (word == "*" && i > 0 && tokens_[i + 1 < end ? i + 1 : i].is_word &&
          std::string_view("=(,;{}+-").find(at(i - 1)) != std::string_view::npos)
        return true;
    }
    return false;
  }

  void read_loop(size_t i, source_kernel& kernel) const {
    source_loop loop;
    loop.line = tokens_[i].line;
    size_t body = i + 1;
    if (at(i) != "do") {
      if (at(i + 1) != "(") return;
      body = closes_[i + 1] + 1;
      loop.header = text_between(i, body);
    } else {
      loop.header = "do";
    }
    const size_t end = behind_statement(at(i) == "do" ? body : i);
    for (size_t k = i; k < body; ++k) {
      loop.names_thread = loop.names_thread || at(k) == "threadIdx";
      if (at(i) == "for" && loop.index.empty() && at(k) == "=" && tokens_[k - 1].is_word) loop.index = at(k - 1);
      if (at(k) == ";") break;
    }
    for (size_t k = i; k < body; ++k) loop.names_thread = loop.names_thread || at(k) == "threadIdx";
    loop.uses_memory = uses_memory(body, end);
    for (size_t k = body; k < end; ++k) {
      if (at(k) == "for" || at(k) == "while" || at(k) == "do") {
        loop.has_loop = loop.has_loop || uses_memory(k, behind_statement(k));
      }
    }
    constexpr size_t most = 60;
    if (loop.header.size() > most) {
      loop.header.resize(most - 3);
      loop.header += "…";
    }
    kernel.loops.push_back(std::move(loop));
  }

  void read_body(size_t open, source_kernel& kernel) {
    const size_t close = closes_[open];
    std::set<size_t> ends_of_do;
    for (size_t i = open + 1; i < close; ++i) {
      const std::string& word = at(i);
      if (is_mark(i)) {
        ++kernel.marks;
        note_argument(i);
      }
      if (word == "__shared__") kernel.uses_shared = true;
      if (word == "do") ends_of_do.insert(behind_statement(i + 1));
      if (word == "for" || word == "do" || (word == "while" && ends_of_do.count(i) == 0)) read_loop(i, kernel);
    }
    find_strides(open, close, kernel);
  }

  bool is_thread(size_t i, const std::set<std::string>& follow) const {
    return follow.count(at(i)) != 0 || (at(i) == "x" && at(i - 1) == "." && at(i - 2) == "threadIdx");
  }

  /// Names that are set to something that grows with threadIdx.x by its steps: no quotient or remainder of it.
  std::set<std::string> followers(size_t open, size_t close) const {
    std::set<std::string> follow;
    for (int pass = 0; pass < 3; ++pass) {
      for (size_t i = open + 1; i < close; ++i) {
        if (at(i) != "=" || !tokens_[i - 1].is_word) continue;
        bool names = false, cut = false;
        for (size_t k = i + 1; k < close && at(k) != ";" && at(k) != ","; ++k) {
          names = names || is_thread(k, follow);
          cut = cut || at(k) == "/" || at(k) == ">" || at(k) == "[" || at(k) == "?";
        }
        if (names && !cut) follow.insert(at(i - 1));
      }
    }
    return follow;
  }

  void find_strides(size_t open, size_t close, source_kernel& kernel) const {
    const std::set<std::string> follow = followers(open, close);
    for (size_t i = open + 1; i < close; ++i) {
      if (at(i) != "[" || !tokens_[i - 1].is_word) continue;
      for (size_t k = i + 1; k < closes_[i]; ++k) {
        if (!is_thread(k, follow)) continue;
        const size_t begin = at(k - 1) == "." ? k - 2 : k;
        if (at(k + 1) != "*" && at(begin - 1) != "*") continue;
        kernel.strided.push_back(text_between(i - 1, closes_[i] + 1));
        break;
      }
    }
  }

  std::string clean_;
  std::vector<source_token> tokens_;
  std::vector<size_t> closes_;
  std::vector<scope> scopes_;
  marked_source found_;
};

std::string in_words(const source_kernel& kernel) {
  return fmt::format("{}({}) in line {}", kernel.name, fmt::join(kernel.parameters, ", "), kernel.line);
}

}  // namespace

marked_source scan_source(std::string_view text) {
  marked_source found = source_scanner(text).scan();
  for (const std::string& directive : directives_of(text)) {
    // In a macro of the user's; the macro itself may be defined, undefined and asked for.
    size_t at = directive.find(mark_name);
    if (at == std::string::npos || !directive.starts_with("define")) continue;
    size_t word = directive.find_first_not_of(" \t", 6);
    if (word == at) continue;
    ++found.marks_elsewhere;
    at += std::string_view(mark_name).size();
    at = directive.find_first_not_of(" \t(", at);
    found.marks_have_arguments = found.marks_have_arguments || (at != std::string::npos && directive[at] != ')');
  }
  return found;
}

const source_kernel& find_kernel(const marked_source& source, const std::string& name, const std::string& path) {
  const std::string plain = name.substr(0, name.find('<'));
  std::vector<const source_kernel*> meant;
  std::vector<std::string> names, places;
  for (const source_kernel& each : source.kernels) {
    names.push_back(each.name);
    if (each.name == plain || each.name.ends_with("::" + plain) || "::" + each.name == plain) {
      meant.push_back(&each);
      places.push_back(in_words(each));
    }
  }
  if (source.kernels.empty()) throw usage_error(fmt::format("'{}' defines no __global__ function.", path));
  if (meant.empty()) {
    throw usage_error(fmt::format("'{}' defines no kernel '{}': it has {}.{}", path, name, fmt::join(names, ", "),
                                  did_you_mean(plain, names)));
  }
  if (meant.size() > 1) {
    throw usage_error(
        fmt::format("'{}' means several kernels of '{}': {}. Name one with its namespace; overloads need "
                    "names of their own.",
                    name, path, fmt::join(places, "; ")));
  }
  if (meant[0]->is_template && plain == name) {
    throw usage_error(
        fmt::format("{} is a template: name its arguments too, as in --kernel '{}<float>'.", plain, plain));
  }
  return *meant[0];
}

void require_marks(const marked_source& source, const source_kernel& kernel, const std::string& path) {
  if (kernel.marks > 0 || source.marks_elsewhere > 0) return;
  std::vector<std::string> places;
  for (const source_loop& loop : kernel.loops) {
    if (!loop.uses_memory) continue;
    places.push_back(fmt::format("line {}, {}{}{}", loop.line, loop.header,
                                 loop.has_loop ? ", around another loop" : "",
                                 loop.names_thread ? ", if all threads of a block pass it equally often" : ""));
  }
  if (places.empty()) {
    throw usage_error(
        fmt::format("{} in '{}' has no GPUSYNC_PACE(), and no loop that reads or writes memory where one "
                    "could stand.",
                    kernel.name, path));
  }
  std::string index;
  for (const source_loop& loop : kernel.loops) {
    if (index.empty() && loop.uses_memory) index = loop.index;
  }
  throw usage_error(fmt::format(
      "{} in '{}' has no mark: put GPUSYNC_PACE({}); at the end of the body of a loop that reads or writes memory: {}",
      kernel.name, path, index, fmt::join(places, "; ")));
}

}  // namespace gpusync::tool
