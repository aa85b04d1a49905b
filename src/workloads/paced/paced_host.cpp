// The paced texts on host threads.
#include "workloads/paced/paced_host.hpp"

#include "workloads/paced/column_walk.hpp"
#include "workloads/paced/memory_test.hpp"
#include "workloads/paced/scalar_product.hpp"
#include "workloads/paced/sparse_product.hpp"
#include "workloads/paced/transpose.hpp"
#include "workloads/paced/vector_add.hpp"

namespace gpusync::tool {

namespace {

template <class Text>
register_side<paced_device> of(const char* name) {
  return {device_kind::host, make_side<host_paced_device<Text>>, name};
}

const register_side<paced_device> paced_registered[] = {
    of<memory_test_text>("memory-test"),
    of<vector_add_text>("vector-add"),
    of<scalar_product_text<false>>("scalar-product set"),
    of<scalar_product_text<true>>("scalar-product element"),
    of<row_a_warp_text>("sparse-product warp"),
    of<row_a_thread_text>("sparse-product thread"),
    of<column_walk_text>("column-walk"),
    of<transpose_text>("transpose"),
};

}  // namespace

}  // namespace gpusync::tool
