#include "devices/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <gpusync/core/error.hpp>
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

std::vector<device_backend>& backends() {
  static std::vector<device_backend> list;
  return list;
}

struct found {
  std::vector<device_description> devices;
  std::map<device_kind, std::string> notes;
};

const found& discover() {
  static const found result = [] {
    found all;
    for (const device_kind kind : {device_kind::cuda, device_kind::opencl, device_kind::host}) {
      const auto backend =
          std::find_if(backends().begin(), backends().end(), [&](const auto& b) { return b.kind == kind; });
      if (backend == backends().end()) {
        all.notes[kind] =
            fmt::format("This build has no {} support: it was made where its toolkit was not found.", to_string(kind));
        continue;
      }
      std::string note;
      for (auto& device : backend->discover(note)) all.devices.push_back(std::move(device));
      if (!note.empty()) all.notes[kind] = std::move(note);
    }
    return all;
  }();
  return result;
}

/// Whether `id` has the form of a device's name: "host", "cuda:N" or "opencl:N".
bool well_formed(const std::string& id) {
  if (id == "host") return true;
  const auto colon = id.find(':');
  if (colon == std::string::npos || (id.substr(0, colon) != "cuda" && id.substr(0, colon) != "opencl")) return false;
  const std::string index = id.substr(colon + 1);
  return !index.empty() && index.size() < 6 &&
         std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view to_string(device_kind kind) {
  switch (kind) {
    case device_kind::cuda: return "cuda";
    case device_kind::opencl: return "opencl";
    case device_kind::host: return "host";
  }
  return "?";
}

register_device_backend::register_device_backend(device_backend backend) {
  backends().push_back(std::move(backend));
}

const std::vector<device_description>& all_devices() {
  return discover().devices;
}

const std::map<device_kind, std::string>& device_notes() {
  return discover().notes;
}

const device_description& find_device(const std::string& id) {
  std::string present;
  for (const auto& device : all_devices()) {
    if (device.id == id) return device;
    present += (present.empty() ? "" : ", ") + device.id;
  }
  if (!well_formed(id)) {
    throw usage_error(fmt::format("Unknown device '{}': a device is cuda:N, opencl:N or host, and this machine has {}.",
                                  id, present));
  }
  std::string why;
  for (const auto& [kind, note] : device_notes()) {
    if (id.starts_with(to_string(kind))) why = " " + note;
  }
  throw no_such_device(fmt::format("There is no device {} on this machine; it has {}.{}", id, present, why));
}

device_state state_of(const device_description& device) {
  for (const auto& backend : backends()) {
    if (backend.kind == device.kind && backend.state) return backend.state(device);
  }
  return {};
}

}  // namespace gpusync::tool
