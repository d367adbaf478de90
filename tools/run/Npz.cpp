#include "tools/run/Npz.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include <zlib.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

#include "support/MappedFile.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/run/internal/NpyHeader.h"

namespace tenon::tools {
namespace {

// Records of a ZIP archive, little-endian (PKWARE, APPNOTE.TXT 6.3.10). Offsets in bytes.
constexpr uint32_t localSignature = 0x04034b50, localBytes = 30;
constexpr uint32_t centralSignature = 0x02014b50, centralBytes = 46;
constexpr uint32_t endSignature = 0x06054b50, endBytes = 22;
constexpr uint32_t end64Signature = 0x06064b50, end64Bytes = 56;
constexpr uint32_t locatorSignature = 0x07064b50, locatorBytes = 20;
/// What stands in a field of 16 or 32 bits whose value is in a field of ZIP64.
constexpr uint16_t elsewhere16 = 0xffff;
constexpr uint32_t elsewhere32 = 0xffffffff;
constexpr uint16_t zip64Extra = 1;
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

using Member = NpzFile::Member;

/// Reads the members of one archive; errors carry the file's name.
class ZipReader {
public:
  explicit ZipReader(const MappedFile& mapped) : file(mapped.bytes()), path(mapped.path()) {}

  absl::StatusOr<std::vector<Member>> readDirectory() const;
  /// The bytes of a member as they lie in the file, after a check of all that its row says.
  absl::StatusOr<std::span<const std::byte>> packed(const Member& member) const;
  absl::Status error(const std::string& message) const {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", path, message));
  }
  absl::Status error(const Member& member, const std::string& message) const {
    return error(absl::StrFormat("'%s': %s", absl::CHexEscape(member.fileName), message));
  }

private:
  /// The end record, and how many rows the directory has from where on.
  struct Directory {
    size_t end;
    uint64_t count, offset;
  };
  std::optional<size_t> findEnd() const;
  absl::StatusOr<Directory> findDirectory() const;
  absl::Status readExtra(std::span<const std::byte> extra, Member& member) const;

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

absl::StatusOr<ZipReader::Directory> ZipReader::findDirectory() const {
  std::optional<size_t> end = findEnd();
  if (!end)
    return error("expects an .npz file, a ZIP archive, but got other bytes");
  Directory directory{*end, readAt<uint16_t>(file, *end + 10), readAt<uint32_t>(file, *end + 16)};
  if (directory.count != elsewhere16 && directory.offset != elsewhere32)
    return directory;
  // ZIP64: a locator stands before the end record, and says where a longer one is.
  if (*end < locatorBytes || readAt<uint32_t>(file, *end - locatorBytes) != locatorSignature)
    return directory;
  uint64_t at = readAt<uint64_t>(file, *end - locatorBytes + 8);
  if (at > *end || *end - at < end64Bytes || readAt<uint32_t>(file, at) != end64Signature)
    return error("expects an end record of ZIP64 where its locator says, but got other bytes");
  return Directory{at, readAt<uint64_t>(file, at + 32), readAt<uint64_t>(file, at + 48)};
}

/// Takes what `member` has in fields of ZIP64 from the row's extra fields.
absl::Status ZipReader::readExtra(std::span<const std::byte> extra, Member& member) const {
  std::vector<uint64_t*> missing;
  for (uint64_t* field : {&member.bytes, &member.packedBytes, &member.localOffset})
    if (*field == elsewhere32)
      missing.push_back(field);
  size_t at = 0;
  while (!missing.empty() && extra.size() - at >= 4) {
    uint16_t id = readAt<uint16_t>(extra, at), length = readAt<uint16_t>(extra, at + 2);
    at += 4;
    if (length > extra.size() - at)
      break;
    if (id == zip64Extra && length >= missing.size() * 8) {
      for (size_t i = 0; i < missing.size(); ++i)
        *missing[i] = readAt<uint64_t>(extra, at + i * 8);
      missing.clear();
    }
    at += length;
  }
  if (!missing.empty())
    return error(member, "expects a field of ZIP64 for what exceeds 4 GiB, but it has none");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Member>> ZipReader::readDirectory() const {
  TENON_ASSIGN_OR_RETURN(Directory directory, findDirectory());
  uint64_t at = directory.offset;
  std::vector<Member> members;
  uint64_t packedBytes = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (at > directory.end || directory.end - at < centralBytes ||
        readAt<uint32_t>(file, at) != centralSignature)
      return error(absl::StrFormat("expects %d entries in the archive's directory, but got %d",
                                   directory.count, i));
    Member member{.place = i,
                  .flags = readAt<uint16_t>(file, at + 8),
                  .method = readAt<uint16_t>(file, at + 10),
                  .checksum = readAt<uint32_t>(file, at + 16),
                  .packedBytes = readAt<uint32_t>(file, at + 20),
                  .bytes = readAt<uint32_t>(file, at + 24),
                  .localOffset = readAt<uint32_t>(file, at + 42)};
    size_t nameBytes = readAt<uint16_t>(file, at + 28);
    size_t extraBytes = readAt<uint16_t>(file, at + 30);
    size_t commentBytes = readAt<uint16_t>(file, at + 32);
    at += centralBytes;
    if (nameBytes + extraBytes + commentBytes > directory.end - at)
      return error("the archive's directory goes beyond its end");
    member.fileName.assign(reinterpret_cast<const char*>(file.data()) + at, nameBytes);
    TENON_RETURN_IF_ERROR(readExtra(file.subspan(at + nameBytes, extraBytes), member));
    at += nameBytes + extraBytes + commentBytes;
    // Members that share bytes could expand without bound.
    if (member.packedBytes > file.size() - packedBytes)
      return error("expects members that do not overlap, but they have more bytes than the file");
    packedBytes += member.packedBytes;
    members.push_back(std::move(member));
  }
  return members;
}

absl::StatusOr<std::span<const std::byte>> ZipReader::packed(const Member& member) const {
  if (member.flags & flagEncrypted)
    return error(member, "expects no encryption");
  if (member.method != methodStored && member.method != methodDeflated)
    return error(member, absl::StrFormat("expects a member stored (0) or deflated (8), but got "
                                         "method %d",
                                         member.method));
  uint64_t at = member.localOffset;
  if (at > file.size() || file.size() - at < localBytes ||
      readAt<uint32_t>(file, at) != localSignature)
    return error(member, "expects a member where the directory says, but got other bytes");
  size_t skipped = localBytes + readAt<uint16_t>(file, at + 26) + readAt<uint16_t>(file, at + 28);
  if (file.size() - at < skipped || file.size() - at - skipped < member.packedBytes)
    return error(member, "goes beyond the end of the file");
  if (member.method == methodStored && member.packedBytes != member.bytes)
    return error(member, absl::StrFormat("expects %d stored bytes, but got %d", member.bytes,
                                         member.packedBytes));
  uint64_t most = highestExpansion * (member.packedBytes + 1);
  if (member.method == methodDeflated && member.bytes > most)
    return error(member, absl::StrFormat("expects at most %d bytes from %d deflated ones, but the "
                                         "directory says %d",
                                         most, member.packedBytes, member.bytes));
  return file.subspan(at + skipped, member.packedBytes);
}

/// Unpacks a member from its first byte to its last.
class MemberStream {
public:
  static absl::StatusOr<std::unique_ptr<MemberStream>> open(const MappedFile& file,
                                                            const Member& member);
  ~MemberStream() { inflateEnd(&stream); }
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  /// The next bytes; there must be as many left (`left`).
  absl::Status read(std::span<std::byte> to);
  uint64_t left() const { return member.bytes - position; }
  /// Checks, after the last byte, the end and the checksum.
  absl::Status finish();
  absl::Status error(const std::string& message) const { return reader.error(member, message); }

private:
  MemberStream(const MappedFile& file, const Member& member) : reader(file), member(member) {}
  absl::Status inflateInto(std::span<std::byte> to);

