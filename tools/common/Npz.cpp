#include "tools/common/Npz.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <span>

#include <zlib.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

#include "support/MappedFile.h"
#include "support/Status.h"
#include "tools/common/internal/NpyHeader.h"

namespace tenon::tools {
namespace {

// Records of a ZIP archive, little-endian (PKWARE, APPNOTE.TXT 6.3.10). Offsets in bytes.
constexpr uint32_t localSignature = 0x04034b50, localBytes = 30;
constexpr uint32_t centralSignature = 0x02014b50, centralBytes = 46;
constexpr uint32_t endSignature = 0x06054b50, endBytes = 22;
constexpr size_t longestComment = 65535;
constexpr uint16_t methodStored = 0, methodDeflated = 8;
constexpr uint16_t flagEncrypted = 1, flagUtf8 = 1 << 11;
/// 1980-01-01: what NumPy writes.
constexpr uint16_t dosDate = 33;
constexpr std::string_view memberSuffix = ".npy";
/// Deflate's best: 258 bytes from two bits (RFC 1951).
constexpr uint64_t highestExpansion = 1032;

template <typename T> T readAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// A row of the central directory.
struct Member {
  std::string name;
  uint16_t flags, method;
  uint32_t checksum, packedBytes, bytes, localOffset;
};

/// Reads the members of one archive; errors carry the file's name.
class ZipReader {
public:
  ZipReader(std::span<const std::byte> file, const std::string& path) : file(file), path(path) {}

  absl::StatusOr<std::vector<Member>> readDirectory() const;
  absl::StatusOr<std::vector<std::byte>> unpack(const Member& member) const;
  absl::Status error(const std::string& message) const {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", path, message));
  }
  absl::Status error(const Member& member, const std::string& message) const {
    return error(absl::StrFormat("'%s': %s", absl::CHexEscape(member.name), message));
  }

private:
  std::optional<size_t> findEnd() const;
  absl::StatusOr<std::span<const std::byte>> packed(const Member& member) const;
  absl::Status inflateInto(const Member& member, std::span<const std::byte> from,
                           std::vector<std::byte>& to) const;

  std::span<const std::byte> file;
  const std::string& path;
};

/// The end record stands last, before a comment.
std::optional<size_t> ZipReader::findEnd() const {
  if (file.size() < endBytes)
    return std::nullopt;
  size_t last = file.size() - endBytes;
  size_t first = last > longestComment ? last - longestComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (readAt<uint32_t>(file, at) == endSignature)
      return at;
  return std::nullopt;
}

absl::StatusOr<std::vector<Member>> ZipReader::readDirectory() const {
  std::optional<size_t> end = findEnd();
  if (!end)
    return error("expects an .npz file, a ZIP archive, but got other bytes");
  size_t count = readAt<uint16_t>(file, *end + 10);
  size_t at = readAt<uint32_t>(file, *end + 16);
  std::vector<Member> members;
  uint64_t packedBytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at > *end || *end - at < centralBytes || readAt<uint32_t>(file, at) != centralSignature)
      return error(
          absl::StrFormat("expects %d entries in the archive's directory, but got %d", count, i));
    Member member{"",
                  readAt<uint16_t>(file, at + 8),
                  readAt<uint16_t>(file, at + 10),
                  readAt<uint32_t>(file, at + 16),
                  readAt<uint32_t>(file, at + 20),
                  readAt<uint32_t>(file, at + 24),
                  readAt<uint32_t>(file, at + 42)};
    size_t nameBytes = readAt<uint16_t>(file, at + 28);
    size_t restBytes = readAt<uint16_t>(file, at + 30) + readAt<uint16_t>(file, at + 32);
    at += centralBytes;
    if (nameBytes + restBytes > *end - at)
      return error("the archive's directory goes beyond its end");
    member.name.assign(reinterpret_cast<const char*>(file.data()) + at, nameBytes);
    at += nameBytes + restBytes;
    packedBytes += member.packedBytes;
    members.push_back(std::move(member));
  }
  // Members that share bytes could expand without bound.
  if (packedBytes > file.size())
    return error("expects members that do not overlap, but they have more bytes than the file");
  return members;
}

absl::StatusOr<std::span<const std::byte>> ZipReader::packed(const Member& member) const {
  if (member.localOffset == std::numeric_limits<uint32_t>::max() ||
      member.packedBytes == std::numeric_limits<uint32_t>::max() ||
      member.bytes == std::numeric_limits<uint32_t>::max())
    return error(member, "expects less than 4 GiB, but got ZIP64");
  size_t at = member.localOffset;
  if (at > file.size() || file.size() - at < localBytes ||
      readAt<uint32_t>(file, at) != localSignature)
    return error(member, "expects a member where the directory says, but got other bytes");
  size_t skipped = localBytes + readAt<uint16_t>(file, at + 26) + readAt<uint16_t>(file, at + 28);
  if (file.size() - at < skipped || file.size() - at - skipped < member.packedBytes)
    return error(member, "goes beyond the end of the file");
  return file.subspan(at + skipped, member.packedBytes);
}

