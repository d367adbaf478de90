#include "frontends/gguf/GgufWriter.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr uint64_t alignment = 32;
static constexpr std::array<std::byte, alignment> zeros = {};

static uint64_t paddingAfter(uint64_t bytes) { return (alignment - bytes % alignment) % alignment; }

template <typename T> static void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

static void putString(std::string& out, std::string_view text) {
  put<uint64_t>(out, text.size());
  out.append(text);
}

static std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

absl::StatusOr<std::unique_ptr<GgufWriter>> GgufWriter::create(const std::string& path) {
  std::unique_ptr<GgufWriter> writer(new GgufWriter(path));
  TENON_ASSIGN_OR_RETURN(writer->file, OutputFile::create(path));
  return writer;
}

std::unique_ptr<GgufWriter> GgufWriter::createInMemory(const std::string& name) {
  return std::unique_ptr<GgufWriter>(new GgufWriter(name));
}

void GgufWriter::addValue(std::string_view key, const GgufValue& value) {
  assert(!headerWritten);
  ++metadataCount;
  putString(metadata, key);
  put(metadata, static_cast<uint32_t>(value.type));
  if (value.type == GgufValueType::String)
    put<uint64_t>(metadata, value.bytes.size());
  if (value.type == GgufValueType::Array) {
    put(metadata, static_cast<uint32_t>(value.elementType));
    put(metadata, value.count);
  }
  metadata.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
}

void GgufWriter::addU32(std::string_view key, uint32_t value) {
  addValue(key, {.type = GgufValueType::UInt32, .bytes = std::as_bytes(std::span(&value, 1))});
}

void GgufWriter::addF32(std::string_view key, float value) {
  addValue(key, {.type = GgufValueType::Float32, .bytes = std::as_bytes(std::span(&value, 1))});
}

void GgufWriter::addBool(std::string_view key, bool value) {
  uint8_t byte = value;
  addValue(key, {.type = GgufValueType::Bool, .bytes = std::as_bytes(std::span(&byte, 1))});
}

void GgufWriter::addString(std::string_view key, std::string_view value) {
  addValue(key, {.type = GgufValueType::String, .bytes = bytesOf(value)});
}

void GgufWriter::addI32s(std::string_view key, std::span<const int32_t> values) {
  addValue(key, {.type = GgufValueType::Array,
                 .elementType = GgufValueType::Int32,
                 .count = values.size(),
                 .bytes = std::as_bytes(values)});
}

void GgufWriter::addF32s(std::string_view key, std::span<const float> values) {
  addValue(key, {.type = GgufValueType::Array,
                 .elementType = GgufValueType::Float32,
                 .count = values.size(),
                 .bytes = std::as_bytes(values)});
}

void GgufWriter::addStrings(std::string_view key, std::span<const std::string> values) {
  std::string elements;
  for (const std::string& value : values)
    putString(elements, value);
  addValue(key, {.type = GgufValueType::Array,
                 .elementType = GgufValueType::String,
                 .count = values.size(),
                 .bytes = bytesOf(elements)});
}

absl::Status GgufWriter::addTensor(std::string_view name, std::span<const int64_t> shape,
                                   const Encoding& encoding) {
  assert(!headerWritten);
  auto refuse = [&](const std::string& text) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: tensor %s expects %s", path, quoteName(name), text));
  };
  if (encoding.ggufType < 0)
    return refuse(absl::StrFormat("a type that GGUF files have, but got %s", encoding.name));
  if (shape.size() > 4)
    return refuse(absl::StrFormat("at most 4 axes, but got shape %s", shapeText(shape)));
  int64_t elements = 1;
  int64_t bytes = 0;
  for (int64_t length : shape)
    if (length < 1 || __builtin_mul_overflow(elements, length, &elements))
      return refuse(absl::StrFormat("lengths of at least 1 and fewer than 2^63 elements, but got "
                                    "shape %s",
                                    shapeText(shape)));
  if ((shape.empty() ? 1 : shape.back()) % encoding.blockSize != 0)
    return refuse(absl::StrFormat("rows of a multiple of %d elements in %s, but got shape %s",
                                  encoding.blockSize, encoding.name, shapeText(shape)));
  if (__builtin_mul_overflow(elements / encoding.blockSize, encoding.blockBytes, &bytes))
    return refuse(absl::StrFormat("fewer than 2^63 bytes, but got shape %s", shapeText(shape)));

  putString(tensorTable, name);
  put(tensorTable, static_cast<uint32_t>(shape.size()));
  for (auto length = shape.rbegin(); length != shape.rend(); ++length)
    put(tensorTable, static_cast<uint64_t>(*length));
  put(tensorTable, encoding.ggufType);
  put(tensorTable, dataBytes);
  tensors.push_back({std::string(name), static_cast<uint64_t>(bytes)});
  dataBytes += tensors.back().byteSize + paddingAfter(tensors.back().byteSize);
  return absl::OkStatus();
}

absl::Status GgufWriter::writeHeader() {
  headerWritten = true;
  std::string header = "GGUF";
  put<uint32_t>(header, 3);
  put<uint64_t>(header, tensors.size());
  put<uint64_t>(header, metadataCount);
  header += metadata;
  header += tensorTable;
  header.append(paddingAfter(header.size()), '\0');
  return write(bytesOf(header));
}

absl::Status GgufWriter::append(std::span<const std::byte> bytes) {
  if (!headerWritten)
    TENON_RETURN_IF_ERROR(writeHeader());
  while (!bytes.empty()) {
    if (currentTensor == tensors.size())
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: expects no data after the last tensor, but got %d bytes", path, bytes.size()));
    uint64_t size = tensors[currentTensor].byteSize;
    uint64_t length = std::min<uint64_t>(bytes.size(), size - currentBytes);
    TENON_RETURN_IF_ERROR(write(bytes.first(length)));
    bytes = bytes.subspan(length);
    currentBytes += length;
    if (currentBytes < size)
      break;
    TENON_RETURN_IF_ERROR(write(std::span(zeros).first(paddingAfter(size))));
    ++currentTensor;
    currentBytes = 0;
  }
  return absl::OkStatus();
}

absl::Status GgufWriter::appendHole() {
  assert(!file && "a file has its zeros written");
  if (!headerWritten)
    TENON_RETURN_IF_ERROR(writeHeader());
  if (currentTensor == tensors.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects no data after the last tensor, but got a hole", path));
  uint64_t size = tensors[currentTensor].byteSize;
  position += size - currentBytes + paddingAfter(size);
  ++currentTensor;
  currentBytes = 0;
  return absl::OkStatus();
}

absl::Status GgufWriter::write(std::span<const std::byte> bytes) {
  if (file)
    return file->write(bytes);
  pieces.push_back({position, {bytes.begin(), bytes.end()}});
  position += bytes.size();
  return absl::OkStatus();
}

absl::Status GgufWriter::checkComplete() {
  TENON_RETURN_IF_ERROR(append({}));
  if (currentTensor < tensors.size())
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: expects %d bytes of tensor %s, but got %d", path, tensors[currentTensor].byteSize,
        quoteName(tensors[currentTensor].name), currentBytes));
  return absl::OkStatus();
}

absl::Status GgufWriter::finish() {
  assert(file);
  TENON_RETURN_IF_ERROR(checkComplete());
  return file->finish();
}

absl::StatusOr<std::shared_ptr<const MappedFile>> GgufWriter::finishInMemory() {
  assert(!file);
  TENON_RETURN_IF_ERROR(checkComplete());
  return MappedFile::ofPieces(path, position, pieces);
}

} // namespace tenon::frontends
