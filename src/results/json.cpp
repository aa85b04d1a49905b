#include "results/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "results/first_version.hpp"
#include "results/text.hpp"
#include "text_file.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

constexpr size_t largest_file = size_t{1} << 30;
constexpr size_t deepest_nesting = 64;      // a bound on recursion when values are copied and written
constexpr size_t most_members = 1000;       // of an object, which are looked for one after the other
constexpr size_t most_values = 10'000'000;  // of a row, and of all that is in none

json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

template <class T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json metric_to_json(const metric& measured) {
  json samples = nullptr;
  if (measured.samples) {
    samples = json::array();
    for (const double sample : *measured.samples) samples.push_back(number_or_null(sample));
  }
  json result = {{"value", number_or_null(measured.value)},
                 {"unit", measured.unit},
                 {"n", measured.n},
                 {"q1", number_or_null(measured.q1)},
                 {"median", number_or_null(measured.median)},
                 {"q3", number_or_null(measured.q3)},
                 {"stddev", number_or_null(measured.stddev)},
                 {"samples", std::move(samples)},
                 {"stop", value_or_null(measured.stop)},
                 {"interval", measured.bounds ? json::array({number_or_null(measured.bounds->low),
                                                             number_or_null(measured.bounds->high)})
                                              : json(nullptr)}};
  if (measured.run_steps) result["run_steps"] = {measured.run_steps->first, measured.run_steps->second};
  return result;
}

json row_to_json(const row& entry) {
  json metrics = json::object();
  for (const auto& [name, measured] : entry.metrics) metrics[name] = metric_to_json(measured);
  json result = json::object();
  result["experiment"] = entry.experiment;
  result["items"] = entry.items;
  result["device"] = entry.device;
  result["axes"] = to_json(entry.axes);
  result["method"] = entry.method;
  result["kind"] = entry.kind ? json(to_string(*entry.kind)) : json(nullptr);
  result["ordered"] = entry.ordered;
  result["rival"] = entry.rival;
  result["metrics"] = std::move(metrics);
  result["verified"] = value_or_null(entry.verified);
  result["verification"] = value_or_null(entry.verification);
  result["clock_mhz"] = number_or_null(entry.clock_mhz);
  result["status"] = to_string(entry.status);
  result["reason"] = value_or_null(entry.reason);
  return result;
}

std::string type_in_words(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a string";
    case json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case json::value_t::number_float: return fmt::format("the number {}", value.get<double>());
    case json::value_t::number_integer: return fmt::format("the number {}", value.get<int64_t>());
    case json::value_t::number_unsigned: return fmt::format("the number {}", value.get<uint64_t>());
    default: return "of an unknown type";
  }
}

/// A value and where in which file it stands, for messages. Conversions throw usage_error. The path is made only for a
/// message: so the place that it is in, its key and the file's name must outlive it.
class place {
 public:
  place(const json* value, const std::string& file, std::string_view key, const place* in = nullptr)
      : value_(value), file_(&file), key_(key), in_(in) {}
  /// An element of an array.
  place(const json* value, const std::string& file, size_t index, const place* in)
      : value_(value), file_(&file), index_(index), in_(in) {}

  bool empty() const { return value_ == nullptr || value_->is_null(); }
  const json& value() const { return *value_; }

  std::string path() const {
    const std::string before = in_ == nullptr ? "" : in_->path();
    if (index_) return fmt::format("{}[{}]", before, *index_);
    return before.empty() ? printable(key_, 60) : before + "." + printable(key_, 60);
  }

  [[noreturn]] void fail(const std::string& allowed) const {
    throw usage_error(fmt::format("'{}': {} is {}; it must be {}", printable(*file_), path(),
                                  value_ == nullptr ? "missing" : type_in_words(*value_), allowed));
  }

  place member(std::string_view key) const {
    const auto found = value_->find(key);
    return {found == value_->end() ? nullptr : &*found, *file_, key, this};
  }

  template <class Visit>
  void each_member(Visit visit) const {
    if (empty()) return;
    if (!value_->is_object()) fail("an object");
    for (const auto& item : value_->items()) visit(item.key(), place{&item.value(), *file_, item.key(), this});
  }

  template <class Visit>
  void each_element(const std::string& allowed, Visit visit) const {
    if (empty()) return;
    if (!value_->is_array()) fail(allowed);
    for (size_t i = 0; i < value_->size(); ++i) visit(place{&(*value_)[i], *file_, i, this});
  }

  std::string string() const {
    if (value_ == nullptr || !value_->is_string()) fail("a string");
    return value_->get<std::string>();
  }

  std::optional<std::string> string_or_null() const {
    if (empty()) return std::nullopt;
    if (!value_->is_string()) fail("a string or null");
    return value_->get<std::string>();
  }