absl::Status ZipReader::inflateInto(const Member& member, std::span<const std::byte> from,
                                    std::vector<std::byte>& to) const {
  if (member.bytes > highestExpansion * (from.size() + 1))
    return error(member,
                 absl::StrFormat("expects at most %d bytes from %d deflated ones, but the "
                                 "directory says %d",
                                 highestExpansion * (from.size() + 1), from.size(), member.bytes));
  to.resize(member.bytes);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return absl::InternalError("zlib: inflateInit2 failed");
  std::byte none{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.empty() ? &none : to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.total_out != to.size())
    return error(member, absl::StrFormat(
                             "expects deflated data of %d bytes, but got %d and then %s", to.size(),
                             stream.total_out, result == Z_STREAM_END ? "the end" : "damage"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> ZipReader::unpack(const Member& member) const {
  if (member.flags & flagEncrypted)
    return error(member, "expects no encryption");
  TENON_ASSIGN_OR_RETURN(std::span<const std::byte> from, packed(member));
  std::vector<std::byte> bytes;
  if (member.method == methodDeflated)
    TENON_RETURN_IF_ERROR(inflateInto(member, from, bytes));
  else if (member.method != methodStored)
    return error(member, absl::StrFormat("expects a member stored (0) or deflated (8), but got "
                                         "method %d",
                                         member.method));
  else if (member.packedBytes != member.bytes)
    return error(member, absl::StrFormat("expects %d stored bytes, but got %d", member.bytes,
                                         member.packedBytes));
  else
    bytes.assign(from.begin(), from.end());
  uLong checksum =
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size()));
  if (checksum != member.checksum)
    return error(member, "expects data that match their checksum, but they are damaged");
  return bytes;
}

template <typename T> void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// What local header and directory entry have in common, from the version on.
void appendMember(std::string& to, uint32_t checksum, uint32_t bytes, const std::string& name) {
  append<uint16_t>(to, 20);
  append<uint16_t>(to, flagUtf8);
  append<uint16_t>(to, methodStored);
  append<uint16_t>(to, 0);
  append<uint16_t>(to, dosDate);
  append<uint32_t>(to, checksum);
  append<uint32_t>(to, bytes);
  append<uint32_t>(to, bytes);
  append<uint16_t>(to, static_cast<uint16_t>(name.size()));
  append<uint16_t>(to, 0);
}

/// The row of the central directory for a member whose local header is at `offset`.
void appendDirectoryEntry(std::string& to, uint32_t checksum, uint32_t bytes,
                          const std::string& name, uint32_t offset) {
  append<uint32_t>(to, centralSignature);
  append<uint16_t>(to, 20);
  appendMember(to, checksum, bytes, name);
  append<uint16_t>(to, 0);
  append<uint16_t>(to, 0);
  append<uint16_t>(to, 0);
  append<uint32_t>(to, 0);
  append<uint32_t>(to, offset);
  to += name;
}

absl::Status checkWritable(const std::string& path, const NpyArrays& arrays) {
  uint64_t total = 0;
  for (const auto& [name, array] : arrays) {
    std::optional<int64_t> elements = countElements(array.shape);
    if (!elements ||
        static_cast<uint64_t>(*elements * npyTypeBytes(array.type)) != array.bytes.size())
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: '%s': expects the bytes of its shape, but got %d", path, name, array.bytes.size()));
    if (name.size() > 1000 || array.shape.size() > 64)
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: '%s': expects a name of at most 1000 bytes and at most 64 axes", path, name));
    total += array.bytes.size() + 8192; // two names and the headers
  }
  if (total > std::numeric_limits<uint32_t>::max() ||
      arrays.size() > std::numeric_limits<uint16_t>::max())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects at most 4 GiB in 65535 arrays, but got %d bytes in %d", path,
                        total, arrays.size()));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<NpyArrays> readNpz(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  ZipReader reader(file->bytes(), path);
  TENON_ASSIGN_OR_RETURN(std::vector<Member> members, reader.readDirectory());
  NpyArrays arrays;
  for (const Member& member : members) {
    TENON_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, reader.unpack(member));
    absl::StatusOr<NpyArray> array = parseNpy(bytes);
    if (!array.ok())
      return reader.error(member, std::string(array.status().message()));
    std::string name = member.name;
    if (name.ends_with(memberSuffix))
      name.resize(name.size() - memberSuffix.size());
    if (!arrays.emplace(name, *std::move(array)).second)
      return reader.error(member, "expects names to differ, but got it twice");
  }
  return arrays;
}

absl::Status writeNpz(const std::string& path, const NpyArrays& arrays) {
  TENON_RETURN_IF_ERROR(checkWritable(path, arrays));
  std::ofstream file(path, std::ios::binary);
  std::string directory;
  uint32_t offset = 0;
  for (const auto& [arrayName, array] : arrays) {
    std::string name = arrayName + std::string(memberSuffix);
    std::string header = makeNpyHeader(array);
    uint32_t bytes = static_cast<uint32_t>(header.size() + array.bytes.size());
    uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    if (!array.bytes.empty())
      checksum =
          crc32_z(checksum, reinterpret_cast<const Bytef*>(array.bytes.data()), array.bytes.size());
    std::string local;
    append<uint32_t>(local, localSignature);
    appendMember(local, static_cast<uint32_t>(checksum), bytes, name);
    local += name;
    appendDirectoryEntry(directory, static_cast<uint32_t>(checksum), bytes, name, offset);
    file << local << header;
    file.write(reinterpret_cast<const char*>(array.bytes.data()), std::ssize(array.bytes));
    offset += static_cast<uint32_t>(local.size()) + bytes;
  }
  std::string end;
  append<uint32_t>(end, endSignature);
  append<uint32_t>(end, 0);
  append<uint16_t>(end, static_cast<uint16_t>(arrays.size()));
  append<uint16_t>(end, static_cast<uint16_t>(arrays.size()));
  append<uint32_t>(end, static_cast<uint32_t>(directory.size()));
  append<uint32_t>(end, offset);
  append<uint16_t>(end, 0);
  file << directory << end;
  file.close();
  if (!file)
    return absl::UnavailableError(absl::StrFormat("%s: cannot be written", path));
  return absl::OkStatus();
}

} // namespace tenon::tools