  ZipReader reader;
  const Member& member;
  std::span<const std::byte> from; ///< what is packed and has not been read
  z_stream stream{};
  bool ended = false; ///< deflate's last block was read
  uint64_t position = 0;
  uLong checksum = 0;
};

absl::StatusOr<std::unique_ptr<MemberStream>> MemberStream::open(const MappedFile& file,
                                                                 const Member& member) {
  std::unique_ptr<MemberStream> opened(new MemberStream(file, member));
  TENON_ASSIGN_OR_RETURN(opened->from, opened->reader.packed(member));
  // Where memory lacks for that, `inflate` fails.
  (void)inflateInit2(&opened->stream, -MAX_WBITS);
  return opened;
}

absl::Status MemberStream::inflateInto(std::span<std::byte> to) {
  constexpr size_t pieceBytes = 1 << 30; // zlib counts in 32 bits
  size_t done = 0;
  std::byte beyond{}; // a place for zlib where nothing may follow
  do {
    std::span<std::byte> piece = to.subspan(done, std::min(pieceBytes, to.size() - done));
    size_t offered = std::min(pieceBytes, from.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = reinterpret_cast<Bytef*>(piece.empty() ? &beyond : piece.data());
    stream.avail_out = static_cast<uInt>(piece.empty() ? 1 : piece.size());
    int result = inflate(&stream, Z_NO_FLUSH);
    size_t made = (piece.empty() ? 1 : piece.size()) - stream.avail_out;
    from = from.subspan(offered - stream.avail_in);
    done += piece.empty() ? 0 : made;
    ended = result == Z_STREAM_END;
    bool stuck = made == 0 && offered == stream.avail_in;
    bool tooMany = piece.empty() && made > 0;
    if ((result != Z_OK && !ended && result != Z_BUF_ERROR) || (stuck && !ended) || tooMany ||
        (ended && done < to.size()))
      return error(absl::StrFormat("expects deflated data of %d bytes, but got %d and then %s",
                                   member.bytes, position + done, ended ? "the end" : "damage"));
  } while (done < to.size());
  return absl::OkStatus();
}

absl::Status MemberStream::read(std::span<std::byte> to) {
  if (to.empty())
    return absl::OkStatus();
  if (member.method == methodDeflated) {
    TENON_RETURN_IF_ERROR(inflateInto(to));
  } else {
    std::ranges::copy(from.first(to.size()), to.begin());
    from = from.subspan(to.size());
  }
  checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(to.data()), to.size());
  position += to.size();
  return absl::OkStatus();
}

absl::Status MemberStream::finish() {
  if (member.method == methodDeflated && !ended)
    TENON_RETURN_IF_ERROR(inflateInto({}));
  if (checksum != member.checksum)
    return error("expects data that match their checksum, but they are damaged");
  return absl::OkStatus();
}

/// Reads up to the elements of the array in `stream`.
absl::StatusOr<NpyHeader> readHeader(MemberStream& stream) {
  std::string text(std::min<uint64_t>(npyStartBytes, stream.left()), '\0');
  uint64_t bytes = stream.left();
  TENON_RETURN_IF_ERROR(stream.read(std::as_writable_bytes(std::span(text))));
  auto inMember = [&](const absl::Status& status) {
    return stream.error(std::string(status.message()));
  };
  absl::StatusOr<size_t> end = findNpyElements(text, bytes);
  if (!end.ok())
    return inMember(end.status());
  size_t start = text.size();
  text.resize(std::max(*end, start));
  TENON_RETURN_IF_ERROR(stream.read(std::as_writable_bytes(std::span(text)).subspan(start)));
  absl::StatusOr<NpyHeader> header = parseNpyHeader(std::string_view(text).substr(0, *end));
  if (!header.ok())
    return inMember(header.status());
  std::optional<int64_t> elements = countElements(header->shape);
  int64_t elementBytes = npyTypeBytes(header->type);
  if (!elements || static_cast<uint64_t>(*elements * elementBytes) != bytes - *end)
    return stream.error(
        absl::StrFormat("expects as many bytes as the shape has elements of %d, but got %d bytes",
                        elementBytes, bytes - *end));
  return header;
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

absl::StatusOr<NpzFile> NpzFile::open(const std::string& path) {
  NpzFile archive;
  TENON_ASSIGN_OR_RETURN(archive.file, MappedFile::open(path));
  ZipReader reader(*archive.file);
  TENON_ASSIGN_OR_RETURN(std::vector<Member> rows, reader.readDirectory());
  for (Member& row : rows) {
    std::string name = row.fileName;
    if (name.ends_with(memberSuffix))
      name.resize(name.size() - memberSuffix.size());
    if (archive.members.contains(name))
      return reader.error(row, "expects names to differ, but got it twice");
    archive.members.emplace(std::move(name), std::move(row));
  }
  return archive;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names(members.size());
  for (const auto& [name, member] : members)
    names[member.place] = name;
  return names;
}

absl::StatusOr<NpyHeader> NpzFile::header(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(auto stream, MemberStream::open(*file, members.find(name)->second));
  return readHeader(*stream);
}

absl::StatusOr<NpyArray> NpzFile::read(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(auto stream, MemberStream::open(*file, members.find(name)->second));
  TENON_ASSIGN_OR_RETURN(NpyHeader header, readHeader(*stream));
  NpyArray array{header.type, header.shape, std::vector<std::byte>(stream->left())};
  TENON_RETURN_IF_ERROR(stream->read(array.bytes));
  TENON_RETURN_IF_ERROR(stream->finish());
  if (header.fortranOrder)
    array.bytes = reorderFortran(array.bytes, header);
  return array;
}

absl::StatusOr<NpyArrays> readNpz(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(NpzFile file, NpzFile::open(path));
  NpyArrays arrays;
  for (const std::string& name : file.names()) {
    TENON_ASSIGN_OR_RETURN(arrays[name], file.read(name));
  }
  return arrays;
}

absl::Status writeNpz(const std::string& path, const NpyArrays& arrays) {
  TENON_RETURN_IF_ERROR(checkWritable(path, arrays));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::create(path));
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
    TENON_RETURN_IF_ERROR(file->write(local + header));
    TENON_RETURN_IF_ERROR(file->write(array.bytes));
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
  TENON_RETURN_IF_ERROR(file->write(directory + end));
  return file->finish();
}

} // namespace tenon::tools
