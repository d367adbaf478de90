#include "support/Fingerprint.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "support/CacheFolder.h"
#include "support/DiskCache.h"
#include "support/Hash.h"

namespace tenon {

static constexpr size_t pieceBytes = 16 << 20;

/// False where the system has no further thread.
template <typename Work>
static bool addThread(std::vector<std::jthread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

uint64_t fingerprintFile(std::span<const std::byte> bytes) {
  size_t pieces = std::max<size_t>(1, (bytes.size() + pieceBytes - 1) / pieceBytes);
  std::vector<uint64_t> hashes(1 + pieces);
  hashes[0] = bytes.size();
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t piece; (piece = next++) < pieces;) {
      size_t begin = piece * pieceBytes;
      hashes[1 + piece] =
          hashBytes(bytes.subspan(begin, std::min(pieceBytes, bytes.size() - begin)));
    }
  };
  {
    std::vector<std::jthread> threads;
    size_t cores = std::max(1u, std::thread::hardware_concurrency());
    // Fewer threads than cores take longer, no more.
    for (bool started = true; started && threads.size() + 1 < std::min(cores, pieces);)
      started = addThread(threads, work);
    work();
  }
  return hashBytes(std::as_bytes(std::span(hashes)));
}

/// What the stamp of a file is kept under; nothing where its times are too young to tell it from
/// the same file after another write.
static std::optional<std::string> stampKey(const FileIdentity& file) {
  using namespace std::chrono;
  constexpr int64_t coarsestClockNs = 2'000'000'000;
  int64_t nowNs = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  if (nowNs - std::max(file.modifiedNs, file.changedNs) < coarsestClockNs)
    return std::nullopt;
  return absl::StrFormat("fingerprint of %u:%u, %u bytes, modified %d, changed %d", file.device,
                         file.inode, file.bytes, file.modifiedNs, file.changedNs);
}

uint64_t fingerprintFile(const MappedFile& file) {
  if (!file.isFile())
    return 0;
  std::optional<std::string> key = stampKey(file.identity());
  if (!key || file.bytes().size() <= pieceBytes) // as fast to read as a stamp
    return fingerprintFile(file.bytes());

  static std::mutex mutex;
  static std::map<std::string, uint64_t> known;
  std::scoped_lock lock(mutex);
  if (auto found = known.find(*key); found != known.end())
    return found->second;
  DiskCache stamps(cacheFolder(), "stamp", /*mostBytes=*/1 << 20);
  uint64_t& fingerprint = known[*key];
  if (std::optional<std::string> stamp = stamps.find(*key);
      stamp && stamp->size() == sizeof(fingerprint)) {
    std::memcpy(&fingerprint, stamp->data(), sizeof(fingerprint));
    return fingerprint;
  }
  fingerprint = fingerprintFile(file.bytes());
  stamps.store(*key, {reinterpret_cast<const char*>(&fingerprint), sizeof(fingerprint)});
  return fingerprint;
}

} // namespace tenon
