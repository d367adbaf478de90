#include "runtime/batching/internal/PagePool.h"

#include <ranges>

namespace tenon::runtime::internal {

PagePool::PagePool(int64_t pageCount, int64_t positions)
    : positions(positions), pages(size_t(pageCount)) {
  for (size_t page = 0; page < pages.size(); ++page)
    pages[page].freePlace = freePages.insert(freePages.end(), int32_t(page));
}

std::vector<int32_t> PagePool::find(std::span<const int32_t> tokens) const {
  std::vector<int32_t> held;
  const auto size = size_t(positions);
  uint64_t last = 0;
  while ((held.size() + 1) * size < tokens.size()) {
    const auto block = tokens.subspan(held.size() * size, size);
    const auto next = found.find(BlockKey{last, {block.begin(), block.end()}});
    if (next == found.end())
      break;
    held.push_back(next->second);
    last = pages[size_t(next->second)].block;
  }
  return held;
}

std::optional<int64_t> PagePool::begin(Holding& holding, std::span<const int32_t> tokens,
                                       bool reuses) {
  const std::vector<int32_t> held = reuses ? find(tokens) : std::vector<int32_t>();
  const size_t needed = (tokens.size() + size_t(positions) - 1) / size_t(positions);
  size_t unused = freePages.size(); // but for those that are taken over
  for (int32_t page : held)
    unused -= pages[size_t(page)].holders == 0 ? 1 : 0;
  if (needed - held.size() > unused)
    return std::nullopt;
  for (int32_t page : held)
    take(page);
  holding.pages = held;
  holding.wholeBlocks = held.size();
  holding.lastBlock = held.empty() ? 0 : pages[size_t(held.back())].block;
  while (holding.pages.size() < needed)
    holding.pages.push_back(takeFree());
  return int64_t(held.size()) * positions;
}

bool PagePool::grow(Holding& holding) {
  if (freePages.empty())
    return false;
  holding.pages.push_back(takeFree());
  return true;
}

void PagePool::keep(Holding& holding, std::span<const int32_t> tokens) {
  const auto size = size_t(positions);
  for (; (holding.wholeBlocks + 1) * size <= tokens.size(); ++holding.wholeBlocks) {
    const auto block = tokens.subspan(holding.wholeBlocks * size, size);
    BlockKey key{holding.lastBlock, {block.begin(), block.end()}};
    const int32_t index = holding.pages[holding.wholeBlocks];
    // Where two sequences have made the same block at one time, the first one's page is found.
    const auto [entry, isFirst] = found.try_emplace(key, index);
    if (!isFirst) {
      holding.lastBlock = pages[size_t(entry->second)].block;
      continue;
    }
    Page& page = pages[size_t(index)];
    page.block = holding.lastBlock = ++blocks;
    page.key = std::move(key);
  }
}

void PagePool::release(Holding& holding) {
  // The last ones first: what stands after a page is found through it alone.
  for (int32_t index : std::views::reverse(holding.pages)) {
    Page& page = pages[size_t(index)];
    if (--page.holders > 0)
      continue;
    const auto place = page.block == 0 ? freePages.begin() : freePages.end();
    page.freePlace = freePages.insert(place, index);
  }
  holding = {};
}

void PagePool::take(int32_t index) {
  Page& page = pages[size_t(index)];
  if (page.holders++ == 0)
    freePages.erase(page.freePlace);
}

int32_t PagePool::takeFree() {
  const int32_t index = freePages.front();
  forget(pages[size_t(index)]);
  take(index);
  return index;
}

void PagePool::forget(Page& page) {
  if (page.block == 0)
    return;
  found.erase(page.key);
  page.block = 0, page.key = {};
}

} // namespace tenon::runtime::internal
