#include "frontends/hf/ChangedTensors.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/CacheFolder.h"
#include "support/Fingerprint.h"
#include "support/MessageText.h"
#include "support/OutputFile.h"
#include "support/SecureHash.h"
#include "support/Status.h"

namespace tenon::frontends {

namespace fs = std::filesystem;

namespace {

/// Part of the file's name: changes with what the file holds for the same model.
constexpr std::string_view formatVersion = "changed tensors 5";
/// Of each tensor in the file: a cache line.
constexpr uint64_t alignment = 64;

std::vector<std::byte> addOne(std::span<const std::byte> stored, const Encoding& encoding) {
  std::vector<double> values(stored.size() / static_cast<uint64_t>(encoding.blockBytes));
  encoding.decode(stored, values);
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    float sum = static_cast<float>(values[i]) + 1.0f;
    std::memcpy(bytes.data() + i * sizeof(sum), &sum, sizeof(sum));
  }
  return bytes;
}

/// Matrices [rows, columns], one after the other.
std::vector<std::byte> transpose(std::span<const std::byte> stored, uint64_t rows, uint64_t columns,
                                 uint64_t elementBytes) {
  std::vector<std::byte> bytes(stored.size());
  const uint64_t matrix = rows * columns * elementBytes;
  for (uint64_t first = 0; first < stored.size(); first += matrix)
    for (uint64_t row = 0; row < rows; ++row)
      for (uint64_t column = 0; column < columns; ++column)
        std::memcpy(bytes.data() + first + (column * rows + row) * elementBytes,
                    stored.data() + first + (row * columns + column) * elementBytes, elementBytes);
  return bytes;
}

std::vector<std::byte> takeRows(std::span<const std::byte> stored, uint64_t rowBytes,
                                RowChoice rows) {
  std::vector<std::byte> bytes(rows.isHalf() ? stored.size() / 2 : stored.size());
  for (uint64_t row = 0, at = 0; at < bytes.size(); ++row, at += rowBytes)
    std::memcpy(bytes.data() + at, stored.data() + rows.rowFor(row) * rowBytes, rowBytes);
  return bytes;
}

/// Parts of heads: of each group its queries, key and value; to all queries, all keys, all values.
std::vector<std::byte> groupHeads(std::span<const std::byte> stored, HeadCounts heads) {
  const auto groups = static_cast<uint64_t>(heads.keys);
  const uint64_t queries = static_cast<uint64_t>(heads.queries) / groups;
  const uint64_t part = stored.size() / (groups * (queries + 2));
  std::vector<std::byte> bytes(stored.size());
  for (uint64_t group = 0; group < groups; ++group)
    for (uint64_t i = 0; i < queries + 2; ++i) {
      uint64_t to = i < queries ? group * queries + i : groups * i + group;
      std::memcpy(bytes.data() + to * part, stored.data() + (group * (queries + 2) + i) * part,
                  part);
    }
  return bytes;
}

} // namespace

uint64_t RowChoice::rowFor(uint64_t row) const {
  switch (kind) {
  case All:
    break;
  case Even:
    return 2 * row;
  case Odd:
    return 2 * row + 1;
  case Ordered:
    return row / order.size() * order.size() + static_cast<uint64_t>(order[row % order.size()]);
  }
  return row;
}

void ChangedTensors::place(std::vector<int64_t> shape, const Encoding& encoding, Make make) {
  int64_t elements = 1;
  for (int64_t length : shape)
    elements *= length;
  SourceTensor tensor;
  tensor.shape = std::move(shape);
  tensor.encoding = &encoding;
  tensor.offset = bytes;
  tensor.byteSize = static_cast<uint64_t>(encoding.bytesFor(elements));
  bytes = (bytes + tensor.byteSize + alignment - 1) / alignment * alignment;
  places.push_back(std::move(tensor));
  makers.push_back(std::move(make));
}

absl::Status ChangedTensors::placeRows(std::vector<int64_t> shape, const Encoding& encoding,
                                       Make make, RowChoice rows, const std::string& name) {
  if (rows.kind == RowChoice::All) {
    place(std::move(shape), encoding, std::move(make));
    return absl::OkStatus();
  }
  if (rows.isHalf() && (shape.size() < 2 || shape[1] % 2 != 0))
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: tensor %s expects experts of an even number of rows, but got shape %s",
                        folder, quoteName(name), shapeText(shape)));
  if (rows.isHalf())
    shape[1] /= 2;
  int64_t elements = 1; // of a row
  for (size_t axis = rows.isHalf() ? 2 : 1; axis < shape.size(); ++axis)
    elements *= shape[axis];
  auto rowBytes = static_cast<uint64_t>(encoding.bytesFor(elements));
  place(std::move(shape), encoding,
        [make = std::move(make), rowBytes, rows]() -> absl::StatusOr<std::vector<std::byte>> {
          TENON_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, make());
          return takeRows(bytes, rowBytes, rows);
        });
  return absl::OkStatus();
}

