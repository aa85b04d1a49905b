#include "report/html.hpp"

#include <nlohmann/json.hpp>

namespace gpusync::tool {

std::string html_escaped(std::string_view text) {
  // One pass through the JSON writer replaces what is not UTF-8.
  const auto clean = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string result;
  result.reserve(clean.size());
  for (const char c : clean) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return result;
}

std::string script_json(const json& value) {
  std::string result;
  for (const char c : value.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string fill_template(std::string_view page, const std::map<std::string, std::string, std::less<>>& parts) {
  std::string result;
  while (true) {
    const size_t begin = page.find("{{");
    const size_t end = page.find("}}", begin == std::string_view::npos ? begin : begin + 2);
    if (end == std::string_view::npos) return result.append(page);
    result += page.substr(0, begin);
    result += parts.at(std::string(page.substr(begin + 2, end - begin - 2)));
    page.remove_prefix(end + 2);
  }
}

}  // namespace gpusync::tool
