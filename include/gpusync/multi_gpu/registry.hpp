// The barriers across GPUs that there are.
#pragma once

#include <gpusync/grid/registry.hpp>
#include <gpusync/multi_gpu/two_level.hpp>

namespace gpusync::multi_gpu {

/// All, the default first; names by grid::name_of().
using algorithms =
    grid::algorithm_list<two_level<all_to_all>, two_level<replicated>, two_level<central>, two_level<disseminated>>;

/// What to take.
using default_algorithm = two_level<replicated>;

}  // namespace gpusync::multi_gpu
