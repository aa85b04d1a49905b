// The words and signs of a CUDA file's text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpusync::tool {

struct source_token {
  std::string text;
  size_t begin = 0;      ///< its place in the text
  int line = 1;          ///< counted from 1
  bool is_word = false;  ///< a name, a keyword
};

/// The tokens of a text without_remarks(); "::" and "->" are one each.
std::vector<source_token> tokens_of(const std::string& clean);

/// For each opening bracket its partner's number, the number of tokens if it has none; for other tokens their own.
std::vector<size_t> partners_of(const std::vector<source_token>& tokens);

/// The directives of a text that `#if 0` does not leave out, without their #, on one line each.
std::vector<std::string> directives_of(std::string_view text);

}  // namespace gpusync::tool