  std::optional<double> number_or_null() const {
    if (empty()) return std::nullopt;
    if (!value_->is_number()) fail("a number or null");
    return value_->get<double>();
  }

  std::optional<interval> interval_or_null() const {
    if (empty()) return std::nullopt;
    std::vector<std::optional<double>> ends;
    each_element("two numbers or null", [&](const place& end) { ends.push_back(end.number_or_null()); });
    if (ends.size() != 2) fail("two numbers or null");
    if (!ends[0] || !ends[1]) return std::nullopt;
    return interval{*ends[0], *ends[1]};
  }

  std::optional<bool> bool_or_null() const {
    if (empty()) return std::nullopt;
    if (!value_->is_boolean()) fail("true, false or null");
    return value_->get<bool>();
  }

  uint64_t count() const {
    if (empty()) return 0;
    // A value made in memory may hold a count as a signed integer.
    if (!value_->is_number_integer() || (!value_->is_number_unsigned() && value_->get<int64_t>() < 0)) {
      fail("an integer from 0 on");
    }
    return value_->get<uint64_t>();
  }

  axis_value axis() const {
    constexpr const char* allowed = "an integer of 64 bits or a string";
    if (value_->is_string()) return value_->get<std::string>();
    if (!value_->is_number_integer()) fail(allowed);
    if (value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{INT64_MAX}) fail(allowed);
    return value_->get<int64_t>();
  }

  std::optional<method_kind> kind_or_null() const {
    const std::optional<std::string> word = string_or_null();
    if (!word) return std::nullopt;
    for (const method_kind known : method_kinds) {
      if (*word == to_string(known)) return known;
    }
    std::vector<std::string_view> allowed;
    for (const method_kind known : method_kinds) allowed.push_back(to_string(known));
    throw usage_error(fmt::format(R"('{}': {} is "{}"; it must be one of {}, or null)", printable(*file_), path(),
                                  printable(*word, 60), fmt::join(allowed, ", ")));
  }

  row_status status() const {
    const std::string word = value_ != nullptr && value_->is_string() ? value_->get<std::string>() : "";
    for (const row_status known : {row_status::ok, row_status::failed, row_status::skipped}) {
      if (word == to_string(known)) return known;
    }
    if (word.empty()) fail(R"("ok", "failed" or "skipped")");
    throw usage_error(fmt::format(R"('{}': {} is "{}"; it must be "ok", "failed" or "skipped")", printable(*file_),
                                  path(), printable(word, 60)));
  }

 private:
  const json* value_;
  const std::string* file_;
  std::string_view key_;
  std::optional<size_t> index_;
  const place* in_;
};

metric read_metric(const place& at) {
  if (at.empty() || !at.value().is_object()) at.fail("an object");
  metric measured;
  measured.value = at.member("value").number_or_null();
  measured.unit = at.member("unit").string();
  measured.n = at.member("n").count();
  measured.q1 = at.member("q1").number_or_null();
  measured.median = at.member("median").number_or_null();
  measured.q3 = at.member("q3").number_or_null();
  measured.stddev = at.member("stddev").number_or_null();
  measured.stop = at.member("stop").string_or_null();
  measured.bounds = at.member("interval").interval_or_null();
  if (const place lengths = at.member("run_steps"); !lengths.empty()) {
    std::vector<uint64_t> steps;
    lengths.each_element("two numbers of steps", [&](const place& one) { steps.push_back(one.count()); });
    if (steps.size() != 2) lengths.fail("two numbers of steps");
    measured.run_steps = {steps[0], steps[1]};
  }
  if (const place samples = at.member("samples"); !samples.empty()) {
    measured.samples.emplace();
    samples.each_element("an array of numbers or null", [&](const place& sample) {
      measured.samples->push_back(sample.number_or_null().value_or(std::nan("")));
    });
  }
  return measured;
}

/// `derives`: the document is of the version whose rows do not say what their methods are.
row read_row(const place& at, bool derives) {
  if (!at.value().is_object()) at.fail("an object");
  row entry;
  entry.experiment = at.member("experiment").string();
  at.member("items").each_element("an array of strings",
                                  [&](const place& item) { entry.items.push_back(item.string()); });
  entry.device = at.member("device").string();
  at.member("axes").each_member(
      [&](const std::string& name, const place& value) { entry.axes.emplace_back(name, value.axis()); });
  entry.method = at.member("method").string();
  at.member("metrics").each_member(
      [&](const std::string& name, const place& value) { entry.metrics.emplace_back(name, read_metric(value)); });
  entry.verified = at.member("verified").bool_or_null();
  entry.verification = at.member("verification").string_or_null();
  entry.clock_mhz = at.member("clock_mhz").number_or_null();
  entry.status = at.member("status").status();
  entry.reason = at.member("reason").string_or_null();
  if (derives) {
    derive_method(entry);
  } else {
    entry.kind = at.member("kind").kind_or_null();
    entry.ordered = at.member("ordered").bool_or_null().value_or(true);
    entry.rival = at.member("rival").bool_or_null().value_or(false);
  }
  return entry;
}