absl::Status ChangedTensors::add(TensorChange change, const SourceTensor& tensor,
                                 const ModelSource& source, HeadCounts heads,
                                 const std::string& name, RowChoice rows) {
  const Encoding& encoding = *tensor.encoding;
  std::span<const std::byte> stored = source.data(tensor);
  auto refuse = [&](const std::string& expected) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: tensor %s expects %s, but got shape %s",
                                                      source.pathOf(tensor), quoteName(name),
                                                      expected, shapeText(tensor.shape)));
  };
  std::vector<int64_t> shape = tensor.shape;
  Make make;
  const Encoding* changed = &encoding;
  switch (change) {
  case TensorChange::None:
    make = [=] { return std::vector<std::byte>(stored.begin(), stored.end()); };
    break;
  case TensorChange::AddOne:
    changed = findEncoding("f32");
    make = [=, &encoding] { return addOne(stored, encoding); };
    break;
  case TensorChange::Transpose: {
    if (shape.size() != 2 && shape.size() != 3)
      return refuse("two axes, or those of experts");
    auto rows = static_cast<uint64_t>(shape.end()[-2]);
    auto columns = static_cast<uint64_t>(shape.back());
    std::swap(shape.end()[-2], shape.back());
    make = [=, bytes = static_cast<uint64_t>(encoding.blockBytes)] {
      return transpose(stored, rows, columns, bytes);
    };
    break;
  }
  case TensorChange::GroupHeads:
    if (const int64_t all = heads.queries + 2 * heads.keys;
        shape.empty() || shape.front() % all != 0)
      return refuse(
          absl::StrFormat("a multiple of %d rows, Q, K and V of %d heads", all, heads.queries));
    make = [=] { return groupHeads(stored, heads); };
    break;
  }
  return placeRows(std::move(shape), *changed, std::move(make), rows, name);
}

void ChangedTensors::add(std::span<const SourceTensor> parts, const ModelSource& source) {
  std::vector<int64_t> shape = parts.front().shape;
  shape.insert(shape.begin(), static_cast<int64_t>(parts.size()));
  std::vector<std::span<const std::byte>> stored;
  for (const SourceTensor& part : parts)
    stored.push_back(source.data(part));
  place(std::move(shape), *parts.front().encoding, [stored = std::move(stored)] {
    std::vector<std::byte> bytes;
    bytes.reserve(stored.size() * stored.front().size());
    for (std::span<const std::byte> part : stored)
      bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
  });
}

absl::Status ChangedTensors::add(std::vector<containers::PackedWeight> weights,
                                 std::vector<int64_t> shape, const std::string& name,
                                 RowChoice rows) {
  const Encoding& encoding = weights.front().encoding();
  Make make = [weights = std::move(weights),
               &encoding]() -> absl::StatusOr<std::vector<std::byte>> {
    auto bytesOf = [&](const containers::PackedWeight& weight) {
      return static_cast<size_t>(encoding.bytesFor(weight.rows() * weight.columns()));
    };
    std::vector<std::byte> bytes(bytesOf(weights.front()) * weights.size());
    size_t at = 0;
    for (const containers::PackedWeight& weight : weights) {
      TENON_RETURN_IF_ERROR(weight.repack(std::span(bytes).subspan(at, bytesOf(weight))));
      at += bytesOf(weight);
    }
    return bytes;
  };
  return placeRows(std::move(shape), encoding, std::move(make), rows, name);
}

void ChangedTensors::add(std::vector<float> values) {
  std::vector<int64_t> shape = {static_cast<int64_t>(values.size())};
  place(std::move(shape), *findEncoding("f32"), [values = std::move(values)] {
    std::span<const std::byte> view = std::as_bytes(std::span(values));
    return std::vector<std::byte>(view.begin(), view.end());
  });
}

absl::StatusOr<std::shared_ptr<const MappedFile>>
ChangedTensors::write(std::span<const std::shared_ptr<const MappedFile>> madeOf) const {
  std::string cache = cacheFolder();
  std::string hub = (fs::path(cache) / "hf").string();
  if (cache.empty() || !makePrivateFolder(hub))
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: expects a cache folder ($TENON_CACHE_DIR, or .cache/tenon in $HOME) for tensors that "
        "the model stores in another form than Tenon takes, but there is none",
        folder));
  std::string content = absl::StrCat(std::string(formatVersion), "\n", configuration);
  for (const std::shared_ptr<const MappedFile>& file : madeOf)
    absl::StrAppend(&content, "\n", file->bytes().size(), " ", fingerprintFile(*file));
  std::string name = absl::BytesToHexString(hashSecurely(content)).substr(0, 32);
  std::string path = (fs::path(hub) / absl::StrCat(name, ".weights")).string();
  absl::StatusOr<std::shared_ptr<const MappedFile>> kept = MappedFile::open(path);
  if (kept.ok() && (*kept)->bytes().size() == bytes)
    return kept;
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> output, OutputFile::create(path));
  for (size_t i = 0; i < places.size(); ++i) {
    TENON_RETURN_IF_ERROR(output->writeZeros(places[i].offset - output->size()));
    TENON_ASSIGN_OR_RETURN(std::vector<std::byte> tensor, makers[i]());
    TENON_RETURN_IF_ERROR(output->write(tensor));
  }
  TENON_RETURN_IF_ERROR(output->writeZeros(bytes - output->size()));
  TENON_RETURN_IF_ERROR(output->finish());
  return MappedFile::open(path);
}

} // namespace tenon::frontends
