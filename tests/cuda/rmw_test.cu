// Wait-free objects on a CUDA device: states and functions that no atomic operation has, threads and warps as
// participants, both memories, launches one after the other, and devices that were not tested.
#include "cuda/device_fixture.cuh"

#include <gpusync/gpusync.cuh>
#include <gpusync/rmw/cuda.cuh>

namespace gpusync {
namespace {

using namespace test;

/// 64 bytes whose words change together.
struct ledger {
  uint32_t word[16];
};

/// Word k grows by (k + 1) * amount. Who reads a state reads how much has been added to it, in sixteen ways.
struct grow {
  uint32_t amount;
  __host__ __device__ ledger operator()(ledger state) const {
    for (uint32_t k = 0; k < 16; ++k) state.word[k] += (k + 1) * amount;
    return state;
  }
};

/// Calls each participant makes; counts answers whose words do not belong together, or that go backwards.
template <class Object>
__global__ void grow_ledger(Object object, uint32_t calls, uint32_t* wrong) {
  auto participant = object.join(blockIdx.x);
  uint32_t last = 0;
  for (uint32_t i = 0; i < calls; ++i) {
    const ledger answer = participant.apply(grow{blockIdx.x + 1});
    bool whole = answer.word[0] >= last;
    for (uint32_t k = 1; k < 16; ++k) whole = whole && answer.word[k] == (k + 1) * answer.word[0];
    last = answer.word[0] + blockIdx.x + 1;
    if (!whole) atomicAdd(wrong, 1u);
  }
}

class CudaRmw : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) wrong_ = words(1);
  }
  uint32_t wrong() const { return contents(wrong_)[0]; }
  uint32_t* counter() const { return address(wrong_); }

  /// Two launches on one object, so that the second takes over the numbers of the first.
  template <class Consensus>
  void grow_everywhere() {
    constexpr uint32_t participants = 5, calls = 300;
    cuda_rmw_storage<ledger, participants, Consensus, grow> storage(device());
    for (uint32_t launch = 1; launch <= 2; ++launch) {
      grow_ledger<<<participants, 32>>>(storage.object(), calls, counter());
      check_cuda(cudaDeviceSynchronize(), "grow_ledger");
      const ledger state = storage.state();
      for (uint32_t k = 0; k < 16; ++k) EXPECT_EQ(state.word[k], (k + 1) * 15 * calls * launch) << k;
    }
    EXPECT_EQ(wrong(), 0u);
  }

 private:
  cuda_buffer wrong_;
};

TEST_F(CudaRmw, AnyFunctionOnSixtyFourBytes) {
  grow_everywhere<rmw::cas<>>();
}

TEST_F(CudaRmw, AnyFunctionOnSixtyFourBytesThatHandsOn) {
  grow_everywhere<rmw::cas<rmw::publication::ordered>>();
}

TEST_F(CudaRmw, AnyFunctionWithPatience) {
  grow_everywhere<rmw::cas<rmw::publication::tagged, 16>>();
}

TEST_F(CudaRmw, AnyFunctionWithoutAtomics) {
  try {
    grow_everywhere<rmw::coalesced_store<rmw::litmus::nvidia_h200_apart>>();
  } catch (const untested_device& refusal) {
    GTEST_SKIP() << refusal.what();
  }
}

/// Doubles, which no atomic operation multiplies.
struct scale {
  double factor;
  __host__ __device__ double operator()(double state) const { return state * factor; }
};

template <class Object>
__global__ void scale_by_threads(Object object, uint32_t calls) {
  auto participant = object.join(blockIdx.x * blockDim.x + threadIdx.x);
  for (uint32_t i = 0; i < calls; ++i) (void)participant.apply(scale{(threadIdx.x + i) % 2 == 0 ? 2.0 : 0.5});
}

TEST_F(CudaRmw, ThreadsAsParticipants) {
  constexpr uint32_t participants = 8;
  cuda_rmw_storage<double, participants, rmw::cas<>, scale, rmw::cuda_thread<rmw::space::global>> storage(device(),
                                                                                                          3.0);
  scale_by_threads<<<2, participants / 2>>>(storage.object(), 100);
  check_cuda(cudaDeviceSynchronize(), "scale_by_threads");
  EXPECT_EQ(storage.state(), 3.0);  // as many halvings as doublings, and no rounding
}

/// Plain data, handed on by an object: each participant adds to a word that is no atomic one, in the order of answers.
template <class Object>
__global__ void hand_on(Object object, uint32_t calls, uint32_t* plain, uint32_t* wrong) {
  auto participant = object.join(blockIdx.x);
  for (uint32_t i = 0; i < calls; ++i) {
    // A lock: 0 is free. Whoever makes it 1 has it.
    while (participant.compare_exchange(0u, 1u) != 0u) {
    }
    if (threadIdx.x == 0) *plain = *plain + 1;
    __syncwarp();
    if (participant.exchange(0u) != 1u) atomicAdd(wrong, 1u);
  }
}

TEST_F(CudaRmw, OrderedObjectsHandOnPlainData) {
  constexpr uint32_t participants = 5, calls = 200;
  cuda_rmw_storage<uint32_t, participants, rmw::cas<rmw::publication::ordered>> storage(device());
  const cuda_buffer plain = words(1);
  hand_on<<<participants, 32>>>(storage.object(), calls, address(plain), counter());
  check_cuda(cudaDeviceSynchronize(), "hand_on");
  EXPECT_EQ(contents(plain)[0], participants * calls);
  EXPECT_EQ(wrong(), 0u);
}

template <class Object>
__global__ void count_in_shared(uint32_t calls, uint64_t* words) {
  __shared__ shared_rmw_storage<Object> memory;
  auto participant = memory.start(5).join(threadIdx.x / 32);
  for (uint32_t i = 0; i < calls; ++i) (void)participant.add(1);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < Object::words; i += blockDim.x) words[i] = memory.words[i];
}

TEST_F(CudaRmw, WarpsOfABlockInSharedMemory) {
  using object = shared_rmw_object<uint64_t, 16>;
  const cuda_buffer memory(device(), object::bytes);
  count_in_shared<object><<<1, 512>>>(100, static_cast<uint64_t*>(memory.address()));
  check_cuda(cudaDeviceSynchronize(), "count_in_shared");
  std::vector<uint64_t> copy(object::words);
  check_cuda(cudaMemcpy(copy.data(), memory.address(), object::bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(object::settled_state(copy.data()), 1605u);
}

/// Evidence of a device that is not here.
struct elsewhere {
  static constexpr const char* device = "another GPU";
  static constexpr bool apart = false;
  GPUSYNC_HD static constexpr bool covers(rmw::space, size_t) { return true; }
};

TEST_F(CudaRmw, MaskedStoresAreRefusedWhereTheyWereNotTested) {
  using object = cuda_rmw_storage<uint32_t, 5, rmw::coalesced_store<elsewhere>>;
  static_assert(elsewhere::covers(rmw::space::global, 8), "it compiles, and is refused when it is made");
  EXPECT_THROW(object{device()}, untested_device);
  EXPECT_THROW(rmw::require_evidence<rmw::coalesced_store<elsewhere>>(device()), untested_device);
}

}  // namespace
}  // namespace gpusync
