/* The grid barrier for hosts that speak C: gpusync::barrier_at() takes its address in the kernel. In libgpusync_c,
 * which needs the CUDA driver and no toolkit. Every function returns GPUSYNC_OK or says in gpusync_last_error() what
 * was wrong; none throws. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GPUSYNC_C_API __attribute__((visibility("default")))
#else
#define GPUSYNC_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. */
enum gpusync_result {
  GPUSYNC_OK = 0,
  GPUSYNC_INVALID_ARGUMENT = 1,
  GPUSYNC_NO_SUCH_DEVICE = 2,
  GPUSYNC_RUNTIME_FAILURE = 3, /* a call of CUDA's failed */
  GPUSYNC_OTHER = 4,
  GPUSYNC_NOT_CO_RESIDENT = 5, /* more blocks than run at once */
  GPUSYNC_BROKEN_BARRIER = 6,  /* an earlier wait timed out, or a kernel was ended: gpusync_barrier_reset() */
  GPUSYNC_STORAGE_IN_USE = 7   /* another stream's launches use the barrier: gpusync_barrier_hand_over() */
};

/* A barrier and its memory on a device. Not for two threads at once. */
typedef struct gpusync_barrier gpusync_barrier;

/* "0.1.0": the library's version. */
GPUSYNC_C_API const char* gpusync_version(void);

/* What the last call of this thread that failed has to say, in a sentence or two; until its next failure. */
GPUSYNC_C_API const char* gpusync_last_error(void);

/* Bytes of device memory that the image of a barrier of up to `blocks` blocks takes. */
GPUSYNC_C_API int gpusync_image_bytes(uint64_t blocks, uint64_t* bytes);

/* Writes the first state of a barrier of up to `blocks` blocks on a device of `sm_count` multiprocessors to `buffer` of
 * `bytes` bytes on the host; copied to `address` on the device (a multiple of 128) it is a barrier. `report`: the
 * device's address of mapped host memory for a gpusync::timeout_report, or 0. Its counters lie anywhere. */
GPUSYNC_C_API int gpusync_write_image(uint64_t blocks, uint32_t sm_count, uint64_t address, uint64_t report,
                                      void* buffer, uint64_t bytes);

/* Makes a barrier of up to `blocks` blocks whose counters lie where a survey of the L2 cache wants them. The first one
 * of a device takes some 20 ms more, in which the device should be idle. Makes the device's primary context if there is
 * none. */
GPUSYNC_C_API int gpusync_barrier_create(int device, uint64_t blocks, gpusync_barrier** out);

/* The same in the caller's memory on the device, which outlives the barrier: `bytes` bytes, at least as many as
 * gpusync_image_bytes() says, from a multiple of 128 on. Its counters lie wherever that is. */
GPUSYNC_C_API int gpusync_barrier_create_at(int device, uint64_t blocks, void* memory, uint64_t bytes,
                                            gpusync_barrier** out);

/* The address to give to gpusync::barrier_at(). */
GPUSYNC_C_API int gpusync_barrier_address(const gpusync_barrier* barrier, uint64_t* address);

/* The most blocks that a grid may have. */
GPUSYNC_C_API int gpusync_barrier_capacity(const gpusync_barrier* barrier, uint64_t* blocks);

/* Whether a survey has placed its counters: 0 on GPUs whose L2 cache has one partition. */
GPUSYNC_C_API int gpusync_barrier_placed(const gpusync_barrier* barrier, int* placed);

/* What it is, in a line, cut to `size` bytes. */
GPUSYNC_C_API int gpusync_barrier_describe(const gpusync_barrier* barrier, char* words, size_t size);

/* What went wrong in a launch, in a sentence or two, cut to `size` bytes; empty if nothing did. At any time. */
GPUSYNC_C_API int gpusync_barrier_report(const gpusync_barrier* barrier, char* words, size_t size);

/* The blocks that a timed-out wait missed: how many there are in `count`, the first `size` of them in `blocks`. At any
 * time. */
GPUSYNC_C_API int gpusync_barrier_missing(const gpusync_barrier* barrier, uint32_t* blocks, size_t size, size_t* count);

/* Back to the first state. Precondition: no kernel uses it, and no launch on it is queued. Blocks. */
GPUSYNC_C_API int gpusync_barrier_reset(gpusync_barrier* barrier);

/* Says that the next launch may come on another stream: the caller has seen to it that it follows those before. */
GPUSYNC_C_API int gpusync_barrier_hand_over(gpusync_barrier* barrier);

/* Gives everything back; null is nothing. Precondition: no kernel uses it. */
GPUSYNC_C_API void gpusync_barrier_destroy(gpusync_barrier* barrier);

/* How many blocks of a kernel (a CUfunction) of `threads` threads and `shared_bytes` bytes of dynamic shared memory run
 * at once on a device. */
GPUSYNC_C_API int gpusync_resident_blocks(int device, void* function, uint64_t threads, uint64_t shared_bytes,
                                          uint64_t* blocks);

/* What gpusync_launch() refuses, refused without a launch: for cooperative launches by other means. Call it right
 * before each, with the same stream (a CUstream; null is the default one). */
GPUSYNC_C_API int gpusync_check_launch(gpusync_barrier* barrier, void* function, uint64_t blocks, uint64_t threads,
                                       uint64_t shared_bytes, void* stream);

/* Launches a kernel (a CUfunction) with all its blocks running at once. `arguments`: pointers to its `count`
 * parameters, of which one is the barrier's address. Refused, and nothing started: more blocks than run at once, or
 * than the barrier is for; a barrier that must be reset, whose memory was freed, or that another stream's launches use.
 */
GPUSYNC_C_API int gpusync_launch(gpusync_barrier* barrier, void* function, uint64_t blocks, uint64_t threads,
                                 uint64_t shared_bytes, void* stream, void** arguments, size_t count);

#ifdef __cplusplus
}
#endif
