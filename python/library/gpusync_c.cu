// The C interface: include/gpusync/c.h.
#include <gpusync/c.h>

#include <cstring>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/version.hpp>
#include <gpusync/device_layout.hpp>
#include <gpusync/grid/counter_places.cuh>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/core/cuda_backend.hpp>

namespace {

using algorithm = gpusync::barrier_image::algorithm;

thread_local std::string last_error;

/// Calls a function, and makes a result of what it throws.
template <class Function>
int guarded(Function&& function) noexcept {
  try {
    function();
    return GPUSYNC_OK;
  } catch (const gpusync::no_such_device& error) {
    last_error = error.what();
    return GPUSYNC_NO_SUCH_DEVICE;
  } catch (const gpusync::runtime_failure& error) {
    last_error = error.what();
    return GPUSYNC_RUNTIME_FAILURE;
  } catch (const gpusync::invalid_argument& error) {
    last_error = error.what();
    return GPUSYNC_INVALID_ARGUMENT;
  } catch (const std::exception& error) {
    last_error = error.what();
    return GPUSYNC_OTHER;
  }
}

/// Throws invalid_argument for a null pointer.
template <class Pointer>
Pointer given(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw gpusync::invalid_argument(std::string("No ") + what + " was given, but null.");
  return pointer;
}

}  // namespace

struct gpusync_barrier {
  gpusync_barrier(int ordinal, uint64_t blocks)
      : device(ordinal),
        capacity(gpusync::detail::require_servable<algorithm>(blocks)),
        tuning(gpusync::barrier_tuning::shipped_for(device.name())),
        placement(device, tuning),
        memory(device, gpusync::barrier_image::bytes(capacity)),
        report(device, capacity) {
    reset();
  }

  void reset() {
    gpusync::timeout_report* const on_host = report.get();
    std::memset(static_cast<void*>(on_host), 0, gpusync::timeout_report::bytes(capacity));
    on_host->capacity = capacity;
    const gpusync::cuda_device_scope scope(device.ordinal());
    void* on_device = nullptr;
    gpusync::check_cuda(cudaHostGetDevicePointer(&on_device, on_host, 0), "cudaHostGetDevicePointer");
    const auto address = reinterpret_cast<uint64_t>(memory.address());
    std::vector<unsigned char> image(memory.bytes());
    gpusync::write_image(image.data(), image.size(), capacity, static_cast<uint32_t>(device.sm_count()), address,
                         reinterpret_cast<uint64_t>(on_device), tuning.rules);
    gpusync::barrier_image head;
    std::memcpy(static_cast<void*>(&head), image.data(), sizeof head);
    const std::vector<uint32_t> fresh(algorithm::words(capacity));
    placement.put(fresh, head.words, capacity);
    head.places = placement.places();
    head.places.plan = {};
    std::memcpy(image.data(), static_cast<const void*>(&head), sizeof head);
    gpusync::check_cuda(cudaMemcpy(memory.address(), image.data(), image.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    gpusync::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  gpusync::cuda_device device;
  uint32_t capacity;
  gpusync::barrier_tuning tuning;
  gpusync::detail::counter_placement<algorithm> placement;
  gpusync::cuda_buffer memory;
  mutable gpusync::detail::cuda_report report;
};

extern "C" {

const char* gpusync_version() {
  return GPUSYNC_VERSION_STRING;
}

const char* gpusync_last_error() {
  return last_error.c_str();
}

int gpusync_image_bytes(uint64_t blocks, uint64_t* bytes) {
  return guarded([&] {
    *given(bytes, "place for the number") =
        gpusync::barrier_image::bytes(gpusync::detail::require_servable<algorithm>(blocks));
  });
}

int gpusync_write_image(uint64_t blocks, uint32_t sm_count, uint64_t address, uint64_t report, void* buffer,
                        uint64_t bytes) {
  return guarded([&] {
    if (address % gpusync::barrier_image::alignment != 0) {
      throw gpusync::invalid_argument("A barrier's memory begins at a multiple of 128 bytes.");
    }
    gpusync::write_image(given(buffer, "buffer"), bytes, blocks, sm_count, address, report);
  });
}

int gpusync_barrier_create(int device, uint64_t blocks, gpusync_barrier** out) {
  return guarded([&] { *given(out, "place for the barrier") = new gpusync_barrier(device, blocks); });
}

int gpusync_barrier_address(const gpusync_barrier* barrier, uint64_t* address) {
  return guarded([&] {
    *given(address, "place for the address") = reinterpret_cast<uint64_t>(given(barrier, "barrier")->memory.address());
  });
}

int gpusync_barrier_capacity(const gpusync_barrier* barrier, uint64_t* blocks) {
  return guarded([&] { *given(blocks, "place for the number") = given(barrier, "barrier")->capacity; });
}

int gpusync_barrier_placed(const gpusync_barrier* barrier, int* placed) {
  return guarded(
      [&] { *given(placed, "place for the answer") = given(barrier, "barrier")->placement.placed() ? 1 : 0; });
}

int gpusync_barrier_report(const gpusync_barrier* barrier, char* words, size_t size) {
  return guarded([&] {
    const std::string all = gpusync::report_in_words(*given(barrier, "barrier")->report.get());
    if (given(words, "place for the words") != nullptr && size != 0) {
      const size_t length = std::min(size - 1, all.size());
      std::memcpy(words, all.data(), length);
      words[length] = '\0';
    }
  });
}

int gpusync_barrier_missing(const gpusync_barrier* barrier, uint32_t* blocks, size_t size, size_t* count) {
  return guarded([&] {
    const auto missing = gpusync::missing_blocks(*given(barrier, "barrier")->report.get());
    *given(count, "place for the number") = missing.size();
    for (size_t i = 0; i < std::min(size, missing.size()); ++i) given(blocks, "place for blocks")[i] = missing[i].block;
  });
}

int gpusync_barrier_reset(gpusync_barrier* barrier) {
  return guarded([&] { given(barrier, "barrier")->reset(); });
}

void gpusync_barrier_destroy(gpusync_barrier* barrier) {
  delete barrier;
}

}  // extern "C"
