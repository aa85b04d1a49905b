// The result document as JSON; docs/results.md describes every key, results.schema.json checks it.
#pragma once

#include <string>
#include <string_view>

#include "results/document.hpp"

namespace gpusync::tool {

/// The document as JSON, with every key that the format has. What was not measured, and every figure that is
/// not finite, is null.
json to_json(const document& results);

/// The axes of a row as an object.
json to_json(const axis_values& axes);

/// The text of the document's JSON file, indented, with a final newline. Text that is not UTF-8 (a driver may
/// return any bytes) has the wrong bytes replaced.
std::string to_json_text(const document& results);

/// The document in `value`. `name` is the file to blame in messages. Keys that the format does not have are
/// ignored; a missing key counts as null, except for a row's experiment, device, method and status. Throws
/// usage_error naming the row and the key if something is missing or has the wrong type, or if this is
/// another kind or version of document.
document from_json(const json& value, const std::string& name);

/// The document in a file's text. Throws usage_error as from_json does, and if the text is empty, not JSON
/// (with the line and column), cut off, or nested deeper than any result document.
document parse_document(std::string_view text, const std::string& name);

/// The document in the file at `path`, which gzip may have compressed. Throws usage_error as parse_document does, and
/// if the file cannot be read, or holds more than 1 GiB of text.
document read_document(const std::string& path);

/// Those in several files. Throws usage_error also if one file is named twice.
std::vector<document> read_documents(const std::vector<std::string>& paths);

}  // namespace gpusync::tool
