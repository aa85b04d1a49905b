// Which kernels of reduce/kernels.cuh there are, by plan.
#pragma once

#include <vector>

#include <gpusync/reduce/kernels.cuh>

namespace gpusync::detail {

/// The plans that kernels are compiled for, and these kernels.
template <class T>
class reduction_kernels {
 public:
  /// As the CUDA runtime takes it; null if there is none for such a plan.
  static const void* find(const reduction_plan& plan) {
    const void* found = nullptr;
    for_each([&](const reduction_plan& known, const void* kernel) {
      if (known.finish == plan.finish && known.walk == plan.walk && known.threads == plan.threads &&
          known.vectors == plan.vectors && known.streamed == plan.streamed) {
        found = kernel;
      }
    });
    return found;
  }

  /// Calls `visit(plan, kernel)` for each; of the plans, cluster and blocks_per_sm are as small as they can be.
  template <class Visitor>
  static void for_each(Visitor&& visit) {
    shapes<one<32, 4>, one<128, 2>, one<128, 4>, one<256, 2>, one<256, 4>, one<512, 2>, one<512, 4>, one<1024, 1>,
           one<1024, 2>>::visit(visit);
    shapes<clustered<256, 2>, clustered<256, 4>, clustered<512, 4>>::visit(visit);
    shapes<each<128, 2>, each<128, 4>, each<128, 8>, each<256, 2>, each<256, 4>, each<256, 8>, each<512, 4>,
           each<512, 8>>::visit(visit);
    shapes<loop<512, 4, reduction_walk::dealt>, loop<512, 8, reduction_walk::dealt>,
           loop<512, 8, reduction_walk::claimed>>::visit(visit);
    shapes<each_by_ticket<each<128, 2>>, each_by_ticket<each<128, 4>>, each_by_ticket<each<128, 8>>,
           each_by_ticket<each<256, 2>>, each_by_ticket<each<256, 4>>, each_by_ticket<each<256, 8>>,
           each_by_ticket<each<512, 4>>, each_by_ticket<each<512, 8>>,
           each_by_ticket<loop<512, 4, reduction_walk::dealt>>, each_by_ticket<loop<512, 8, reduction_walk::dealt>>,
           each_by_ticket<loop<512, 8, reduction_walk::claimed>>>::visit(visit);
  }

 private:
  template <unsigned Threads, unsigned Vectors, reduction_finish Finish, reduction_walk Walk>
  struct tiles {
    static constexpr unsigned threads = Threads, vectors = Vectors;
    static constexpr reduction_finish finish = Finish;
    static constexpr reduction_walk walk = Walk;
    static constexpr bool streamed = Walk != reduction_walk::one_tile;
    static reduction_plan plan() { return {Finish, Walk, Threads, Vectors, 1, uint16_t{streamed ? 1 : 0}, streamed}; }
    static const void* kernel() {
      return reinterpret_cast<const void*>(&reduce_tiles<T, Threads, Vectors, Finish, Walk, streamed>);
    }
  };
  template <unsigned Threads, unsigned Vectors>
  struct one {
    static reduction_plan plan() { return one_block_plan(Threads, Vectors); }
    static const void* kernel() { return reinterpret_cast<const void*>(&reduce_in_block<T, Threads, Vectors>); }
  };
  template <unsigned Threads, unsigned Vectors>
  using each = tiles<Threads, Vectors, reduction_finish::messages, reduction_walk::one_tile>;
  template <unsigned Threads, unsigned Vectors, reduction_walk Walk>
  using loop = tiles<Threads, Vectors, reduction_finish::messages, Walk>;
  template <class Tiles>
  using each_by_ticket = tiles<Tiles::threads, Tiles::vectors, reduction_finish::ticket, Tiles::walk>;
  template <unsigned Threads, unsigned Vectors>
  struct clustered {
    static reduction_plan plan() { return cluster_plan(2, Threads, Vectors); }
    static const void* kernel() { return reinterpret_cast<const void*>(&reduce_in_cluster<T, Threads, Vectors>); }
  };

  template <class... Shapes>
  struct shapes {
    template <class Visitor>
    static void visit(Visitor&& visitor) {
      (visitor(Shapes::plan(), Shapes::kernel()), ...);
    }
  };
};

}  // namespace gpusync::detail
