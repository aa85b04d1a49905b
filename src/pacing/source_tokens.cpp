#include "pacing/source_tokens.hpp"

#include <algorithm>
#include <cctype>

#include "pacing/marked_source.hpp"

namespace gpusync::tool {

namespace {

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Replaces by spaces what is no code, and collects the directives.
class cleaner {
 public:
  explicit cleaner(std::string_view text) : text_(text) {}

  std::string clean() {
    remove_literals();
    remove_directives();
    return std::move(text_);
  }
  std::vector<std::string> directives() {
    (void)clean();
    return std::move(directives_);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void blank(size_t first, size_t end) {
    for (size_t i = first; i < std::min(end, text_.size()); ++i) {
      if (text_[i] != '\n') text_[i] = ' ';
    }
  }

  /// The first letter of the word that ends before i.
  size_t word_before(size_t i) const {
    while (i > 0 && (is_letter(text_[i - 1]) || text_[i - 1] == '\'')) --i;
    return i;
  }

  size_t end_of_raw(size_t quote) const {
    const size_t open = text_.find('(', quote);
    if (open == std::string::npos) return text_.size();
    const std::string close = ")" + text_.substr(quote + 1, open - quote - 1) + "\"";
    const size_t end = text_.find(close, open);
    return end == std::string::npos ? text_.size() : end + close.size();
  }

  size_t end_of_quoted(size_t first) const {
    const char quote = text_[first];
    size_t i = first + 1;
    while (i < text_.size() && text_[i] != quote && text_[i] != '\n') i += text_[i] == '\\' ? 2 : 1;
    return i + 1;
  }

  void remove_literals() {
    for (size_t i = 0; i < text_.size();) {
      size_t end = i + 1;
      if (at(i) == '/' && at(i + 1) == '/') {
        end = i;
        do {
          end = std::min(text_.find('\n', end + 1), text_.size());
        } while (end < text_.size() && at(end - 1) == '\\');
      } else if (at(i) == '/' && at(i + 1) == '*') {
        end = text_.find("*/", i + 2);
        end = end == std::string::npos ? text_.size() : end + 2;
      } else if (at(i) == '"') {
        const std::string prefix = text_.substr(word_before(i), i - word_before(i));
        const bool raw = prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
        end = raw ? end_of_raw(i) : end_of_quoted(i);
      } else if (at(i) == '\'') {
        if (word_before(i) == i || !is_digit(text_[word_before(i)])) end = end_of_quoted(i);  // no 1'000
      } else {
        i = end;
        continue;
      }
      if (end != i + 1) blank(i, end);
      i = end;
    }
  }

  /// Behind a directive's last line: lines that end with a backslash go on.
  size_t end_of_directive(size_t i) const {
    for (;;) {
      const size_t end = std::min(text_.find('\n', i), text_.size());
      if (end == text_.size() || end == 0 || text_[end - 1] != '\\') return end;
      i = end + 1;
    }
  }

  void remove_directives() {
    int depth = 0, left_out_at = 0;  // the depth of the #if 0 that is being left out; 0: none
    for (size_t line = 0; line < text_.size();) {
      const size_t first = text_.find_first_not_of(" \t", line);
      size_t end = std::min(text_.find('\n', line), text_.size());
      if (at(first) != '#') {
        if (left_out_at != 0) blank(line, end);
        line = end + 1;
        continue;
      }
      end = end_of_directive(first);
      std::string words = text_.substr(first + 1, end - first - 1);
      std::erase(words, '\n');
      std::erase(words, '\\');
      words.erase(0, std::min(words.find_first_not_of(" \t"), words.size()));
      words.erase(words.find_last_not_of(" \t\r") + 1);
      if (words.starts_with("if")) {
        ++depth;
        const bool never = words == "if 0" || words == "if false";
        if (left_out_at == 0 && never) left_out_at = depth;
      } else if (words.starts_with("endif")) {
        if (left_out_at == depth) left_out_at = 0;
        depth = std::max(0, depth - 1);
      } else if (words.starts_with("el") && left_out_at == depth) {
        left_out_at = 0;
      } else if (left_out_at == 0) {
        directives_.push_back(words);
      }
      blank(line, end);
      line = end + 1;
    }
  }

  std::string text_;
  std::vector<std::string> directives_;
};

}  // namespace

std::string without_remarks(std::string_view text) {
  return cleaner(text).clean();
}

std::vector<std::string> directives_of(std::string_view text) {
  return cleaner(text).directives();
}

std::vector<source_token> tokens_of(const std::string& clean) {
  std::vector<source_token> tokens;
  int line = 1;
  for (size_t i = 0; i < clean.size();) {
    const char c = clean[i];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    if (is_letter(c)) {
      while (end < clean.size() && (is_letter(clean[end]) || (is_digit(c) && clean[end] == '\''))) ++end;
    } else if (end < clean.size() && ((c == ':' && clean[end] == ':') || (c == '-' && clean[end] == '>'))) {
      ++end;
    }
    tokens.push_back({clean.substr(i, end - i), i, line, is_letter(c) && !is_digit(c)});
    i = end;
  }
  return tokens;
}

std::vector<size_t> partners_of(const std::vector<source_token>& tokens) {
  std::vector<size_t> partners(tokens.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    partners[i] = i;
    const std::string& sign = tokens[i].text;
    if (sign == "(" || sign == "[" || sign == "{") {
      open.push_back(i);
      partners[i] = tokens.size();
    } else if ((sign == ")" || sign == "]" || sign == "}") && !open.empty()) {
      partners[open.back()] = i;
      open.pop_back();
    }
  }
  return partners;
}

}  // namespace gpusync::tool
