#ifndef TENON_RUNTIME_BATCHING_INTERNAL_PAGEPOOL_H
#define TENON_RUNTIME_BATCHING_INTERNAL_PAGEPOOL_H

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon::runtime::internal {

/// The pages of a program's caches: which sequence has which, and which still hold the keys and values
/// of tokens whose sequence has gone.
///
/// A block is as many tokens as a page has positions, after one certain block or at the begin of a
/// sequence. A page that holds a whole block is found by its tokens, so that sequences with a common
/// begin share its pages. Only whole blocks are shared: a sequence writes after them, into pages of its
/// own, and nothing has to be copied. Pages that nobody has are given out in the order in which they
/// were released, those that hold nothing first.
class PagePool {
public:
  /// `positions` of a page; both at least 1.
  PagePool(int64_t pages, int64_t positions);

  /// The pages of a sequence, in the order of its positions.
  struct Holding {
    std::vector<int32_t> pages;
    size_t wholeBlocks = 0; ///< the first ones, which others may find
    uint64_t lastBlock = 0; ///< the last of those; 0: there is none
  };

  /// Gives the empty `holding` pages for all of `tokens`: those that hold whole blocks of their begin
  /// already where `reuses`, and free ones. Returns how many tokens they hold, fewer than there are,
  /// since the last one's logits are wanted; nothing where too few pages are free: then the holding
  /// stays empty.
  std::optional<int64_t> begin(Holding& holding, std::span<const int32_t> tokens, bool reuses);
  /// One more page; false where none is free.
  bool grow(Holding& holding);
  /// The holding's pages hold `tokens`, all of its sequence from its begin on: whole blocks of them may
  /// be found from now on.
  void keep(Holding& holding, std::span<const int32_t> tokens);
  /// Takes all pages from the holding.
  void release(Holding& holding);

  /// Positions that a holding has room for.
  int64_t room(const Holding& holding) const { return int64_t(holding.pages.size()) * positions; }
  int64_t size() const { return int64_t(pages.size()); }
  /// Pages that no sequence has.
  int64_t free() const { return int64_t(freePages.size()); }

private:
  /// The block in front, and the tokens: equal where a page's keys and values are.
  using BlockKey = std::pair<uint64_t, std::vector<int32_t>>;
  struct Page {
    int64_t holders = 0;
    uint64_t block = 0;                          ///< that it holds; 0: none that may be found
    BlockKey key = {};                           ///< of the block
    std::list<int32_t>::iterator freePlace = {}; ///< where nobody has it
  };

  /// The pages that hold the first blocks of `tokens`, all but the last token at most.
  std::vector<int32_t> find(std::span<const int32_t> tokens) const;
  void take(int32_t page);
  /// A free page, of which the pool forgets what it held.
  int32_t takeFree();
  void forget(Page& page);

  int64_t positions;
  std::vector<Page> pages;
  std::list<int32_t> freePages; ///< the next one to give out first
  absl::flat_hash_map<BlockKey, int32_t> found;
  uint64_t blocks = 0; ///< that ever were whole
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_BATCHING_INTERNAL_PAGEPOOL_H
