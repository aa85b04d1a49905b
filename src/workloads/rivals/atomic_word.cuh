// The same for threads of a GPU: CUDA's atomic functions.
#pragma once

#include <type_traits>

#include <gpusync/rmw/cuda_machine.cuh>

#include "workloads/rivals/atomic_word.hpp"

namespace gpusync::rivals {

/// A named operation as CUDA's atomic function where there is one, and as a loop elsewhere. Relaxed, at device scope.
/// (CUDA's float additions flush subnormal numbers in global memory.)
template <rmw::space Where>
struct single_operation<rmw::cuda_thread<Where>> {
  using machine_type = rmw::cuda_thread<Where>;

  template <class Word, class T>
  static __device__ __forceinline__ T apply(const machine_type& machine, Word* word,
                                            const rmw::named_operation<T>& operation) {
    T* const at = reinterpret_cast<T*>(word);
    const T operand = operation.operand;
    switch (operation.kind) {
      case rmw::operation_kind::add:
      case rmw::operation_kind::subtract: {
        const bool adds = operation.kind == rmw::operation_kind::add;
        if constexpr (std::is_floating_point_v<T>) {
          return atomicAdd(at, adds ? operand : -operand);
        } else {
          const Word amount = adds ? static_cast<Word>(operand) : Word{0} - static_cast<Word>(operand);
          return static_cast<T>(machine_type::access::template fetch_add<memory_order::relaxed>(word, amount));
        }
      }
      case rmw::operation_kind::minimum:
      case rmw::operation_kind::maximum:
        if constexpr (!std::is_floating_point_v<T>) {
          const bool least = operation.kind == rmw::operation_kind::minimum;
          if constexpr (sizeof(T) == 4) {
            return least ? atomicMin(at, operand) : atomicMax(at, operand);
          } else if constexpr (static_cast<T>(-1) < T{}) {
            auto* const number = reinterpret_cast<long long*>(word);
            return least ? atomicMin(number, operand) : atomicMax(number, operand);
          } else {
            auto* const number = reinterpret_cast<unsigned long long*>(word);
            return least ? atomicMin(number, operand) : atomicMax(number, operand);
          }
        }
        break;
      case rmw::operation_kind::increment:
      case rmw::operation_kind::decrement:
        if constexpr (!std::is_floating_point_v<T> && sizeof(T) == 4 && static_cast<T>(-1) > T{}) {
          return operation.kind == rmw::operation_kind::increment ? atomicInc(at, operand) : atomicDec(at, operand);
        }
        break;
      case rmw::operation_kind::exchange:
      case rmw::operation_kind::compare_exchange: {
        T old;
        Word wanted;
        Word expected;
        memcpy(&wanted, &operand, sizeof(T));
        memcpy(&expected, &operation.expected, sizeof(T));
        using bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
        auto* const number = reinterpret_cast<bits*>(word);
        const bits before = operation.kind == rmw::operation_kind::exchange
                                ? atomicExch(number, static_cast<bits>(wanted))
                                : atomicCAS(number, static_cast<bits>(expected), static_cast<bits>(wanted));
        memcpy(&old, &before, sizeof(T));
        return old;
      }
    }
    return apply_in_a_loop<T>(machine, word, operation);
  }
};

}  // namespace gpusync::rivals
