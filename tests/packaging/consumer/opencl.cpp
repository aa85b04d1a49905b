#include <gpusync/opencl/opencl.hpp>

// Links and has the embedded kernels' text; whether there is a device does not matter here.
int main() {
  (void)gpusync::opencl::all_devices();
  return gpusync::opencl::barrier_source().find("gpusync_sync") == std::string::npos ? 1 : 0;
}
