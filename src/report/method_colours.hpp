// Which methods have a colour of their own in the page's figures; the others are grey.
#pragma once

#include <vector>

#include "report/columns.hpp"

namespace gpusync::tool {

/// {"classes": {METHOD: CLASS}, "of": [{METHOD…}…], "rivals": [METHOD…], "of_a_sort": N}: the class is "own-0"… for
/// methods of this library and of the papers, "rival-0"… for what people use without it, "floor" for the work alone,
/// and the same in all experiments; "of" has for each experiment its methods that show it: of ours the four that are
/// most often the fastest and those whose figures a paper has printed, five of the rivals, and the floor; "rivals" are
/// all of them; a sort has N classes. Methods that meet in an experiment have different classes as far as there are
/// enough.
json method_colours(const std::vector<const experiment_rows*>& experiments);

}  // namespace gpusync::tool
