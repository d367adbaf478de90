#ifndef TENON_SUPPORT_NEARESTWORD_H
#define TENON_SUPPORT_NEARESTWORD_H

#include <string>
#include <vector>

namespace tenon {

/// The candidate that `word` was likely meant to be: it begins with `word`, or few letters differ.
/// Empty where there is none.
std::string findNearest(const std::string& word, const std::vector<std::string>& candidates);

} // namespace tenon

#endif // TENON_SUPPORT_NEARESTWORD_H
