// What can be measured on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpusync::tool {

enum class device_kind { cuda, opencl, host };

/// "cuda", "opencl" or "host".
std::string_view to_string(device_kind kind);

/// One property of a device worth showing, e.g. {"SMs", 132}. Numbers stay numbers in JSON.
struct device_fact {
  std::string name;
  std::variant<int64_t, double, bool, std::string> value;
};

/// One device as the command line and the result document know it. Unknown strings are empty.
struct device_description {
  device_kind kind = device_kind::host;
  int index = 0;          ///< within its kind
  std::string id;         ///< "cuda:0", "opencl:0", "host"
  std::string name;       ///< "NVIDIA H200"
  std::string uuid;       ///< as the driver prints it
  std::string driver;     ///< driver version
  std::string runtime;    ///< "CUDA 13.0", "OpenCL 3.0 PoCL 3.1+debian", "Linux 6.1"
  int compute_units = 0;  ///< SMs, OpenCL compute units, or cores
  std::vector<device_fact> facts;
};

/// What one kind of device can tell of itself while measurements run.
struct device_state {
  double sm_clock_mhz = 0;                   ///< 0: unknown
  double memory_clock_mhz = 0;               ///< 0: unknown
  double temperature_celsius = 0;            ///< 0: unknown
  bool other_processes_known = false;        ///< and what follows
  std::vector<std::string> other_processes;  ///< "1234 python3"
  std::vector<std::string> slowed_by;        ///< what lowers its clock now, against anybody's will: "its power limit"
  std::vector<std::string> clock_set_by;     ///< what holds its clock on purpose
  bool is_partitioned = false;               ///< by MIG: the device is a slice of a GPU
  int64_t uncorrected_errors = 0;            ///< of its memory, since the driver was loaded
  std::string compute_mode;                  ///< "Default", "Exclusive_Process", "Prohibited"; empty: unknown
};

/// A kind of device that this build supports. Each kind registers itself.
struct device_backend {
  device_kind kind;
  /// The devices present now; empty when there is none. Does not throw. `note` receives one sentence on why there is
  /// none, if that is known ("no CUDA driver").
  std::function<std::vector<device_description>(std::string& note)> discover;
  /// The device's state now.
  std::function<device_state(const device_description&)> state;
};

/// Registers a backend; called during static initialization by the file that implements it.
struct register_device_backend {
  explicit register_device_backend(device_backend backend);
};

/// All devices, in the order in which a default is chosen: CUDA, OpenCL, host. Found once, then remembered.
const std::vector<device_description>& all_devices();
/// Why kinds of devices are missing, a sentence for each.
const std::map<device_kind, std::string>& device_notes();
/// The device with this id. Throws no_such_device (a device of a known kind that is not there) or usage_error (no such
/// kind), naming what there is.
const device_description& find_device(const std::string& id);
/// The device's state now.
device_state state_of(const device_description& device);

}  // namespace gpusync::tool
