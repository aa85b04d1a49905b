// Documents of the format's first version, whose rows say by the names of methods what these are.
#pragma once

#include "results/row.hpp"

namespace gpusync::tool {

/// Fills in kind, ordered and rival of a row from its experiment's and its method's name, as gpusync-results/1 had
/// them.
void derive_method(row& entry);

}  // namespace gpusync::tool
