#ifndef TENON_RUNTIME_TEXT_INTERNAL_MERGESYMBOLS_H
#define TENON_RUNTIME_TEXT_INTERNAL_MERGESYMBOLS_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::runtime::internal {

/// A stretch of the text, linked to its neighbours by index; −1 ends the list. A symbol that was
/// merged into its left neighbour has length 0.
struct Symbol {
  uint32_t begin = 0;  ///< first byte
  uint32_t length = 0; ///< bytes
  int32_t id = -1;     ///< its token, −1 for none
  int32_t previous = -1;
  int32_t next = -1;
};

/// What merging two neighbours gives.
template <class Priority> struct Merge {
  Priority priority; ///< the lowest goes first
  int32_t id;        ///< the token of the merged symbol
};

/// A merge in the queue.
template <class Priority> struct Candidate {
  Priority priority;
  int32_t left;
  int32_t right;
  uint32_t length; ///< bytes of both, when queued
  int32_t id;
};

/// Appends a symbol after the last of `symbols`.
inline void appendSymbol(std::vector<Symbol>& symbols, uint32_t begin, uint32_t length,
                         int32_t id) {
  const int32_t index = int32_t(symbols.size());
  if (index > 0)
    symbols.back().next = index;
  symbols.push_back({begin, length, id, index - 1, -1});
}

/// Byte-pair encoding (Sennrich et al. 2016; SentencePiece's bpe_model.cc):
///   1. queue every pair of neighbours that `find` knows a merge for;
///   2. take the merge of lowest priority, of equals the leftmost;
///   3. drop it if either symbol has changed since, else merge right into left and queue the pairs
///      that the merged symbol forms with its neighbours; back to 2 until the queue is empty.
/// n symbols cost O(n log n): each merge queues at most two. The survivors are those with a length.
///
/// `find(left, right)` returns `std::optional<Merge<Priority>>`. `queue` is scratch space that
/// calls may share.
///
/// Example: `l o w` with the merges `o w` (rank 0) and `l ow` (rank 1) becomes `l ow`, then `low`.
template <class Priority, class Find>
void mergeSymbols(std::vector<Symbol>& symbols, std::vector<Candidate<Priority>>& queue,
                  Find find) {
  const auto after = [](const Candidate<Priority>& a, const Candidate<Priority>& b) {
    return a.priority > b.priority || (a.priority == b.priority && a.left > b.left);
  };
  const auto propose = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0)
      return false;
    const std::optional<Merge<Priority>> merge = find(symbols[left], symbols[right]);
    if (!merge)
      return false;
    queue.push_back(
        {merge->priority, left, right, symbols[left].length + symbols[right].length, merge->id});
    return true;
  };

  queue.clear();
  for (size_t i = 1; i < symbols.size(); ++i)
    propose(int32_t(i) - 1, int32_t(i));
  std::make_heap(queue.begin(), queue.end(), after);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), after);
    const Candidate<Priority> best = queue.back();
    queue.pop_back();
    Symbol& left = symbols[best.left];
    Symbol& right = symbols[best.right];
    if (left.length == 0 || right.length == 0 || left.length + right.length != best.length)
      continue;
    left.length = best.length;
    left.id = best.id;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0)
      symbols[left.next].previous = best.left;
    if (propose(left.previous, best.left))
      std::push_heap(queue.begin(), queue.end(), after);
    if (propose(best.left, left.next))
      std::push_heap(queue.begin(), queue.end(), after);
  }
}

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_MERGESYMBOLS_H
