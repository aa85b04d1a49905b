// A JSON object that headers can hold without the JSON library's header, which is most of what they would take to
// compile.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace gpusync::tool {

using json = nlohmann::ordered_json;

/// A value: a JSON object, empty at first. What looks into it includes nlohmann/json.hpp.
class context_value {
 public:
  context_value();
  context_value(const json& value);  // NOLINT(google-explicit-constructor): it is the same value
  context_value(const context_value& other);
  context_value(context_value&& other) noexcept;
  context_value& operator=(const context_value& other);
  context_value& operator=(context_value&& other) noexcept;
  ~context_value();

  json& operator*() { return *value_; }
  const json& operator*() const { return *value_; }
  json* operator->() { return value_.get(); }
  const json* operator->() const { return value_.get(); }
  /// The member of that name; null is added if there is none.
  json& operator[](const char* key);

 private:
  std::unique_ptr<json> value_;  ///< never null
};

}  // namespace gpusync::tool