/// Returns whether the document is of the version before.
bool check_schema(const json& value, const std::string& name) {
  const auto no_document = [&](const std::string& why) {
    throw usage_error(fmt::format("'{}' is not a gpusync result document: {}; expected \"schema\": \"{}\"",
                                  printable(name), why, results_schema));
  };
  if (!value.is_object()) no_document(fmt::format("it is {}, not an object", type_in_words(value)));
  const auto schema = value.find("schema");
  if (schema == value.end()) no_document("it has no key \"schema\"");
  if (!schema->is_string()) no_document(fmt::format("its \"schema\" is {}", type_in_words(*schema)));
  const auto& found = schema->get_ref<const std::string&>();
  if (found == results_schema || found == first_results_schema) return found == first_results_schema;
  if (!found.starts_with("gpusync-results/")) {
    no_document(fmt::format("its \"schema\" is \"{}\"", printable(found, 60)));
  }
  throw usage_error(fmt::format(R"('{}' has the schema "{}"; this version of gpusync reads "{}" and "{}")",
                                printable(name), printable(found, 60), results_schema, first_results_schema));
}

void read_context(const place& root, document& results) {
  const place context = root.member("context");
  if (context.empty()) return;
  if (!context.value().is_object()) context.fail("an object");
  (void)context.member("complete").bool_or_null();
  results.context = context.value();
}

/// Builds a document from what the parser of JSON finds, each row as soon as it is whole: so a large document is never
/// there as JSON values at once, which take ten times its room, unless its schema stands behind its rows.
class document_builder {
 public:
  /// Thrown where the text is not JSON.
  struct no_json {
    size_t byte;
  };

  explicit document_builder(std::string name) : name_(std::move(name)) {}

  document finish() {
    if (!derives_) return tool::from_json(root_, name_);
    const place root{&root_, name_, ""};
    read_context(root, results_);
    const place rows = root.member("rows");
    if (rows.empty()) rows.fail("an array of rows");
    rows.each_element("an array of rows", [](const place&) {});
    return std::move(results_);
  }

  // What json::sax_parse calls. false would end it.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(json::number_integer_t value) { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(size_t) { return open(json::object()); }
  bool start_array(size_t) { return open(json::array()); }
  bool key(std::string& name) {
    if (passed_over_) return true;
    json& object = *open_.back();
    if (open_.size() == 1) {
      if (name != "schema" && name != "context" && name != "rows") {
        passed_over_ = 0;
        return true;
      }
      if (object.contains(name)) refuse(fmt::format("it has the key \"{}\" twice", name));
    }
    if (object.size() >= most_members) refuse(fmt::format("an object of it has more than {} members", most_members));
    member_ = &object[std::move(name)];
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t byte, const std::string&, const json::exception&) { throw no_json{byte}; }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw usage_error(fmt::format("'{}' is not a gpusync result document: {}", printable(name_), why));
  }

  /// Whether what comes now, so much deeper, is of a value that nobody reads, which may end with it.
  bool pass_over(int deeper) {
    if (!passed_over_) return false;
    *passed_over_ += deeper;
    if (*passed_over_ == 0) passed_over_.reset();
    return true;
  }

  json& put(json value) {
    if (open_.empty()) {
      if (!value.is_object()) (void)check_schema(value, name_);  // throws
      return root_ = std::move(value);
    }
    // Rows of a document whose schema stands behind them are kept, however many there are.
    const bool is_in_waiting_row = !derives_ && open_.size() > 1 && open_[1]->is_array();
    if (!is_in_waiting_row && ++values_ > most_values) {
      refuse(fmt::format("a row of it, or what is in none, has more than {} values", most_values));
    }
    if (open_.back()->is_object()) return *member_ = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
  }

  bool add(json value) {
    if (pass_over(0)) return true;
    put(std::move(value));
    finish_row();
    return true;
  }

  bool open(json value) {
    if (open_.size() + passed_over_.value_or(0) >= deepest_nesting) {
      refuse(fmt::format("its JSON is nested more than {} levels deep", deepest_nesting));
    }
    if (pass_over(1)) return true;
    json& made = put(std::move(value));
    open_.push_back(&made);
    return true;
  }

  bool close() {
    if (pass_over(-1)) return true;
    open_.pop_back();
    finish_row();
    return true;
  }

  /// If what is whole now is an element of the root's `rows`, makes a row of it.
  void finish_row() {
    if (open_.size() != 2 || !root_.is_object() || !open_[1]->is_array()) return;
    const auto rows = root_.find("rows");
    if (rows == root_.end() || &*rows != open_[1]) return;
    if (!derives_) {
      if (root_.find("schema") == root_.end()) return;
      derives_ = check_schema(root_, name_);
    }
    if (open_[1]->size() != 1) return;  // the schema came late
    const place all{open_[1], name_, "rows"};
    results_.rows.push_back(read_row(place{&open_[1]->front(), name_, results_.rows.size(), &all}, *derives_));
    open_[1]->erase(size_t{0});
    values_ = 0;
  }

  std::string name_;
  json root_;
  std::vector<json*> open_;            // arrays and objects that are not whole yet, from the root on
  json* member_ = nullptr;             // of the innermost object, the member whose value comes next
  size_t values_ = 0;                  // since the last row
  std::optional<size_t> passed_over_;  // in the value of a member of the root that nobody reads: how deep
  std::optional<bool> derives_;
  document results_;
};

