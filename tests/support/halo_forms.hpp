// The two forms of a halo on host threads, for tests that are run with each.
#pragma once

#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

namespace gpusync::test {

template <halo_form Form>
struct of_form {
  using halo = host_halo<double, Form>;
  using storage = host_halo_storage<double>;

  /// A step with deadlines; `words` are put.
  static wait_status step(halo& given, timeout span, uint32_t words = 2) {
    if (host_grid::current().thread() == 0) {
      for (uint32_t i = 0; i < words; ++i) given.put(i, 1.0 + i);
    }
    given.send();
    wait_status status = given.receive_for(span);
    if (status == wait_status::timed_out) return status;
    for (uint32_t slot = 0; slot < given.slots(); ++slot) {
      const halo_word from[2] = {given.word(slot, 0), given.word(slot, 1)};
      double got[2];
      if (status == wait_status::completed) status = given.get_for(from, got, span);
    }
    return given.next_for(status);
  }
};
using forms_of_halo = ::testing::Types<of_form<halo_form::words>, of_form<halo_form::flags>>;

}  // namespace gpusync::test
