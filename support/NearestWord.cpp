#include "support/NearestWord.h"

#include <algorithm>

namespace tenon {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
static size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      bool same = a[i - 1] == b[j - 1];
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::string findNearest(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr size_t longestWord = 64; // no flag is longer, and the table is quadratic
  constexpr size_t leastPrefix = 3;
  std::string nearest;
  size_t least = std::max<size_t>(1, (word.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (word.size() > longestWord)
      break;
    bool begins = word.size() >= leastPrefix && candidate.starts_with(word);
    size_t distance = begins ? 0 : editDistance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

} // namespace tenon