std::string line_and_column(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {} (byte {})", line, column, before.size());
}

}  // namespace

json to_json(const axis_values& axes) {
  json object = json::object();
  for (const auto& [name, value] : axes) {
    object[name] = std::visit([](const auto& v) { return json(v); }, value);
  }
  return object;
}

json to_json(const document& results) {
  json rows = json::array();
  for (const row& entry : results.rows) rows.push_back(row_to_json(entry));
  json document = json::object();
  document["schema"] = results_schema;
  document["context"] = *results.context;
  document["rows"] = std::move(rows);
  return document;
}

std::string to_json_text(const document& results) {
  const auto dump = [](const json& value, int indent) {
    return value.dump(indent, ' ', false, json::error_handler_t::replace);
  };
  std::string context = dump(*results.context, 2);
  for (size_t at = context.find('\n'); at != std::string::npos; at = context.find('\n', at + 1))
    context.insert(at + 1, "  ");
  std::string text =
      fmt::format("{{\n  \"schema\": \"{}\",\n  \"context\": {},\n  \"rows\": [", results_schema, context);
  const char* before = "\n    ";
  for (const row& entry : results.rows) {
    text += before + dump(row_to_json(entry), -1);
    before = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

document from_json(const json& value, const std::string& name) {
  const bool derives = check_schema(value, name);
  document results;
  const place root{&value, name, ""};
  read_context(root, results);
  const place rows = root.member("rows");
  if (rows.empty()) rows.fail("an array of rows");
  rows.each_element("an array of rows", [&](const place& entry) { results.rows.push_back(read_row(entry, derives)); });
  return results;
}

document parse_document(std::string_view text, const std::string& name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw usage_error(
        fmt::format("'{}' is empty; expected a result document (schema \"{}\")", printable(name), results_schema));
  }
  document_builder builder(name);
  try {
    // The parser takes that for the end.
    if (const size_t zero = text.find('\0'); zero != std::string_view::npos) throw document_builder::no_json{zero + 1};
    json::sax_parse(text, &builder);
    return builder.finish();
  } catch (const document_builder::no_json& error) {
    if (error.byte > text.size()) {
      throw usage_error(fmt::format("'{}' is truncated: its JSON ends unfinished at {}; expected a result document",
                                    printable(name), line_and_column(text, error.byte)));
    }
    throw usage_error(fmt::format("'{}' is not JSON: it cannot be read beyond {}; expected a result document",
                                  printable(name), line_and_column(text, error.byte)));
  } catch (const json::exception& error) {
    throw usage_error(fmt::format("'{}' is not a gpusync result document: {}", printable(name), error.what()));
  }
}

std::vector<document> read_documents(const std::vector<std::string>& paths) {
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    const auto is_the_same = [&](const std::string& other) {
      std::error_code error;
      return other == *path ||
             (std::filesystem::is_regular_file(other, error) && std::filesystem::equivalent(other, *path, error));
    };
    const auto other = std::find_if(paths.begin(), path, is_the_same);
    if (other == path) continue;
    throw usage_error(*other == *path
                          ? fmt::format("'{}' is named twice: its rows would count twice.", printable(*path))
                          : fmt::format("'{}' and '{}' are one file: its rows would count twice.", printable(*other),
                                        printable(*path)));
  }
  std::vector<document> all;
  for (const std::string& path : paths) all.push_back(read_document(path));
  return all;
}

document read_document(const std::string& path) {
  text_file file(path, printable(path),
                 path == "-" ? "; expected the file of a result document; standard input is /dev/stdin"
                             : "; expected the file of a result document");
  const auto require_room = [&](uint64_t bytes) {
    if (bytes > largest_file) {
      throw usage_error(fmt::format("'{}' is larger than 1 GiB, which no result document is", printable(path)));
    }
  };
  require_room(file.size());
  std::string text;
  for (std::string_view piece; !(piece = file.next()).empty();) {
    text.append(piece);
    require_room(text.size());
  }
  return parse_document(text, path);
}

}  // namespace gpusync::tool
