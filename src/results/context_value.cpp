#include "results/context_value.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace gpusync::tool {

context_value::context_value() : value_(std::make_unique<json>(json::object())) {}
context_value::context_value(const json& value) : value_(std::make_unique<json>(value)) {}
context_value::context_value(const context_value& other) : context_value(*other) {}
context_value::context_value(context_value&& other) noexcept : value_(std::move(other.value_)) {
  other.value_ = std::make_unique<json>(json::object());
}
context_value& context_value::operator=(const context_value& other) {
  *value_ = *other;
  return *this;
}
context_value& context_value::operator=(context_value&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
context_value::~context_value() = default;

json& context_value::operator[](const char* key) {
  return (*value_)[key];
}

}  // namespace gpusync::tool
