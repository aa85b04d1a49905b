// Levels of synchronization on CUDA devices: what the tables of operations have in common.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "boundary/cuda_target.hpp"
#include "measure/cuda_chain.cuh"
#include "workloads/levels/levels.hpp"

namespace gpusync::tool {

/// One operation with its kernels.
struct level_entry {
  level_variant what;
  int needs_code = 0;  ///< the compute capability, times ten, that its code is for
  std::map<uint32_t, const void*> chains;
  const void* exchange = nullptr;  ///< null: no words can be handed over through it
  bool leaves_value = false;       ///< the chain itself says whether it was right
};

/// Lengths of chains whose difference is taken, and of those of operations that are many instructions each: a chain
/// must not outgrow the instruction cache (128 KiB), or fetching it would be what is measured.
using usual_chains = std::integer_sequence<unsigned int, 64, 192>;
using middle_chains = std::integer_sequence<unsigned int, 32, 96>;
using short_chains = std::integer_sequence<unsigned int, 8, 24>;

/// An operation that words are handed over through.
template <class Operation, class Lengths = usual_chains>
level_entry handing_over(level_variant what, int needs_code = 0) {
  return {std::move(what), needs_code, chains_of<Operation>(Lengths{}),
          reinterpret_cast<const void*>(&exchange_words<Operation>), Operation::leaves_value};
}

/// One whose own result is looked at, or, if it leaves none, that nothing can be said of.
template <class Operation, class Lengths = usual_chains>
level_entry by_value(level_variant what, int needs_code = 0) {
  what.is_barrier = !Operation::leaves_value;
  return {std::move(what), needs_code, chains_of<Operation>(Lengths{}), nullptr, Operation::leaves_value};
}

/// A device with a table of operations.
class cuda_levels : public levels_device {
 public:
  cuda_levels(const device_description& description, std::vector<level_entry> entries);

  std::vector<level_variant> variants() const override;
  std::unique_ptr<level_program> prepare(const level_variant& variant, const level_shape& shape) override;
  std::unique_ptr<repeated_adds> prepare_adds() override;
  std::string function_of(const level_variant& variant, uint32_t length) const override;
  int architecture() const override;
  uint32_t threads_per_sm() const override;

 private:
  const level_entry& find(const level_variant& variant) const;

  const cuda_target where_;
  const std::vector<level_entry> entries_;
};

}  // namespace gpusync::tool
