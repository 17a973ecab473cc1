// "Did you mean": the known name closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hydraconf {

/// The candidate with the smallest edit distance to `name`; empty when none is close enough
/// (more than a third of the characters, and at least three, would have to change). A candidate that
/// contains a name of four characters or more is close too: `resnet` for `shallow_resnet`.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// `"; did you mean 'x'?"`, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace hydraconf
