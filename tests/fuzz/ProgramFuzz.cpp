// `.tnn` files: header, metadata, sections, validation, and the tokeniser inside.

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/program/ProgramFile.h"
#include "runtime/program/Program_generated.h"
#include "runtime/program/internal/FileFormat.h"
#include "runtime/text/Tokenizer.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;
using namespace tenon::runtime;
using namespace tenon::runtime::internal;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MemoryFile input({data, size});
  auto mapped = MappedFile::open(input.path());
  if (!mapped.ok())
    return 0;
  auto program = readMappedProgram(*mapped);
  if (!program.ok() || !program->tokenizer)
    return 0;
  auto tokenizer = Tokenizer::create(*program->tokenizer);
  if (tokenizer.ok())
    (*tokenizer)->encode("a b\xff ab").IgnoreError();
  return 0;
}

/// A range of bytes of the file.
struct Range {
  size_t offset, bytes;
};

/// The sections that verified metadata names and that lie inside `file`, each with the place of its
/// row in the table.
static std::vector<std::pair<Range, uint8_t*>> findSections(std::span<uint8_t> file,
                                                            std::span<uint8_t> metadata) {
  flatbuffers::Verifier verifier(metadata.data(), metadata.size());
  if (!fbs::VerifyProgramBuffer(verifier))
    return {};
  const auto& table = *fbs::GetProgram(metadata.data())->sections();
  std::vector<std::pair<Range, uint8_t*>> sections;
  for (size_t i = 0; i < table.size(); ++i) {
    uint8_t* row = const_cast<uint8_t*>(table.Data()) + i * sizeof(fbs::Section);
    uint64_t place[2];
    std::memcpy(place, row, sizeof(place));
    if (place[0] <= file.size() && place[1] <= file.size() - place[0])
      sections.push_back({{place[0], place[1]}, row});
  }
  return sections;
}

/// Puts the right sizes and hashes into a file whose header says where its metadata are: without
/// them nothing after the hashes would be reached.
static void seal(std::vector<uint8_t>& file, const Range& metadata) {
  std::span<uint8_t> bytes = std::span(file).subspan(metadata.offset, metadata.bytes);
  for (auto [range, row] : findSections(file, bytes)) {
    uint64_t hash = hashBytes(std::as_bytes(std::span(file)).subspan(range.offset, range.bytes));
    std::memcpy(row + 2 * sizeof(uint64_t), &hash, sizeof(hash));
  }
  FileHeader header;
  std::memcpy(header.magic.data(), fileMagic.data(), fileMagic.size());
  header.fileBytes = file.size();
  header.metadataOffset = metadata.offset;
  header.metadataBytes = metadata.bytes;
  header.metadataHash = hashBytes(std::as_bytes(bytes));
  header.headerHash = header.computeHash();
  std::memcpy(file.data(), &header, sizeof(header));
}

/// Where the metadata of `file` are, if its header says so.
static std::optional<Range> findMetadata(std::span<const uint8_t> file) {
  FileHeader header;
  if (file.size() < pageBytes)
    return std::nullopt;
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.metadataOffset < pageBytes || header.metadataOffset > file.size() ||
      header.metadataOffset % pageBytes != 0)
    return std::nullopt;
  return Range{header.metadataOffset, file.size() - header.metadataOffset};
}

/// The place to change: mostly the metadata, else a section.
static Range choose(std::vector<uint8_t>& file, const Range& metadata, std::mt19937& random) {
  auto sections = findSections(file, std::span(file).subspan(metadata.offset, metadata.bytes));
  std::erase_if(sections, [](const auto& section) { return section.first.bytes == 0; });
  if (sections.empty() || random() % 4 != 0)
    return metadata;
  return sections[random() % sections.size()].first;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::mt19937 random(seed);
  std::optional<Range> metadata = findMetadata({data, size});
  if (!metadata || random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::vector<uint8_t> file(data, data + size);
  Range place = choose(file, *metadata, random);
  bool grows = place.offset == metadata->offset;
  if (grows)
    file.resize(std::min(maxSize, size + 256));
  size_t room = grows ? file.size() - place.offset : place.bytes;
  size_t left =
      LLVMFuzzerMutate(file.data() + place.offset, place.bytes, std::max<size_t>(room, 1));
  if (grows) {
    metadata->bytes = left;
    file.resize(place.offset + left);
  }
  seal(file, *metadata);
  std::copy(file.begin(), file.end(), data);
  return file.size();
}
