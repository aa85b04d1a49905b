// Text into HTML.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "results/document.hpp"

namespace gpusync::tool {

/// `text` as HTML text or as the value of an attribute in double quotes; control characters and bytes that
/// are not UTF-8 are replaced.
std::string html_escaped(std::string_view text);

/// `value` as the text of a <script type="application/json">: no '<' remains that could end the element.
std::string script_json(const json& value);

/// `page` with each {{name}} replaced by its part, in one pass: what is inserted is not looked at again.
/// Throws std::out_of_range for a name without a part.
std::string fill_template(std::string_view page, const std::map<std::string, std::string, std::less<>>& parts);

}  // namespace gpusync::tool
