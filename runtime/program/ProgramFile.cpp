#include "runtime/program/ProgramFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "runtime/program/ValidateProgram.h"
#include "runtime/program/internal/FileFormat.h"
#include "runtime/program/internal/Metadata.h"
#include "support/OutputFile.h"
#include "support/Status.h"

namespace tenon::runtime {

using namespace internal;

static absl::Status inFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrFormat("%s: %s", path, std::string(status.message())));
}

static std::string folderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

static absl::Status writeEncoded(const EncodedProgram& encoded, const std::string& path) {
  FileHeader header;
  std::ranges::copy(fileMagic, header.magic.begin());
  header.metadataOffset = pageBytes;
  if (!encoded.sections.empty())
    header.metadataOffset =
        nextPage(encoded.sections.back().offset + encoded.sections.back().contents.size());
  header.metadataBytes = encoded.metadata.size();
  header.metadataHash = hashBytes(encoded.metadata);
  header.fileBytes = header.metadataOffset + header.metadataBytes;
  header.headerHash = header.computeHash();

  TENON_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::create(path));
  TENON_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(&header, 1))));
  for (const Section& section : encoded.sections) {
    TENON_RETURN_IF_ERROR(file->writeZeros(section.offset - file->size()));
    TENON_RETURN_IF_ERROR(file->write(section.contents.bytes()));
  }
  TENON_RETURN_IF_ERROR(file->writeZeros(header.metadataOffset - file->size()));
  TENON_RETURN_IF_ERROR(file->write(encoded.metadata));
  return file->finish();
}

absl::Status writeProgram(const Program& program, const std::string& path) {
  if (absl::Status status = validateProgram(program); !status.ok())
    return inFile(path, status);
  std::vector<std::string> models;
  for (const SourceFile& file : program.files)
    models.push_back(file.path);
  TENON_RETURN_IF_ERROR(checkOutput(path, models));
  std::string folder = folderOf(path);
  return writeEncoded(encodeProgram(program, folder.empty() ? "." : folder), path);
}

bool isProgramFile(std::span<const std::byte> bytes) {
  return bytes.size() >= fileMagic.size() &&
         std::memcmp(bytes.data(), fileMagic.data(), fileMagic.size()) == 0;
}

static absl::Status checkMagic(std::span<const std::byte> file) {
  if (isProgramFile(file))
    return absl::OkStatus();
  std::string found(reinterpret_cast<const char*>(file.data()),
                    std::min(file.size(), fileMagic.size()));
  return absl::InvalidArgumentError(
      absl::StrFormat("expects a Tenon program, which starts with \"%s\", but found \"%s\"",
                      absl::CHexEscape(std::string(fileMagic)), absl::CHexEscape(found)));
}

/// The header of `file` after checking everything in it.
static absl::StatusOr<FileHeader> readHeader(std::span<const std::byte> file) {
  TENON_RETURN_IF_ERROR(checkMagic(file));
  if (file.size() < sizeof(FileHeader))
    return absl::DataLossError(
        absl::StrFormat("the file is truncated: expects a header of %u bytes, but the file has %u",
                        sizeof(FileHeader), file.size()));
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.byteOrder != byteOrderMark)
    return absl::UnimplementedError(
        absl::StrFormat("expects byte-order mark %08x (little-endian), but found %08x",
                        byteOrderMark, header.byteOrder));
  if (header.version != formatVersion)
    return absl::UnimplementedError(absl::StrFormat(
        "expects format version %u, but found %u, which %s Tenon writes", formatVersion,
        header.version, header.version > formatVersion ? "a newer" : "an older"));
  if (uint64_t hash = header.computeHash(); hash != header.headerHash)
    return absl::DataLossError(
        absl::StrFormat("the file is damaged: the header expects hash %016x, but found %016x",
                        header.headerHash, hash));
  if (file.size() != header.fileBytes)
    return absl::DataLossError(absl::StrFormat(
        "the file is %s: expects %u bytes, but found %u",
        file.size() < header.fileBytes ? "truncated" : "damaged", header.fileBytes, file.size()));
  if (header.metadataOffset < pageBytes || header.metadataOffset % pageBytes != 0 ||
      header.metadataOffset > header.fileBytes ||
      header.metadataBytes != header.fileBytes - header.metadataOffset)
    return absl::DataLossError(absl::StrFormat(
        "the header expects metadata from a page boundary to the end of the %u bytes, but found "
        "[%u, +%u)",
        header.fileBytes, header.metadataOffset, header.metadataBytes));
  return header;
}

static absl::StatusOr<Program> readContents(const std::shared_ptr<const MappedFile>& mapped,
                                            const std::string& folder) {
  std::span<const std::byte> file = mapped->bytes();
  TENON_ASSIGN_OR_RETURN(FileHeader header, readHeader(file));
  auto gap = file.subspan(sizeof(FileHeader), pageBytes - sizeof(FileHeader));
  if (std::ranges::any_of(gap, [](std::byte byte) { return byte != std::byte{0}; }))
    return absl::DataLossError("the file is damaged: expects zeros after the header");
  auto metadata = file.subspan(header.metadataOffset, header.metadataBytes);
  if (uint64_t hash = hashBytes(metadata); hash != header.metadataHash)
    return absl::DataLossError(
        absl::StrFormat("the file is damaged: the metadata expects hash %016x, but found %016x",
                        header.metadataHash, hash));
  TENON_ASSIGN_OR_RETURN(Program program, decodeProgram(file, metadata, mapped, folder));
  TENON_RETURN_IF_ERROR(validateProgram(program));
  return program;
}

absl::StatusOr<Program> readProgram(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  if (isProgramFile(mapped->bytes()) && !path.ends_with(programSuffix))
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: is a compiled program, native code; rename it to %s if you trust its origin", path,
        programSuffix));
  return readMappedProgram(mapped);
}

absl::StatusOr<Program> readMappedProgram(const std::shared_ptr<const MappedFile>& mapped) {
  absl::StatusOr<Program> program = readContents(mapped, folderOf(mapped->path()));
  if (!program.ok())
    return inFile(mapped->path(), program.status());
  return program;
}

} // namespace tenon::runtime
