// The C interface: include/gpusync/c.h.
#include <gpusync/c.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gpusync/core/version.hpp>
#include <gpusync/grid/addressed_barrier.cuh>
#include <gpusync/launch/cuda_function.cuh>

namespace {

thread_local std::string last_error;

int failed(gpusync_result code, const std::exception& error) {
  last_error = error.what();
  return code;
}

/// Calls a function, and makes a result of what it throws.
template <class Function>
int guarded(Function&& function) noexcept {
  try {
    function();
    return GPUSYNC_OK;
  } catch (const gpusync::no_such_device& error) {
    return failed(GPUSYNC_NO_SUCH_DEVICE, error);
  } catch (const gpusync::runtime_failure& error) {
    return failed(GPUSYNC_RUNTIME_FAILURE, error);
  } catch (const gpusync::invalid_argument& error) {
    return failed(GPUSYNC_INVALID_ARGUMENT, error);
  } catch (const gpusync::not_co_resident& error) {
    return failed(GPUSYNC_NOT_CO_RESIDENT, error);
  } catch (const gpusync::broken_barrier& error) {
    return failed(GPUSYNC_BROKEN_BARRIER, error);
  } catch (const gpusync::storage_in_use& error) {
    return failed(GPUSYNC_STORAGE_IN_USE, error);
  } catch (const std::exception& error) {
    return failed(GPUSYNC_OTHER, error);
  }
}

/// Throws invalid_argument for a null pointer.
template <class Pointer>
Pointer given(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw gpusync::invalid_argument(std::string("No ") + what + " was given, but null.");
  return pointer;
}

/// Puts words where a caller has room for `size` bytes, with a zero behind them.
void put(const std::string& words, char* to, size_t size) {
  if (given(to, "place for the words") == nullptr || size == 0) return;
  const size_t length = std::min(size - 1, words.size());
  std::memcpy(to, words.data(), length);
  to[length] = '\0';
}

gpusync::launch_shape shape_of(uint64_t blocks, uint64_t threads, uint64_t shared_bytes) {
  return {blocks, threads, shared_bytes};
}

}  // namespace

struct gpusync_barrier {
  gpusync::cuda_device device;
  gpusync::addressed_barrier_storage storage;
};

extern "C" {

const char* gpusync_version() {
  return GPUSYNC_VERSION_STRING;
}

const char* gpusync_last_error() {
  return last_error.c_str();
}

int gpusync_image_bytes(uint64_t blocks, uint64_t* bytes) {
  return guarded([&] { *given(bytes, "place for the number") = gpusync::addressed_barrier_storage::bytes(blocks); });
}

int gpusync_write_image(uint64_t blocks, uint32_t sm_count, uint64_t address, uint64_t report, void* buffer,
                        uint64_t bytes) {
  return guarded([&] { gpusync::write_image(given(buffer, "buffer"), bytes, blocks, sm_count, address, report); });
}

int gpusync_barrier_create(int device, uint64_t blocks, gpusync_barrier** out) {
  return guarded([&] {
    given(out, "place for the barrier");
    const gpusync::cuda_device where(device);
    *out = new gpusync_barrier{where, {where, blocks}};
  });
}

int gpusync_barrier_create_at(int device, uint64_t blocks, void* memory, uint64_t bytes, gpusync_barrier** out) {
  return guarded([&] {
    given(out, "place for the barrier");
    const gpusync::cuda_device where(device);
    *out = new gpusync_barrier{where, {where, blocks, given(memory, "device memory"), bytes}};
  });
}

int gpusync_barrier_address(const gpusync_barrier* barrier, uint64_t* address) {
  return guarded([&] { *given(address, "place for the address") = given(barrier, "barrier")->storage.address(); });
}

int gpusync_barrier_capacity(const gpusync_barrier* barrier, uint64_t* blocks) {
  return guarded([&] { *given(blocks, "place for the number") = given(barrier, "barrier")->storage.capacity(); });
}

int gpusync_barrier_placed(const gpusync_barrier* barrier, int* placed) {
  return guarded([&] { *given(placed, "place for the answer") = given(barrier, "barrier")->storage.placed() ? 1 : 0; });
}

int gpusync_barrier_describe(const gpusync_barrier* barrier, char* words, size_t size) {
  return guarded([&] { put(given(barrier, "barrier")->storage.describe(), words, size); });
}

int gpusync_barrier_report(const gpusync_barrier* barrier, char* words, size_t size) {
  return guarded([&] { put(given(barrier, "barrier")->storage.report(), words, size); });
}

int gpusync_barrier_missing(const gpusync_barrier* barrier, uint32_t* blocks, size_t size, size_t* count) {
  return guarded([&] {
    const auto missing = given(barrier, "barrier")->storage.missing();
    *given(count, "place for the number") = missing.size();
    for (size_t i = 0; i < std::min(size, missing.size()); ++i) given(blocks, "place for blocks")[i] = missing[i].block;
  });
}

int gpusync_barrier_reset(gpusync_barrier* barrier) {
  return guarded([&] { given(barrier, "barrier")->storage.reset(); });
}

int gpusync_barrier_hand_over(gpusync_barrier* barrier) {
  return guarded([&] { given(barrier, "barrier")->storage.hand_over(); });
}

void gpusync_barrier_destroy(gpusync_barrier* barrier) {
  delete barrier;
}

int gpusync_resident_blocks(int device, void* function, uint64_t threads, uint64_t shared_bytes, uint64_t* blocks) {
  return guarded([&] {
    given(blocks, "place for the number");
    const gpusync::cuda_device where(device);
    *blocks = gpusync::max_co_resident(where, static_cast<CUfunction>(given(function, "kernel")),
                                       shape_of(1, threads, shared_bytes))
                  .blocks();
  });
}

int gpusync_check_launch(gpusync_barrier* barrier, void* function, uint64_t blocks, uint64_t threads,
                         uint64_t shared_bytes, void* stream) {
  return guarded([&] {
    gpusync_barrier& of = *given(barrier, "barrier");
    gpusync::check_launch_function(of.device, static_cast<cudaStream_t>(stream),
                                   shape_of(blocks, threads, shared_bytes),
                                   static_cast<CUfunction>(given(function, "kernel")), of.storage);
  });
}

int gpusync_launch(gpusync_barrier* barrier, void* function, uint64_t blocks, uint64_t threads, uint64_t shared_bytes,
                   void* stream, void** arguments, size_t count) {
  return guarded([&] {
    gpusync_barrier& of = *given(barrier, "barrier");
    given(arguments, "arguments");
    // Not by braces, which would make a list of these two pointers: a void** is a void* as well.
    const std::vector<void*> of_caller(arguments, arguments + count);
    gpusync::launch_function(of.device, static_cast<cudaStream_t>(stream), shape_of(blocks, threads, shared_bytes),
                             static_cast<CUfunction>(given(function, "kernel")), of_caller, of.storage);
  });
}

}  // extern "C"
